import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Model, search, type Timed } from './search.ts';
import { type ZnodeOp, type ZnodeState, znodeModel } from './znode-model.ts';

/** All orders, one after the other: no memory, no preference, nothing clever. */
function bruteForce<S, O>(model: Model<S, O>, left: readonly Timed<O>[], state: S): boolean {
  if (left.every(({ to }) => to === Infinity)) return true;
  return left.some((candidate) => {
    if (left.some((other) => other.to < candidate.from)) return false;
    const after = model.apply(state, candidate.op);
    return (
      after !== undefined &&
      bruteForce(
        model,
        left.filter((other) => other !== candidate),
        after,
      )
    );
  });
}

const small = fc.integer({ min: 0, max: 2 });
const maybe = fc.option(small, { nil: undefined });
const single: fc.Arbitrary<ZnodeOp> = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    value: small,
    owner: fc.constantFrom(0n, 5n),
    isTimed: fc.boolean(),
    countsChildren: fc.constant(true),
  }),
  fc.record({ kind: fc.constant('set' as const), value: small, expected: maybe, version: maybe }),
  fc.record({ kind: fc.constant('remove' as const), expected: maybe }),
  fc.record({ kind: fc.constant('end' as const), session: fc.constant(5n) }),
  fc.constant<ZnodeOp>({ kind: 'reap' }),
  fc.record({ kind: fc.constant('child' as const), number: maybe }),
  small.map((value): ZnodeOp => ({ kind: 'see', sight: { exists: true, value } })),
  fc.constant<ZnodeOp>({ kind: 'see', sight: { exists: false } }),
  small.map((versionNot): ZnodeOp => ({ kind: 'see', sight: { exists: true, versionNot } })),
);
const op: fc.Arbitrary<ZnodeOp> = fc.oneof(
  { weight: 5, arbitrary: single },
  { weight: 1, arbitrary: fc.array(single, { maxLength: 3 }).map((ops): ZnodeOp => ({ kind: 'all', ops })) },
);
const timed: fc.Arbitrary<Timed<ZnodeOp>> = fc
  .record({
    op,
    from: fc.integer({ min: 0, max: 12 }),
    lasts: fc.option(fc.integer({ min: 1, max: 6 }), { nil: Infinity, freq: 4 }),
  })
  .map(({ op: what, from, lasts }) => ({ op: what, from, to: from + lasts }));
const initial: fc.Arbitrary<ZnodeState> = fc.constantFrom<ZnodeState>('absent', {
  version: 0,
  value: 0,
  owner: 0n,
  isTimed: false,
  creates: 0,
});

test('it finds an order exactly when trying all of them does', () => {
  const seen = { linearizable: 0, violation: 0, undecided: 0 };
  fc.assert(
    fc.property(fc.array(timed, { maxLength: 7 }), initial, (operations, state) => {
      const model = znodeModel(state);
      const found = search(model, operations, 1_000_000).kind;
      seen[found] += 1;
      expect(found).toBe(bruteForce(model, operations, state) ? 'linearizable' : 'violation');
    }),
    { numRuns: 3_000, seed: 11 },
  );
  // Both answers are asked for often enough to mean something.
  expect(Math.min(seen.linearizable, seen.violation)).toBeGreaterThan(300);
});

test('nothing at all is linearizable, and so are operations that may not have happened', () => {
  const model = znodeModel('absent');
  expect(search(model, [], 10)).toEqual({ kind: 'linearizable', steps: 0 });
  expect(search(model, [{ op: { kind: 'remove', expected: 3 }, from: 1, to: Infinity }], 10).kind).toBe('linearizable');
});

test('what could not come next is told, with the state before it', () => {
  const sight: Timed<ZnodeOp> = { op: { kind: 'see', sight: { exists: true } }, from: 1, to: 2 };
  expect(search(znodeModel('absent'), [sight], 10)).toEqual({
    kind: 'violation',
    steps: 1,
    state: 'absent',
    stuck: [sight],
  });
});
