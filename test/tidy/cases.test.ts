/** Rule: a case that the list says is shown has its tests, and these are named for it. */
import { expect, test } from 'vitest';
import { type DocTable, tablesOf } from './doc-tables.ts';
import { readFiles, type SourceFile } from './workspace.ts';

const COMMENT = /^\s*\/?\*.*|\/\/.*$/gm;

/** What the rows say that the tests do not. A Python test has the number in its name, in small letters. */
function caseFaults({ rows }: DocTable, files: readonly SourceFile[]): string[] {
  const ids = rows.map(([id = '']) => id);
  const order = ids.filter((id, index) => index > 0 && id <= ids[index - 1]!).map((id) => `${id} is out of order`);
  const tests = rows.flatMap(([id = '', , paths = '']) => paths.split(', ').map((path) => ({ id, path })));
  const untrue = tests.filter(({ id, path }) => {
    const text = files.find((file) => file.path === path)?.text.replaceAll(COMMENT, '');
    return text === undefined || !new RegExp(`['"\`][^'"\`\\n]*\\b${id}\\b|def test_${id.toLowerCase()}_`).test(text);
  });
  return [...order, ...untrue.map(({ id, path }) => `${path} has no test named ${id}`)];
}

const isTest = (path: string) => path.endsWith('.test.ts') || path.endsWith('.py');

test('every case in the list is named by the tests that are said to show it', () => {
  const tables = readFiles((path) => path === 'test/CASES.md').flatMap(tablesOf);
  expect(tables.map(({ name }) => name)).toEqual(['cases']);
  expect(tables[0]!.rows.length).toBeGreaterThan(10);
  expect(caseFaults(tables[0]!, readFiles(isTest))).toEqual([]);
});

test('a test that does not name its case, one that is not there, and a case out of order are faults', () => {
  const files = [
    { path: 'a.test.ts', text: "it('C002: holds', () => {}); // C003" },
    { path: 'b.py', text: 'def test_c004_holds(self):' },
  ];
  const rows = [
    ['C002', 'x', 'a.test.ts'],
    ['C003', 'x', 'a.test.ts'],
    ['C004', 'x', 'b.py, c.test.ts'],
    ['C001', 'x', 'b.py'],
  ];
  expect(caseFaults({ name: 'cases', path: 'x.md', rows }, files)).toEqual([
    'C001 is out of order',
    'a.test.ts has no test named C003',
    'c.test.ts has no test named C004',
    'b.py has no test named C001',
  ]);
});
