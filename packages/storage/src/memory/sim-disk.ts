/**
 * What survives a crash of a simulated member: databases in memory that tell synced from unsynced writes, as LevelDB does.
 * A synced write makes all writes to its database before it durable; a crash keeps the durable ones and a prefix,
 * chosen by the caller, of the rest. The disk outlives the stores opened on it, one at a time.
 */
import type { StoreIdentity, VoteRight } from '../contract.ts';
import type { DbName, KvOp, KvPair } from '../io.ts';

/**
 * Chooses how many of a database's unsynced writes (0 to `unsynced`), the oldest first, survive a crash. Of the watermark's
 * slots, each asked for by itself, it chooses which of the values written since the last sync is there.
 */
export type Survival = (db: DbName | 'watermark', unsynced: number) => number;

/** What had been started and not completed, in order. */
export interface InFlight {
  readonly writes: readonly { readonly db: DbName; readonly ops: readonly KvOp[] }[];
  readonly notes: readonly { readonly slot: 0 | 1; readonly value: Uint8Array }[];
}

/**
 * What is left of the first write to `db` that does not survive: nothing (undefined), or the part that reached the disk.
 * LevelDB drops a write that is not whole; a store must cope with part of an append all the same.
 */
export type Tear = (db: DbName, ops: readonly KvOp[]) => readonly KvOp[] | undefined;

/** A writer on the disk that a crash cuts off. */
export interface Attached {
  /** Ends it. */
  cutOff(): InFlight;
}

export class SimDisk {
  /** Stands for the file VERSION: set when the databases have been made. */
  mark: StoreIdentity | undefined;
  /** A planted fault: when true, a sync is reported without being one. */
  syncLies = false;
  /** Stands for the file UNFINISHED: what databases that are made now say of the right to vote. */
  unfinished: VoteRight | undefined;
  /** Why data was set aside, each time. */
  readonly setAsideReasons: string[] = [];
  readonly #dbs = new Map<DbName, SimDb>();
  readonly #slots = [new SimSlot(), new SimSlot()] as const;
  #attached: Attached | undefined;

