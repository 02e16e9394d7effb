/**
 * What the storage logic asks of a key-value engine. The logic is written as plans: generators that yield one Io at a
 * time and are given its result. LevelDB answers when the disk has; the memory twin when the simulator lets it. So both
 * run the same logic, and a crash can be put between any two of its steps.
 */
import { assert } from '@quorate/protocol';

/** One of a member's databases: the log, or one of the states, of which head names the current one. */
export type DbName = 'log' | `state-${number}`;

/** The name of state database `number`. */
export function stateDb(number: number): DbName {
  return `state-${number}`;
}

/** Puts `value` under `key`; undefined deletes it. */
export interface KvOp {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** What a scan gives: key and value. */
export type KvPair = readonly [key: Uint8Array, value: Uint8Array];

export type Io =
  /** One atomic write, durable when done. With `gathered`, what was gathered for this database comes first in it. */
  | {
      readonly kind: 'write';
      readonly db: DbName;
      readonly ops: readonly KvOp[];
      readonly gathered: boolean;
    }
  /** Adds to what is gathered for a later write; nothing reaches the disk. */
  | { readonly kind: 'gather'; readonly db: DbName; readonly ops: readonly KvOp[] }
  /** Forgets what was gathered. */
  | { readonly kind: 'discard'; readonly db: DbName }
  /** The value under a key. */
  | { readonly kind: 'read'; readonly db: DbName; readonly key: Uint8Array }
  /** Pairs in key order from `from` (`after` it, if so said) and before `to`, about `maxBytes` of them; none: the end. */
  | {
      readonly kind: 'scan';
      readonly db: DbName;
      readonly from: Uint8Array;
      readonly after: boolean;
      readonly to: Uint8Array | undefined;
      readonly maxBytes: number;
    }
  /** Opens a database; without `create` a missing one is not made, and `opened` is false. */
  | { readonly kind: 'open'; readonly db: DbName; readonly create: boolean }
  /** Closes a database if it is open, ends its cursors, and removes its files. */
  | { readonly kind: 'remove'; readonly db: DbName }
  /** Which state databases there are, open or not. */
  | { readonly kind: 'list' }
  /** Gives back the space of what was deleted in a range. */
  | { readonly kind: 'compact'; readonly db: DbName; readonly from: Uint8Array; readonly to: Uint8Array }
  /** Puts a slot of the watermark (watermark.ts) into its file, making it if it is missing. Only with `sync` durable when done. */
  | { readonly kind: 'note'; readonly slot: 0 | 1; readonly value: Uint8Array; readonly sync: boolean }
  /** The slots of the watermark; undefined when its file is missing. */
  | { readonly kind: 'slots' }
  /** Takes no time on the disk, but is answered no earlier than other work would be. */
  | { readonly kind: 'nothing' };

export type IoResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'value'; readonly value: Uint8Array | undefined }
  | { readonly kind: 'pairs'; readonly pairs: readonly KvPair[] }
  | { readonly kind: 'opened'; readonly opened: boolean }
  | { readonly kind: 'names'; readonly names: readonly DbName[] }
  | { readonly kind: 'slots'; readonly slots: readonly Uint8Array[] | undefined };

export const DONE: IoResult = { kind: 'done' };

/** A piece of storage logic: yields what it needs of the disk, is resumed with the result. */
export type Plan<T = void> = Generator<Io, T, IoResult>;

/** Which work runs beside which: Ios of one lane are started one at a time. */
export type LaneName = 'log' | 'state' | 'housekeeping' | 'watermark';

/** A consistent view of one database, unmoved by later writes. */
export interface Cursor {
  /** The next pairs, about `maxBytes` (at least one); none: the end. One call at a time. */
  next(maxBytes: number, done: (pairs: readonly KvPair[]) => void, failed: (thrown: unknown) => void): void;
  close(): void;
}

/** A key-value engine. `done` and `failed` are not called before `start` has returned. */
export interface Engine {
  start(lane: LaneName, io: Io, done: (result: IoResult) => void, failed: (thrown: unknown) => void): void;
  /** A view, as of now, of an open database. Ended by its removal. */
  openCursor(db: DbName, range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined }): Cursor;
  /** Waits for what was started, then closes every database. */
  close(): Promise<void>;
}

/** Yields a write. */
export function* write(
  db: DbName,
  ops: readonly KvOp[],
  options: { readonly gathered: boolean } = { gathered: false },
): Plan {
  yield { kind: 'write', db, ops, gathered: options.gathered };
}

/** Yields a read. */
export function* read(db: DbName, key: Uint8Array): Plan<Uint8Array | undefined> {
  const result = yield { kind: 'read', db, key };
  assert(result.kind === 'value', () => `Read answered with ${result.kind}`);
  return result.value;
}

/** Yields the slots of the watermark. */
export function* slots(): Plan<readonly Uint8Array[] | undefined> {
  const result = yield { kind: 'slots' };
  assert(result.kind === 'slots', () => `Slots answered with ${result.kind}`);
  return result.slots;
}

/** Yields an open; false when the database is missing. */
export function* open(db: DbName, create: boolean): Plan<boolean> {
  const result = yield { kind: 'open', db, create };
  assert(result.kind === 'opened', () => `Open answered with ${result.kind}`);
  return result.opened;
}

/** Yields scans until the range is at its end; `visit` sees every pair, in key order. */
export function* scanAll(
  db: DbName,
  range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined },
  visit: (pairs: readonly KvPair[]) => void,
): Plan {
  let from = range.from;
  let after = false;
  for (;;) {
    const result = yield { kind: 'scan', db, from, after, to: range.to, maxBytes: SCAN_BYTES };
    assert(result.kind === 'pairs', () => `Scan answered with ${result.kind}`);
    const last = result.pairs.at(-1);
    if (last === undefined) return;
    visit(result.pairs);
    from = last[0];
    after = true;
  }
}

/** How much a scan asks for at a time, bytes: what is done with it is done in one go. */
const SCAN_BYTES = 256 * 1024;
