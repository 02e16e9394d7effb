/**
 * The frame codec against protobufjs's reflection over the real protos: what one writes the other must read.
 * Made-up frames come from fast-check; a failure prints the seed that replays it.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../bytes.ts';
import { ERROR_CODES, ERRORS } from '../errors.ts';
import { loadProtos, SESSION_SERVICE, serviceOf } from '../grpc/index.ts';
import { toSessionId } from '../session-id.ts';
import { toZxid } from '../zxid.ts';
import { decodeAnswer, encodeAnswer } from './answer.ts';
import { decodeAttachRequest, writeAcknowledged, writeCall, writeClientHello } from './attach-request.ts';
import { decodeAttachResponse, writeReply, writeServerHello, writeSessionClosed } from './attach-response.ts';
import type { ClientHello, FrameCall, ServerHello, StreamAnswer, StreamOp } from './frame.ts';

const attach = serviceOf(loadProtos(), SESSION_SERVICE)['Attach']!;

/** proto-loader's reading of our bytes, written again by proto-loader. */
const throughRequest = (bytes: Uint8Array) => plain(attach.requestSerialize(attach.requestDeserialize(buffer(bytes))));
const throughResponse = (bytes: Uint8Array) =>
  plain(attach.responseSerialize(attach.responseDeserialize(buffer(bytes))));
const buffer = (bytes: Uint8Array) => Buffer.from(bytes);
const plain = (bytes: Buffer) => new Uint8Array(bytes);

const path = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `/${text}`);
const data = fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined });
const int32 = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const version = fc.option(int32, { nil: undefined });
const zxid = fc.oneof(
  fc.bigInt({ min: 0n, max: 0x7fff_ffff_ffff_ffffn }).map(toZxid),
  fc.constantFrom(9_007_199_254_740_993n, 0x0030_0000_0000_0001n, 0x7fff_ffff_ffff_ffffn, 0n).map(toZxid),
);
const session = fc.oneof(
  fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }).map(toSessionId),
  fc.constantFrom(0x7f00_0000_0000_0001n, 0xff00_0000_0000_0003n).map(toSessionId),
);
const ms = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const token = fc.uint8Array({ maxLength: 16 });

const acl = fc.array(fc.record({ perms: int32, scheme: fc.string(), id: fc.string() }), { minLength: 1, maxLength: 3 });

const single = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    path,
    data,
    mode: fc.constant('persistent' as const),
    sequential: fc.boolean(),
    acl,
  }),
  fc.record({
    kind: fc.constant('create' as const),
    path,
    data,
    mode: fc.constantFrom('persistent' as const, 'ephemeral' as const, 'container' as const),
    sequential: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('create' as const),
    path,
    data,
    mode: fc.constant('ttl' as const),
    ttlMs: ms,
    sequential: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('create' as const),
    path,
    data,
    mode: fc.constant('persistent' as const),
    sequential: fc.boolean(),
    parents: fc.constant<true>(true),
  }),
  fc.record({ kind: fc.constant('delete' as const), path, expectedVersion: version }),
  fc.record({ kind: fc.constant('setData' as const), path, data, expectedVersion: version }),
);

/** A token that is sent is not empty. */
const pageToken = fc.option(fc.uint8Array({ minLength: 1, maxLength: 30 }), { nil: undefined });

const wish = {
  path,
  withStat: fc.boolean(),
  withData: fc.boolean(),
  limit: uint32,
  token: pageToken,
  isEnd: fc.boolean(),
};

const credential = fc.record({ scheme: fc.string(), proof: token });
const identities = fc.array(fc.record({ scheme: fc.string(), id: fc.string() }), { minLength: 1, maxLength: 3 });

const op: fc.Arbitrary<StreamOp> = fc.oneof(
  single,
  fc.record({ kind: fc.constant('addAuth' as const), credential }),
  fc.record({ kind: fc.constant('setAcl' as const), path, acl, expectedVersion: version }),
  fc.record(
    { kind: fc.constant('createOrSet' as const), path, data, acl, parents: fc.constant<true>(true) },
    { requiredKeys: ['kind', 'path', 'data'] },
  ),
  fc.record(
    { kind: fc.constant('deleteSubtree' as const), path, limit: fc.integer({ min: 1, max: 0xffff_ffff }) },
    { requiredKeys: ['kind', 'path'] },
  ),
  fc.record({ kind: fc.constant('getAcl' as const), path }),
  fc.record({
    kind: fc.constant('multi' as const),
    parts: fc.array(
      fc.oneof(
        single,
        fc.record({ kind: fc.constant('check' as const), path, expectedVersion: version }),
        fc.record({
          kind: fc.constant('check' as const),
          path,
          expectedVersion: version,
          absent: fc.constant<true>(true),
        }),
        fc.record({ kind: fc.constantFrom('exists' as const, 'getData' as const), path }),
      ),
      { maxLength: 4 },
    ),
  }),
  fc.record({ kind: fc.constantFrom('exists' as const, 'getData' as const, 'getChildren' as const), path }),
  fc.record({ kind: fc.constantFrom('getAllChildrenNumber' as const, 'getEphemerals' as const), path }),
  fc.record({
    kind: fc.constant('multiRead' as const),
    parts: fc.array(
      fc.record({ kind: fc.constantFrom('exists' as const, 'getData' as const, 'getChildren' as const), path }),
    ),
  }),
  fc.record({ kind: fc.constant('listChildren' as const), ...wish, after: fc.string() }),
  fc.record({ kind: fc.constant('getSubtree' as const), ...wish, depth: fc.option(uint32, { nil: undefined }) }),
  fc.record({ kind: fc.constant('sync' as const), path }),
  fc.constant({ kind: 'closeSession' as const }),
);

