/**
 * A list in order that goes on being one while it changes: chunks of a few hundred, so that with a million in it a change still
 * moves no more than one chunk, and the list of chunks now and then. For what is asked for in order and changes meanwhile.
 */

/** Most items of a chunk; a fuller one is cut in two. */
export const CHUNK_MAX = 512;

/** Two neighbours that have no more than this together become one. */
const CHUNK_MIN = CHUNK_MAX / 4;

export class SortedChunks<T> {
  readonly #keyOf: (item: T) => string;
  /** Negative when the first comes before the second. */
  readonly #compare: (a: string, b: string) => number;
  /** None is empty. */
  readonly #chunks: T[][] = [];
  #size = 0;

  constructor(keyOf: (item: T) => string, compare: (a: string, b: string) => number) {
    this.#keyOf = keyOf;
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an item whose key is not there. */
  add(item: T): void {
    this.#size++;
    const key = this.#keyOf(item);
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(this.#indexAfter(chunk, key), 0, item);
    if (chunk.length > CHUNK_MAX) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >>> 1));
  }

  /** Takes the item of that key out. False when there was none. */
  delete(key: string): boolean {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return false;
    const index = this.#indexAfter(chunk, key) - 1;
    const item = chunk[index];
    if (item === undefined || this.#compare(this.#keyOf(item), key) !== 0) return false;
    chunk.splice(index, 1);
    this.#size--;
    if (chunk.length < CHUNK_MIN) this.#join(at, chunk);
    return true;
  }

  /** The first item whose key comes after that one, be it there or not. */
  after(key: string): T | undefined {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return undefined;
    return chunk[this.#indexAfter(chunk, key)] ?? this.#chunks[at + 1]?.[0];
  }

  /** All of them, in order. Nothing may change meanwhile. */
  forEach(visit: (item: T) => void): void {
    for (const chunk of this.#chunks) for (const item of chunk) visit(item);
  }

  /** A small chunk goes into its neighbour, when that has room. */
  #join(at: number, chunk: T[]): void {
    const first = at > 0 ? at - 1 : at;
    const left = this.#chunks[first];
    const right = this.#chunks[first + 1];
    if (left !== undefined && right !== undefined && left.length + right.length <= CHUNK_MAX / 2) {
      left.push(...right);
      this.#chunks.splice(first + 1, 1);
    } else if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** Index of the last chunk that begins at or before the key; the first one when none does. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#keyOf(this.#chunks[middle]?.[0] as T), key) <= 0) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Index of the first item of the chunk after the key. */
  #indexAfter(chunk: readonly T[], key: string): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#keyOf(chunk[middle] as T), key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The order of strings by code unit, which is that of `sort()`. */
export function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
