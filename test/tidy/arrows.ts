/**
 * Rule: packages import each other only along the arrows of packages/README.md, by name and by exported face;
 * relative imports stay inside their package; what comes from outside is listed in the package's manifest.
 */
import { dirname, join } from 'node:path/posix';
import { importsOf } from './source-text.ts';
import { isTestFile, type Package, type SourceFile } from './workspace.ts';

/** Folder of a package → folders of the packages that it may import. */
export type Arrows = ReadonlyMap<string, readonly string[]>;

/** Reads the rows `package | imports`; `nothing` stands for no arrow. */
export function arrowsOf(rows: readonly (readonly string[])[]): Arrows {
  return new Map(
    rows.map(([from = '', to = '']) => [from, to === 'nothing' ? [] : to.split(',').map((one) => one.trim())]),
  );
}

/** `@grpc/grpc-js/build/x` → `@grpc/grpc-js`. */
function packageNameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function faultOfSibling(
  specifier: string,
  from: Package,
  arrows: Arrows,
  packages: readonly Package[],
): string | undefined {
  const name = packageNameOf(specifier);
  const to = packages.find((one) => one.manifest.name === name);
  if (to === undefined) return 'there is no such package';
  if (to.folder === from.folder) return 'a package imports its own files by path';
  if (!(arrows.get(from.folder) ?? []).includes(to.folder)) return `there is no arrow ${from.folder} → ${to.folder}`;
  const face = `.${specifier.slice(name.length)}`;
  if (to.manifest.exports?.[face] === undefined) return `${face} is not a face of ${name}`;
  return undefined;
}

/** Everything that tests of any package may import besides. */
const FOR_TESTS = new Set(['vitest', 'fast-check']);

function faultOf(
  specifier: string,
  file: SourceFile,
  from: Package,
  arrows: Arrows,
  packages: readonly Package[],
): string | undefined {
  if (specifier.startsWith('.')) {
    const target = join(dirname(file.path), specifier);
    if (!target.startsWith(`packages/${from.folder}/`)) return 'a relative import leaves its package';
    return specifier.endsWith('.ts') ? undefined : 'a relative import ends in .ts';
  }
  if (specifier.startsWith('node:')) return undefined;
  if (specifier.startsWith('@quorate/')) return faultOfSibling(specifier, from, arrows, packages);
  const name = packageNameOf(specifier);
  if (from.manifest.dependencies?.[name] !== undefined) return undefined;
  if (isTestFile(file.path) && FOR_TESTS.has(name)) return undefined;
  return `${name} is not in the dependencies of ${from.manifest.name}`;
}

/** Imports that break the rule, one sentence each. */
export function arrowFaults(packages: readonly Package[], arrows: Arrows): readonly string[] {
  const faults: string[] = [];
  for (const from of packages) {
    if (!arrows.has(from.folder)) faults.push(`packages/${from.folder}: has no row in the table of arrows`);
    for (const file of from.sources) {
      for (const { specifier, line } of importsOf(file.text)) {
        const fault = faultOf(specifier, file, from, arrows, packages);
        if (fault !== undefined) faults.push(`${file.path}:${line}: imports ${specifier}: ${fault}`);
      }
    }
  }
  return faults;
}

/** Imports from one folder into another that it must not know: `core` keeps agreement and tree apart. */
export function crossingFaults(files: readonly SourceFile[], from: string, to: string): readonly string[] {
  return files
    .filter((file) => file.path.startsWith(from))
    .flatMap((file) =>
      importsOf(file.text)
        .filter(({ specifier }) => specifier.startsWith('.') && join(dirname(file.path), specifier).startsWith(to))
        .map(({ specifier, line }) => `${file.path}:${line}: imports ${specifier}: ${from} does not know ${to}`),
    );
}
