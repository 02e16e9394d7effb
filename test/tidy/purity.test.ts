import { expect, test } from 'vitest';
import { ambientFaults, purityFaults, reachable } from './purity.ts';
import { readPackages } from './workspace.ts';

const packages = readPackages();
const sourcesOf = (folder: string) => packages.find((one) => one.folder === folder)!.sources;

test('every file of core is pure', () => {
  const files = sourcesOf('core').filter((file) => file.path.includes('/src/') && !file.path.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(5);
  expect(purityFaults(files, ['@quorate/protocol'])).toEqual([]);
});

test('every file that the root of protocol reaches is pure', () => {
  const files = reachable('packages/protocol/src/index.ts', sourcesOf('protocol'));
  expect(files.length).toBeGreaterThan(5);
  expect(purityFaults(files, [])).toEqual([]);
});

test.each([
  'const now = Date.now();',
  'const now = new Date(0);',
  'const x = Math.random();',
  'setTimeout(() => step(), 5);',
  'const p = new Promise((resolve) => resolve(1));',
  'function f(): Promise<void> {}',
  'async function f() {}',
  'const f = async () => 1;',
  'const f = async x => 1;',
  'await done;',
  'const t = performance.now();',
  'process.exit(1);',
  'const b = Buffer.alloc(8);',
  'new TextEncoder().encode(text);',
  'crypto.getRandomValues(bytes);',
  'console.log(1);',
  'const text = `${Date.now()}`;',
  'globalThis.x = 1;',
  "const fs = require('fs');",
])('%s is a fault', (text) => {
  expect(ambientFaults({ path: 'a.ts', text }).length).toBeGreaterThan(0);
});

test('words in comments and strings, properties and keys are no fault', () => {
  const text = [
    '// Date, Promise and setTimeout are not for us',
    "const why = 'no Buffer here';",
    'this.process.step();',
    'const actions = { process: 1, fetch: 2 };',
    'interface Clock { performance: number; crypto?: string }',
    'const asyncMode = awaiting;',
  ].join('\n');
  expect(ambientFaults({ path: 'a.ts', text })).toEqual([]);
});

test('what a file reaches is judged with it, also what comes from elsewhere', () => {
  const files = [
    { path: 'p/index.ts', text: `export * from './a.ts';` },
    { path: 'p/a.ts', text: `import { b } from './deep/b.ts';` },
    { path: 'p/deep/b.ts', text: `import { readFileSync } from 'node:fs';\nexport const b = Date.now();` },
    { path: 'p/other.ts', text: 'Date.now();' },
  ];
  expect(reachable('p/index.ts', files).map((file) => file.path)).toEqual(['p/index.ts', 'p/a.ts', 'p/deep/b.ts']);
  expect(purityFaults(reachable('p/index.ts', files), [])).toEqual([
    expect.stringContaining('p/deep/b.ts:2: uses Date'),
    expect.stringContaining('p/deep/b.ts:1: imports node:fs'),
  ]);
});
