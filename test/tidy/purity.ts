/**
 * Rule: what is reachable from `core` and from the root of `protocol` is a pure machine: no Node, no clock, no randomness
 * of its own, no promises. The compiler (types: []) keeps Node's types out; this keeps out what the language itself has.
 */
import { dirname, join } from 'node:path/posix';
import { importsOf, lineAt, read } from './source-text.ts';
import type { SourceFile } from './workspace.ts';

/** Names of the surroundings. As a property (`x.process`) or a key (`process: 1`) a name is innocent. */
const AMBIENT = [
  'Date',
  'performance',
  'process',
  'Buffer',
  'TextEncoder',
  'TextDecoder',
  'crypto',
  'console',
  'globalThis',
  'Promise',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'fetch',
  'require',
];
const NAMES = new RegExp(`(?<![.\\w$#])(?:${AMBIENT.join('|')})\\b(?!\\s*\\??:)`, 'g');
const WORDS = /\bMath\s*\.\s*random\b|(?<![.\w$])async\b(?=\s+(?:function|\w+\s*\(|\(|\w+\s*=>))|(?<![.\w$])await\b/g;

/** Uses of the surroundings in one file. */
export function ambientFaults(file: SourceFile): readonly string[] {
  const { code } = read(file.text);
  const found = [...code.matchAll(NAMES), ...code.matchAll(WORDS)];
  return found.map(
    (match) => `${file.path}:${lineAt(code, match.index)}: uses ${match[0].trim()}, which is not the core's to use`,
  );
}

/** The files that one can come to from `entry` by relative imports, the entry first. A missing file is left out. */
export function reachable(entry: string, files: readonly SourceFile[]): readonly SourceFile[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set([entry]);
  for (const path of seen) {
    for (const { specifier } of importsOf(byPath.get(path)?.text ?? '')) {
      if (specifier.startsWith('.')) seen.add(join(dirname(path), specifier));
    }
  }
  return [...seen].flatMap((path) => byPath.get(path) ?? []);
}

/** Everything impure in the files: uses of the surroundings, and imports of anything but siblings named in `allowed`. */
export function purityFaults(files: readonly SourceFile[], allowed: readonly string[]): readonly string[] {
  return files.flatMap((file) => [
    ...ambientFaults(file),
    ...importsOf(file.text)
      .filter(({ specifier }) => !specifier.startsWith('.') && !allowed.includes(specifier))
      .map(
        ({ specifier, line }) =>
          `${file.path}:${line}: imports ${specifier}: a pure file imports only ${allowed.join(', ') || 'its neighbours'}`,
      ),
  ]);
}
