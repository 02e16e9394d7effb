/**
 * The hand-written codec against protobufjs reflection on the proto file itself (by way of proto-loader): what either
 * writes the other reads, and hostile bytes give one kind of error.
 */
import type { MethodDefinition } from '@grpc/grpc-js';
import type { PeerMessage } from '@quorate/core';
import { DecodeError, ERROR_CODES, type SessionId, type Zxid } from '@quorate/protocol';
import { loadProtos, PEER_PROTOS, serviceOf } from '@quorate/protocol/grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFrame } from './decode.ts';
import { encodeHello, encodeMessage } from './encode.ts';
import { splitMessage } from './split.ts';
import { FIELD_OF_KIND, SERVER_STATES, VOTE_RIGHTS } from './wire.ts';

const LINK = serviceOf(loadProtos(PEER_PROTOS), 'quorate.peer.v1.PeerService')['Link'] as MethodDefinition<
  object,
  object
>;

const zxid = fc.bigInt({ min: 0n, max: 0x7fff_ffff_ffff_ffffn }).map((value) => value as Zxid);
const session = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }).map((value) => value as SessionId);
const epoch = fc.integer({ min: 0, max: 0x7fff_ffff });
const seq = fc.maxSafeNat();
/** 0: nobody, the vote of an observer. */
const sid = fc.integer({ min: 0, max: 254 });
const bytes = fc.uint8Array({ maxLength: 300 });
const records = fc.array(fc.record({ zxid, payload: bytes }), { maxLength: 5 });
const state = fc.constantFrom(...SERVER_STATES.filter((word) => word !== undefined));
const voteRight = fc.constantFrom(...VOTE_RIGHTS.filter((word) => word !== undefined));
const stateRecord = fc.record({ key: bytes, value: fc.option(bytes, { nil: undefined }) });

const ofKind: { readonly [K in PeerMessage['kind']]: fc.Arbitrary<Omit<Extract<PeerMessage, { kind: K }>, 'kind'>> } = {
  propose: fc.record({ records, committed: zxid }),
  ack: fc.record({ zxid }),
  commit: fc.record({ zxid }),
  forward: fc.record({ requests: fc.array(bytes, { maxLength: 5 }) }),
  ping: fc.record({ seq }),
  pong: fc.record({ seq }),
  touch: fc.record({ sessions: fc.array(session, { maxLength: 5 }) }),
  syncRequest: fc.record({ seq }),
  syncReply: fc.record({ seq, zxid }),
  notification: fc.record({
    state,
    round: fc.maxSafeNat().map((n) => n % 2 ** 48),
    vote: fc.record({ leader: sid, peerEpoch: epoch, zxid }),
    voteRight,
    isEmpty: fc.boolean(),
  }),
  followerInfo: fc.record({ acceptedEpoch: epoch, voteRight }),
  leaderInfo: fc.record({ epoch }),
  ackEpoch: fc.record({ currentEpoch: epoch, lastZxid: zxid, counted: fc.boolean() }),
  truncate: fc.record({ after: zxid }),
  snapshot: fc.record({ zxid }),
  stateChunk: fc.record({ records: fc.array(stateRecord, { maxLength: 5 }) }),
  stateEnd: fc.record({ zxid }),
  diff: fc.record({ records }),
  newLeader: fc.record({ epoch, lastZxid: zxid }),
  ackNewLeader: fc.record({ epoch }),
  upToDate: fc.record({ committed: zxid }),
  voteClaim: fc.record({}),
  voteGrant: fc.record({ zxid }),
  voteTaken: fc.record({}),
  revalidate: fc.record({ seq, session, token: bytes, own: fc.boolean() }),
  revalidated: fc.record({
    seq,
    timeoutMs: fc.nat(),
    error: fc.option(fc.constantFrom(...ERROR_CODES), { nil: undefined }),
    grantedAt: zxid,
  }),
  sessionMoved: fc.record({ session }),
  compareDigest: fc.record({ zxid, version: fc.nat() }),
  digestAt: fc.record({ zxid, digest: session }),
  digestAgreed: fc.record({ zxid, digest: session }),
};

