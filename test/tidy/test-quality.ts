/**
 * Rules for tests: each can fail (it asserts something), none is switched off or singled out, none waits by the clock.
 * Knows the shape of vitest's calls, not what they test. A helper counts as an assertion when its name says so or when it
 * stands in the same file and asserts.
 */
import { importsOf, lineAt, read } from './source-text.ts';
import type { SourceFile } from './workspace.ts';

/** Calls that assert: expect, assert, fc.assert, and helpers named for it. */
const ASSERTION = /\b(?:expect|assert|verify|check|conform)\w*\s*[.(<]/i;
const SWITCHED = /(?<![.\w$])(?:test|it|describe)(?:\s*\.\s*\w+)*?\s*\.\s*(skip|only|todo|fails|skipIf|runIf)\b/g;
const SLEEP = /(?<![.\w$])(?:setTimeout|sleep|delay)\s*\(|(?<![\w$])timers\s*\.\s*setTimeout\b/g;
const START = /(?<![.\w$])(?:test|it)(?:\s*\.\s*\w+)*\s*(?=\()/g;

/** Offset after the bracket that closes the one at `open`. */
function closeOf(code: string, open: number): number {
  let depth = 0;
  for (let i = open; i < code.length; i++) {
    if ('([{'.includes(code[i]!)) depth++;
    if (')]}'.includes(code[i]!) && --depth === 0) return i + 1;
  }
  return code.length;
}

/** The text of the call at `open`, with further calls of its result: `test.each(rows)(name, body)`. */
function callAt(code: string, open: number): string {
  let end = closeOf(code, open);
  for (;;) {
    const next = /^\s*\(/.exec(code.slice(end));
    if (next === null) return code.slice(open, end);
    end = closeOf(code, end + next[0].length - 1);
  }
}

/** The text of the body of a function whose parameters end at `end`: a block, or what an arrow points to. */
function bodyFrom(code: string, end: number): string {
  const arrow = /^[^{;]*=>\s*(?=[^\s{])/.exec(code.slice(end));
  if (arrow !== null) return code.slice(end, code.indexOf(';', end) + 1);
  const open = code.indexOf('{', end);
  return open < 0 ? '' : code.slice(open, closeOf(code, open));
}

/** Names of functions of this file that assert. */
function assertingHelpers(code: string): readonly string[] {
  const names: string[] = [];
  const declared = /\bfunction\s*\*?\s*(\w+)|\bconst\s+(\w+)\s*=\s*(?:async\s*)?(?=\()/g;
  for (const match of code.matchAll(declared)) {
    const end = closeOf(code, code.indexOf('(', match.index + match[0].length));
    if (ASSERTION.test(bodyFrom(code, end))) names.push(match[1] ?? match[2]!);
  }
  return names;
}

/** Tests that cannot fail by themselves. */
export function assertionFaults(file: SourceFile): readonly string[] {
  const { code } = read(file.text);
  const helpers = assertingHelpers(code);
  const calls = helpers.length > 0 ? new RegExp(`\\b(?:${helpers.join('|')})\\s*[(<]`) : undefined;
  const faults: string[] = [];
  for (const match of code.matchAll(START)) {
    const body = callAt(code, match.index + match[0].length);
    const asserts = ASSERTION.test(body) || calls?.test(body) === true;
    if (!asserts) faults.push(`${file.path}:${lineAt(code, match.index)}: a test without an assertion`);
  }
  return faults;
}

/** Tests that are switched off, or that switch the others off. */
export function switchFaults(file: SourceFile): readonly string[] {
  const { code } = read(file.text);
  return [...code.matchAll(SWITCHED)].map(
    (match) => `${file.path}:${lineAt(code, match.index)}: a test with .${match[1]}`,
  );
}

/** Waits by the clock. A helper outside test files may poll; a test awaits a condition. */
export function sleepFaults(file: SourceFile): readonly string[] {
  const { code } = read(file.text);
  const found = [...code.matchAll(SLEEP)].map((match) => lineAt(code, match.index));
  for (const { specifier, line } of importsOf(file.text)) if (specifier === 'node:timers/promises') found.push(line);
  return found.map((line) => `${file.path}:${line}: a test waits by the clock`);
}
