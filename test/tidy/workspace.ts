/**
 * Reads the repository as files: what tidy rules look at. Knows no rule.
 * Walks the folders instead of asking git, so that it also holds in an unpacked archive and sees files before they are committed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the repository, absolute. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Folders that are made, not written. */
const MADE = new Set(['node_modules', 'dist', '.git', 'coverage', 'data', '__pycache__']);

/** One file of the repository. */
export interface SourceFile {
  /** Relative to the top, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** What tidy reads of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** One folder under packages/. */
export interface Package {
  /** Its folder's name: `core`. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly readme: string | undefined;
  /** Everything below it that ends in .ts. */
  readonly sources: readonly SourceFile[];
}

function walk(folder: string, found: string[]): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (MADE.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path, found);
    else if (entry.isFile()) found.push(relative(ROOT, path).replaceAll('\\', '/'));
  }
}

/** Paths of all files that people wrote, sorted. */
export function allPaths(): readonly string[] {
  const found: string[] = [];
  walk(ROOT, found);
  return found.sort();
}

/** The files whose path `wanted` accepts, with their text. */
export function readFiles(wanted: (path: string) => boolean): readonly SourceFile[] {
  return allPaths()
    .filter(wanted)
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** All packages, by folder name. */
export function readPackages(): readonly Package[] {
  const files = readFiles((path) => path.startsWith('packages/'));
  const folders = new Set(files.map((file) => file.path.split('/')[1]!).filter((folder) => folder !== 'README.md'));
  const text = (path: string): string | undefined => files.find((file) => file.path === path)?.text;
  return [...folders].map((folder) => ({
    folder,
    manifest: JSON.parse(text(`packages/${folder}/package.json`) ?? '{"name":"(no package.json)"}') as Manifest,
    readme: text(`packages/${folder}/README.md`),
    sources: files.filter((file) => file.path.startsWith(`packages/${folder}/`) && file.path.endsWith('.ts')),
  }));
}

/** The names at the top of the repository, without what is made. */
export function topLevel(): readonly string[] {
  return readdirSync(ROOT).filter((name) => !MADE.has(name));
}

/** True for a file that only tests use: it may do what the product may not. */
export function isTestFile(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}
