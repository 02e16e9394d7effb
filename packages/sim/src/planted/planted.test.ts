import { expect, test } from 'vitest';
import { simulate } from '../simulate.ts';
import { PLANTED_FAULTS, plantedFault, RARE_FAULTS } from './catalogue.ts';
import { HARMLESS_FAULTS } from './harmless.ts';

/** Each must be reported within so many seeds; those that take more are in test/sim/planted.long.e2e.test.ts. */
const SEEDS_MAX = 30;
const FREQUENT = PLANTED_FAULTS.filter((fault) => !RARE_FAULTS.has(fault));

test('names are unique, and each is a fault that can be asked for', () => {
  const all = [...PLANTED_FAULTS, ...HARMLESS_FAULTS];
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.map(({ name }) => plantedFault(name))).toEqual(all);
});

test.each(FREQUENT)('$name is reported: $breaks', { timeout: 300_000 }, (fault) => {
  let seed = 1;
  while (seed <= SEEDS_MAX && simulate(seed, { fault }).violation === undefined) seed += 1;
  expect(seed).toBeLessThanOrEqual(SEEDS_MAX);
  // The fault is what was found, not the seed.
  expect(simulate(seed).violation).toBeUndefined();
});

test.each(HARMLESS_FAULTS)('$name is found by nothing', { timeout: 300_000 }, (fault) => {
  for (let seed = 1; seed <= 5; seed += 1) expect(simulate(seed, { fault }).violation).toBeUndefined();
});
