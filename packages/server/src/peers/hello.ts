/** The two hellos of a link: what is said, and why the other side's is refused. */
import type { Sid } from '@quorate/protocol';
import { decodeFrame } from './decode.ts';
import type { LinkHello } from './encode.ts';
import { FEATURE_LEVEL, PEER_PROTOCOL_REVISION } from './peer-service.ts';

/** Who this member is, and whom it knows. */
export interface OwnIdentity {
  readonly clusterId: string;
  readonly sid: Sid;
  /** All members, this one too. */
  readonly sids: ReadonlySet<Sid>;
}

export function helloTo(own: OwnIdentity, peerSid: Sid): LinkHello {
  return {
    clusterId: own.clusterId,
    sid: own.sid,
    peerSid,
    protocolRevision: PEER_PROTOCOL_REVISION,
    featureLevel: FEATURE_LEVEL,
  };
}

/** The hello of a first frame, or why it is none. */
export function readHello(frame: Uint8Array): LinkHello | string {
  try {
    return decodeFrame(frame).hello ?? 'the first frame has no hello';
  } catch (error) {
    return `the first frame is bad: ${(error as Error).message}`;
  }
}

/** Why the other side's hello is refused, or undefined. `dialled` is the sid that was dialled, if this side did. */
export function helloFault(own: OwnIdentity, hello: LinkHello, dialled: Sid | undefined): string | undefined {
  if (hello.clusterId !== own.clusterId) {
    return `member ${hello.sid} belongs to cluster "${hello.clusterId}", member ${own.sid} to "${own.clusterId}"`;
  }
  if (dialled !== undefined && hello.sid !== dialled) {
    return `member ${hello.sid} answers at the address of member ${dialled}; check the ensemble lists and sids`;
  }
  if (hello.peerSid !== own.sid) {
    return `member ${hello.sid} took member ${own.sid} for member ${hello.peerSid}; check the ensemble lists and sids`;
  }
  if (hello.sid === own.sid) return `two members have the sid ${own.sid}`;
  if (!own.sids.has(hello.sid)) return `member ${hello.sid} is not in the ensemble list of member ${own.sid}`;
  if (dialled === undefined && hello.sid < own.sid) {
    return `member ${hello.sid} dialled member ${own.sid}; the one with the larger sid must dial`;
  }
  if (hello.protocolRevision < 1) return `member ${hello.sid} names no protocol revision`;
  return undefined;
}
