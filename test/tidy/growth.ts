/**
 * Rule: a file that outgrows its limit has a second subject; a source that postpones work is not done.
 * The length of functions is the linter's (max-lines-per-function), proved in lint.test.ts.
 */
import { read } from './source-text.ts';
import type { SourceFile } from './workspace.ts';

/** Most lines of a source file, tests included. The aim is 100 to 200. */
export const FILE_LINES_MAX = 400;

/** Files over the limit. */
export function growthFaults(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    return lines > FILE_LINES_MAX ? [`${path}: has ${lines} lines, of at most ${FILE_LINES_MAX}`] : [];
  });
}

const MARKS = new RegExp(
  `\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b|[Nn]ot (?:yet implemented|implemented yet)`,
);

/** Lines that say that something is still to be done. */
export function placeholderFaults(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
      .filter(({ line }) => MARKS.test(line))
      .map(({ line, at }) => `${at}: puts something off: ${line.trim()}`),
  );
}

/** Files of code that do not begin with a comment that says what they own. */
export function headerFaults(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const { code } = read(text);
    const first = text.search(/\S/);
    const saysSo = first >= 0 && code[first] === ' ' && /^\/[/*]/.test(text.slice(first));
    return saysSo ? [] : [`${path}: does not begin with what it owns and what it does not know`];
  });
}
