/** A member's store on LevelDB: opens the data folder, and puts the storage logic on the LevelDB engine. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BootOptions, boot, identityFault } from './boot.ts';
import type { MemberStore, StoreEvents, StoreIdentity, VoteRight } from './contract.ts';
import { ADVICE } from './damage.ts';
import type { DiskState } from './disk-state.ts';
import type { Engine } from './io.ts';
import { Lane } from './lane.ts';
import { markFolder, readMark, useFolder } from './level/folder.ts';
import { FolderLock } from './level/folder-lock.ts';
import { LevelEngine } from './level/level-engine.ts';
import { storageErrorOf } from './level/level-error.ts';
import { ownNames, takeUp } from './level/set-aside.ts';
import { removeUnfinished, type Unfinished, writeUnfinished } from './level/unfinished.ts';
import { StorageError } from './storage-error.ts';
import { Store } from './store.ts';

export interface LevelStoreOptions {
  /** The data folder: made, with mode 0700, when it is missing. One process at a time may use it. */
  readonly directory: string;
  /** Whose data it is to hold. */
  readonly identity: StoreIdentity;
  readonly events: StoreEvents;
  /**
   * What databases that are made now say of the member's right to vote. Default `unformed`. `recovering`: they replace
   * some that are lost. Without effect on databases that exist.
   */
  readonly firstVoteRight?: VoteRight;
  /** For tests: an engine around the real one. */
  readonly wrapEngine?: (engine: Engine) => Engine;
}

/**
 * Opens the data folder; call `recover` next. Rejects with StorageError: FORMAT_UNKNOWN, WRONG_CLUSTER, WRONG_SID, LOCKED,
 * NOT_WRITABLE or DAMAGED. Nothing stays open then.
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<MemberStore> {
  const { directory, identity, events, firstVoteRight = 'unformed' } = options;
  await useFolder(directory);
  const lock = await FolderLock.take(directory);
  const level = new LevelEngine(directory, lock);
  const engine = options.wrapEngine?.(level) ?? level;
  try {
    const unfinished = await prepare(directory, identity, firstVoteRight);
    const fresh = unfinished !== undefined;
    const right = unfinished?.voteRight ?? firstVoteRight;
    const disk = await bootOn(engine, { place: directory, identity, fresh, firstVoteRight: right });
    if (fresh) {
      await markFolder(directory, identity);
      await removeUnfinished(directory);
    }
    return new Store({ engine, disk, place: directory, events, syncs: () => level.syncs });
  } catch (thrown) {
    await engine.close();
    const error = storageErrorOf(thrown, directory, 'open');
    if (error.code !== 'IO') throw error;
    throw new StorageError('NOT_WRITABLE', error.message, { cause: thrown });
  }
}

/** Returns what is to be made in the folder; undefined when it is in use, by this member. Throws StorageError. */
async function prepare(
  directory: string,
  identity: StoreIdentity,
  firstVoteRight: VoteRight,
): Promise<Unfinished | undefined> {
  const begun = await takeUp(directory, identity);
  const mark = await readMark(directory);
  const fault = mark === undefined ? undefined : identityFault(`The data folder ${directory}`, mark, identity);
  if (fault !== undefined) throw fault;
  if (mark !== undefined) {
    // The last step of making is to say that it is done.
    if (begun !== undefined) await removeUnfinished(directory);
    return undefined;
  }
  const names = await ownNames(directory);
  if (begun !== undefined) {
    // Half made, after UNFINISHED was written, and never used.
    for (const name of names) await rm(join(directory, name), { recursive: true });
    return begun;
  }
  if (names.length > 0) {
    throw new StorageError(
      'DAMAGED',
      `Damaged data folder ${directory}: there is data (${names.join(', ')}), but the file VERSION is missing; ${ADVICE}`,
    );
  }
  const unfinished: Unfinished = { identity, voteRight: firstVoteRight, movingTo: undefined };
  await writeUnfinished(directory, unfinished);
  return unfinished;
}

function bootOn(engine: Engine, options: BootOptions): Promise<DiskState> {
  return new Promise((resolve, reject) => {
    new Lane(engine, 'log', reject).run(boot(options), resolve);
  });
}
