/** The simulator's checker bites on histories of real clients too: doctored ones are found, the true one passes. */
import { describe, expect, it } from 'vitest';
import type { Call } from '../history.ts';
import { call, read, write } from './history.fixture.ts';
import { linearizabilityFaults } from './linearizable.ts';

const X = '/r/x';
const created = (number: number, value: string, times: readonly [number, number]): Call =>
  call('create', '/q/n-', times, { value, created: `/q/n-000000000${number}`, version: 0, zxid: BigInt(20 + number) });

const good: readonly Call[] = [
  write(X, 0, 1n, [0, 1]),
  write(X, 1, 3n, [3, 5], { session: 7n }),
  read(X, 1, 3n, [6, 7], { linearizable: true, session: 7n }),
  write(X, 2, 4n, [8, 9], { expected: 1 }),
  call('set', X, [10, 11], { value: 'never', expected: 1, outcome: 'refused', code: 'BAD_VERSION' }),
  call('set', X, [10, 11], { value: 'nothing', outcome: 'refused', code: 'UNAVAILABLE' }),
  read(X, 2, 4n, [12, 13], { linearizable: true }),
  call('get', '/r/y', [12, 13], { code: 'NO_NODE', linearizable: true }),
  created(0, 'a', [14, 15]),
  created(1, 'b', [16, 17]),
];

describe('linearizability', () => {
  it('a true history passes, also with calls without an answer', () => {
    expect(linearizabilityFaults(good)).toEqual([]);
    const open = write(X, 3, 5n, [14, Number.POSITIVE_INFINITY], { outcome: 'unknown', version: undefined });
    expect(linearizabilityFaults([...good, open])).toEqual([]);
    expect(linearizabilityFaults([...good, open, read(X, 3, 5n, [20, 21], { linearizable: true })])).toEqual([]);
  });

  it('without one of its acknowledged writes it does not', () => {
    for (const [index, one] of good.entries()) {
      if (one.outcome !== 'ok' || one.kind !== 'set') continue;
      expect(linearizabilityFaults(good.toSpliced(index, 1)), `without write ${index}`).toHaveLength(1);
    }
  });

  it('with the values of two reads swapped it does not', () => {
    const swapped = good.map((one) =>
      one.kind === 'get' && one.seen !== undefined ? { ...one, seen: one.seen === 'v1' ? 'v2' : 'v1' } : one,
    );
    expect(linearizabilityFaults(swapped)).toHaveLength(1);
  });

  it.each([
    ['a linearizable read of what was replaced', read(X, 1, 3n, [20, 21], { linearizable: true })],
    ['a local read of a session behind its own', read(X, 0, 1n, [20, 21], { session: 7n })],
    [
      'a refusal without a reason',
      call('set', X, [20, 21], { value: 'w', expected: 2, outcome: 'refused', code: 'BAD_VERSION' }),
    ],
    ['a number of a sequential create that was left out', created(3, 'd', [20, 21])],
    ['a number given twice', created(1, 'c', [20, 21])],
  ])('with %s it does not', (_, bad) => {
    expect(linearizabilityFaults([...good, bad])).toHaveLength(1);
  });
});
