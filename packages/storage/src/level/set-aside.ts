/**
 * Setting damaged databases aside: they are moved to a folder beside, with the reason, and never deleted; what is made in
 * their place has the right to vote `recovering`. A crash in between is taken up by the next start (unfinished.ts).
 */
import { access, mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { identityFault } from '../boot.ts';
import type { StoreIdentity } from '../contract.ts';
import { reasonOf, StorageError } from '../storage-error.ts';
import { readMark, VERSION } from './folder.ts';
import { FolderLock } from './folder-lock.ts';
import { syncDirectory } from './level-engine.ts';
import { readUnfinished, type Unfinished, writeUnfinished, writeWhole } from './unfinished.ts';
import { WATERMARK } from './watermark-file.ts';

/** What names of folders with data that was set aside begin with; the time makes them sort by age. */
const PLACE = 'damaged-';

/** Name of the file in each that says why. */
const REASON = 'REASON';

/** So many may lie in a data folder: with a cause that stays (bad memory) each start or comparison would add a copy of all data. */
export const SET_ASIDE_MAX = 8;

/** Most of it that is repeated. */
const REASON_BYTES_MAX = 1_024;

export interface SetAsideOptions {
  /** The data folder. */
  readonly directory: string;
  /** Whose data it should hold. */
  readonly identity: StoreIdentity;
  /** Why, for whoever looks at what was set aside: the damage's own words. */
  readonly reason: string;
}

/**
 * Moves the databases of a folder that no store has open into `damaged-<UTC time>-<n>` inside it, so that the next open makes
 * new ones with the right to vote `recovering`. Returns where they are. Rejects with StorageError: WRONG_CLUSTER, WRONG_SID,
 * LOCKED, NOT_WRITABLE, or DAMAGED when `SET_ASIDE_MAX` are there already; nothing is lost then either.
 */
export async function setAside(options: SetAsideOptions): Promise<string> {
  const { directory, identity, reason } = options;
  const lock = await FolderLock.take(directory);
  try {
    await refuseForeign(directory, identity);
    await refuseTooMany(directory, reason);
    const movingTo = await makePlace(directory, reason);
    await writeUnfinished(directory, { identity, voteRight: 'recovering', movingTo });
    await finishMoving(directory, { identity, voteRight: 'recovering', movingTo });
    return join(directory, movingTo);
  } catch (thrown) {
    if (thrown instanceof StorageError) throw thrown;
    throw new StorageError('NOT_WRITABLE', `Cannot set the data in ${directory} aside: ${reasonOf(thrown)}`, {
      cause: thrown,
    });
  } finally {
    await lock.release();
  }
}

/**
 * Where the data that was set aside last is, and why, in one line: `damaged-…: <time>: <reason>`. Undefined when there is none.
 * Never rejects: it is for people only.
 */
export async function lastSetAside(directory: string): Promise<string | undefined> {
  try {
    const names = (await readdir(directory)).filter((name) => name.startsWith(PLACE)).sort();
    const name = names.at(-1);
    if (name === undefined) return undefined;
    const file = await open(join(directory, name, REASON), 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(REASON_BYTES_MAX), 0, REASON_BYTES_MAX, 0);
      return `${name}: ${buffer.toString('utf8', 0, bytesRead).split('\n')[0] ?? ''}`;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** What names another member is not damaged data of this one. A mark that cannot be read says nothing. */
async function refuseForeign(directory: string, identity: StoreIdentity): Promise<void> {
  const mark = await readMark(directory).catch((thrown: unknown) => {
    if (thrown instanceof StorageError && thrown.code === 'DAMAGED') return undefined;
    throw thrown;
  });
  const fault = mark === undefined ? undefined : identityFault(`The data folder ${directory}`, mark, identity);
  if (fault !== undefined) throw fault;
}

/** Whatever damages the data has not ended, and nobody has looked: one more copy would not help. */
async function refuseTooMany(directory: string, reason: string): Promise<void> {
  const { length } = (await readdir(directory)).filter((name) => name.startsWith(PLACE));
  if (length < SET_ASIDE_MAX) return;
  throw new StorageError(
    'DAMAGED',
    `${reason} (nothing was set aside: ${length} folders ${PLACE}* are in ${directory} already; ` +
      'look for the cause in disk and memory, then remove them)',
  );
}

/** A new folder with the reason in it. Returns its name. */
export async function makePlace(directory: string, reason: string): Promise<string> {
  const time = new Date().toISOString();
  for (let n = 1; ; n++) {
    const name = `${PLACE}${time.slice(0, 19).replaceAll(':', '-')}Z-${n}`;
    try {
      await mkdir(join(directory, name), { mode: 0o700 });
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') continue;
      throw thrown;
    }
    await writeWhole(join(directory, name), REASON, `${time}: ${reason}`);
    await syncDirectory(directory);
    return name;
  }
}

/** Moves what is still to be moved, and notes that all is. Can be begun again at any point. */
export async function finishMoving(
  directory: string,
  unfinished: Unfinished & { readonly movingTo: string },
): Promise<void> {
  const place = join(directory, unfinished.movingTo);
  await mkdir(place, { recursive: true, mode: 0o700 });
  for (const name of await ownNames(directory)) await rename(join(directory, name), await freeName(place, name));
  await syncDirectory(place);
  await syncDirectory(directory);
  await writeUnfinished(directory, { ...unfinished, movingTo: undefined });
}

/** Names in a data folder that are the store's own data. */
export async function ownNames(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => name === VERSION || name === WATERMARK || name === 'log' || /^state-\d+$/.test(name));
}

/** A path that does not exist: nothing that was set aside is ever replaced. */
async function freeName(place: string, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const path = join(place, n === 1 ? name : `${name}.${n}`);
    if (!(await exists(path))) return path;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

/** Takes up what a crash left unfinished. Returns what is unfinished still: databases that are to be made, from nothing. */
export async function takeUp(directory: string, identity: StoreIdentity): Promise<Unfinished | undefined> {
  const found = await readUnfinished(directory);
  if (found === undefined) return undefined;
  if (found === 'unreadable') {
    const movingTo = await makePlace(directory, 'The file UNFINISHED cannot be read');
    const unfinished: Unfinished & { movingTo: string } = { identity, voteRight: 'recovering', movingTo };
    await writeUnfinished(directory, unfinished);
    await finishMoving(directory, unfinished);
    return { ...unfinished, movingTo: undefined };
  }
  const fault = identityFault(`The data folder ${directory}`, found.identity, identity);
  if (fault !== undefined) throw fault;
  const { movingTo } = found;
  if (movingTo !== undefined) await finishMoving(directory, { ...found, movingTo });
  return { ...found, movingTo: undefined };
}
