/** The unary mapping: each request and response goes through the real encoder, and must mean what a frame means. */
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../bytes.ts';
import { ERROR_CODES, ERRORS } from '../errors.ts';
import { decodeAttachRequest, decodeAttachResponse, decodeErrorDetail, writeReply } from '../frames/index.ts';
import type { Answer, Op, OpResult } from '../op.ts';
import { toSessionId } from '../session-id.ts';
import { toZxid } from '../zxid.ts';
import { CLUSTER_SERVICE, SESSION_SERVICE, ZNODE_SERVICE } from './attach.ts';
import { loadProtos, serviceOf } from './load.ts';
import {
  isUnaryFailure,
  toListingResult,
  toStat,
  toUnaryFailure,
  toUnaryResponse,
  ZNODE_CALLS,
  type ZnodeMethod,
} from './mapping.ts';
import { type ClusterStatus, readStatusResponse, toStatusResponse } from './status.ts';
import type { WireStat, WireStatusResponse, WireZnodeResponse } from './wire-types.ts';

const protos = loadProtos();
const znodes = serviceOf(protos, ZNODE_SERVICE);
const attach = serviceOf(protos, SESSION_SERVICE)['Attach']!;

const session = { id: 0xff00_0000_0000_0003n, token: new Uint8Array([1, 2]) };
const data = new Uint8Array([0, 255]);

/** A listing of which nothing but the path is said. */
const FIRST = { path: '/a', withStat: false, withData: false, limit: 0, token: undefined, isEnd: false } as const;

/** Method, request as a client writes it, name in Call, the operation that it means. */
const REQUESTS: readonly [ZnodeMethod, object, string, Op][] = [
  [
    'Create',
    { path: '/a' },
    'create',
    { kind: 'create', path: '/a', data: undefined, mode: 'persistent', sequential: false },
  ],
  [
    'Create',
    { path: '/a', data, mode: 'CREATE_MODE_EPHEMERAL', sequential: true },
    'create',
    { kind: 'create', path: '/a', data, mode: 'ephemeral', sequential: true },
  ],
  [
    'Create',
    { path: '/a', mode: 'CREATE_MODE_CONTAINER' },
    'create',
    { kind: 'create', path: '/a', data: undefined, mode: 'container', sequential: false },
  ],
  [
    'Create',
    { path: '/a', mode: 'CREATE_MODE_TTL', ttlMs: '1099511627776' },
    'create',
    { kind: 'create', path: '/a', data: undefined, mode: 'ttl', ttlMs: 2 ** 40, sequential: false },
  ],
  [
    'Create',
    { path: '/a', ttlMs: '5' },
    'create',
    { kind: 'create', path: '/a', data: undefined, mode: 'persistent', ttlMs: 5, sequential: false },
  ],
  [
    'Create',
    { path: '/a/b', createParents: true },
    'create',
    { kind: 'create', path: '/a/b', data: undefined, mode: 'persistent', sequential: false, parents: true },
  ],
  ['DeleteSubtree', { path: '/a' }, 'deleteSubtree', { kind: 'deleteSubtree', path: '/a' }],
  ['DeleteSubtree', { path: '/a', limit: 7 }, 'deleteSubtree', { kind: 'deleteSubtree', path: '/a', limit: 7 }],
  ['CreateOrSet', { path: '/a', data }, 'createOrSet', { kind: 'createOrSet', path: '/a', data }],
  [
    'CreateOrSet',
    { path: '/a', acl: [{ perms: 1, scheme: 'world', id: 'anyone' }], createParents: true },
    'createOrSet',
    {
      kind: 'createOrSet',
      path: '/a',
      data: undefined,
      acl: [{ perms: 1, scheme: 'world', id: 'anyone' }],
      parents: true,
    },
  ],
  ['Delete', { path: '/a' }, 'delete', { kind: 'delete', path: '/a', expectedVersion: undefined }],
  ['Delete', { path: '/a', expectedVersion: 0 }, 'delete', { kind: 'delete', path: '/a', expectedVersion: 0 }],
  ['Exists', { path: '/a', linearizable: true }, 'exists', { kind: 'exists', path: '/a' }],
  ['GetData', { path: '/a' }, 'getData', { kind: 'getData', path: '/a' }],
  [
    'SetData',
    { path: '/a', data: new Uint8Array(0), expectedVersion: -1 },
    'setData',
    { kind: 'setData', path: '/a', data: new Uint8Array(0), expectedVersion: -1 },
  ],
  ['SetData', { path: '/a' }, 'setData', { kind: 'setData', path: '/a', data: undefined, expectedVersion: undefined }],
  ['GetChildren', { path: '/', linearizable: true }, 'getChildren', { kind: 'getChildren', path: '/' }],
  ['GetEphemerals', { pathPrefix: '/a' }, 'getEphemerals', { kind: 'getEphemerals', path: '/a' }],
  [
    'GetAllChildrenNumber',
    { path: '/', linearizable: true },
    'getAllChildrenNumber',
    { kind: 'getAllChildrenNumber', path: '/' },
  ],
  [
    'Multi',
    {
      parts: [
        { check: { path: '/a', absent: true } },
        { check: { path: '/b', expectedVersion: 0 } },
        { exists: { path: '/c' } },
        { getData: { path: '/d' } },
      ],
    },
    'multi',
    {
      kind: 'multi',
      parts: [
        { kind: 'check', path: '/a', expectedVersion: undefined, absent: true },
        { kind: 'check', path: '/b', expectedVersion: 0 },
        { kind: 'exists', path: '/c' },
        { kind: 'getData', path: '/d' },
      ],
    },
  ],
  ['Sync', { path: '/' }, 'sync', { kind: 'sync', path: '/' }],
  [
    'MultiRead',
    {
      parts: [{ exists: { path: '/a' } }, { getData: { path: '/b' } }, { getChildren: { path: '/' } }],
      linearizable: true,
    },
    'multiRead',
    {
      kind: 'multiRead',
      parts: [
        { kind: 'exists', path: '/a' },
        { kind: 'getData', path: '/b' },
        { kind: 'getChildren', path: '/' },
      ],
    },
  ],
  ['ListChildren', { path: '/a', linearizable: true }, 'listChildren', { kind: 'listChildren', ...FIRST, after: '' }],
  [
    'ListChildren',
    { path: '/a', withStat: true, limit: 2 ** 32 - 1, after: 'é' },
    'listChildren',
    { kind: 'listChildren', ...FIRST, withStat: true, limit: 2 ** 32 - 1, after: 'é' },
  ],
  [
    'ListChildren',
    { path: '/a', pageToken: data, end: true },
    'listChildren',
    { kind: 'listChildren', ...FIRST, token: data, isEnd: true, after: '' },
  ],
  ['GetSubtree', { path: '/a' }, 'getSubtree', { kind: 'getSubtree', ...FIRST, depth: undefined }],
  [
    'GetSubtree',
    { path: '/a', withData: true, maxDepth: 0 },
    'getSubtree',
    { kind: 'getSubtree', ...FIRST, withData: true, depth: 0 },
  ],
];