const guards = fc.array(fc.record({ path, czxid: zxid }), { minLength: 1, maxLength: 16 });

const call: fc.Arbitrary<FrameCall> = fc
  .record(
    {
      xid: uint32,
      timeoutMs: uint32,
      op,
      guards,
      linearizable: fc.boolean(),
      request: fc.integer({ min: 1, max: 0xffff_ffff }),
    },
    { requiredKeys: ['xid', 'timeoutMs', 'op', 'linearizable'] },
  )
  .map((made) => ({ ...made, linearizable: made.linearizable && /^(exists|get|list|multiRead)/.test(made.op.kind) }));

const stat = fc.record({
  czxid: zxid,
  mzxid: zxid,
  pzxid: zxid,
  ctimeMs: ms,
  mtimeMs: ms,
  version: int32,
  cversion: int32,
  aversion: int32,
  ephemeralOwner: session,
  dataLength: int32,
  numChildren: int32,
});

const failure = fc.record({
  kind: fc.constant('error' as const),
  code: fc.constantFrom(...ERROR_CODES),
  path: fc.option(path, { nil: undefined }),
  message: fc.string(),
});

const partFailure = fc.record({
  kind: fc.constant('error' as const),
  code: fc.constantFrom(...ERROR_CODES),
  path: fc.constant(undefined),
  message: fc.string(),
  part: fc.nat(9_000),
});

const partResult = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), path, stat }),
  fc.record({ kind: fc.constant('setData' as const), stat }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'check' as const) }),
  fc.record({ kind: fc.constant('exists' as const), stat: fc.option(stat, { nil: undefined }) }),
  fc.record({ kind: fc.constant('getData' as const), data, stat }),
);

const readPartResult = fc.oneof(
  fc.record({ kind: fc.constant('exists' as const), stat }),
  fc.record({ kind: fc.constant('getData' as const), data, stat }),
  fc.record({ kind: fc.constant('getChildren' as const), children: fc.array(fc.string()), stat }),
  failure,
);

