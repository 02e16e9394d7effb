import { expect, test } from 'vitest';
import { parseArguments, runCampaign } from './campaign.ts';
import { plantedFault } from './planted/catalogue.ts';

test('the command line is read, with defaults', () => {
  expect(parseArguments([])).toEqual({
    from: 1,
    seeds: 100,
    fault: undefined,
    checkers: undefined,
    verbose: false,
    keepGoing: false,
  });
  expect(
    parseArguments([
      '--seeds',
      '5',
      '--from',
      '9',
      '--fault',
      'disk-lies',
      '--checkers',
      'recovery',
      '--verbose',
      '--keep-going',
    ]),
  ).toEqual({
    from: 9,
    seeds: 5,
    fault: plantedFault('disk-lies'),
    checkers: ['recovery'],
    verbose: true,
    keepGoing: true,
  });
});

test.each([
  [['--seeds', 'x'], 'Bad value for --seeds: x'],
  [['--from'], 'Bad value for --from: none'],
  [['--from', '-1'], 'Bad value for --from: -1'],
  [['--fault', 'nonsense'], 'There is no planted fault named "nonsense"'],
  [['--checkers', 'recovery,all'], 'There is no checker named "all"'],
  [['--sedes', '3'], 'Unknown argument: --sedes'],
])('%j is refused', (words, message) => {
  expect(parseArguments(words)).toBe(message);
});

test('a violation is reported with its checker and one line to replay, and ends the campaign', () => {
  const lines: string[] = [];
  const fault = plantedFault('commit-without-quorum');
  const broken = runCampaign(
    { from: 1, seeds: 20, fault, checkers: undefined, verbose: false, keepGoing: false },
    { print: (line) => lines.push(line), nowMs: () => 0 },
  );
  expect(broken).toHaveLength(1);
  const seed = broken[0]?.seed;
  expect(lines).toContainEqual(expect.stringMatching(/^VIOLATION of quorum-durability after \d+/));
  expect(lines).toContain(`Replay: npm run sim -- --seeds 1 --from ${seed} --fault commit-without-quorum --verbose`);
});

test('one seed is run with its knobs printed first, and everything that happens when asked', () => {
  const lines: string[] = [];
  const broken = runCampaign(
    { from: 3, seeds: 1, fault: undefined, checkers: undefined, verbose: true, keepGoing: false },
    { print: (line) => lines.push(line), nowMs: () => 0 },
  );
  expect(broken).toEqual([]);
  expect(lines[0]).toMatch(/^seed 3\n {2}ensemble: seed=3 /);
  expect(lines.length).toBeGreaterThan(500);
  expect(lines.at(-2)).toMatch(/^No violation: 1 seeds from 3/);
});
