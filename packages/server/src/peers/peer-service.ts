/** The definition of PeerService for grpc-js: its one method, with frames as bytes. `Link` en- and decodes them. */
import type { ServiceDefinition } from '@grpc/grpc-js';

/** Revision of the peer protocol that this build speaks. */
export const PEER_PROTOCOL_REVISION = 1;

/** Highest feature level that this build supports. */
export const FEATURE_LEVEL = 1;

const same = (bytes: Buffer): Buffer => bytes;

export const LINK_METHOD = {
  path: '/quorate.peer.v1.PeerService/Link',
  requestStream: true,
  responseStream: true,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
  originalName: 'link',
} as const;

export const PEER_SERVICE: ServiceDefinition = { Link: LINK_METHOD };
