import { expect, test } from 'vitest';
import { parseArguments } from './arguments.ts';
import { plantedFault } from './planted/catalogue.ts';

const DEFAULTS = {
  from: 1,
  seeds: 100,
  minutes: undefined,
  jobs: 1,
  fault: undefined,
  checkers: undefined,
  verbose: false,
  keepGoing: false,
  shrinkSeconds: 60,
  replay: undefined,
  measureFaults: false,
};

test('the command line is read, with defaults', () => {
  expect(parseArguments([])).toEqual(DEFAULTS);
  const words =
    '--seeds 5 --from 9 --jobs 2 --fault disk-lies --checkers recovery --verbose --keep-going --shrink-seconds 0';
  expect(parseArguments(words.split(' '))).toEqual({
    ...DEFAULTS,
    from: 9,
    seeds: 5,
    jobs: 2,
    fault: plantedFault('disk-lies'),
    checkers: ['recovery'],
    verbose: true,
    keepGoing: true,
    shrinkSeconds: 0,
  });
  expect(parseArguments(['--replay', 'a.json'])).toEqual({ ...DEFAULTS, replay: 'a.json' });
  expect(parseArguments(['--measure-faults'])).toEqual({ ...DEFAULTS, measureFaults: true });
});

test('a run of minutes has no end by seeds, goes on after violations, and starts where the clock says unless told', () => {
  const soak = { ...DEFAULTS, minutes: 3, seeds: Infinity, keepGoing: true };
  expect(parseArguments(['--minutes', '3'], 777)).toEqual({ ...soak, from: 777 });
  expect(parseArguments(['--from', '5', '--minutes', '3'], 777)).toEqual({ ...soak, from: 5 });
});

test.each([
  [['--seeds', 'x'], 'Bad value for --seeds: x'],
  [['--from'], 'Bad value for --from: none'],
  [['--from', '-1'], 'Bad value for --from: -1'],
  [['--fault', 'nonsense'], 'There is no planted fault named "nonsense"'],
  [['--checkers', 'recovery,all'], 'There is no checker named "all"'],
  [['--replay'], 'Bad value for --replay: none'],
  [['--sedes', '3'], 'Unknown argument: --sedes'],
])('%j is refused', (words, message) => {
  expect(parseArguments(words)).toBe(message);
});