const stat = {
  czxid: toZxid(0x0030_0000_0000_0001n),
  mzxid: toZxid(9_007_199_254_740_993n),
  pzxid: toZxid(9_007_199_254_740_992n),
  ctimeMs: 1_700_000_000_000,
  mtimeMs: 1_700_000_000_001,
  version: -1,
  cversion: 2,
  aversion: 3,
  ephemeralOwner: toSessionId(0xff00_0000_0000_0003n),
  dataLength: 4,
  numChildren: 5,
};

const BIG = toZxid(9_007_199_254_740_993n);
const LISTED = { name: '/é', stat, data: new Uint8Array(0) };
const NAMED = { name: 'b', stat: undefined, data: undefined };

const RESULTS: readonly [ZnodeMethod, OpResult][] = [
  ['Create', { kind: 'create', path: '/a', stat }],
  ['DeleteSubtree', { kind: 'deleteSubtree', deleted: 1_000, more: true }],
  ['DeleteSubtree', { kind: 'deleteSubtree', deleted: 0, more: false }],
  ['CreateOrSet', { kind: 'createOrSet', created: true, stat }],
  ['CreateOrSet', { kind: 'createOrSet', created: false, stat }],
  ['Delete', { kind: 'delete' }],
  ['Exists', { kind: 'exists', stat }],
  ['GetData', { kind: 'getData', data, stat }],
  ['GetData', { kind: 'getData', data: undefined, stat }],
  ['GetData', { kind: 'getData', data: new Uint8Array(0), stat }],
  ['SetData', { kind: 'setData', stat }],
  ['GetChildren', { kind: 'getChildren', children: ['a', 'b'], stat }],
  ['GetEphemerals', { kind: 'getEphemerals', paths: ['/a', '/b'] }],
  ['GetAllChildrenNumber', { kind: 'getAllChildrenNumber', total: 2 ** 32 - 1 }],
  ['Sync', { kind: 'sync', path: '/' }],
  ['ListChildren', { kind: 'listChildren', at: BIG, top: stat, entries: [LISTED, NAMED], next: data }],
  ['ListChildren', { kind: 'listChildren', at: BIG, top: undefined, entries: [], next: undefined }],
  ['GetSubtree', { kind: 'getSubtree', at: BIG, top: stat, entries: [NAMED, LISTED], next: undefined }],
];

