import { COVERED, noCoverage, simulate } from '@quorate/sim';
import { expect, test } from 'vitest';

const SEEDS = 400;

test('some hundred seeds break no rule, and meet every kind of fault and every rare path', () => {
  const total = noCoverage();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violation, coverage } = simulate(seed);
    expect([seed, violation?.checker, violation?.message]).toEqual([seed, undefined, undefined]);
    for (const name of COVERED) total[name] += coverage[name];
  }
  expect(COVERED.filter((name) => total[name] === 0)).toEqual([]);
});
