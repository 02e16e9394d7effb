import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

/** Seeds that have found something, and what. They replay it at that commit: build it and run the seed. Here they must stay clean. */
const FOUND: readonly (readonly [seed: number, commit: string, what: string])[] = [
  [158, '12c0506', 'a session that had moved: its old write was ordered after its new one, two leaders later'],
  [267, '12c0506', 'the same, over a member that was cut off'],
  [1970, '12c0506', 'the same, with five voters'],
  [3743, '12c0506', 'a write that waited behind a sync was begun after its client had gone elsewhere'],
  [4325, '12c0506', 'the same move, where the new write had been refused by the tree'],
  [7, '0ceb280', 'a leader that was cut off said that a session had ended, of which the close was never committed'],
  [238, '0ceb280', 'the same'],
  [
    2001862,
    '6837d76',
    'power lost behind a cut of the log, and the end of what was left lost with it: nothing told of it',
  ],
  [4004242, '8369041', 'a word that was stuck on a link came to a leader of a later epoch: no sign of life'],
  [33, 'fc165c2', 'what was missed was not told on setWatches where nothing was left to be watched'],
  [242, '833ffa4', 'a guard that asks for a right the checker did not know of: no wrong'],
  [3057710, 'e797b54', 'a leader that stood still granted what its member had since claimed of the next: no wrong'],
];

test.each(FOUND)('seed %i, at %s: %s', { timeout: 120_000 }, (seed) => {
  expect(simulate(seed).violation).toBeUndefined();
});
