import { expect, test } from 'vitest';
import { type Arrows, arrowFaults, arrowsOf, crossingFaults } from './arrows.ts';
import { tablesOf } from './doc-tables.ts';
import { type Package, readFiles, readPackages } from './workspace.ts';

const packages = readPackages();

function repositoryArrows(): Arrows {
  const [floorPlan] = readFiles((path) => path === 'packages/README.md');
  const tables = tablesOf(floorPlan!).filter((table) => table.name === 'arrows');
  expect(tables).toHaveLength(1);
  return arrowsOf(tables[0]!.rows);
}

/** A package with one source file, for bad examples. */
function one(folder: string, text: string, file = 'src/a.ts'): Package {
  const face = { '.': './src/index.ts' };
  return {
    folder,
    manifest: { name: `@quorate/${folder}`, exports: face, dependencies: { level: '1.0.0' } },
    readme: '',
    sources: [{ path: `packages/${folder}/${file}`, text }],
  };
}

const arrows: Arrows = new Map([
  ['core', ['protocol']],
  ['protocol', []],
]);

test('packages import each other only along the arrows, and only by their faces', () => {
  expect(arrowFaults(packages, repositoryArrows())).toEqual([]);
});

test('every arrow is a dependency in the manifest and a reference of the compiler, and the other way round', () => {
  for (const [folder, to] of repositoryArrows()) {
    const manifest = packages.find((one) => one.folder === folder)?.manifest;
    const siblings = Object.keys(manifest?.dependencies ?? {}).filter((name) => name.startsWith('@quorate/'));
    expect([folder, siblings.sort()]).toEqual([folder, to.map((name) => `@quorate/${name}`).sort()]);
    const [config] = readFiles((path) => path === `packages/${folder}/tsconfig.json`);
    const references = (JSON.parse(config!.text) as { references: { path: string }[] }).references;
    const referred = new Set(references.map((one) => one.path.split('/').slice(0, 2).join('/')));
    expect([folder, [...referred].sort()]).toEqual([folder, to.map((name) => `../${name}`).sort()]);
  }
});

test.each([
  ['zab', 'tree'],
  ['zab', 'pipeline'],
  ['tree', 'zab'],
  ['tree', 'pipeline'],
  ['pipeline', 'zab'],
])('inside core, %s does not import %s', (a, b) => {
  const core = packages.find((one) => one.folder === 'core')!.sources;
  const [from, to] = [`packages/core/src/${a}/`, `packages/core/src/${b}/`];
  expect(core.filter((file) => file.path.startsWith(from)).length).toBeGreaterThan(3);
  expect(crossingFaults(core, from, to)).toEqual([]);
});

test.each([
  ['an import against the arrows', one('protocol', `import { x } from '@quorate/core';`), 'no arrow protocol → core'],
  [
    'a deep import past the exports map',
    one('core', `import { x } from '@quorate/protocol/src/zxid.ts';`),
    'is not a face of',
  ],
  [
    'a relative import that leaves its package',
    one('core', `import { x } from '../../protocol/src/zxid.ts';`),
    'leaves its package',
  ],
  ['a relative import without an ending', one('core', `import { x } from './b';`), 'ends in .ts'],
  ['a package that imports itself by name', one('core', `export * from '@quorate/core';`), 'its own files by path'],
  [
    'an import that the manifest does not list',
    one('core', `import pino from 'pino';`),
    'pino is not in the dependencies',
  ],
  ['a test library outside tests', one('core', `import { test } from 'vitest';`), 'vitest is not in the dependencies'],
  ['a package without a row', one('extra', ''), 'has no row'],
])('%s is a fault', (_what, bad, fault) => {
  const both = [bad, ...['core', 'protocol'].filter((name) => name !== bad.folder).map((name) => one(name, ''))];
  expect(arrowFaults(both, arrows)).toEqual([expect.stringContaining(fault)]);
});

test('what is allowed is no fault', () => {
  const good = [
    one(
      'core',
      `import { x } from '@quorate/protocol';\nimport './b.ts';\nimport 'node:fs';\nimport { Level } from 'level';`,
    ),
    one('protocol', `import { test } from 'vitest';`, 'src/a.test.ts'),
  ];
  expect(arrowFaults(good, arrows)).toEqual([]);
});

test('an import between two rooms that do not know each other is a fault', () => {
  const file = { path: 'p/zab/a.ts', text: `import type { Txn } from '../tree/txn.ts';` };
  expect(crossingFaults([file], 'p/zab/', 'p/tree/')).toHaveLength(1);
  expect(crossingFaults([file], 'p/tree/', 'p/zab/')).toEqual([]);
  expect(crossingFaults([{ ...file, path: 'p/peer/a.ts' }], 'p/zab/', 'p/tree/')).toEqual([]);
});
