/**
 * Rules for packages: each has a README, an exports map and, for every runtime dependency from outside, a line in the
 * README's table that says why. And for the top of the repository: nothing stands there that is not on the list.
 */
import { tablesOf } from './doc-tables.ts';
import { importsOf } from './source-text.ts';
import { isTestFile, type Package } from './workspace.ts';

/** All that may stand at the top. */
export const TOP_LEVEL = [
  '.ci',
  '.dockerignore',
  '.gitattributes',
  '.gitignore',
  '.npmrc',
  '.oxlintrc.json',
  'LICENSE',
  'README.md',
  'biome.json',
  'buf.yaml',
  'deploy',
  'package-lock.json',
  'package.json',
  'packages',
  'protos',
  'scripts',
  'test',
  'tsconfig.json',
  'vitest.config.ts',
];

/** Names at the top that are not on the list. */
export function topLevelFaults(names: readonly string[]): readonly string[] {
  return names.filter((name) => !TOP_LEVEL.includes(name)).map((name) => `${name} does not belong at the top`);
}

/** Most lines of a README of a package: one screen. */
export const README_LINES_MAX = 100;

function readmeFaults(one: Package): readonly string[] {
  const path = `packages/${one.folder}/README.md`;
  if (one.readme === undefined) return [`${path} is missing`];
  const lines = one.readme.split('\n').length;
  return lines > README_LINES_MAX ? [`${path}: has ${lines} lines, more than a screen (${README_LINES_MAX})`] : [];
}

/** Dependencies from outside, against the README's table and the imports. */
function dependencyFaults(one: Package): readonly string[] {
  const path = `packages/${one.folder}/README.md`;
  const listed = Object.keys(one.manifest.dependencies ?? {}).filter((name) => !name.startsWith('@quorate/'));
  const table = tablesOf({ path, text: one.readme ?? '' }).find((each) => each.name === 'dependencies');
  const rows = table?.rows ?? [];
  const sources = one.sources.filter((file) => !isTestFile(file.path));
  const used = new Set(sources.flatMap((file) => importsOf(file.text).map(({ specifier }) => specifier)));
  const isUsed = (name: string): boolean => [...used].some((each) => each === name || each.startsWith(`${name}/`));
  return [
    ...listed
      .filter((name) => !rows.some(([cell, why]) => cell === name && (why ?? '') !== ''))
      .map((name) => `${path}: no row in the table dependencies says why ${name}`),
    ...rows.filter(([cell]) => !listed.includes(cell ?? '')).map(([cell]) => `${path}: ${cell} is not a dependency`),
    ...(sources.length === 0
      ? []
      : listed.filter((name) => !isUsed(name)).map((name) => `packages/${one.folder}: ${name} is not imported`)),
  ];
}

/** All that is wrong with one package's papers. */
export function packageFaults(one: Package): readonly string[] {
  const noFaces = Object.keys(one.manifest.exports ?? {}).length === 0;
  return [
    ...readmeFaults(one),
    ...(noFaces ? [`packages/${one.folder}/package.json: has no exports map`] : []),
    ...dependencyFaults(one),
  ];
}
