import { DecodeError, ERROR_CODES, NO_SESSION, toSessionId } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hex } from './tree-script.fixture.ts';
import type { Txn, TxnBody } from './txn.ts';
import { decodeTxn, encodeTxn } from './txn-codec.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const bytes = fc.uint8Array({ maxLength: 300 });
const data = fc.option(bytes, { nil: undefined });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const session = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(toSessionId);
const below48 = fc.integer({ min: 0, max: 2 ** 48 - 1 });

const change = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), path: text, data, ephemeralOwner: session, parentCreates: int32 }),
  fc.record({
    kind: fc.constant('create' as const),
    path: text,
    data,
    ephemeralOwner: fc.constant(NO_SESSION),
    lifetime: fc.oneof(
      fc.constant('container' as const),
      fc.record({ ttlMs: fc.integer({ min: 1, max: 2 ** 40 - 1 }) }),
    ),
    parentCreates: int32,
  }),
  fc.record({ kind: fc.constant('delete' as const), path: text }),
  fc.record({ kind: fc.constant('setData' as const), path: text, data, version: int32 }),
);

const acl = fc.array(fc.record({ perms: int32, scheme: text, id: text }), { minLength: 1, maxLength: 4 });

const body: fc.Arbitrary<TxnBody> = fc.oneof(
  change,
  fc.tuple(change, acl).map(([made, list]): TxnBody => (made.kind === 'create' ? { ...made, acl: list } : made)),
  fc.record({ kind: fc.constant('setAcl' as const), path: text, acl, version: int32 }),
  fc.record({
    kind: fc.constant('multi' as const),
    parts: fc.array(
      fc.oneof(
        change,
        fc.record({ kind: fc.constantFrom('check' as const, 'exists' as const), path: text }),
        fc.record({ kind: fc.constant('check' as const), path: text, absent: fc.constant<true>(true) }),
        fc.record({ kind: fc.constant('getData' as const), path: text, length: fc.nat(1_000_000) }),
      ),
      { maxLength: 5 },
    ),
  }),
  fc
    .tuple(fc.array(change, { maxLength: 4 }), change, fc.boolean())
    .filter(([, last, isSet]) => last.kind === 'create' || (last.kind === 'setData' && isSet))
    .map(([parts, last, isSet]): TxnBody => {
      return { kind: 'compound', answers: isSet ? 'createOrSet' : 'create', parts: [...parts, last] };
    }),
  fc.record(
    {
      kind: fc.constant('compound' as const),
      answers: fc.constant('deleteSubtree' as const),
      parts: fc.array(fc.record({ kind: fc.constant('delete' as const), path: text }), { maxLength: 4 }),
      more: fc.constant<true>(true),
    },
    { requiredKeys: ['kind', 'answers', 'parts'] },
  ),
  fc.record({ kind: fc.constant('createSession' as const), timeoutMs: below48, token: bytes }),
  fc.record({ kind: fc.constant('closeSession' as const), paths: fc.array(text, { maxLength: 8 }) }),
  fc.record({ kind: fc.constant('repeat' as const), request: fc.integer({ min: 1, max: 0xffff_ffff }) }),
  fc.record({
    kind: fc.constant('error' as const),
    code: fc.constantFrom(...ERROR_CODES),
    path: fc.option(text, { nil: undefined }),
    message: text,
  }),
  fc.record({
    kind: fc.constant('error' as const),
    code: fc.constantFrom(...ERROR_CODES),
    path: fc.constant(undefined),
    message: text,
    part: fc.nat(9_000),
  }),
);

const numbered = fc
  .record({ request: fc.integer({ min: 1, max: 0xffff_ffff }), back: fc.nat(5_000) })
  .map(({ request, back }) => ({ request, acknowledged: Math.max(0, request - 1 - back) }));

const bare: fc.Arbitrary<Txn> = fc.record({
  origin: fc.record(
    {
      sid: fc.integer({ min: 0, max: 254 }),
      incarnation: below48,
      seq: below48,
      attached: fc.constant<true>(true),
    },
    { requiredKeys: ['sid', 'incarnation', 'seq'] },
  ),
  session,
  timeMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER - 1 }),
  body,
});

const txn = fc.oneof(
  bare,
  fc.tuple(bare, numbered).map(([made, number]): Txn => ({ ...made, numbered: number })),
);

const SAMPLE: Txn = {
  origin: { sid: 1, incarnation: 1_790_000_000_000, seq: 7 },
  session: toSessionId(0xff00_0000_0000_0003n),
  timeMs: 1_790_000_000_001,
  body: {
    kind: 'create',
    path: '/a',
    data: Uint8Array.of(1, 2),
    ephemeralOwner: toSessionId(0xff00_0000_0000_0003n),
    parentCreates: -2,
  },
};

