/** Runs the project's own lint configuration on bad examples: a rule that is listed but does not bite is worth nothing. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './workspace.ts';

/** File name → text, each with the one fault that its rule is about. */
const BAD: Readonly<Record<string, { readonly rule: string; readonly text: string }>> = {
  'floating.ts': { rule: 'no-floating-promises', text: 'export function f(p: Promise<void>): void {\n  p;\n}\n' },
  'misused.ts': {
    rule: 'no-misused-promises',
    text: 'export const f = (go: () => Promise<boolean>): number => (go() ? 1 : 2);\n',
  },
  'any.ts': { rule: 'no-explicit-any', text: 'export const f = (x: any): string => String(x);\n' },
  'bang.ts': { rule: 'no-non-null-assertion', text: 'export const f = (x?: string): string => x!;\n' },
  'face.ts': { rule: 'no-default-export', text: 'export default 1;\n' },
  'switch.ts': {
    rule: 'switch-exhaustiveness-check',
    text: `export function f(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      break;\n  }\n}\n`,
  },
  'long.ts': {
    rule: 'max-lines-per-function',
    text: `export function f(x: number[]): void {\n${'  x.push(1);\n'.repeat(70)}}\n`,
  },
  'throws.ts': { rule: 'only-throw-error', text: `export function f(): void {\n  throw 'text';\n}\n` },
};

const GOOD =
  'export async function f(p: Promise<number>): Promise<number> {\n  const x = await p;\n  return x + 1;\n}\n';

interface Finding {
  readonly code: string;
  readonly filename: string;
}

/** Lints a folder with these files, as the project does, with the types that the project has. */
function lint(files: Readonly<Record<string, string>>): readonly Finding[] {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-lint-'));
  try {
    mkdirSync(join(folder, 'src'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'src', name), text);
    const config = { extends: join(ROOT, 'tsconfig.json'), include: ['src'], compilerOptions: { rootDir: 'src' } };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const args = ['--config', join(ROOT, '.oxlintrc.json'), '--format', 'json', 'src'];
    const env = { ...process.env, PATH: `${join(ROOT, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}` };
    const done = spawnSync(join(ROOT, 'node_modules', '.bin', 'oxlint'), args, { cwd: folder, env, encoding: 'utf8' });
    return (JSON.parse(done.stdout) as { diagnostics: Finding[] }).diagnostics;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('the linter finds each bad example by its rule, also those that need types, and lets the good one pass', () => {
  const texts = Object.fromEntries(Object.entries(BAD).map(([name, { text }]) => [name, text]));
  const found = lint({ ...texts, 'good.ts': GOOD });
  for (const [name, { rule }] of Object.entries(BAD)) {
    const here = found.filter((one) => one.filename.endsWith(name)).map((one) => one.code);
    expect([name, here]).toEqual([name, expect.arrayContaining([expect.stringContaining(rule)])]);
  }
  expect(found.filter((one) => one.filename.endsWith('good.ts'))).toEqual([]);
});
