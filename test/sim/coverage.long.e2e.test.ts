import { COVERED, noCoverage, simulate } from '@quorate/sim';
import { expect, test } from 'vitest';

/** So many are run in any case; the rarest path (a snapshot that is cut off) is met by one seed in 150. */
const SEEDS = 400;
const SEEDS_MAX = 2_000;

test('some hundred seeds break no rule, and meet every kind of fault and every rare path', () => {
  const total = noCoverage();
  const missing = (): readonly string[] => COVERED.filter((name) => total[name] === 0);
  for (let seed = 1; seed <= SEEDS || (seed <= SEEDS_MAX && missing().length > 0); seed += 1) {
    const { violation, coverage } = simulate(seed);
    expect([seed, violation?.checker, violation?.message]).toEqual([seed, undefined, undefined]);
    for (const name of COVERED) total[name] += coverage[name];
  }
  expect(missing()).toEqual([]);
});
