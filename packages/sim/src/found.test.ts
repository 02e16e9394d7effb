import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

/** Seeds that have found something, and what. They replay it at the commit that README.md names; here they must stay clean. */
const FOUND: readonly (readonly [seed: number, what: string])[] = [
  [158, 'a session that had moved: its old write was ordered after its new one, two leaders later'],
  [267, 'the same, over a member that was cut off'],
  [1970, 'the same, with five voters'],
  [3743, 'a write that waited behind a sync was begun after its client had gone elsewhere'],
  [4325, 'the same move, where the new write had been refused by the tree'],
];

test.each(FOUND)('seed %i: %s', { timeout: 120_000 }, (seed) => {
  expect(simulate(seed).violation).toBeUndefined();
});
