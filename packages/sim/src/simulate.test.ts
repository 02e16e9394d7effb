import { expect, test } from 'vitest';
import { COMMON, COVERED, noCoverage } from './coverage.ts';
import { describeObservation } from './describe.ts';
import { simulate } from './simulate.ts';

/** Everything that happens in a run of this seed. */
function scoreOf(seed: number): string[] {
  const lines: string[] = [];
  simulate(seed, { watch: (atUs, what) => lines.push(describeObservation(atUs, what)) });
  return lines;
}

test('the same seed gives the same run, event by event', () => {
  const score = scoreOf(11);
  expect(score.length).toBeGreaterThan(500);
  expect(scoreOf(11)).toEqual(score);
});

test('C062: sixty seeds, hundreds of crashes and power cuts, break no rule and reach every recovery', {
  timeout: 600_000,
}, () => {
  const total = noCoverage();
  for (let seed = 1; seed <= 60; seed += 1) {
    const { violation, coverage } = simulate(seed);
    expect([seed, violation?.checker, violation?.message]).toEqual([seed, undefined, undefined]);
    for (const name of COVERED) total[name] += coverage[name];
  }
  expect(total.crashes).toBeGreaterThan(200);
  expect(COMMON.filter((name) => total[name] === 0)).toEqual([]);
});
