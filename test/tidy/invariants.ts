/**
 * Rule: the invariants of the agreement are numbered without a gap in core/src/zab/README.md, each is cited in a source by its
 * number, and the files that the table names as asserting or testing it are there. Knows the table's shape, not what it says.
 */
import type { SourceFile } from './workspace.ts';

/** A row of the table: `| Z1 | what holds | asserted in | caught by |`. */
interface Invariant {
  readonly name: string;
  readonly assertedIn: string;
  readonly caughtBy: string;
}

function invariantsOf(readme: string): readonly Invariant[] {
  return readme
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => /^Z\d+$/.test(cells[1] ?? ''))
    .map((cells) => ({ name: cells[1]!, assertedIn: cells[3] ?? '', caughtBy: cells[4] ?? '' }));
}

/** File names that a cell mentions, and those of them that are nowhere. */
function lostFiles(cell: string, files: readonly SourceFile[]): readonly string[] {
  const named = cell.match(/[\w.-]+\.ts\b/g) ?? [];
  return named.filter((name) => !files.some((file) => file.path.endsWith(`/${name}`)));
}

/** What is wrong between the table and the files of the folder. */
export function invariantFaults(readme: string, files: readonly SourceFile[]): readonly string[] {
  const sources = files.filter((file) => !file.path.endsWith('.test.ts'));
  const rows = invariantsOf(readme);
  const faults = rows.flatMap((row, index) => [
    ...(row.name === `Z${index + 1}` ? [] : [`${row.name} stands where Z${index + 1} should`]),
    ...(sources.some((file) => new RegExp(`\\b${row.name}\\b`).test(file.text))
      ? []
      : [`${row.name} is cited in no source`]),
    ...(row.assertedIn === '' ? [`${row.name} does not say where it is asserted`] : []),
    ...(/\.test\.ts|\bsim\b/.test(row.caughtBy) ? [] : [`${row.name} does not say what would catch a breach`]),
    ...[row.assertedIn, row.caughtBy]
      .flatMap((cell) => lostFiles(cell, files))
      .map((name) => `${row.name} names ${name}, which is not there`),
  ]);
  const cited = new Set(sources.flatMap((file) => file.text.match(/\bZ\d+(?=:)/g) ?? []));
  const unknown = [...cited].filter((name) => !rows.some((row) => row.name === name));
  return [
    ...(rows.length === 0 ? ['there is no table of invariants'] : []),
    ...faults,
    ...unknown.map((name) => `${name} is cited, but not in the table`),
  ];
}
