/**
 * The key-value engine of the memory twin: operations wait in a queue until `pump` completes them. Synchronous, no
 * promises, nothing random.
 */
import { assert, unreachable } from '@quorate/protocol';
import type { LaneName } from '../io.ts';
import { type Cursor, type DbName, DONE, type Engine, type Io, type IoResult, type KvOp, type KvPair } from '../io.ts';
import type { Attached, InFlight, SimDisk } from './sim-disk.ts';

interface Waiting {
  readonly lane: LaneName;
  readonly io: Io;
  readonly done: (result: IoResult) => void;
  readonly failed: (thrown: unknown) => void;
}

export class MemoryEngine implements Engine, Attached {
  /** While true, operations are completed as soon as they are started. */
  immediate = false;
  readonly #disk: SimDisk;
  readonly #waiting: Waiting[] = [];
  readonly #gathered = new Map<DbName, KvOp[]>();
  readonly #cursors = new Map<MemoryCursor, DbName>();
  #failure: { readonly reason: string; readonly lands: boolean } | undefined;
  #syncs = 0;
  #isCutOff = false;

  constructor(disk: SimDisk) {
    this.#disk = disk;
    disk.attach(this);
  }

  get syncs(): number {
    return this.#syncs;
  }

  start(lane: LaneName, io: Io, done: (result: IoResult) => void, failed: (thrown: unknown) => void): void {
    if (this.#isCutOff) return;
    if (this.immediate) this.#complete({ lane, io, done, failed });
    else this.#waiting.push({ lane, io, done, failed });
  }

  pending(lane: LaneName | undefined): number {
    return lane === undefined ? this.#waiting.length : this.#waiting.filter((one) => one.lane === lane).length;
  }

  pump(count: number, lane: LaneName | undefined): number {
    for (let done = 0; done < count; done++) {
      const at = lane === undefined ? 0 : this.#waiting.findIndex((one) => one.lane === lane);
      const [next] = at === -1 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) return done;
      this.#complete(next);
    }
    return count;
  }

  failNextWrite(reason: string | undefined, lands: boolean): void {
    this.#failure = reason === undefined ? undefined : { reason, lands };
  }

  cutOff(): InFlight {
    this.#isCutOff = true;
    const ios = this.#waiting.map(({ io }) => io);
    this.#waiting.length = 0;
    return {
      writes: ios.flatMap((io) => (io.kind === 'write' ? [{ db: io.db, ops: this.#opsOf(io) }] : [])),
      notes: ios.flatMap((io) => (io.kind === 'note' ? [io] : [])),
    };
  }

  openCursor(db: DbName, range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined }): Cursor {
    const cursor = new MemoryCursor(this.#disk.pairs(db, range.from, range.to));
    this.#cursors.set(cursor, db);
    return cursor;
  }

  close(): Promise<void> {
    this.#isCutOff = true;
    this.#waiting.length = 0;
    this.#disk.detach(this);
    return Promise.resolve();
  }

  #complete(waiting: Waiting): void {
    const { io, done, failed } = waiting;
    if ((io.kind === 'write' || io.kind === 'note') && this.#failure !== undefined) {
      const { reason, lands } = this.#failure;
      this.#failure = undefined;
      if (lands && io.kind === 'write') this.#disk.writeUnsynced(io.db, this.#opsOf(io));
      if (lands && io.kind === 'note') this.#disk.note(io.slot, io.value, false);
      failed(new Error(reason));
      return;
    }
    done(this.#run(io));
  }

  #run(io: Io): IoResult {
    switch (io.kind) {
      case 'write':
        this.#disk.write(io.db, this.#opsOf(io));
        if (io.gathered) this.#gathered.delete(io.db);
        this.#syncs++;
        return DONE;
      case 'gather':
        this.#gathered.set(io.db, [...(this.#gathered.get(io.db) ?? []), ...io.ops]);
        return DONE;
      case 'discard':
        this.#gathered.delete(io.db);
        return DONE;
      case 'read':
        return { kind: 'value', value: this.#disk.read(io.db, io.key) };
      case 'scan':
        return { kind: 'pairs', pairs: this.#scan(io) };
      case 'open':
        if (io.create) this.#disk.make(io.db);
        return { kind: 'opened', opened: this.#disk.open(io.db) };
      case 'remove':
        this.#remove(io.db);
        return DONE;
      case 'list':
        return { kind: 'names', names: this.#disk.names.filter((name) => name !== 'log') };
      case 'note':
        this.#disk.note(io.slot, io.value, io.sync);
        return DONE;
      case 'slots':
        return { kind: 'slots', slots: this.#disk.slots };
      case 'compact':
      case 'nothing':
        return DONE;
      default:
        return unreachable(io);
    }
  }

  #opsOf(io: Io & { readonly kind: 'write' }): readonly KvOp[] {
    return io.gathered ? [...(this.#gathered.get(io.db) ?? []), ...io.ops] : io.ops;
  }

  #scan(io: Io & { readonly kind: 'scan' }): readonly KvPair[] {
    const pairs = this.#disk.pairs(io.db, io.from, io.to);
    const [first] = pairs;
    const skip = io.after && first !== undefined && Buffer.compare(first[0], io.from) === 0 ? 1 : 0;
    return page(pairs, skip, io.maxBytes);
  }

  #remove(db: DbName): void {
    for (const [cursor, of] of this.#cursors) {
      if (of !== db) continue;
      cursor.close();
      this.#cursors.delete(cursor);
    }
    this.#disk.remove(db);
  }
}

class MemoryCursor implements Cursor {
  #pairs: readonly KvPair[] | undefined;
  #at = 0;

  constructor(pairs: readonly KvPair[]) {
    this.#pairs = pairs;
  }

  next(maxBytes: number, done: (pairs: readonly KvPair[]) => void): void {
    assert(this.#pairs !== undefined, () => 'The cursor is closed');
    const pairs = page(this.#pairs, this.#at, maxBytes);
    this.#at += pairs.length;
    done(pairs);
  }

  close(): void {
    this.#pairs = undefined;
  }
}

/** About `maxBytes` of pairs from `start` on; at least one, if there is one. */
function page(pairs: readonly KvPair[], start: number, maxBytes: number): readonly KvPair[] {
  let end = start;
  for (let bytes = 0; end < pairs.length && bytes < maxBytes; end++) {
    const [key, value] = pairs[end] as KvPair;
    bytes += key.length + value.length;
  }
  return pairs.slice(start, end);
}
