/**
 * The last changes of the tree in the order of the history, in memory, for watches that begin again where they were: a
 * window bounded in bytes, from which the oldest go first. Per member and not replicated; a start fills it again with
 * what the log holds after the checkpoint, since that is applied like anything else.
 *
 * Entries are numbered from 0 as they come, over the whole run: a reader keeps the number of the next one it wants. They are kept
 * in blocks of columns: every write adds one, and an object each would cost more to collect than to apply the write.
 */
import type { Acl, ChangeKind, Stat, Zxid } from '@quorate/protocol';
import { highOf, joined, lowOf, type PackedData, unpack } from './packed.ts';
import { PACKED_STAT_WORDS, packStat, unpackStat } from './packed-stat.ts';
import type { StoredZnode } from './znode.ts';

/** One change, and what the znode was right after it. */
export interface JournalEntry {
  readonly kind: ChangeKind;
  readonly zxid: Zxid;
  readonly path: string;
  /** Undefined for `deleted`. */
  readonly stat: Stat | undefined;
}

/** Kinds by the number that is kept. */
const KINDS: readonly ChangeKind[] = ['created', 'deleted', 'dataChanged', 'aclChanged'];

/** Kind, zxid, stat. */
const ENTRY_WORDS = 3 + PACKED_STAT_WORDS;

const BLOCK_ENTRIES = 1024;

/** What an entry costs in memory beside path and data, bytes: its words, and three references. */
const ENTRY_BYTES = ENTRY_WORDS * 4 + 24;

class Block {
  readonly words = new Int32Array(BLOCK_ENTRIES * ENTRY_WORDS);
  readonly paths: (string | undefined)[] = [];
  /** The tree's own data, which never changes: it is replaced as a whole. */
  readonly contents: PackedData[] = [];
  /** The shared lists of the tree; undefined: open to everybody. */
  readonly acls: (Acl | undefined)[] = [];
}

export class Journal {
  readonly #bytesMax: number;
  /** Those with entries that are held; all but the last are full. */
  #blocks: Block[] = [];
  /** Number of the first entry of the first block. */
  #base = 0;
  #first = 0;
  #end = 0;
  #bytes = 0;
  /** The lists that new ones replaced, by the number of the change: few entries have one. */
  readonly #aclsBefore = new Map<number, Acl | undefined>();
  /** Halves of the floor: it moves with every change. */
  #floorHigh: number;
  #floorLow: number;

  /** Begins after `floor`. Holds at most `bytesMax`, save that the last entry always stays. */
  constructor(bytesMax: number, floor: Zxid) {
    this.#bytesMax = bytesMax;
    this.#floorHigh = highOf(floor);
    this.#floorLow = lowOf(floor);
  }

  /** Every change after this position is held. */
  get floor(): Zxid {
    return joined(this.#floorHigh, this.#floorLow) as Zxid;
  }

  /** Number of the oldest entry that is held; `end` when none is. */
  get first(): number {
    return this.#first;
  }

  /** Number that the next entry gets. */
  get end(): number {
    return this.#end;
  }

  /** About what is held, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds the next change; `znode` as it is right after it, undefined when it was deleted. `acl` is that of the znode then, or before
   * it was deleted; `aclBefore` that which a new one replaced. Zxids never fall.
   */
  add(
    kind: ChangeKind,
    path: string,
    zxid: Zxid,
    znode: StoredZnode | undefined,
    acl: Acl | undefined,
    aclBefore?: Acl,
  ): void {
    if (kind === 'aclChanged') this.#aclsBefore.set(this.#end, aclBefore);
    const index = this.#end - this.#base;
    if (index === this.#blocks.length * BLOCK_ENTRIES) this.#blocks.push(new Block());
    const block = this.#blocks.at(-1) as Block;
    const { words } = block;
    const at = (index % BLOCK_ENTRIES) * ENTRY_WORDS;
    words[at] = KINDS.indexOf(kind);
    words[at + 1] = highOf(zxid);
    words[at + 2] = lowOf(zxid);
    if (znode !== undefined) packStat(znode, words, at + 3);
    block.paths.push(path);
    block.contents.push(znode?.content);
    block.acls.push(acl);
    this.#end++;
    this.#bytes += costOf(path, znode?.content);
    while (this.#bytes > this.#bytesMax && this.#first < this.#end - 1) this.#drop();
  }

  /** Position of the entry of that number, which is held. */
  zxidAt(number: number): Zxid {
    const { words } = this.#blockOf(number);
    const at = this.#wordOf(number);
    return joined(words[at + 1] as number, words[at + 2] as number) as Zxid;
  }

  /** Path of the entry of that number, which is held. */
  pathAt(number: number): string {
    return this.#blockOf(number).paths[(number - this.#base) % BLOCK_ENTRIES] as string;
  }

  /** Who might read the znode then; undefined: everybody. */
  aclAt(number: number): Acl | undefined {
    return this.#blockOf(number).acls[(number - this.#base) % BLOCK_ENTRIES];
  }

  /** Who might read the znode until then, of an entry `aclChanged`; undefined: everybody. */
  aclBeforeAt(number: number): Acl | undefined {
    return this.#aclsBefore.get(number);
  }

  /** The entry of that number, which is held. */
  at(number: number): JournalEntry {
    const { words } = this.#blockOf(number);
    const at = this.#wordOf(number);
    const kind = KINDS[words[at] as number] as ChangeKind;
    const stat = kind === 'deleted' ? undefined : unpackStat(words, at + 3);
    return { kind, zxid: this.zxidAt(number), path: this.pathAt(number), stat };
  }

  /** The data of the znode right after that change. Never write to it. */
  dataAt(number: number): Uint8Array | undefined {
    return unpack(this.#contentAt(number));
  }

  /** Number of the first entry after `zxid`; undefined when not all of those are held. */
  after(zxid: Zxid): number | undefined {
    if (zxid < this.floor) return undefined;
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.zxidAt(middle) <= zxid) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The tree was replaced by that at `floor`: nobody saw what led to it. */
  reset(floor: Zxid): void {
    this.#blocks = [];
    this.#base = this.#end;
    this.#first = this.#end;
    this.#bytes = 0;
    this.#aclsBefore.clear();
    this.#floorHigh = highOf(floor);
    this.#floorLow = lowOf(floor);
  }

  #drop(): void {
    const number = this.#first++;
    this.#aclsBefore.delete(number);
    const block = this.#blockOf(number);
    const index = (number - this.#base) % BLOCK_ENTRIES;
    this.#bytes -= costOf(block.paths[index] ?? '', block.contents[index]);
    // Others of its txn may still be held, but not all.
    this.#floorHigh = block.words[index * ENTRY_WORDS + 1] as number;
    this.#floorLow = block.words[index * ENTRY_WORDS + 2] as number;
    block.paths[index] = undefined;
    block.contents[index] = undefined;
    block.acls[index] = undefined;
    if (index < BLOCK_ENTRIES - 1) return;
    this.#blocks.shift();
    this.#base += BLOCK_ENTRIES;
  }

  #contentAt(number: number): PackedData {
    return this.#blockOf(number).contents[(number - this.#base) % BLOCK_ENTRIES];
  }

  #blockOf(number: number): Block {
    return this.#blocks[Math.floor((number - this.#base) / BLOCK_ENTRIES)] as Block;
  }

  #wordOf(number: number): number {
    return ((number - this.#base) % BLOCK_ENTRIES) * ENTRY_WORDS;
  }
}

function costOf(path: string, content: PackedData): number {
  return ENTRY_BYTES + path.length + (content?.length ?? 0);
}
