/**
 * Bytes → peer messages, of `quorate.peer.v1`. Unknown fields are passed over, an unknown kind of message is not: what a
 * member cannot understand it must not skip. Everything is checked here once; the core trusts the types.
 * Payloads and records are views of the frame, not copies.
 */
import type { LogRecord, PeerMessage, ServerState, StateRecord, Vote, VoteRight } from '@quorate/core';
import {
  ByteReader,
  DecodeError,
  EPOCH_MAX,
  type ErrorCode,
  errorCodeOfProto,
  type SessionId,
  SID_MAX,
  type Zxid,
} from '@quorate/protocol';
import {
  checkMessageEnd,
  FIXED64,
  LENGTH,
  readBytes,
  readMessageEnd,
  readTag,
  skipField,
} from '@quorate/protocol/frames';
import type { LinkHello } from './encode.ts';
import { type Fields, readFields } from './fields.ts';
import { FRAME_HELLO, FRAME_MESSAGES, KIND_OF_FIELD, SERVER_STATES, VOTE_RIGHTS } from './wire.ts';

/** What one frame had. */
export interface Frame {
  readonly hello: LinkHello | undefined;
  readonly messages: readonly PeerMessage[];
}

const ZXID_MAX = 0x7fff_ffff_ffff_ffffn;
/** Rounds count elections; a larger one is none, and would leave no room above it. */
const ROUND_MAX = 2 ** 48;
const EMPTY: Uint8Array = new Uint8Array(0);

/** Reads one frame. Throws DecodeError on anything that is not one: the link must be closed. */
export function decodeFrame(bytes: Uint8Array): Frame {
  const reader = new ByteReader(bytes);
  const messages: PeerMessage[] = [];
  let hello: LinkHello | undefined;
  while (reader.remaining > 0) {
    const tag = readTag(reader);
    if (tag === ((FRAME_MESSAGES << 3) | LENGTH)) messages.push(readMessage(reader, readMessageEnd(reader)));
    else if (tag === ((FRAME_HELLO << 3) | LENGTH)) hello = readHello(reader, readMessageEnd(reader));
    else skipField(reader, tag);
  }
  return { hello, messages };
}

function readHello(reader: ByteReader, end: number): LinkHello {
  const fields = readFields(reader, end);
  return {
    clusterId: fields.text(1),
    sid: fields.uint(2),
    peerSid: fields.uint(3),
    protocolRevision: fields.uint(4),
    featureLevel: fields.uint(5),
  };
}

function readMessage(reader: ByteReader, end: number): PeerMessage {
  let message: PeerMessage | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    const kind = KIND_OF_FIELD.get(tag >>> 3);
    if (kind === undefined || (tag & 7) !== LENGTH) {
      throw new DecodeError(`Unknown peer message with field ${tag >>> 3}`);
    }
    message = readKind(reader, kind, readMessageEnd(reader));
  }
  checkMessageEnd(reader, end);
  if (message === undefined) throw new DecodeError('A peer message without a kind');
  return message;
}

/** The messages with lists read them in place; the others are small and go by way of their fields. */
function readKind(reader: ByteReader, kind: PeerMessage['kind'], end: number): PeerMessage {
  switch (kind) {
    case 'propose':
      return readPropose(reader, end);
    case 'diff':
      return { kind, records: readList(reader, end, readLogRecord) };
    case 'stateChunk':
      return { kind, records: readList(reader, end, readStateRecord) };
    case 'forward':
      return { kind, requests: readList(reader, end, (from, until) => from.raw(until - from.offset)) };
    case 'touch':
      return { kind, sessions: readSessions(reader, end) };
    case 'ack':
    case 'commit':
    case 'snapshot':
    case 'stateEnd':
    case 'voteGrant':
      return { kind, zxid: zxidOf(readFields(reader, end).fixed(1)) };
    case 'ping':
    case 'pong':
    case 'syncRequest':
      return { kind, seq: readFields(reader, end).count(1) };
    default:
      return readSmall(readFields(reader, end), kind);
  }
}

type SmallKind = Exclude<
  PeerMessage['kind'],
  | 'propose'
  | 'diff'
  | 'stateChunk'
  | 'forward'
  | 'touch'
  | 'ack'
  | 'commit'
  | 'snapshot'
  | 'stateEnd'
  | 'voteGrant'
  | 'ping'
  | 'pong'
  | 'syncRequest'
>;

