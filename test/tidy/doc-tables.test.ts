import { expect, test } from 'vitest';
import { type DocTable, differences, lostPaths, tablesOf } from './doc-tables.ts';
import { READ_ELSEWHERE, TRUTHS } from './truths.ts';
import { allPaths, readFiles } from './workspace.ts';

const tables = readFiles((path) => path.endsWith('.md')).flatMap(tablesOf);

test.each(Object.keys(TRUTHS))('the table %s stands in one document and says what the code says', (name) => {
  const found = tables.filter((table) => table.name === name);
  expect(found.map((table) => table.path)).toHaveLength(1);
  expect(found.flatMap((table) => differences(table, TRUTHS[name]!()))).toEqual([]);
});

test('every marked table is compared with something', () => {
  const known = [...Object.keys(TRUTHS), ...READ_ELSEWHERE];
  expect(tables.filter((table) => !known.includes(table.name)).map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
});

test('a marked table is read cell by cell, up to the first line that is none', () => {
  const text = '# x\n<!-- table: ports -->\n\n| a | b |\n|---|---|\n| `1` | x \\| y |\n| 2 | z |\n\n| 3 | no |\n';
  expect(tablesOf({ path: 'a.md', text })).toEqual([
    {
      name: 'ports',
      path: 'a.md',
      rows: [
        ['1', 'x | y'],
        ['2', 'z'],
      ],
    },
  ]);
});

const table: DocTable = {
  name: 't',
  path: 'a.md',
  rows: [
    ['A', '1', 'why'],
    ['B', '2', 'why'],
  ],
};

test.each([
  [
    'a wrong value',
    [
      ['A', '1'],
      ['B', '3'],
    ],
    'says "B | 2", the code says "B | 3"',
  ],
  ['a row too many', [['A', '1']], '"B" is not in the code'],
  [
    'a missing row',
    [
      ['A', '1'],
      ['B', '2'],
      ['C', '3'],
    ],
    '"C" is missing',
  ],
])('%s is a fault', (_what, truth, fault) => {
  expect(differences(table, truth)).toEqual([expect.stringContaining(fault)]);
});

test('a row that stands there twice is a fault, other columns and orders are none', () => {
  expect(
    differences(table, [
      ['B', '2'],
      ['A', '1'],
    ]),
  ).toEqual([]);
  const twice = { ...table, rows: [...table.rows, ['A', '1']] };
  expect(
    differences(twice, [
      ['B', '2'],
      ['A', '1'],
    ]),
  ).toEqual([expect.stringContaining('twice')]);
});

test('every source that a document names is there', () => {
  const documents = readFiles((path) => path.endsWith('.md'));
  expect(documents.flatMap((file) => lostPaths(file, allPaths()))).toEqual([]);
  const bad = { path: 'a.md', text: 'See `zab/disk.ts`, `gone.ts` and `readme`.' };
  expect(lostPaths(bad, ['packages/core/src/zab/disk.ts'])).toEqual(['a.md: names gone.ts, which is not there']);
});
