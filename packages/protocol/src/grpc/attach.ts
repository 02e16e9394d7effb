/**
 * Session services as a server adds them: those of the protos, with our own codec on the stream. A server writes whole
 * frames as bytes (`writeReply` and its like make them) and reads AttachRequests.
 */
import type { PackageDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { decodeAttachRequest } from '../frames/attach-request.ts';
import type { AttachRequest } from '../frames/frame.ts';
import { decodeWatchSpec } from '../frames/watch-codec.ts';
import type { WatchSpec } from '../watch.ts';
import { serviceOf } from './load.ts';

export const ZNODE_SERVICE = 'quorate.v1.ZnodeService';
export const SESSION_SERVICE = 'quorate.v1.SessionService';
export const CLUSTER_SERVICE = 'quorate.v1.ClusterService';
export const WATCH_SERVICE = 'quorate.v1.WatchService';

/** SessionService of `definition` with the frame codec on Attach. */
export function sessionService(definition: PackageDefinition): ServiceDefinition {
  const service = serviceOf(definition, SESSION_SERVICE);
  const attach = service['Attach'];
  if (attach === undefined) throw new Error(`${SESSION_SERVICE} has no method Attach`);
  return {
    ...service,
    Attach: { ...attach, requestDeserialize: readFrame, responseSerialize: (frame) => asBuffer(frame as Uint8Array) },
  };
}

/** WatchService of `definition` with our own codec on Watch: a server reads a WatchSpec and writes whole responses as bytes. */
export function watchService(definition: PackageDefinition): ServiceDefinition {
  const service = serviceOf(definition, WATCH_SERVICE);
  const watch = service['Watch'];
  if (watch === undefined) throw new Error(`${WATCH_SERVICE} has no method Watch`);
  return {
    ...service,
    Watch: { ...watch, requestDeserialize: readSpec, responseSerialize: (bytes) => asBuffer(bytes as Uint8Array) },
  };
}

/** The same bytes as a Buffer, without a copy: grpc-js takes nothing else. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readSpec(bytes: Buffer): WatchSpec {
  return decodeWatchSpec(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

function readFrame(bytes: Buffer): AttachRequest {
  // As a plain Uint8Array, so that views of it are plain too.
  return decodeAttachRequest(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