describe('txn codec', () => {
  it('reads back every txn that it writes', () => {
    fc.assert(
      fc.property(txn, (value) => {
        expect(decodeTxn(encodeTxn(value))).toEqual(value);
      }),
    );
  });

  it('C013: keeps session ids apart that differ by one above 2^53 or are negative as signed numbers', () => {
    for (const id of [0x7f00_0000_0000_0001n, 0xff00_0000_0000_0003n, 2n ** 53n + 1n]) {
      for (const near of [id - 1n, id, id + 1n]) {
        const owner = toSessionId(near);
        const made: Txn = { ...SAMPLE, session: owner, body: { ...SAMPLE.body, ephemeralOwner: owner } as TxnBody };
        expect(decodeTxn(encodeTxn(made))).toEqual(made);
      }
    }
  });

  it('has the bytes of its table, so that old logs can be read', () => {
    expect(hex(encodeTxn(SAMPLE))).toBe(
      '0701' +
        '00' +
        '0180d8c1a28c34' +
        '07' +
        'ff00000000000003' +
        '81d8c1a28c34' +
        '022f61' +
        '030102' +
        '01ff00000000000003' +
        'fffffffe',
    );
  });

  it('tells null data from empty data', () => {
    for (const value of [undefined, new Uint8Array(0)]) {
      const made: Txn = { ...SAMPLE, body: { kind: 'setData', path: '/a', data: value, version: 0 } };
      expect(decodeTxn(encodeTxn(made)).body).toEqual(made.body);
    }
  });

  it('takes little more than path and data for an ordinary write', () => {
    const made: Txn = {
      ...SAMPLE,
      body: {
        kind: 'create',
        path: '/app/key',
        data: new Uint8Array(100),
        ephemeralOwner: NO_SESSION,
        parentCreates: 1,
      },
    };
    expect(encodeTxn(made).length).toBeLessThanOrEqual(8 + 100 + 32);
  });

  it('fails with DecodeError on every txn that is cut short or has a byte too many', () => {
    fc.assert(
      fc.property(txn, fc.nat(), (value, cut) => {
        const whole = encodeTxn(value);
        expect(() => decodeTxn(whole.subarray(0, cut % whole.length))).toThrow(DecodeError);
        expect(() => decodeTxn(Uint8Array.of(...whole, 0))).toThrow(DecodeError);
      }),
    );
  });

  it('never fails with anything but DecodeError on bytes that were changed', () => {
    fc.assert(
      fc.property(txn, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), (value, changes) => {
        const broken = encodeTxn(value);
        for (const [at, byte] of changes) broken[at % broken.length] = byte;
        expectDecodeErrorAtMost(broken);
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), expectDecodeErrorAtMost));
  });

  it.each([
    ['another format', [2, 1]],
    ['an unknown kind', [1, 99, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5]],
    ['a flag that is none', [1, 2, 4, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 2, 0x2f, 0x61]],
    ['a sid that no member has', [1, 2, 0, 255, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 2, 0x2f, 0x61]],
    ['text that is not UTF-8', [1, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 2, 0x2f, 0xff]],
    ['four billion paths', [1, 5, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    [
      'data of four billion bytes',
      [1, 3, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 2, 0x2f, 0x61, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ],
    ['a time above 2^53', [1, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, ...Array<number>(8).fill(0xff), 1, 2, 0x2f, 0x61]],
    ['a session without a token', [1, 4, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 5, 0]],
    ['an unknown error code', [1, 6, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0x7f, 0, 0]],
    ['a compound that answers nothing known', [1, 11, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 9, 0, 0]],
    ['a compound of nothing', [1, 11, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 1, 0, 0]],
    ['a create that leaves something', [1, 11, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 1, 1, 0]],
    ['a compound with a check', [1, 11, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 1, 0, 1, 9, 2, 0x2f, 0x61, 0]],
    ['a read outside of a multi', [1, 12, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 2, 0x2f, 0x61]],
  ])('refuses %s', (_what, [format, ...rest]) => {
    // The rows have 1 where the present format stands.
    const raw = Uint8Array.of(format === 1 ? 7 : (format ?? 0), ...rest);
    expect(() => decodeTxn(raw)).toThrow(DecodeError);
    if (format === 1) expect(() => decodeTxn(raw)).not.toThrow('format');
  });

  it('does not write a number that it could not read back', () => {
    for (const broken of [
      { ...SAMPLE, timeMs: 1.5 },
      { ...SAMPLE, timeMs: -1 },
      { ...SAMPLE, origin: { ...SAMPLE.origin, seq: 2 ** 48 } },
      { ...SAMPLE, origin: { ...SAMPLE.origin, sid: 255 } },
    ]) {
      expect(() => encodeTxn(broken)).toThrow('Cannot encode a txn');
    }
  });
});

function expectDecodeErrorAtMost(bytes: Uint8Array): void {
  try {
    decodeTxn(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
  }
}
