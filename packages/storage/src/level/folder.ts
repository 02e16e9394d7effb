/**
 * The data folder and its mark, the file VERSION: which format, which cluster, which member. It is written last when a
 * folder is first used, so that its presence says that the databases were made; it is compared at every start after that.
 */
import { constants } from 'node:fs';
import { access, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { identityFault } from '../boot.ts';
import type { StoreIdentity } from '../contract.ts';
import { FORMAT } from '../sealed.ts';
import { reasonOf, StorageError } from '../storage-error.ts';
import { syncDirectory } from './level-engine.ts';

const VERSION = 'VERSION';

/** Makes the folder if it is missing and checks its mark. Returns whether it is fresh: without a mark. Throws StorageError. */
export async function prepareFolder(directory: string, identity: StoreIdentity): Promise<boolean> {
  try {
    const made = await makeFolder(directory);
    if (made !== undefined) await syncDirectory(dirname(made));
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (thrown) {
    throw new StorageError(
      'NOT_WRITABLE',
      `Cannot use the data folder ${directory}: ${reasonOf(thrown)}; make it writable or choose another one`,
      { cause: thrown },
    );
  }
  const text = await readVersion(directory);
  if (text === undefined) return true;
  const found = parseVersion(directory, text);
  const fault = identityFault(`The data folder ${directory}`, found, identity);
  if (fault !== undefined) throw fault;
  return false;
}

/**
 * Makes the folder and those above it that are missing. Returns the topmost that was made, undefined when none was. Not the
 * recursive mkdir of Node: where a file system answers ENOENT for a folder whose parent exists, as /proc does, that never ends.
 */
async function makeFolder(directory: string): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode: 0o700 });
    return directory;
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'EEXIST' && (await stat(directory)).isDirectory()) return undefined;
    const parent = dirname(directory);
    if (code !== 'ENOENT' || parent === directory) throw thrown;
    const made = await makeFolder(parent);
    await mkdir(directory, { mode: 0o700 });
    return made ?? directory;
  }
}

/** Writes the mark: all of it or nothing, durable when done. */
export async function markFolder(directory: string, identity: StoreIdentity): Promise<void> {
  const path = join(directory, VERSION);
  const handle = await open(`${path}.tmp`, 'w', 0o600);
  try {
    const { clusterId, sid } = identity;
    await handle.writeFile(`${JSON.stringify({ format: FORMAT, clusterId, sid })}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${path}.tmp`, path);
  await syncDirectory(directory);
}

async function readVersion(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, VERSION), 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw new StorageError('NOT_WRITABLE', `Cannot read ${join(directory, VERSION)}: ${reasonOf(thrown)}`, {
      cause: thrown,
    });
  }
}

function parseVersion(directory: string, text: string): StoreIdentity {
  const path = join(directory, VERSION);
  let mark: unknown;
  try {
    mark = JSON.parse(text);
  } catch (thrown) {
    throw new StorageError('DAMAGED', `Damaged data folder: ${path} is not JSON (${text.length} characters)`, {
      cause: thrown,
    });
  }
  const fields: Readonly<Record<string, unknown>> = typeof mark === 'object' && mark !== null ? { ...mark } : {};
  const { format, clusterId, sid } = fields as Readonly<Record<'format' | 'clusterId' | 'sid', unknown>>;
  if (typeof format === 'number' && format !== FORMAT) {
    throw new StorageError(
      'FORMAT_UNKNOWN',
      `The data folder ${directory} has format ${format}, this version reads format ${FORMAT}; use the version that wrote it`,
    );
  }
  if (format !== FORMAT || typeof clusterId !== 'string' || typeof sid !== 'number') {
    throw new StorageError('DAMAGED', `Damaged data folder: ${path} does not name a format, clusterId and sid`);
  }
  return { clusterId, sid };
}
