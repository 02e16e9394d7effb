/**
 * Tables in the docs that a test reads: `<!-- table: NAME -->` stands right above a Markdown table.
 * Knows how such a table is written and how to tell it from the truth; which truth belongs to which name is in doc-tables.test.ts.
 */
import type { SourceFile } from './workspace.ts';

/** A marked table. */
export interface DocTable {
  readonly name: string;
  /** The file it stands in. */
  readonly path: string;
  /** Cells by row, without the header; backticks and outer blanks are gone. */
  readonly rows: readonly (readonly string[])[];
}

const MARKER = /^<!-- table: ([a-z-]+) -->$/;

/** Cells of one Markdown row. `\|` is a bar inside a cell. */
function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').replaceAll('`', '').trim());
}

/** All marked tables of a Markdown file. A marker without a table gives one without rows. */
export function tablesOf(file: SourceFile): readonly DocTable[] {
  const lines = file.text.split('\n');
  const found: DocTable[] = [];
  for (const [index, line] of lines.entries()) {
    const name = MARKER.exec(line.trim())?.[1];
    if (name === undefined) continue;
    const rest = lines.slice(index + 1);
    const start = rest.findIndex((one) => one.trim() !== '');
    const after = rest.slice(start < 0 ? rest.length : start);
    const end = after.findIndex((one) => !one.trim().startsWith('|'));
    const table = after.slice(0, end < 0 ? after.length : end);
    found.push({ name, path: file.path, rows: table.slice(2).map(cellsOf) });
  }
  return found;
}

/**
 * What a table says otherwise than the truth, as sentences.
 * Only as many cells of a row are compared as the truth has: further columns are prose. The order of rows does not matter.
 */
export function differences(table: DocTable, truth: readonly (readonly string[])[]): readonly string[] {
  const where = `${table.path}, table ${table.name}`;
  const key = (row: readonly string[]): string => row[0] ?? '';
  const faults: string[] = [];
  const keys = table.rows.map(key);
  for (const [index, row] of table.rows.entries()) {
    const real = truth.find((one) => key(one) === key(row));
    if (real === undefined) faults.push(`${where}: "${key(row)}" is not in the code`);
    else if (keys.indexOf(key(row)) !== index) faults.push(`${where}: "${key(row)}" stands there twice`);
    else {
      const said = row.slice(0, real.length);
      if (said.join('|') !== real.join('|')) {
        faults.push(`${where}: says "${said.join(' | ')}", the code says "${real.join(' | ')}"`);
      }
    }
  }
  for (const real of truth) {
    if (!keys.includes(key(real))) faults.push(`${where}: "${key(real)}" is missing`);
  }
  return faults;
}

/** Source files that a document names in backticks and that are nowhere: `zab/disk.ts` must end some path. */
export function lostPaths(file: SourceFile, paths: readonly string[]): readonly string[] {
  const named = [...file.text.matchAll(/`([\w/-][\w./-]*\.(?:ts|mjs|proto|sh|py|yaml))`/g)].map((match) => match[1]!);
  const lost = named.filter((name) => !paths.some((path) => path === name || path.endsWith(`/${name}`)));
  return lost.map((name) => `${file.path}: names ${name}, which is not there`);
}