function readSmall(fields: Fields, kind: SmallKind): PeerMessage {
  switch (kind) {
    case 'notification':
      return {
        kind,
        state: stateOf(fields.uint(1)),
        round: roundOf(fields.count(2)),
        vote: readVote(fields.bytes(3)),
        voteRight: voteRightOf(fields.uint(4)),
        isEmpty: fields.uint(5) !== 0,
      };
    case 'followerInfo':
      return { kind, acceptedEpoch: epochOf(fields.uint(1)), voteRight: voteRightOf(fields.uint(2)) };
    case 'leaderInfo':
    case 'ackNewLeader':
      return { kind, epoch: epochOf(fields.uint(1)) };
    case 'ackEpoch':
      return {
        kind,
        currentEpoch: epochOf(fields.uint(1)),
        lastZxid: zxidOf(fields.fixed(2)),
        counted: fields.uint(3) !== 0,
      };
    case 'voteClaim':
    case 'voteTaken':
      return { kind };
    case 'truncate':
      return { kind, after: zxidOf(fields.fixed(1)) };
    case 'newLeader':
      return { kind, epoch: epochOf(fields.uint(1)), lastZxid: zxidOf(fields.fixed(2)) };
    case 'upToDate':
      return { kind, committed: zxidOf(fields.fixed(1)) };
    case 'syncReply':
      return { kind, seq: fields.count(1), zxid: zxidOf(fields.fixed(2)) };
    case 'revalidate':
      return {
        kind,
        seq: fields.count(1),
        session: fields.fixed(2) as SessionId,
        token: fields.bytes(3),
        own: fields.uint(4) !== 0,
      };
    case 'revalidated':
      return {
        kind,
        seq: fields.count(1),
        timeoutMs: fields.uint(2),
        error: errorOf(fields.uint(3)),
        grantedAt: zxidOf(fields.fixed(4)),
      };
    case 'sessionMoved':
      return { kind, session: fields.fixed(1) as SessionId };
    case 'compareDigest':
      return { kind, zxid: zxidOf(fields.fixed(1)), version: fields.uint(2) };
    case 'digestAt':
    case 'digestAgreed':
      return { kind, zxid: zxidOf(fields.fixed(1)), digest: fields.fixed(2) };
  }
}

function readPropose(reader: ByteReader, end: number): PeerMessage {
  const records: LogRecord[] = [];
  let committed = 0n;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) records.push(readLogRecord(reader, readMessageEnd(reader)));
    else if (tag === ((2 << 3) | FIXED64)) committed = reader.fixed64();
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { kind: 'propose', records, committed: zxidOf(committed) };
}

/** The repeated field 1 of a message that has only that. */
function readList<T>(reader: ByteReader, end: number, readItem: (reader: ByteReader, end: number) => T): T[] {
  const items: T[] = [];
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) items.push(readItem(reader, readMessageEnd(reader)));
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return items;
}

function readLogRecord(reader: ByteReader, end: number): LogRecord {
  let zxid = 0n;
  let payload = EMPTY;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | FIXED64)) zxid = reader.fixed64();
    else if (tag === ((2 << 3) | LENGTH)) payload = readBytes(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { zxid: zxidOf(zxid), payload };
}

function readStateRecord(reader: ByteReader, end: number): StateRecord {
  let key = EMPTY;
  let value: Uint8Array | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) key = readBytes(reader);
    else if (tag === ((2 << 3) | LENGTH)) value = readBytes(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { key, value };
}

/** Packed, or one by one, as protobuf asks of readers. */
function readSessions(reader: ByteReader, end: number): SessionId[] {
  const sessions: SessionId[] = [];
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) {
      const packedEnd = readMessageEnd(reader);
      while (reader.offset < packedEnd) sessions.push(reader.fixed64() as SessionId);
      checkMessageEnd(reader, packedEnd);
    } else if (tag === ((1 << 3) | FIXED64)) sessions.push(reader.fixed64() as SessionId);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return sessions;
}

function readVote(bytes: Uint8Array): Vote {
  const reader = new ByteReader(bytes);
  const fields = readFields(reader, bytes.length);
  const leader = fields.uint(1);
  // 0: a member without a vote votes for nobody.
  if (leader > SID_MAX) throw new DecodeError(`A vote for sid ${leader}`);
  return { leader, peerEpoch: epochOf(fields.uint(2)), zxid: zxidOf(fields.fixed(3)) };
}

function zxidOf(value: bigint): Zxid {
  if (value > ZXID_MAX) throw new DecodeError(`${value} is not a zxid`);
  return value as Zxid;
}

function epochOf(value: number): number {
  if (value > EPOCH_MAX) throw new DecodeError(`${value} is not an epoch`);
  return value;
}

function roundOf(value: number): number {
  if (value > ROUND_MAX) throw new DecodeError(`${value} is not an election round`);
  return value;
}

function voteRightOf(value: number): VoteRight {
  const voteRight = VOTE_RIGHTS[value];
  if (voteRight === undefined) throw new DecodeError(`${value} is not a right to vote`);
  return voteRight;
}

function stateOf(value: number): ServerState {
  const state = SERVER_STATES[value];
  if (state === undefined) throw new DecodeError(`${value} is not a server state`);
  return state;
}

/** A code that this build does not know is still a refusal. */
function errorOf(value: number): ErrorCode | undefined {
  return value === 0 ? undefined : (errorCodeOfProto(value) ?? 'INTERNAL');
}
