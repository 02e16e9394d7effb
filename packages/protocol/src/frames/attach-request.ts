/** The bytes of AttachRequest: the frames that a client sends. A frame is put together call by call in one ByteWriter. */

import { IDENTITIES_MAX } from '../acl.ts';
import { ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import { FRAME_ITEMS_MAX, GUARDS_MAX } from '../limits.ts';
import type { Guard } from '../op.ts';
import { NO_SESSION, toSessionId } from '../session-id.ts';
import type { WatchCommand } from '../watch.ts';
import { ZERO_ZXID } from '../zxid.ts';
import { readCredential, writeCredential } from './acl-codec.ts';
import type { AttachRequest, CallFault, ClientHello, Credential, FrameCall, ReceivedCall, StreamOp } from './frame.ts';
import { OP_FIELDS, readOp, writeOp } from './op-codec.ts';
import { readWatchCommand, WATCH_COMMAND_TAG } from './watch-frames.ts';
import {
  beginMessage,
  checkMessageEnd,
  FIXED64,
  LENGTH,
  readBytes,
  readMessageEnd,
  readString,
  readTag,
  readZxid,
  skipField,
  writeBytes,
  writeFixed64,
  writeInt64,
  writeString,
  writeUint,
} from './wire.ts';

/** The operation of each tag in Call. */
const OP_OF_TAG: ReadonlyMap<number, StreamOp['kind']> = new Map(
  Object.entries(OP_FIELDS).map(([kind, field]) => [(field << 3) | LENGTH, kind as StreamOp['kind']]),
);

/** Adds the hello to a frame. */
export function writeClientHello(writer: ByteWriter, hello: ClientHello): void {
  const start = beginMessage(writer, 1);
  writeFixed64(writer, 1, hello.session);
  writeBytes(writer, 2, hello.token);
  writeUint(writer, 3, hello.timeoutMs);
  writeInt64(writer, 4, hello.lastZxidSeen);
  writeUint(writer, 5, hello.protocolRevision);
  for (const credential of hello.credentials ?? []) writeCredential(writer, 6, credential);
  writer.endPart(start);
}

/** Adds to a frame that all replies to numbered calls up to `request` were received. */
export function writeAcknowledged(writer: ByteWriter, request: number): void {
  writeUint(writer, 3, request);
}

/** Adds a call to a frame. The caller keeps the frame below FRAME_ITEMS_MAX calls and the member's limit in bytes. */
export function writeCall(writer: ByteWriter, call: FrameCall): void {
  const start = beginMessage(writer, 2);
  writeUint(writer, 1, call.xid);
  writeUint(writer, 3, call.timeoutMs);
  writeUint(writer, 7, call.request ?? 0);
  for (const guard of call.guards ?? []) writeGuard(writer, guard);
  writeOp(writer, call.op, call.linearizable);
  writer.endPart(start);
}

function writeGuard(writer: ByteWriter, guard: Guard): void {
  const start = beginMessage(writer, 6);
  writeString(writer, 1, guard.path);
  writeInt64(writer, 2, guard.czxid);
  writer.endPart(start);
}

/** Reads a frame from a client. Bytes in it are views of `bytes`. Throws DecodeError. */
export function decodeAttachRequest(bytes: Uint8Array): AttachRequest {
  const reader = new ByteReader(bytes);
  let hello: ClientHello | undefined;
  const calls: ReceivedCall[] = [];
  const watches: WatchCommand[] = [];
  let acknowledged = 0;
  while (reader.remaining > 0) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) hello = readClientHello(reader);
    else if (tag === ((2 << 3) | LENGTH)) {
      if (calls.length === FRAME_ITEMS_MAX) throw new DecodeError(`More than ${FRAME_ITEMS_MAX} calls in a frame`);
      calls.push(readCall(reader));
    } else if (tag === WATCH_COMMAND_TAG) {
      if (watches.length === FRAME_ITEMS_MAX) throw new DecodeError(`More than ${FRAME_ITEMS_MAX} words about watches`);
      watches.push(readWatchCommand(reader));
    } else if (tag === 24) acknowledged = reader.varint();
    else skipField(reader, tag);
  }
  return { hello, calls, watches, acknowledged };
}

function readClientHello(reader: ByteReader): ClientHello {
  const end = readMessageEnd(reader);
  let session = NO_SESSION;
  let token: Uint8Array = new Uint8Array(0);
  let timeoutMs = 0;
  let lastZxidSeen = ZERO_ZXID;
  let protocolRevision = 0;
  let credentials: Credential[] | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | FIXED64)) session = toSessionId(reader.fixed64());
    else if (tag === ((2 << 3) | LENGTH)) token = readBytes(reader);
    else if (tag === 24) timeoutMs = reader.varint();
    else if (tag === 32) lastZxidSeen = readZxid(reader);
    else if (tag === 40) protocolRevision = reader.varint();
    else if (tag === ((6 << 3) | LENGTH)) credentials = withCredential(credentials, readCredential(reader));
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  const hello = { session, token, timeoutMs, lastZxidSeen, protocolRevision };
  return credentials === undefined ? hello : { ...hello, credentials };
}

/** One past the bound is kept, so that the hello is refused for it. */
function withCredential(credentials: Credential[] = [], credential: Credential): Credential[] {
  if (credentials.length <= IDENTITIES_MAX) credentials.push(credential);
  return credentials;
}

function readCall(reader: ByteReader): ReceivedCall {
  const end = readMessageEnd(reader);
  let xid = 0;
  let timeoutMs = 0;
  let op: StreamOp | CallFault | undefined;
  let linearizable = false;
  let request = 0;
  let guards: Guard[] | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    const kind = OP_OF_TAG.get(tag);
    if (kind !== undefined) ({ op, linearizable } = readOp(reader, kind));
    else if (tag === 8) xid = reader.varint();
    else if (tag === 24) timeoutMs = reader.varint();
    else if (tag === 56) request = reader.varint();
    else if (tag === ((6 << 3) | LENGTH)) guards = withGuard(guards, readGuard(reader));
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  op ??= { kind: 'fault', code: 'UNIMPLEMENTED', message: `Call ${xid} names no operation that is known here` };
  const call = { xid, timeoutMs, op, linearizable };
  return { ...call, ...(request !== 0 && { request }), ...(guards && { guards }) };
}

/** One past the bound is kept, so that the call is refused for it. */
function withGuard(guards: Guard[] = [], guard: Guard): Guard[] {
  if (guards.length <= GUARDS_MAX) guards.push(guard);
  return guards;
}

function readGuard(reader: ByteReader): Guard {
  const end = readMessageEnd(reader);
  let path = '';
  let czxid = ZERO_ZXID;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) path = readString(reader);
    else if (tag === 16) czxid = readZxid(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { path, czxid };
}