/** Buffers become plain arrays, so that they can be compared. */
function plainData<T>(value: T): T {
  if (value instanceof Uint8Array) return new Uint8Array(value) as T;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainData(inner)])) as T;
}

describe('unary requests', () => {
  it.each(REQUESTS)('%s %j means the same as in a frame', (method, request, name, op) => {
    const definition = znodes[method]!;
    const received = definition.requestDeserialize(definition.requestSerialize(request));
    const call = ZNODE_CALLS[method](received as never);
    expect(plainData(call.op)).toEqual(op);
    expect(call.linearizable).toBe('linearizable' in request);
    const frame = attach.requestSerialize({ calls: [{ xid: 1, [name]: request }] });
    const [framed] = decodeAttachRequest(new Uint8Array(frame)).calls;
    expect(framed?.op).toEqual(op);
    expect(framed?.linearizable).toBe(call.linearizable);
  });

  it('C013: take the session that a write names, exactly', () => {
    for (const method of ['Create', 'Delete', 'SetData', 'GetEphemerals'] as const) {
      const definition = znodes[method]!;
      const bytes = definition.requestSerialize({ path: '/a', session });
      expect(plainData(ZNODE_CALLS[method](definition.requestDeserialize(bytes) as never).session)).toEqual(session);
    }
  });

  it('make a create mode that the protos do not have a fault', () => {
    const definition = znodes['Create']!;
    const bytes = definition.requestSerialize({ path: '/a', mode: 7 });
    const { op } = ZNODE_CALLS.Create(definition.requestDeserialize(bytes) as never);
    expect(op).toMatchObject({ kind: 'fault', code: 'INVALID_ARGUMENT' });
  });
});

describe('unary responses', () => {
  it.each(RESULTS)('C013: %s says the same as a reply in a frame', (method, result) => {
    const answer: Answer = { zxid: toZxid(9_007_199_254_740_993n), result };
    const response = toUnaryResponse(result.kind, answer) as WireZnodeResponse;
    const definition = znodes[method]!;
    const seen = plainData(definition.responseDeserialize(definition.responseSerialize(response))) as WireZnodeResponse;
    expect(seen.zxid).toBe(9_007_199_254_740_993n);
    if (seen.stat) expect(toStat(seen.stat as WireStat)).toEqual(stat);
    const writer = new ByteWriter();
    writeReply(writer, 1, result.kind, answer);
    const framed = decodeAttachResponse(writer.finish()).replies[0]!.answer;
    expect(framed).toEqual(answer);
    expect({ ...framed.result, stat: undefined }).toMatchObject({
      ...('path' in result ? { path: seen.path } : {}),
      ...('children' in result ? { children: seen.children } : {}),
      ...('paths' in result ? { paths: seen.paths } : {}),
      ...('total' in result ? { total: seen.total } : {}),
      ...('created' in result ? { created: seen.created } : {}),
      ...('deleted' in result ? { deleted: seen.deleted, more: seen.more } : {}),
      ...('data' in result ? { data: seen.data } : {}),
    });
    if ('entries' in result) expect(toListingResult(result.kind, seen)).toEqual(result);
  });

  it('hold what a multi has read', () => {
    const results = [
      { kind: 'exists', stat: undefined },
      { kind: 'exists', stat },
      { kind: 'getData', data: undefined, stat },
      { kind: 'getData', data, stat },
      { kind: 'check' },
    ] as const;
    const answer: Answer = { zxid: toZxid(3n), result: { kind: 'multi', results } };
    const definition = znodes['Multi']!;
    const bytes = definition.responseSerialize(toUnaryResponse('multi', answer));
    const seen = definition.responseDeserialize(bytes) as { readonly results: readonly object[] };
    const writer = new ByteWriter();
    writeReply(writer, 1, 'multi', answer);
    const framed = attach.responseDeserialize(Buffer.from(writer.finish())) as {
      readonly replies: readonly [{ readonly multi: { readonly results: readonly object[] } }];
    };
    expect(seen.results).toEqual(framed.replies[0].multi.results);
    expect(seen.results[0]).toMatchObject({ exists: { stat: null } });
    expect(seen.results[3]).toMatchObject({ getData: { data: Buffer.from(data), stat: { dataLength: 4 } } });
  });

  it('hold what several reads came to, each by itself', () => {
    const failed = { kind: 'error', code: 'NO_NODE', path: '/c', message: 'Gone' } as const;
    const results = [
      { kind: 'exists', stat },
      { kind: 'getData', data: undefined, stat },
      { kind: 'getData', data, stat },
      { kind: 'getChildren', children: ['a'], stat },
      failed,
    ] as const;
    const answer: Answer = { zxid: toZxid(3n), result: { kind: 'multiRead', results } };
    const definition = znodes['MultiRead']!;
    const bytes = definition.responseSerialize(toUnaryResponse('multiRead', answer));
    const seen = definition.responseDeserialize(bytes) as { readonly results: readonly object[] };
    const writer = new ByteWriter();
    writeReply(writer, 1, 'multiRead', answer);
    const framed = attach.responseDeserialize(Buffer.from(writer.finish())) as {
      readonly replies: readonly [{ readonly multiRead: { readonly results: readonly object[] } }];
    };
    expect(seen.results).toEqual(framed.replies[0].multiRead.results);
    expect(seen.results[4]).toMatchObject({ error: { code: 'ERROR_CODE_NO_NODE', path: '/c', zookeeperCode: -101 } });
    expect(seen.results[1]).not.toHaveProperty('getData.data');
  });

  it('answer Exists of an absent znode without a stat, and everything else as a failure', () => {
    const result = { kind: 'error', code: 'NO_NODE', path: '/a', message: 'Gone' } as const;
    const answer = { zxid: toZxid(3n), result };
    expect(toUnaryResponse('exists', answer)).toEqual({ stat: null, zxid: 3n });
    const failed = toUnaryResponse('getData', answer);
    expect(isUnaryFailure(failed)).toBe(true);
    expect(failed).toMatchObject({ status: 5, details: 'NO_NODE: Gone' });
  });

  it('carry each code, the number of ZooKeeper and the path in a detail that other languages can read', () => {
    const detail = protos['quorate.v1.ErrorDetail'] as unknown as {
      deserialize(bytes: Buffer): Record<string, unknown>;
    };
    for (const code of ERROR_CODES) {
      const failure = toUnaryFailure({ code, path: '/a', message: 'Because' }, toZxid(9_007_199_254_740_993n));
      expect(failure.status).toBe(ERRORS[code].grpc);
      const expected = {
        code: `ERROR_CODE_${code}`,
        zookeeperCode: ERRORS[code].zookeeper,
        path: '/a',
        message: 'Because',
      };
      expect(detail.deserialize(Buffer.from(failure.detail))).toMatchObject({
        ...expected,
        zxid: 9_007_199_254_740_993n,
      });
      expect(decodeErrorDetail(failure.detail).failure).toEqual({
        kind: 'error',
        code,
        path: '/a',
        message: 'Because',
      });
    }
  });
});

