/**
 * The numbers of znodes: a row of 32-bit words each, many rows in one array. As fields of an object each would take twice the room,
 * and a collection of garbage would look at every one of them. What stands where in a row, and who has which row.
 *
 * A row that was given back is given out again. Arrays all of whose rows were given back are let go, and rows are moved together when
 * few are left in many, so that a tree that was large once is not so for good.
 */
import { highOf, joined, joinedNumber, lowOf, upperOf } from './packed.ts';

/** What this znode has added to the tree's digest, kept so that exactly that can be taken out again. Two words, as each of the next four. */
export const HASH = 0;
/** Hash of path and data, kept because a change of the stat alone must not cost the length of the data. */
export const CONTENT_HASH = 2;
export const CZXID = 4;
export const MZXID = 6;
export const PZXID = 8;
/** Above and below 32 bits of a whole number, as the next. */
export const CTIME = 10;
export const MTIME = 12;
export const VERSION = 14;
export const CREATES = 15;
export const AVERSION = 16;
const ROW_WORDS = 17;

/** Rows of the first array, and most of one. Each has as many as there were before. */
const ROWS_MIN = 32;
const ROWS_MAX = 2_048;

/** Room is sparse when it is for that many times what there is, or more. */
const SPARSE = 4;

/** Reads as zeros: of one that has no row, as a znode that was taken out. */
export const NO_ROW: Int32Array = new Int32Array(ROW_WORDS);

/** In the first word of a free row: where the next free one begins. */
const NEXT = 0;
const NONE = -1;

/** Who has a row: the array, and where in it the row begins. */
export interface RowOwner {
  words: Int32Array;
  at: number;
}

interface Block {
  readonly words: Int32Array;
  /** Where the first of the free rows begins that were in use before; NONE when there is none. */
  free: number;
  /** Where what was never in use begins. */
  fresh: number;
  used: number;
}

export class Rows {
  readonly #blocks = new Map<Int32Array, Block>();
  /** Those with room. */
  readonly #open = new Set<Block>();
  /** The one of them that rows are taken from. */
  #current: Block | undefined = undefined;
  #used = 0;
  #size = 0;

  /** Rows that are given out. */
  get used(): number {
    return this.#used;
  }

  /** Rows that there is room for. */
  get size(): number {
    return this.#size;
  }

  /** Gives a row of zeros to one that has none. */
  take(owner: RowOwner): void {
    const block = this.#current ?? this.#next();
    owner.words = block.words;
    if (block.free === NONE) {
      owner.at = block.fresh;
      block.fresh += ROW_WORDS;
    } else {
      owner.at = block.free;
      block.free = block.words[block.free + NEXT] as number;
      block.words.fill(0, owner.at, owner.at + ROW_WORDS);
    }
    block.used++;
    this.#used++;
    if (hasRoom(block)) return;
    this.#open.delete(block);
    this.#current = undefined;
  }

  /** Takes back the row of one that has one of these; what it reads from now on is zeros. */
  giveBack(owner: RowOwner): void {
    const { words, at } = owner;
    const block = this.#blocks.get(words);
    if (block === undefined) return;
    owner.words = NO_ROW;
    owner.at = 0;
    words[at + NEXT] = block.free;
    block.free = at;
    block.used--;
    this.#used--;
    if (block.used > 0) this.#open.add(block);
    else this.#drop(block);
  }

  /**
   * When most of the room is free, moves the row of one whose array is nearly empty into another. Said of all that have one, once each, it
   * leaves room for four times as many at most.
   */
  thin(owner: RowOwner): void {
    if (this.#size <= ROWS_MAX || this.#used * SPARSE > this.#size) return;
    const from = this.#blocks.get(owner.words);
    const to = this.#current ?? this.#next();
    if (from === undefined || from === to || from.used * SPARSE > rowsOf(from)) return;
    const { words, at } = owner;
    const row = words.slice(at, at + ROW_WORDS);
    this.giveBack(owner);
    this.take(owner);
    owner.words.set(row, owner.at);
  }

  #next(): Block {
    const [open] = this.#open;
    this.#current = open ?? this.#make();
    return this.#current;
  }

  #make(): Block {
    const rows = Math.min(Math.max(this.#size, ROWS_MIN), ROWS_MAX);
    const block: Block = { words: new Int32Array(rows * ROW_WORDS), free: NONE, fresh: 0, used: 0 };
    this.#blocks.set(block.words, block);
    this.#open.add(block);
    this.#size += rows;
    return block;
  }

  #drop(block: Block): void {
    this.#blocks.delete(block.words);
    this.#open.delete(block);
    this.#size -= rowsOf(block);
    if (this.#current === block) this.#current = undefined;
  }
}

function rowsOf({ words }: Block): number {
  return words.length / ROW_WORDS;
}

function hasRoom({ words, free, fresh }: Block): boolean {
  return free !== NONE || fresh < words.length;
}

/** A word of a row. */
export function word({ words, at }: RowOwner, field: number): number {
  return words[at + field] as number;
}

/** The 64-bit value in two words of a row. */
export function long({ words, at }: RowOwner, field: number): bigint {
  return joined(words[at + field] as number, words[at + field + 1] as number);
}

export function setLong({ words, at }: RowOwner, field: number, value: bigint): void {
  words[at + field] = highOf(value);
  words[at + field + 1] = lowOf(value);
}

/** The whole number of up to 53 bits in two words of a row. */
export function integer({ words, at }: RowOwner, field: number): number {
  return joinedNumber(words[at + field] as number, words[at + field + 1] as number);
}

export function setInteger({ words, at }: RowOwner, field: number, value: number): void {
  words[at + field] = upperOf(value);
  words[at + field + 1] = value | 0;
}
