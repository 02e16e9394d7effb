/**
 * What a checkpoint has to write, gathered while the tree goes on changing (copy on write).
 *
 * Two sets of keys (a path, or a session id): `dirty`, changed since the last begin; and, while a checkpoint is
 * gathered, `pending`, those that were dirty at its begin and are not handed out yet. Just before a pending record
 * changes, its image as of the begin is put aside, so what is handed out is the state at one zxid exactly. The cost
 * is what was dirty, not the size of the tree. It knows neither the disk nor the form of records.
 */
import { assert, type SessionId } from '@quorate/protocol';
import { LargeMap } from './large-map.ts';
import type { StateRecord } from './state-record.ts';

/** Names one record: a znode by its path, a session by its id. */
export type RecordKey = string | SessionId;

/** Some records of a checkpoint. */
export interface CheckpointPart {
  readonly records: readonly StateRecord[];
  /** True with the last part. */
  readonly done: boolean;
}

interface Gathering {
  readonly pending: LargeMap<RecordKey, true>;
  /** One iterator for the whole gathering: a fresh one would walk over all that was taken out before. */
  readonly cursor: IterableIterator<RecordKey>;
  /** Keys that were handed out as they stood. (Those with an image put aside are dirty again anyhow.) */
  readonly taken: RecordKey[];
  /** Old images that are not handed out yet. */
  readonly images: StateRecord[];
  /** The record about the whole, last of all. Undefined once handed out. */
  last: StateRecord | undefined;
}

export class Checkpointer {
  readonly #encode: (key: RecordKey) => StateRecord;
  #dirty = new LargeMap<RecordKey, true>();
  #gathering: Gathering | undefined = undefined;

  /** `encode` gives the record of a key as it is now; its value is undefined when what it names is gone. */
  constructor(encode: (key: RecordKey) => StateRecord) {
    this.#encode = encode;
  }

  get isActive(): boolean {
    return this.#gathering !== undefined;
  }

  /** To be called before every change of what `key` names, create and delete included. */
  willChange(key: RecordKey): void {
    const gathering = this.#gathering;
    if (gathering?.pending.delete(key) === true) gathering.images.push(this.#encode(key));
    this.#dirty.set(key, true);
  }

  /** Begins a checkpoint of the state as it is now; `last` is handed out at its end. */
  begin(last: StateRecord): void {
    assert(this.#gathering === undefined, () => 'Cannot begin a checkpoint: one is being gathered');
    const pending = this.#dirty;
    this.#dirty = new LargeMap();
    this.#gathering = { pending, cursor: pending.keys(), taken: [], images: [], last };
  }

  /** The next records: at least one, and then as many as begin within `bytesMax`. */
  next(bytesMax: number): CheckpointPart {
    const gathering = this.#gathering;
    assert(gathering !== undefined, () => 'Cannot gather: no checkpoint was begun');
    const records: StateRecord[] = [];
    let bytes = 0;
    do {
      const record = this.#take(gathering);
      if (record === undefined) break;
      records.push(record);
      bytes += record.key.length + (record.value?.length ?? 0);
    } while (bytes < bytesMax);
    return { records, done: gathering.last === undefined };
  }

  /**
   * Ends the checkpoint. `ok`: it is durable. Otherwise (failed, or given up half-way) everything it had taken over
   * is dirty again, so the next one misses nothing.
   */
  end(ok: boolean): void {
    const gathering = this.#gathering;
    assert(gathering !== undefined, () => 'Cannot end a checkpoint: none was begun');
    assert(!ok || gathering.last === undefined, () => 'Cannot end a checkpoint as done: records are left');
    this.#gathering = undefined;
    if (ok) return;
    for (const key of gathering.pending.keys()) this.#dirty.set(key, true);
    for (const key of gathering.taken) this.#dirty.set(key, true);
  }

  #take(gathering: Gathering): StateRecord | undefined {
    const image = gathering.images.pop();
    if (image !== undefined) return image;
    const next = gathering.cursor.next();
    if (next.done !== true) {
      gathering.pending.delete(next.value);
      gathering.taken.push(next.value);
      return this.#encode(next.value);
    }
    const last = gathering.last;
    gathering.last = undefined;
    return last;
  }
}
