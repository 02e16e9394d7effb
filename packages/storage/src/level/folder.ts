/**
 * The data folder and its mark, the file VERSION: which format, which cluster, which member. It is written last when a
 * folder is first used; it is compared at every start after that.
 */
import { constants } from 'node:fs';
import { access, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { StoreIdentity } from '../contract.ts';
import { ADVICE } from '../damage.ts';
import { FORMAT, hex32 } from '../sealed.ts';
import { reasonOf, StorageError } from '../storage-error.ts';
import { syncDirectory } from './level-engine.ts';
import { writeWhole } from './unfinished.ts';

export const VERSION = 'VERSION';

/** Makes the folder if it is missing. Throws StorageError NOT_WRITABLE. */
export async function useFolder(directory: string): Promise<void> {
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
}

/** Whose data the folder says that it holds; undefined without a mark. Throws StorageError DAMAGED or FORMAT_UNKNOWN. */
export async function readMark(directory: string): Promise<StoreIdentity | undefined> {
  const text = await readVersion(directory);
  return text === undefined ? undefined : parseVersion(directory, text);
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
  const { clusterId, sid } = identity;
  const mark = { format: FORMAT, clusterId, sid };
  await writeWhole(directory, VERSION, JSON.stringify({ ...mark, check: checkOf(JSON.stringify(mark)) }));
}

/** So that a mark with a wrong byte is not taken for that of somebody else. */
function checkOf(text: string): string {
  return hex32(crc32(text));
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
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (thrown) {
    throw new StorageError('DAMAGED', `Damaged data folder: ${path} is not JSON (${text.length} characters)`, {
      cause: thrown,
    });
  }
  const fields: Readonly<Record<string, unknown>> = typeof found === 'object' && found !== null ? { ...found } : {};
  const { check, ...mark } = fields;
  const { format, clusterId, sid } = mark as Readonly<Record<'format' | 'clusterId' | 'sid', unknown>>;
  if (check !== undefined ? check !== checkOf(JSON.stringify(mark)) : format === FORMAT) {
    throw new StorageError('DAMAGED', `Damaged data folder: the check in ${path} is wrong; ${ADVICE}`);
  }
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