describe('status', () => {
  it('C013: survives the wire exactly', () => {
    const status: ClusterStatus = {
      sid: 2,
      role: 'following',
      phase: 'broadcast',
      epoch: 0x0030_0000,
      acceptedEpoch: 0x0030_0001,
      leader: undefined,
      zxid: toZxid(0x0030_0000_0000_0001n),
      committedZxid: toZxid(0x0030_0000_0000_0002n),
      loggedZxid: toZxid(0x0030_0000_0000_0003n),
      flushedZxid: toZxid(9_007_199_254_740_993n),
      serving: true,
      hasQuorum: true,
      members: [{ sid: 2, kind: 'voter', peerAddress: 'a:2382', clientAddress: 'a:2282' }],
      learners: [{ sid: 3, ackedZxid: toZxid(9_007_199_254_740_993n), synced: true, votes: false }],
      sessions: 1,
      znodes: 4,
      ephemerals: 1,
      dataBytes: 12,
      outstanding: 0,
      digest: 0xff00_0000_0000_0003n,
      clusterId: 'c',
      version: '0.1.0',
      diskFailed: undefined,
      diskFreeBytes: undefined,
      epochTxnsLeft: 2 ** 32 - 2 ** 20,
      divergences: 2,
      lastDivergence: undefined,
      setAside: undefined,
      voteRight: 'recovering',
      waiting: 'for voter 3',
    };
    const definition = serviceOf(protos, CLUSTER_SERVICE)['Status']!;
    for (const leader of [undefined, 3]) {
      const disk =
        leader === undefined
          ? {}
          : { diskFailed: 'No space left', diskFreeBytes: 2 ** 40, lastDivergence: 'it differed', setAside: 'a byte' };
      const full = { ...status, ...disk, leader };
      const bytes = definition.responseSerialize(toStatusResponse(full));
      expect(readStatusResponse(definition.responseDeserialize(bytes) as WireStatusResponse)).toEqual(full);
    }
  });
});
