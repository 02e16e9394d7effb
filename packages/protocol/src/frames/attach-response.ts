/** The bytes of AttachResponse: the frames that a member sends. A frame is put together reply by reply in one ByteWriter. */

import { IDENTITIES_MAX, type Identity } from '../acl.ts';
import { ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import { ERRORS, errorCodeOfProto } from '../errors.ts';
import { FRAME_ITEMS_MAX } from '../limits.ts';
import type { OpFailure } from '../op.ts';
import { NO_SESSION, toSessionId } from '../session-id.ts';
import type { WatchNews } from '../watch.ts';
import type { Notification } from '../watch-ops.ts';
import { ZERO_ZXID } from '../zxid.ts';
import { readIdentity, writeIdentity } from './acl-codec.ts';
import type {
  AttachResponse,
  FrameReply,
  ServerHello,
  SessionClosed,
  StreamAnswer,
  StreamOp,
  StreamResult,
} from './frame.ts';
import { OP_FIELDS } from './op-codec.ts';
import { ERROR_FIELD, readErrorDetail, readResult, writeResult } from './result-codec.ts';
import { readWatchNews, WATCH_NEWS_TAG } from './watch-frames.ts';
import { NOTIFICATION_FIELD, readNotification } from './watch-op-codec.ts';
import {
  beginMessage,
  checkMessageEnd,
  FIXED64,
  LENGTH,
  readBool,
  readBytes,
  readMessageEnd,
  readString,
  readTag,
  readZxid,
  skipField,
  writeBool,
  writeBytes,
  writeFixed64,
  writeInt64,
  writeString,
  writeUint,
} from './wire.ts';

/** The operation of each tag in Reply. */
const RESULT_OF_TAG: ReadonlyMap<number, StreamOp['kind']> = new Map(
  Object.entries(OP_FIELDS).map(([kind, field]) => [(field << 3) | LENGTH, kind as StreamOp['kind']]),
);

/** Adds the hello to a frame. */
export function writeServerHello(writer: ByteWriter, hello: ServerHello): void {
  const start = beginMessage(writer, 1);
  writeFixed64(writer, 1, hello.session);
  writeBytes(writer, 2, hello.token);
  writeUint(writer, 3, hello.timeoutMs);
  writeBool(writer, 4, hello.resumed);
  writeUint(writer, 5, hello.frameBytesMax);
  writeUint(writer, 6, hello.requestBytesMax);
  writeUint(writer, 7, hello.sid);
  writeUint(writer, 8, hello.protocolRevision);
  writeInt64(writer, 9, hello.zxid);
  for (const identity of hello.identities ?? []) writeIdentity(writer, 10, identity);
  writer.endPart(start);
}

/**
 * Adds the reply to the call `xid`, which asked for `op`. The caller keeps the frame below FRAME_ITEMS_MAX replies
 * and the size that clients read.
 */
export function writeReply(writer: ByteWriter, xid: number, op: StreamOp['kind'], answer: StreamAnswer): void {
  const start = beginMessage(writer, 2);
  writeUint(writer, 1, xid);
  writeInt64(writer, 2, answer.zxid);
  writeResult(writer, op, answer.result);
  writer.endPart(start);
}

/** Adds the last word to a frame. */
export function writeSessionClosed(writer: ByteWriter, closed: SessionClosed): void {
  const start = beginMessage(writer, 4);
  writeUint(writer, 1, ERRORS[closed.code].proto);
  writeString(writer, 2, closed.message);
  writeBool(writer, 3, closed.unansweredNotApplied);
  writer.endPart(start);
}

/** Reads a frame from a member. Bytes in it are views of `bytes`. Throws DecodeError. */
export function decodeAttachResponse(bytes: Uint8Array): AttachResponse {
  const reader = new ByteReader(bytes);
  let hello: ServerHello | undefined;
  let closed: SessionClosed | undefined;
  const replies: FrameReply[] = [];
  const watches: WatchNews[] = [];
  const notifications: Notification[] = [];
  while (reader.remaining > 0) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) hello = readServerHello(reader);
    else if (tag === ((2 << 3) | LENGTH)) {
      if (replies.length === FRAME_ITEMS_MAX) throw new DecodeError(`More than ${FRAME_ITEMS_MAX} replies in a frame`);
      replies.push(readReply(reader));
    } else if (tag === ((4 << 3) | LENGTH)) closed = readSessionClosed(reader);
    else if (tag === WATCH_NEWS_TAG) {
      if (watches.length === FRAME_ITEMS_MAX) throw new DecodeError(`More than ${FRAME_ITEMS_MAX} news of watches`);
      watches.push(readWatchNews(reader));
    } else if (tag === ((NOTIFICATION_FIELD << 3) | LENGTH)) {
      if (notifications.length === FRAME_ITEMS_MAX) throw new DecodeError(`More than ${FRAME_ITEMS_MAX} notifications`);
      notifications.push(readNotification(reader));
    } else skipField(reader, tag);
  }
  return { hello, replies, closed, watches, notifications };
}

function readServerHello(reader: ByteReader): ServerHello {
  const end = readMessageEnd(reader);
  const hello = {
    session: NO_SESSION,
    token: new Uint8Array(0) as Uint8Array,
    timeoutMs: 0,
    resumed: false,
    frameBytesMax: 0,
    requestBytesMax: 0,
    sid: 0,
    protocolRevision: 0,
    zxid: ZERO_ZXID,
  };
  const identities: Identity[] = [];
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | FIXED64)) hello.session = toSessionId(reader.fixed64());
    else if (tag === ((2 << 3) | LENGTH)) hello.token = readBytes(reader);
    else if (tag === 24) hello.timeoutMs = reader.varint();
    else if (tag === 32) hello.resumed = readBool(reader);
    else if (tag === 40) hello.frameBytesMax = reader.varint();
    else if (tag === 48) hello.requestBytesMax = reader.varint();
    else if (tag === 56) hello.sid = reader.varint();
    else if (tag === 64) hello.protocolRevision = reader.varint();
    else if (tag === 72) hello.zxid = readZxid(reader);
    else if (tag === ((10 << 3) | LENGTH) && identities.length < IDENTITIES_MAX) identities.push(readIdentity(reader));
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return identities.length === 0 ? hello : { ...hello, identities };
}

function readReply(reader: ByteReader): FrameReply {
  return readReplyFields(reader, readMessageEnd(reader));
}

/** Reads the fields of a Reply up to `end`. */
export function readReplyFields(reader: ByteReader, end: number): FrameReply {
  let xid = 0;
  let zxid = ZERO_ZXID;
  let result: StreamResult | OpFailure | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    const kind = RESULT_OF_TAG.get(tag);
    if (kind !== undefined) result = readResult(reader, kind);
    else if (tag === 8) xid = reader.varint();
    else if (tag === 16) zxid = readZxid(reader);
    else if (tag === ((ERROR_FIELD << 3) | LENGTH)) result = readErrorDetail(reader, readMessageEnd(reader)).failure;
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  if (result === undefined) throw new DecodeError(`Reply ${xid} has no result that is known here`);
  return { xid, answer: { zxid, result } };
}

function readSessionClosed(reader: ByteReader): SessionClosed {
  const end = readMessageEnd(reader);
  let proto = 0;
  let message = '';
  let unansweredNotApplied = false;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) proto = reader.varint();
    else if (tag === ((2 << 3) | LENGTH)) message = readString(reader);
    else if (tag === 24) unansweredNotApplied = readBool(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { code: errorCodeOfProto(proto) ?? 'INTERNAL', message, unansweredNotApplied };
}
