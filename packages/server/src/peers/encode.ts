/**
 * Peer messages → bytes, as protobuf would write `quorate.peer.v1.LinkRequest` and `LinkResponse` (which have the same
 * fields). By hand, because every write passes here once for each learner.
 *
 * A message is encoded as a whole field of a frame, so that a frame is nothing but such fields one after another, and a
 * message for several learners is encoded once.
 */
import type { LogRecord, PeerMessage, StateRecord } from '@quorate/core';
import { ByteWriter, ERRORS, type SessionId, unreachable } from '@quorate/protocol';
import {
  beginMessage,
  writeBool,
  writeBytes,
  writeBytesAlways,
  writeFixed64,
  writeString,
  writeUint,
} from '@quorate/protocol/frames';
import { FIELD_OF_KIND, FRAME_HELLO, FRAME_MESSAGES, SERVER_STATES, VOTE_RIGHTS } from './wire.ts';

/** Who is at an end of a link, and what it speaks. */
export interface LinkHello {
  readonly clusterId: string;
  readonly sid: number;
  /** The sid that the speaker believes to be talking to. */
  readonly peerSid: number;
  readonly protocolRevision: number;
  readonly featureLevel: number;
}

/** A frame that has only a hello. */
export function encodeHello(hello: LinkHello): Uint8Array {
  const writer = new ByteWriter(96);
  const start = beginMessage(writer, FRAME_HELLO);
  writeString(writer, 1, hello.clusterId);
  writeUint(writer, 2, hello.sid);
  writeUint(writer, 3, hello.peerSid);
  writeUint(writer, 4, hello.protocolRevision);
  writeUint(writer, 5, hello.featureLevel);
  return writer.endPart(start).finish();
}

/** One message as a field of a frame: a whole frame by itself, and so is any number of them one after another. */
export function encodeMessage(message: PeerMessage): Uint8Array {
  const writer = new ByteWriter(16 + bodyCapacity(message));
  const start = beginMessage(writer, FRAME_MESSAGES);
  const body = beginMessage(writer, FIELD_OF_KIND[message.kind]);
  writeBody(writer, message);
  return writer.endPart(body).endPart(start).finish();
}

/** An upper bound of the body's size where it can be large, so that the buffer does not grow while it is written. */
function bodyCapacity(message: PeerMessage): number {
  switch (message.kind) {
    case 'propose':
    case 'diff':
      return message.records.reduce((sum, record) => sum + record.payload.length + 24, 16);
    case 'stateChunk':
      return message.records.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0) + 20, 0);
    case 'forward':
      return message.requests.reduce((sum, request) => sum + request.length + 6, 0);
    case 'touch':
      return message.sessions.length * 8 + 6;
    default:
      return 64;
  }
}

function writeBody(writer: ByteWriter, message: PeerMessage): void {
  switch (message.kind) {
    case 'propose':
      for (const record of message.records) logRecord(writer, record);
      return writeFixed64(writer, 2, message.committed);
    case 'diff':
      for (const record of message.records) logRecord(writer, record);
      return;
    case 'ack':
    case 'commit':
    case 'snapshot':
    case 'stateEnd':
    case 'voteGrant':
      return writeFixed64(writer, 1, message.zxid);
    case 'voteClaim':
    case 'voteTaken':
      return;
    case 'forward':
      for (const request of message.requests) writeBytesAlways(writer, 1, request);
      return;
    case 'ping':
    case 'pong':
    case 'syncRequest':
      return writeUint(writer, 1, message.seq);
    case 'syncReply':
      writeUint(writer, 1, message.seq);
      return writeFixed64(writer, 2, message.zxid);
    case 'touch':
      return touch(writer, message.sessions);
    case 'stateChunk':
      for (const record of message.records) stateRecord(writer, record);
      return;
    case 'truncate':
      return writeFixed64(writer, 1, message.after);
    case 'upToDate':
      return writeFixed64(writer, 1, message.committed);
    case 'revalidate':
    case 'revalidated':
    case 'sessionMoved':
      return writeSessionBody(writer, message);
    case 'compareDigest':
      writeFixed64(writer, 1, message.zxid);
      return writeUint(writer, 2, message.version);
    case 'digestAt':
    case 'digestAgreed':
      writeFixed64(writer, 1, message.zxid);
      return writeFixed64(writer, 2, message.digest);
    default:
      return writeEpochBody(writer, message);
  }
}

type SessionMessage = Extract<PeerMessage, { kind: 'revalidate' | 'revalidated' | 'sessionMoved' }>;

function writeSessionBody(writer: ByteWriter, message: SessionMessage): void {
  switch (message.kind) {
    case 'revalidate':
      writeUint(writer, 1, message.seq);
      writeFixed64(writer, 2, message.session);
      writeBytes(writer, 3, message.token);
      return writeBool(writer, 4, message.own);
    case 'revalidated':
      writeUint(writer, 1, message.seq);
      writeUint(writer, 2, message.timeoutMs);
      writeUint(writer, 3, message.error === undefined ? 0 : ERRORS[message.error].proto);
      return writeFixed64(writer, 4, message.grantedAt);
    case 'sessionMoved':
      writeFixed64(writer, 1, message.session);
      return;
    default:
      return unreachable(message);
  }
}

type EpochMessage = Extract<
  PeerMessage,
  { kind: 'notification' | 'followerInfo' | 'leaderInfo' | 'ackEpoch' | 'newLeader' | 'ackNewLeader' }
>;

function writeEpochBody(writer: ByteWriter, message: EpochMessage): void {
  switch (message.kind) {
    case 'notification': {
      const { leader, peerEpoch, zxid } = message.vote;
      writeUint(writer, 1, SERVER_STATES.indexOf(message.state));
      writeUint(writer, 2, message.round);
      const vote = beginMessage(writer, 3);
      writeUint(writer, 1, leader);
      writeUint(writer, 2, peerEpoch);
      writeFixed64(writer, 3, zxid);
      writer.endPart(vote);
      writeUint(writer, 4, VOTE_RIGHTS.indexOf(message.voteRight));
      return writeBool(writer, 5, message.isEmpty);
    }
    case 'followerInfo':
      writeUint(writer, 1, message.acceptedEpoch);
      return writeUint(writer, 2, VOTE_RIGHTS.indexOf(message.voteRight));
    case 'leaderInfo':
    case 'ackNewLeader':
      return writeUint(writer, 1, message.epoch);
    case 'ackEpoch':
      writeUint(writer, 1, message.currentEpoch);
      writeFixed64(writer, 2, message.lastZxid);
      return writeBool(writer, 3, message.counted);
    case 'newLeader':
      writeUint(writer, 1, message.epoch);
      return writeFixed64(writer, 2, message.lastZxid);
    default:
      return unreachable(message);
  }
}

function logRecord(writer: ByteWriter, { zxid, payload }: LogRecord): void {
  const start = beginMessage(writer, 1);
  writeFixed64(writer, 1, zxid);
  writeBytes(writer, 2, payload);
  writer.endPart(start);
}

function stateRecord(writer: ByteWriter, { key, value }: StateRecord): void {
  const start = beginMessage(writer, 1);
  writeBytes(writer, 1, key);
  if (value !== undefined) writeBytesAlways(writer, 2, value);
  writer.endPart(start);
}

/** Packed, as proto3 writes repeated numbers. */
function touch(writer: ByteWriter, sessions: readonly SessionId[]): void {
  const start = beginMessage(writer, 1);
  for (const session of sessions) writer.fixed64(session);
  writer.endPart(start);
}
