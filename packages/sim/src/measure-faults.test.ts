import { expect, test } from 'vitest';
import { parseArguments } from './arguments.ts';
import { noCoverage } from './coverage.ts';
import { measureFaults } from './measure-faults.ts';

test('the median of ten starts far apart, and who caught the fault', async () => {
  const options = parseArguments(['--measure-faults', '--fault', 'disk-lies', '--jobs', '2']);
  if (typeof options === 'string') throw new Error(options);
  const lines: string[] = [];
  // The start number n is caught at its n-th seed; the last one never.
  const measured = await measureFaults(options, {
    print: (line) => lines.push(line),
    run: (task) => {
      const start = Math.floor(task.seed / 10_000);
      const isCaught = start < 9 && task.seed % 10_000 > start;
      const violation = isCaught ? { checker: 'recovery', message: '' } : undefined;
      return Promise.resolve({ ...task, virtualUs: 0, coverage: noCoverage(), violation });
    },
  });
  expect(measured).toMatchObject([{ name: 'disk-lies', median: 6, all: [1, 2, 3, 4, 5, 6, 7, 8, 9, Infinity] }]);
  expect(lines).toEqual(['disk-lies: median 6 of 1 2 3 4 5 6 7 8 9 Infinity; caught by recovery 9']);
});
