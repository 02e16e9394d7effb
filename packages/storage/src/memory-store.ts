/**
 * The memory twin of the LevelDB store, for the simulator: the same storage logic on an engine whose work waits for `pump`
 * and whose disk can lose power. Opening and recovering are done at once.
 */
import { boot, identityFault } from './boot.ts';
import type { RecoveredSummary, RecoverySink, StatePage, StoreEvents, StoreIdentity, VoteRight } from './contract.ts';
import { ADVICE } from './damage.ts';
import type { DiskState } from './disk-state.ts';
import type { Engine, LaneName } from './io.ts';
import { Lane } from './lane.ts';
import { MemoryEngine } from './memory/memory-engine.ts';
import type { SimDisk } from './memory/sim-disk.ts';
import type { SimStore } from './memory/sim-store.ts';
import { StorageError } from './storage-error.ts';
import { Store, type StoreParts } from './store.ts';

export interface MemoryStoreOptions {
  /** Whose data the disk is to hold. */
  readonly identity: StoreIdentity;
  readonly events: StoreEvents;
  /**
   * What databases that are made now say of the member's right to vote. Default `unformed`. `recovering`: they replace
   * some that are lost. Without effect on databases that exist.
   */
  readonly firstVoteRight?: VoteRight;
  /** Name of the disk, for messages. Default `memory`. */
  readonly place?: string;
  /** For tests: an engine around the memory engine. */
  readonly wrapEngine?: (engine: Engine) => Engine;
}

/** Opens a store on a disk. Throws StorageError as `openLevelStore` does. */
export function openMemoryStore(disk: SimDisk, options: MemoryStoreOptions): SimStore {
  const { identity, events, place = 'memory', firstVoteRight = 'unformed' } = options;
  const fault = disk.mark === undefined ? undefined : identityFault(place, disk.mark, identity);
  if (fault !== undefined) throw fault;
  const fresh = disk.mark === undefined;
  if (fresh) prepare(disk, place, firstVoteRight);
  const right = disk.unfinished ?? firstVoteRight;
  const memory = new MemoryEngine(disk);
  const engine = options.wrapEngine?.(memory) ?? memory;
  let booted: DiskState;
  try {
    booted = atOnce(memory, (done, failed) => {
      new Lane(engine, 'log', failed).run(boot({ place, identity, fresh, firstVoteRight: right }), done);
    });
  } catch (thrown) {
    disk.detach(memory);
    throw thrown;
  }
  disk.mark = identity;
  disk.unfinished = undefined;
  return new MemoryStore({ engine, disk: booted, place, events, syncs: () => memory.syncs }, memory);
}

/** A disk without a mark is new, or its databases are half made: then they are made from nothing. Throws StorageError. */
function prepare(disk: SimDisk, place: string, firstVoteRight: VoteRight): void {
  if (disk.unfinished === undefined && disk.names.length > 0) {
    throw new StorageError('DAMAGED', `Damaged data in ${place}: there is data, but it bears no mark; ${ADVICE}`);
  }
  disk.unfinished ??= firstVoteRight;
  disk.clear();
}

class MemoryStore extends Store implements SimStore {
  readonly #memory: MemoryEngine;

  constructor(parts: StoreParts, memory: MemoryEngine) {
    super(parts);
    this.#memory = memory;
  }

  pending(lane?: LaneName): number {
    return this.#memory.pending(lane);
  }

  pump(count = 1, lane?: LaneName): number {
    return this.#memory.pump(count, lane);
  }

  recoverNow(sink: RecoverySink): RecoveredSummary {
    return atOnce(this.#memory, (done, failed) => this.recoverWith(sink, done, failed));
  }

  override recover(sink: RecoverySink): Promise<RecoveredSummary> {
    return new Promise((resolve) => {
      resolve(this.recoverNow(sink));
    });
  }

  readStateNow(stream: number, maxBytes: number): StatePage {
    return atOnce(this.#memory, (done, failed) => this.readStateWith(stream, maxBytes, done, failed));
  }

  failNextWrite(reason: string | undefined, lands = false): void {
    this.#memory.failNextWrite(reason, lands);
  }
}

/** Runs what reports by callbacks to its end, with an engine that answers at once. Throws what it fails with. */
function atOnce<T>(
  engine: MemoryEngine,
  begin: (done: (value: T) => void, failed: (thrown: unknown) => void) => void,
): T {
  const outcome: { value?: T; thrown?: unknown; kind: 'none' | 'done' | 'failed' } = { kind: 'none' };
  engine.immediate = true;
  try {
    begin(
      (value) => Object.assign(outcome, { kind: 'done', value }),
      (thrown) => Object.assign(outcome, { kind: 'failed', thrown }),
    );
  } finally {
    engine.immediate = false;
  }
  if (outcome.kind === 'failed') throw outcome.thrown;
  if (outcome.kind === 'none') throw new Error('The engine was cut off');
  return outcome.value as T;
}