const kinds = Object.keys(FIELD_OF_KIND) as PeerMessage['kind'][];
const message: fc.Arbitrary<PeerMessage> = fc
  .constantFrom(...kinds)
  .chain((kind) => (ofKind[kind] as fc.Arbitrary<object>).map((rest) => ({ kind, ...rest }) as PeerMessage));

/** The shape that proto-loader has for a message. */
function toProto({ kind, ...rest }: PeerMessage): Record<string, unknown> {
  const body: Record<string, unknown> = { ...rest };
  if ('state' in body) body['state'] = `SERVER_STATE_${String(body['state']).toUpperCase()}`;
  if ('voteRight' in body) body['voteRight'] = `VOTE_RIGHT_${String(body['voteRight']).toUpperCase()}`;
  if ('error' in body) body['error'] = `ERROR_CODE_${(body['error'] as string | undefined) ?? 'UNSPECIFIED'}`;
  return { [kind]: body };
}

function fromProto(proto: Record<string, unknown>): PeerMessage {
  const kind = String(proto['kind']);
  const body = plain(proto[kind]) as Record<string, unknown>;
  if ('state' in body) body['state'] = String(body['state']).replace('SERVER_STATE_', '').toLowerCase();
  if ('voteRight' in body) body['voteRight'] = String(body['voteRight']).replace('VOTE_RIGHT_', '').toLowerCase();
  for (const key of ['seq', 'round']) if (key in body) body[key] = Number(body[key]);
  if ('error' in body) {
    const error = String(body['error']).replace('ERROR_CODE_', '');
    body['error'] = error === 'UNSPECIFIED' ? undefined : error;
  }
  return { kind, ...body } as unknown as PeerMessage;
}

