/**
 * Rule: the invariants of a room are numbered without a gap in its README (Z1, P1 ...), each is cited in a source by its
 * number, and the files that the table names as asserting or testing it are there. Knows the table's shape, not what it says.
 */
import type { SourceFile } from './workspace.ts';

/** A row of the table: `| Z1 | what holds | asserted in | caught by |`. */
interface Invariant {
  readonly name: string;
  readonly assertedIn: string;
  readonly caughtBy: string;
}

function invariantsOf(readme: string, letter: string): readonly Invariant[] {
  return readme
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => new RegExp(`^${letter}\\d+$`).test(cells[1] ?? ''))
    .map((cells) => ({ name: cells[1]!, assertedIn: cells[3] ?? '', caughtBy: cells[4] ?? '' }));
}

/** File names that a cell mentions, and those of them that are nowhere. */
function lostFiles(cell: string, files: readonly SourceFile[]): readonly string[] {
  const named = cell.match(/[\w.-]+\.ts\b/g) ?? [];
  return named.filter((name) => !files.some((file) => file.path.endsWith(`/${name}`)));
}

/** What is wrong between the table of invariants that begin with `letter` and the files that they are about. */
export function invariantFaults(letter: string, readme: string, files: readonly SourceFile[]): readonly string[] {
  const sources = files.filter((file) => !file.path.endsWith('.test.ts'));
  const rows = invariantsOf(readme, letter);
  const faults = rows.flatMap((row, index) => [
    ...(row.name === `${letter}${index + 1}` ? [] : [`${row.name} stands where ${letter}${index + 1} should`]),
    ...(sources.some((file) => new RegExp(`\\b${row.name}\\b`).test(file.text))
      ? []
      : [`${row.name} is cited in no source`]),
    ...(row.assertedIn === '' ? [`${row.name} does not say where it is asserted`] : []),
    ...(/\.test\.ts|\bsim\b/.test(row.caughtBy) ? [] : [`${row.name} does not say what would catch a breach`]),
    ...[row.assertedIn, row.caughtBy]
      .flatMap((cell) => lostFiles(cell, files))
      .map((name) => `${row.name} names ${name}, which is not there`),
  ]);
  const cited = new Set(sources.flatMap((file) => file.text.match(new RegExp(`\\b${letter}\\d+(?=: )`, 'g')) ?? []));
  const unknown = [...cited].filter((name) => !rows.some((row) => row.name === name));
  return [
    ...(rows.length === 0 ? ['there is no table of invariants'] : []),
    ...faults,
    ...unknown.map((name) => `${name} is cited, but not in the table`),
  ];
}
