/**
 * The last changes of the tree in the order of the history, in memory, for watches that begin again where they were: a
 * window bounded in bytes, from which the oldest go first. Per member and not replicated; a start fills it again with
 * what the log holds after the checkpoint, since that is applied like anything else.
 *
 * Entries are numbered from 0 as they come, over the whole run: a reader keeps the number of the next one it wants.
 */
import type { ChangeKind, Stat, Zxid } from '@quorate/protocol';
import { type PackedData, unpack } from './packed.ts';

/** What an entry costs in memory beside path and data, bytes; an estimate, for the bound only. */
const ENTRY_OVERHEAD = 450;

/** One change, and what the znode was right after it. */
export class JournalEntry {
  readonly kind: ChangeKind;
  readonly zxid: Zxid;
  readonly path: string;
  /** Undefined for `deleted`. */
  readonly stat: Stat | undefined;
  /** The tree's own, which never changes: data is replaced as a whole. */
  readonly #content: PackedData;
  readonly cost: number;

  constructor(kind: ChangeKind, zxid: Zxid, path: string, stat: Stat | undefined, content: PackedData) {
    this.kind = kind;
    this.zxid = zxid;
    this.path = path;
    this.stat = stat;
    this.#content = content;
    this.cost = ENTRY_OVERHEAD + path.length + (content?.length ?? 0);
  }

  /** Length of the data, bytes. */
  get dataLength(): number {
    return this.#content?.length ?? 0;
  }

  /** Never write to it. */
  get data(): Uint8Array | undefined {
    return unpack(this.#content);
  }
}

export class Journal {
  readonly #bytesMax: number;
  #entries: (JournalEntry | undefined)[] = [];
  /** Index in #entries of the oldest entry that is held. */
  #head = 0;
  /** Number of the entry at #entries[0]. */
  #base = 0;
  #bytes = 0;
  #floor: Zxid;

  /** Begins after `floor`. Holds at most `bytesMax`, save that the last entry always stays. */
  constructor(bytesMax: number, floor: Zxid) {
    this.#bytesMax = bytesMax;
    this.#floor = floor;
  }

  /** Every change after this position is held. */
  get floor(): Zxid {
    return this.#floor;
  }

  /** Number of the oldest entry that is held; `end` when none is. */
  get first(): number {
    return this.#base + this.#head;
  }

  /** Number that the next entry gets. */
  get end(): number {
    return this.#base + this.#entries.length;
  }

  /** About what is held, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the next change. Zxids never fall. */
  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    this.#bytes += entry.cost;
    while (this.#bytes > this.#bytesMax && this.#head < this.#entries.length - 1) this.#drop();
  }

  /** The entry of that number, which is held. */
  at(number: number): JournalEntry | undefined {
    return this.#entries[number - this.#base];
  }

  /** Number of the first entry after `zxid`; undefined when not all of those are held. */
  after(zxid: Zxid): number | undefined {
    if (zxid < this.#floor) return undefined;
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle] as JournalEntry).zxid <= zxid) low = middle + 1;
      else high = middle;
    }
    return this.#base + low;
  }

  /** The tree was replaced by that at `floor`: nobody saw what led to it. */
  reset(floor: Zxid): void {
    this.#base = this.end;
    this.#entries = [];
    this.#head = 0;
    this.#bytes = 0;
    this.#floor = floor;
  }

  #drop(): void {
    const entry = this.#entries[this.#head] as JournalEntry;
    this.#bytes -= entry.cost;
    // Others of its txn may still be held, but not all.
    this.#floor = entry.zxid;
    this.#entries[this.#head++] = undefined;
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}
