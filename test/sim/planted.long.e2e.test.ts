import { RARE_FAULTS, simulate } from '@quorate/sim';
import { expect, test } from 'vitest';

/** Each must be reported within so many seeds. */
const SEEDS_MAX = 500;

test.each([...RARE_FAULTS])('$name is reported: $breaks', (fault) => {
  let seed = 1;
  while (seed <= SEEDS_MAX && simulate(seed, { fault }).violation === undefined) seed += 1;
  expect(seed).toBeLessThanOrEqual(SEEDS_MAX);
  // The fault is what was found, not the seed.
  expect(simulate(seed).violation).toBeUndefined();
});
