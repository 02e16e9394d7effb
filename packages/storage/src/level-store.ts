/** A member's store on LevelDB: opens the data folder, and puts the storage logic on the LevelDB engine. */
import { type BootOptions, boot } from './boot.ts';
import type { MemberStore, StoreEvents, StoreIdentity, VoteRight } from './contract.ts';
import type { DiskState } from './disk-state.ts';
import type { Engine } from './io.ts';
import { Lane } from './lane.ts';
import { markFolder, prepareFolder } from './level/folder.ts';
import { LevelEngine } from './level/level-engine.ts';
import { storageErrorOf } from './level/level-error.ts';
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
  const fresh = await prepareFolder(directory, identity);
  const level = new LevelEngine(directory);
  const engine = options.wrapEngine?.(level) ?? level;
  try {
    const disk = await bootOn(engine, { place: directory, identity, fresh, firstVoteRight });
    if (fresh) await markFolder(directory, identity);
    return new Store({ engine, disk, place: directory, events, syncs: () => level.syncs });
  } catch (thrown) {
    await engine.close();
    const error = storageErrorOf(thrown, directory, 'open');
    if (error.code !== 'IO') throw error;
    throw new StorageError('NOT_WRITABLE', error.message, { cause: thrown });
  }
}

function bootOn(engine: Engine, options: BootOptions): Promise<DiskState> {
  return new Promise((resolve, reject) => {
    new Lane(engine, 'log', reject).run(boot(options), resolve);
  });
}