/** Buffers as plain arrays of bytes, and without the `_value` keys that mark optional fields. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !key.startsWith('_'));
  const object = Object.fromEntries(entries.map(([key, item]) => [key, plain(item)]));
  if ('key' in object && !('value' in object)) object['value'] = undefined;
  return object;
}

function frameOf(messages: readonly PeerMessage[]): Uint8Array {
  return Buffer.concat(messages.map(encodeMessage));
}

describe('the peer codec against protobufjs', () => {
  it('writes what protobufjs reads, for every kind of message', () => {
    for (const kind of kinds) {
      fc.assert(
        fc.property(ofKind[kind] as fc.Arbitrary<object>, (rest) => {
          const written = { kind, ...rest } as PeerMessage;
          const read = LINK.requestDeserialize(Buffer.from(frameOf([written]))) as { messages: object[] };
          expect(fromProto(read.messages[0] as Record<string, unknown>)).toEqual(written);
        }),
        { numRuns: 30 },
      );
    }
  });

  it('reads what protobufjs writes, several in one frame, in order', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        const bytesOfFrame = LINK.requestSerialize({ messages: messages.map(toProto) });
        expect(decodeFrame(bytesOfFrame).messages.map(plain)).toEqual(messages);
      }),
      { numRuns: 300 },
    );
  });

  it('reads what it writes itself', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        expect(decodeFrame(frameOf(messages)).messages.map(plain)).toEqual(messages);
      }),
      { numRuns: 300 },
    );
  });

  it('speaks the same hello', () => {
    const hello = { clusterId: 'prod-é', sid: 254, peerSid: 1, protocolRevision: 1, featureLevel: 3 };
    expect(LINK.requestDeserialize(Buffer.from(encodeHello(hello)))).toMatchObject({ hello, messages: [] });
    expect(decodeFrame(LINK.responseSerialize({ hello }))).toEqual({ hello, messages: [] });
  });

  it('keeps 64-bit values exact (C013)', () => {
    const value = 0x0030_0000_0000_0001n as Zxid;
    const sessions = [0x7f00_0000_0000_0001n, 0xff00_0000_0000_0003n] as SessionId[];
    const frame = decodeFrame(
      frameOf([
        { kind: 'ack', zxid: value },
        { kind: 'touch', sessions },
      ]),
    );
    expect(frame.messages).toEqual([
      { kind: 'ack', zxid: value },
      { kind: 'touch', sessions },
    ]);
  });
});

describe('input from outside', () => {
  it('gives DecodeError and nothing else for any bytes (C167)', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 3 }), fc.infiniteStream(fc.nat()), (messages, numbers) => {
        const broken = Uint8Array.from(frameOf(messages));
        const flips = numbers.next().value % 4;
        for (let i = 0; i < flips && broken.length > 0; i++) {
          broken[numbers.next().value % broken.length] = numbers.next().value & 0xff;
        }
        const cut = broken.subarray(0, numbers.next().value % (broken.length + 1));
        expectFrameOrDecodeError(cut);
        expectFrameOrDecodeError(broken);
      }),
      { numRuns: 2000 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), expectFrameOrDecodeError), { numRuns: 2000 });
  });

  it.each([
    ['a message without a kind', { messages: [{}] }, 'without a kind'],
    ['a vote for sid 255', { messages: [{ notification: { state: 1, vote: { leader: 255 } } }] }, 'sid 255'],
    ['a state that is not stated', { messages: [{ notification: { vote: { leader: 1 } } }] }, 'not a server state'],
    ['an epoch above 2^31', { messages: [{ leaderInfo: { epoch: 0x8000_0000 } }] }, 'not an epoch'],
    ['a zxid above 2^63', { messages: [{ ack: { zxid: 0x8000_0000_0000_0000n } }] }, 'not a zxid'],
    ['a number above 2^53', { messages: [{ ping: { seq: 0x20_0000_0000_0000n } }] }, 'above 2^53'],
  ])('refuses %s', (_, frame, why) => {
    expect(() => decodeFrame(LINK.requestSerialize(frame))).toThrow(why);
  });

  it('refuses a kind of message that it does not know, and passes over fields that it does not know', () => {
    expect(() => decodeFrame(Uint8Array.of(0x12, 3, 0x82, 0x06, 0))).toThrow('Unknown peer message with field 96');
    expect(decodeFrame(Uint8Array.of(0x18, 1, 0x12, 4, 0x2a, 2, 0x08, 7)).messages).toEqual([{ kind: 'ping', seq: 7 }]);
    expect(decodeFrame(Uint8Array.of(0x12, 6, 0x2a, 4, 0x08, 7, 0x50, 1)).messages).toEqual([{ kind: 'ping', seq: 7 }]);
  });
});

describe('long messages', () => {
  it('are cut between items into pieces that mean the same', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 1, max: 400 }), (whole, pieceBytes) => {
        const pieces = splitMessage(whole, pieceBytes);
        if (pieces.length > 1) for (const piece of pieces) expect(itemsOf(piece).length).toBeGreaterThan(0);
        expect(pieces.flatMap(itemsOf)).toEqual(itemsOf(whole));
        expect(pieces.every((piece) => piece.kind === whole.kind)).toBe(true);
        if (whole.kind === 'propose' && pieces.length > 1) {
          for (const piece of pieces) expectCommitWithin(piece, whole.committed);
        }
      }),
    );
  });

  it('are not cut when they are short', () => {
    const short: PeerMessage = { kind: 'forward', requests: [new Uint8Array(10), new Uint8Array(10)] };
    expect(splitMessage(short)).toEqual([short]);
  });
});

/** A commit beyond what its reader has by then would be taken for a fault of the leader. */
function expectCommitWithin(piece: PeerMessage, committed: Zxid): void {
  if (piece.kind !== 'propose') throw new Error(piece.kind);
  const last = piece.records.at(-1)?.zxid;
  expect(piece.committed).toBe(last === undefined || committed < last ? committed : last);
}

function itemsOf(whole: PeerMessage): readonly unknown[] {
  if ('records' in whole) return whole.records;
  if ('requests' in whole) return whole.requests;
  return 'sessions' in whole ? whole.sessions : [whole];
}

function expectFrameOrDecodeError(input: Uint8Array): void {
  try {
    decodeFrame(input);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
  }
}
