import { expect, test } from 'vitest';
import { simulate } from '../simulate.ts';
import { PLANTED_FAULTS } from './catalogue.ts';

/** Each must be reported within so many seeds. */
const SEEDS_MAX = 500;

test('names are unique', () => {
  expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).toBe(PLANTED_FAULTS.length);
});

test.each(PLANTED_FAULTS)('$name is reported: $breaks', { timeout: 900_000 }, (fault) => {
  let seed = 1;
  while (seed <= SEEDS_MAX && simulate(seed, { fault }).violation === undefined) seed += 1;
  expect(seed).toBeLessThanOrEqual(SEEDS_MAX);
  // The fault is what was found, not the seed.
  expect(simulate(seed).violation).toBeUndefined();
});
