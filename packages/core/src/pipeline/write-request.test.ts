import { DecodeError, type SessionId, type Zxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeWriteRequest,
  encodeWriteRequest,
  type OrderedOp,
  requestCost,
  type WriteRequest,
} from './write-request.ts';

const path = fc.string({ maxLength: 40, unit: 'grapheme' });
const data = fc.option(fc.uint8Array({ maxLength: 60 }), { nil: undefined });
const version = fc.option(fc.integer(), { nil: undefined });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const name = fc.string({ maxLength: 20, unit: 'grapheme' });
const acl = fc.array(fc.record({ perms: int32, scheme: name, id: name }), { maxLength: 4 });
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
    ttlMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    sequential: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('create' as const),
    path,
    data,
    mode: fc.constantFrom('persistent' as const, 'ephemeral' as const),
    sequential: fc.boolean(),
    parents: fc.constant<true>(true),
  }),
  fc.record({ kind: fc.constant('delete' as const), path, expectedVersion: version }),
  fc.record({ kind: fc.constant('setData' as const), path, data, expectedVersion: version }),
);
const op: fc.Arbitrary<OrderedOp> = fc.oneof(
  single,
  fc.record({ kind: fc.constant('setAcl' as const), path, acl, expectedVersion: version }),
  fc.record(
    { kind: fc.constant('deleteSubtree' as const), path, limit: fc.integer({ min: 1, max: 0xffff_ffff }) },
    { requiredKeys: ['kind', 'path'] },
  ),
  fc.record(
    { kind: fc.constant('createOrSet' as const), path, data, acl, parents: fc.constant<true>(true) },
    { requiredKeys: ['kind', 'path', 'data'] },
  ),
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
      { maxLength: 5 },
    ),
  }),
  fc.record({
    kind: fc.constant('createSession' as const),
    timeoutMs: fc.integer({ min: 1, max: 0x7fff_ffff }),
    token: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  }),
  fc.record({ kind: fc.constant('closeSession' as const) }),
);
const numbered = fc
  .record({ request: fc.integer({ min: 1, max: 0xffff_ffff }), back: fc.nat(5_000) })
  .map(({ request, back }) => ({ request, acknowledged: Math.max(0, request - 1 - back) }));
const guard = fc.record({ path, czxid: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((zxid) => zxid as Zxid) });
const request: fc.Arbitrary<WriteRequest> = fc.record(
  {
    identities: fc.array(fc.record({ scheme: name, id: name }), { minLength: 1, maxLength: 32 }),
    guards: fc.array(guard, { minLength: 1, maxLength: 16 }),
    numbered,
    incarnation: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    seq: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    session: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((id) => id as SessionId),
    attached: fc.boolean(),
    op,
  },
  { requiredKeys: ['incarnation', 'seq', 'session', 'attached', 'op'] },
);

const plain: WriteRequest = {
  incarnation: 1,
  seq: 2,
  session: 3n as SessionId,
  attached: false,
  op: { kind: 'setData', path: '/a', data: Uint8Array.of(1, 2), expectedVersion: 7 },
};

describe('a write request', () => {
  it('comes out as it went in', () => {
    fc.assert(
      fc.property(request, (wanted) => {
        const bytes = encodeWriteRequest(wanted);
        expect(decodeWriteRequest(bytes)).toEqual(wanted);
      }),
    );
  });

  it('C013: keeps ids and numbers beyond 2^53 and 2^32 exact', () => {
    const wanted = {
      ...plain,
      incarnation: 2 ** 48 - 1,
      seq: 2 ** 40 + 1,
      session: 0xff00_0000_0000_0003n as SessionId,
    };
    expect(decodeWriteRequest(encodeWriteRequest(wanted))).toEqual(wanted);
  });

  it('tells no data from empty data', () => {
    for (const value of [undefined, new Uint8Array(0)]) {
      const wanted: WriteRequest = {
        ...plain,
        op: { ...plain.op, kind: 'setData', path: '/a', data: value, expectedVersion: 7 },
      };
      expect(decodeWriteRequest(encodeWriteRequest(wanted))).toEqual(wanted);
    }
  });

  it('counts for about what it takes', () => {
    const bytes = encodeWriteRequest(plain).length;
    expect(requestCost(plain)).toBeGreaterThanOrEqual(bytes);
    expect(requestCost(plain)).toBeLessThan(bytes + 100);
  });

  it('is refused when it is cut short at any byte, or goes on', () => {
    const bytes = encodeWriteRequest(plain);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeWriteRequest(bytes.subarray(0, length))).toThrow(DecodeError);
    }
    expect(() => decodeWriteRequest(Uint8Array.from([...bytes, 0]))).toThrow(DecodeError);
  });

  it('is refused with an unknown kind or flag, a session without time or token, a path or data over the limit', () => {
    const bytes = encodeWriteRequest(plain);
    const changed = (at: number, value: number): Uint8Array =>
      Uint8Array.from(bytes, (byte, i) => (i === at ? value : byte));
    const opening = (timeoutMs: number, length: number): Uint8Array =>
      encodeWriteRequest({ ...plain, op: { kind: 'createSession', timeoutMs, token: new Uint8Array(length) } });
    const writing = (long: string, size: number): Uint8Array =>
      encodeWriteRequest({
        ...plain,
        op: { kind: 'setData', path: long, data: new Uint8Array(size), expectedVersion: 0 },
      });
    const bad = [changed(0, 99), changed(0, 6), changed(1, 0x80), opening(0, 16), opening(2 ** 31, 16), opening(1, 15)];
    bad.push(writing(`/${'a'.repeat(65_535)}`, 0), writing('/a', 1_048_576));
    for (const one of bad) expect(() => decodeWriteRequest(one)).toThrow(DecodeError);
  });

  it('never makes anything but a DecodeError of garbage', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (garbage) => {
        try {
          decodeWriteRequest(garbage);
        } catch (cause) {
          expect(cause).toBeInstanceOf(DecodeError);
        }
      }),
    );
  });
});