const result = fc.oneof(
  fc.record({ kind: fc.constant('multiRead' as const), results: fc.array(readPartResult, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant('setAcl' as const), stat }),
  fc.record({ kind: fc.constant('deleteSubtree' as const), deleted: uint32, more: fc.boolean() }),
  fc.record({ kind: fc.constant('createOrSet' as const), created: fc.boolean(), stat }),
  fc.record({ kind: fc.constant('getAcl' as const), acl, stat }),
  fc.record({ kind: fc.constant('multi' as const), results: fc.array(partResult, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant('create' as const), path, stat }),
  fc.record({ kind: fc.constantFrom('exists' as const, 'setData' as const), stat }),
  fc.record({ kind: fc.constant('getData' as const), data, stat }),
  fc.record({ kind: fc.constant('getChildren' as const), children: fc.array(fc.string()), stat }),
  fc.record({ kind: fc.constant('getEphemerals' as const), paths: fc.array(fc.string()) }),
  fc.record({ kind: fc.constant('getAllChildrenNumber' as const), total: uint32 }),
  fc.record({ kind: fc.constant('sync' as const), path }),
  fc.record({
    kind: fc.constantFrom('listChildren' as const, 'getSubtree' as const),
    at: zxid,
    top: fc.option(stat, { nil: undefined }),
    entries: fc.array(fc.record({ name: path, stat: fc.option(stat, { nil: undefined }), data }), { maxLength: 4 }),
    next: pageToken,
  }),
  fc.constant({ kind: 'delete' as const }),
  fc.constant({ kind: 'closeSession' as const }),
);

const addAuthResult = fc.record({ kind: fc.constant('addAuth' as const), identities });

const reply = fc
  .record({ xid: uint32, zxid, result: fc.oneof(result, failure, partFailure, addAuthResult) })
  .map(({ xid, ...answer }) => ({ xid, answer: answer as StreamAnswer }));

const clientHello: fc.Arbitrary<ClientHello> = fc.record({
  session,
  token,
  timeoutMs: uint32,
  lastZxidSeen: zxid,
  protocolRevision: uint32,
  credentials: fc.array(credential, { minLength: 1, maxLength: 3 }),
});

const serverHello: fc.Arbitrary<ServerHello> = fc.record({
  session,
  token,
  timeoutMs: uint32,
  resumed: fc.boolean(),
  frameBytesMax: uint32,
  requestBytesMax: uint32,
  sid: uint32,
  protocolRevision: uint32,
  zxid,
  identities,
});

const closed = fc.record({
  code: fc.constantFrom(...ERROR_CODES),
  message: fc.string(),
  unansweredNotApplied: fc.boolean(),
});

function encodeRequest(hello: ClientHello | undefined, calls: readonly FrameCall[], acknowledged: number): Uint8Array {
  const writer = new ByteWriter(8);
  if (hello !== undefined) writeClientHello(writer, hello);
  for (const one of calls) writeCall(writer, one);
  writeAcknowledged(writer, acknowledged);
  return writer.finish();
}

describe('the frame codec against protobufjs', () => {
  it('C013: reads back every request frame, also one that protobufjs has read and written', () => {
    fc.assert(
      fc.property(
        fc.option(clientHello, { nil: undefined }),
        fc.array(call, { maxLength: 8 }),
        uint32,
        (hello, calls, acknowledged) => {
          const bytes = encodeRequest(hello, calls, acknowledged);
          expect(decodeAttachRequest(bytes)).toEqual({ hello, calls, watches: [], acknowledged });
          expect(decodeAttachRequest(throughRequest(bytes))).toEqual({ hello, calls, watches: [], acknowledged });
        },
      ),
    );
  });

  it('reads back an answer that was kept', () => {
    fc.assert(
      fc.property(zxid, fc.oneof(result, failure, partFailure), (at, made) => {
        const answer = { zxid: at, result: made };
        expect(decodeAnswer(encodeAnswer(new ByteWriter(8), answer))).toEqual(answer);
      }),
    );
  });

  it('C013: reads back every response frame, also one that protobufjs has read and written', () => {
    fc.assert(
      fc.property(
        fc.option(serverHello, { nil: undefined }),
        fc.array(reply, { maxLength: 8 }),
        fc.option(closed, { nil: undefined }),
        (hello, replies, last) => {
          const writer = new ByteWriter(8);
          if (hello !== undefined) writeServerHello(writer, hello);
          for (const { xid, answer } of replies) writeReply(writer, xid, 'getData', answer);
          if (last !== undefined) writeSessionClosed(writer, last);
          const bytes = writer.finish();
          expect(decodeAttachResponse(bytes)).toEqual({ hello, replies, closed: last, watches: [], notifications: [] });
          expect(decodeAttachResponse(throughResponse(bytes))).toEqual({
            hello,
            replies,
            closed: last,
            watches: [],
            notifications: [],
          });
        },
      ),
    );
  });

  it('C013: hands neighbouring 64-bit values to protobufjs without rounding', () => {
    const hello = {
      session: toSessionId(0xff00_0000_0000_0003n),
      token: new Uint8Array(0),
      timeoutMs: 0,
      lastZxidSeen: toZxid(9_007_199_254_740_993n),
      protocolRevision: 1,
    };
    const seen = attach.requestDeserialize(buffer(encodeRequest(hello, [], 0))) as {
      hello: { sessionId: bigint; lastZxidSeen: bigint };
    };
    expect(seen.hello.sessionId).toBe(0xff00_0000_0000_0003n);
    expect(seen.hello.lastZxidSeen).toBe(9_007_199_254_740_993n);
  });

  it('writes an exists of an absent znode as a response without a stat', () => {
    const writer = new ByteWriter();
    const failed = { kind: 'error' as const, code: 'NO_NODE' as const, path: '/a', message: 'Gone' };
    writeReply(writer, 3, 'exists', { zxid: toZxid(5n), result: failed });
    const seen = attach.responseDeserialize(buffer(writer.finish())) as {
      replies: { result: string; exists: object }[];
    };
    expect(seen.replies[0]).toMatchObject({ xid: 3, zxid: 5n, result: 'exists', exists: { stat: null } });
    expect(decodeAttachResponse(writer.finish()).replies[0]?.answer.result).toMatchObject({ code: 'NO_NODE' });
  });

  it('names every code of the error table as the protos do', () => {
    for (const code of ERROR_CODES) {
      const bytes = attach.responseSerialize({ closed: { code: `ERROR_CODE_${code}` } });
      expect(decodeAttachResponse(plain(bytes)).closed?.code).toBe(code);
      const writer = new ByteWriter();
      writeSessionClosed(writer, { code, message: '', unansweredNotApplied: false });
      const seen = attach.responseDeserialize(buffer(writer.finish())) as { closed: { code: string } };
      expect(seen.closed.code).toBe(`ERROR_CODE_${code}`);
    }
    expect(new Set(ERROR_CODES.map((code) => ERRORS[code].proto)).size).toBe(ERROR_CODES.length);
  });
});
