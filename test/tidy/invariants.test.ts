import { expect, test } from 'vitest';
import { invariantFaults } from './invariants.ts';
import { readFiles } from './workspace.ts';

test.each([
  ['agreement', 'zab', 'Z'],
  ['pipeline', 'pipeline', 'P'],
])('every invariant of the %s is numbered, cited where it is asserted, and tied to a test', (_what, room, letter) => {
  const [readme] = readFiles((path) => path === `packages/core/src/${room}/README.md`);
  const files = readFiles((path) => path.startsWith('packages/core/src/') && path.endsWith('.ts'));
  expect(invariantFaults(letter, readme!.text, files)).toEqual([]);
});

const table = (...rows: string[]) => ['| | what | asserted in | caught by |', '|---|---|---|---|', ...rows].join('\n');
const files = [
  { path: 'zab/history.ts', text: "assert(ok, () => 'Z1: rises');" },
  { path: 'zab/history.test.ts', text: "test('Z2', ...)" },
];

test.each([
  ['no table', '', 'no table of invariants'],
  ['a gap', table('| Z2 | x | history.ts | history.test.ts |'), 'Z2 stands where Z1 should'],
  [
    'one that no source cites',
    table('| Z1 | x | history.ts | sim |', '| Z2 | x | history.ts | sim |'),
    'Z2 is cited in no source',
  ],
  ['one that says no place', table('| Z1 | x | | history.test.ts |'), 'does not say where it is asserted'],
  ['one without a test', table('| Z1 | x | history.ts | hope |'), 'what would catch a breach'],
  [
    'one that names a file that is gone',
    table('| Z1 | x | gone.ts | history.test.ts |'),
    'gone.ts, which is not there',
  ],
  ['one that is only in a source', table(), 'Z1 is cited, but not in the table'],
])('%s is a fault', (_what, readme, fault) => {
  expect(invariantFaults('Z', readme, files).join('\n')).toContain(fault);
});

test('a true table is none', () => {
  expect(
    invariantFaults('Z', table('| Z1 | x | history.ts `append` | history.test.ts, sim: agreement |'), files),
  ).toEqual([]);
});
