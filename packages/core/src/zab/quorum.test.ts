import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isQuorum, quorumSize, reachedByQuorum } from './quorum.ts';

describe('quorum', () => {
  it('is a majority of the voters', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((n) => quorumSize(Array.from({ length: n }, (_, i) => i)))).toEqual([
      1, 2, 2, 3, 3, 4, 4,
    ]);
  });

  it('any two quorums share a voter', () => {
    const voters = [1, 2, 3, 4, 5];
    fc.assert(
      fc.property(fc.subarray(voters), fc.subarray(voters), (a, b) => {
        const both = isQuorum(voters, (sid) => a.includes(sid)) && isQuorum(voters, (sid) => b.includes(sid));
        expect(both && !a.some((sid) => b.includes(sid))).toBe(false);
      }),
    );
  });

  it('reaches what a slow search over all values says', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 20n }), { minLength: 1, maxLength: 7 }), (values) => {
        const voters = values.map((_, i) => i);
        const fast = reachedByQuorum<bigint>(voters, (i) => values[i] as bigint);
        const slow = [...values].filter((v) => isQuorum(voters, (i) => (values[i] as bigint) >= v));
        expect(fast).toBe(slow.reduce((best, v) => (v > best ? v : best), 0n));
      }),
    );
  });
});