  /** Power is lost: unsynced writes survive as chosen (default: none). The store on this disk hears nothing more. */
  crash(survive: Survival = () => 0, tear: Tear = () => undefined): void {
    const inFlight = this.#attached?.cutOff();
    this.#attached = undefined;
    for (const { db, ops } of inFlight?.writes ?? []) this.#dbs.get(db)?.write(ops, false);
    for (const [name, db] of this.#dbs) {
      db.crash(
        (unsynced) => survive(name, unsynced),
        (ops) => tear(name, ops),
      );
    }
    for (const { slot, value } of inFlight?.notes ?? []) this.#slots[slot].write(value, false);
    // A disk that lies has no note that is newer than what it lost.
    for (const slot of this.#slots) slot.crash((unsynced) => (this.syncLies ? 0 : survive('watermark', unsynced)));
  }

  /** The process is killed, the machine is not: what was completed survives, what was in flight as chosen. */
  kill(survive: Survival = () => 0): void {
    const inFlight = this.#attached?.cutOff();
    this.#attached = undefined;
    if (inFlight === undefined) return;
    for (const name of this.#dbs.keys()) {
      const writes = inFlight.writes.filter(({ db }) => db === name);
      for (const { ops } of writes.slice(0, survive(name, writes.length))) this.#dbs.get(name)?.write(ops, false);
    }
    const { notes } = inFlight;
    for (const { slot, value } of notes.slice(0, survive('watermark', notes.length))) this.note(slot, value, false);
  }

  /**
   * Sets everything aside because it is damaged: databases that are made now have the right to vote `recovering`. Nothing may
   * be open. Stands for `setAside` on a folder; done at once, and durable.
   */
  setAside(reason: string): void {
    if (this.#attached !== undefined) throw new Error('Cannot set aside what is open');
    this.setAsideReasons.push(reason);
    this.clear();
    this.mark = undefined;
    this.unfinished = 'recovering';
  }

  /** Removes every database and the watermark. */
  clear(): void {
    this.#dbs.clear();
    for (const slot of this.#slots) slot.clear();
  }

  /** Puts a value into a slot of the watermark. */
  note(slot: 0 | 1, value: Uint8Array, sync: boolean): void {
    this.#slots[slot].write(value, sync && !this.syncLies);
  }

  /** The slots of the watermark; undefined when none was ever written. */
  get slots(): readonly Uint8Array[] | undefined {
    const values = this.#slots.map(({ value }) => value);
    return values.every((value) => value === undefined) ? undefined : values.map((value) => value ?? new Uint8Array());
  }

  /** Takes the place of whatever was attached before, which must be closed or cut off. */
  attach(attached: Attached): void {
    if (this.#attached !== undefined) throw new Error('Cannot open a second store on one disk');
    this.#attached = attached;
  }

  detach(attached: Attached): void {
    if (this.#attached === attached) this.#attached = undefined;
  }

  get names(): readonly DbName[] {
    return [...this.#dbs.keys()];
  }

  /** Makes a database if it is missing, and opens it. */
  make(db: DbName): void {
    if (!this.#dbs.has(db)) this.#dbs.set(db, new SimDb());
    this.open(db);
  }

  /** What is read after an open is durable: LevelDB writes what it finds in its own log to a synced table first. */
  open(db: DbName): boolean {
    this.#dbs.get(db)?.settle();
    return this.#dbs.has(db);
  }

  remove(db: DbName): void {
    this.#dbs.delete(db);
  }

  write(db: DbName, ops: readonly KvOp[]): void {
    this.#db(db).write(ops, !this.syncLies);
  }

  /** A write whose sync failed: it is there for whoever looks, and may be gone after a crash. */
  writeUnsynced(db: DbName, ops: readonly KvOp[]): void {
    this.#db(db).write(ops, false);
  }

  read(db: DbName, key: Uint8Array): Uint8Array | undefined {
    return this.#db(db).read(key);
  }

  /** Every pair of a range, in key order, as of now. */
  pairs(db: DbName, from: Uint8Array, to: Uint8Array | undefined): readonly KvPair[] {
    return this.#db(db).pairs(from, to);
  }

  #db(name: DbName): SimDb {
    const db = this.#dbs.get(name);
    if (db === undefined) throw new Error(`Database ${name} is not open`);
    return db;
  }
}

class SimSlot {
  #durable: Uint8Array | undefined;
  #unsynced: Uint8Array[] = [];

  get value(): Uint8Array | undefined {
    return this.#unsynced.at(-1) ?? this.#durable;
  }

  write(value: Uint8Array, sync: boolean): void {
    this.#unsynced.push(value);
    if (sync) this.#keep(this.#unsynced.length);
  }

  crash(survive: (unsynced: number) => number): void {
    this.#keep(survive(this.#unsynced.length));
  }

  clear(): void {
    this.#durable = undefined;
    this.#unsynced = [];
  }

  #keep(count: number): void {
    this.#durable = this.#unsynced[count - 1] ?? this.#durable;
    this.#unsynced = [];
  }
}

class SimDb {
  readonly #visible = new Map<string, KvPair>();
  #durable = new Map<string, KvPair>();
  #unsynced: (readonly KvOp[])[] = [];

  write(ops: readonly KvOp[], sync: boolean): void {
    apply(this.#visible, ops);
    this.#unsynced.push(ops);
    if (sync) this.settle();
  }

  settle(): void {
    for (const unsynced of this.#unsynced) apply(this.#durable, unsynced);
    this.#unsynced = [];
  }

  crash(survive: (unsynced: number) => number, tear: (ops: readonly KvOp[]) => readonly KvOp[] | undefined): void {
    const whole = survive(this.#unsynced.length);
    for (const ops of this.#unsynced.slice(0, whole)) apply(this.#durable, ops);
    const first = this.#unsynced[whole];
    if (first !== undefined) apply(this.#durable, tear(first) ?? []);
    this.#unsynced = [];
    this.#visible.clear();
    for (const [key, pair] of this.#durable) this.#visible.set(key, pair);
  }

  read(key: Uint8Array): Uint8Array | undefined {
    return this.#visible.get(textOf(key))?.[1];
  }

  pairs(from: Uint8Array, to: Uint8Array | undefined): readonly KvPair[] {
    const least = textOf(from);
    const end = to === undefined ? undefined : textOf(to);
    const keys = [...this.#visible.keys()].filter((key) => key >= least && (end === undefined || key < end));
    keys.sort((a, b) => (a < b ? -1 : 1));
    return keys.map((key) => this.#visible.get(key) as KvPair);
  }
}

function apply(map: Map<string, KvPair>, ops: readonly KvOp[]): void {
  for (const { key, value } of ops) {
    const text = textOf(key);
    if (value === undefined) map.delete(text);
    else map.set(text, [key, value]);
  }
}

/** One code unit a byte: the order of the strings is that of the keys. */
function textOf(key: Uint8Array): string {
  let text = '';
  for (const byte of key) text += String.fromCharCode(byte);
  return text;
}
