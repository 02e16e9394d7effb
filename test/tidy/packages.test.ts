import { expect, test } from 'vitest';
import { packageFaults, README_LINES_MAX, topLevelFaults } from './packages.ts';
import { type Package, readPackages, topLevel } from './workspace.ts';

test('nothing stands at the top that does not belong there', () => {
  expect(topLevelFaults(topLevel())).toEqual([]);
  expect(topLevelFaults(['README.md', 'notes.txt'])).toEqual(['notes.txt does not belong at the top']);
});

test('every package has a README of one screen, faces, and a reason for each dependency', () => {
  expect(readPackages().flatMap(packageFaults)).toEqual([]);
});

const README = '# x\n\n<!-- table: dependencies -->\n| dependency | why |\n|---|---|\n| `level` | the disk |\n';
const good: Package = {
  folder: 'x',
  manifest: { name: '@quorate/x', exports: { '.': '' }, dependencies: { level: '1.0.0', '@quorate/y': '0.1.0' } },
  readme: README,
  sources: [{ path: 'packages/x/src/a.ts', text: `import { Level } from 'level';` }],
};

test('good papers are no fault', () => {
  expect(packageFaults(good)).toEqual([]);
});

test.each<[string, Partial<Package>, string]>([
  ['no README', { readme: undefined }, 'is missing'],
  ['a README without end', { readme: README + '\n'.repeat(README_LINES_MAX) }, 'more than a screen'],
  ['no exports map', { manifest: { ...good.manifest, exports: {} } }, 'no exports map'],
  ['a dependency without a reason', { readme: README.replace('the disk', '') }, 'says why level'],
  [
    'a reason for what is not a dependency',
    { readme: README.replace('`level`', '`pino`') },
    'pino is not a dependency',
  ],
  [
    'a dependency that nothing imports',
    { sources: [{ path: 'packages/x/src/a.ts', text: '' }] },
    'level is not imported',
  ],
])('%s is a fault', (_what, change, fault) => {
  expect(packageFaults({ ...good, ...change }).join('\n')).toContain(fault);
});
