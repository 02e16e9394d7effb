import { expect, test } from 'vitest';
import { FILE_LINES_MAX, growthFaults, headerFaults, placeholderFaults } from './growth.ts';
import { readFiles } from './workspace.ts';

const isCode = (path: string) => /^(?:packages|test|scripts|deploy)\/.*\.(?:ts|mjs|js|py|sh)$/.test(path);
const code = readFiles(isCode);

test('no file outgrows its limit', () => {
  expect(growthFaults(code)).toEqual([]);
});

test('no source puts anything off', () => {
  const texts = readFiles((path) => isCode(path) || /^protos\/|\.(?:md|ya?ml)$|Dockerfile/.test(path));
  expect(placeholderFaults(texts)).toEqual([]);
});

test('every source begins with a sign on the door', () => {
  const sources = code.filter(({ path }) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  expect(headerFaults(sources)).toEqual([]);
});

test('a file of one line too many is a fault', () => {
  const lines = (count: number) => [{ path: 'a.ts', text: 'x\n'.repeat(count) }];
  expect(growthFaults(lines(FILE_LINES_MAX))).toEqual([]);
  expect(growthFaults(lines(FILE_LINES_MAX + 1))).toHaveLength(1);
});

test('a note to do something later is a fault', () => {
  const mark = 'TO' + 'DO';
  expect(placeholderFaults([{ path: 'a.ts', text: `const a = 1; // ${mark}: later` }])).toHaveLength(1);
  expect(placeholderFaults([{ path: 'a.ts', text: `throw new Error('${'not'} yet implemented');` }])).toHaveLength(1);
  expect(placeholderFaults([{ path: 'a.ts', text: 'const todos = 1;' }])).toEqual([]);
});

test('a file that begins with code is a fault', () => {
  expect(headerFaults([{ path: 'a.ts', text: 'export const a = 1; // late' }])).toHaveLength(1);
  expect(headerFaults([{ path: 'a.ts', text: '/** Owns a. */\nexport const a = 1;' }])).toEqual([]);
});
