/**
 * A map that grows to millions without a pause. V8 hashes a Map that is full anew as a whole (about 80 ms for a million
 * entries on the slow machine of test/bench), and again when most of it was deleted. Past a few thousand entries this one is
 * many small ones, each of which grows and shrinks by itself. A look-up costs a second hash. In no order.
 */

/** Up to here it is one Map. Moving these to many takes a millisecond or two, once. */
const WHOLE_MAX = 8_192;

/** A power of two: with a million entries some four thousand in each. */
const PARTS = 256;

/** Most characters that are looked at, from the end, where paths differ. */
const TAIL = 24;

export class LargeMap<K extends string | bigint, V> {
  /** Undefined once there are parts, for good. */
  #whole: Map<K, V> | undefined = new Map();
  readonly #parts: (Map<K, V> | undefined)[] = [];
  /** Of the parts. */
  #size = 0;

  get size(): number {
    return this.#whole === undefined ? this.#size : this.#whole.size;
  }

  has(key: K): boolean {
    return this.#of(key)?.has(key) === true;
  }

  get(key: K): V | undefined {
    return this.#of(key)?.get(key);
  }

  set(key: K, value: V): void {
    if (this.#whole !== undefined) {
      if (this.#whole.size < WHOLE_MAX) {
        this.#whole.set(key, value);
        return;
      }
      this.#divide(this.#whole);
    }
    const index = partOf(key);
    let part = this.#parts[index];
    if (part === undefined) {
      part = new Map();
      this.#parts[index] = part;
    }
    const before = part.size;
    part.set(key, value);
    this.#size += part.size - before;
  }

  /** True when it was there. */
  delete(key: K): boolean {
    const wasThere = this.#of(key)?.delete(key) === true;
    if (wasThere && this.#whole === undefined) this.#size--;
    return wasThere;
  }

  /** Goes on over changes, as those of a Map do; what is set meanwhile may come or not, or, at a division, once more. */
  *keys(): IterableIterator<K> {
    if (this.#whole !== undefined) yield* this.#whole.keys();
    if (this.#whole === undefined) for (let i = 0; i < PARTS; i++) yield* this.#parts[i]?.keys() ?? [];
  }

  /** See `keys`. */
  *values(): IterableIterator<V> {
    if (this.#whole !== undefined) yield* this.#whole.values();
    if (this.#whole === undefined) for (let i = 0; i < PARTS; i++) yield* this.#parts[i]?.values() ?? [];
  }

  #of(key: K): Map<K, V> | undefined {
    return this.#whole ?? this.#parts[partOf(key)];
  }

  #divide(whole: Map<K, V>): void {
    this.#whole = undefined;
    for (const [key, value] of whole) this.set(key, value);
  }
}

/** 0 <= result < PARTS. */
function partOf(key: string | bigint): number {
  if (typeof key === 'bigint') return Number(key & BigInt(PARTS - 1));
  const { length } = key;
  let hash = length;
  for (let i = length > TAIL ? length - TAIL : 0; i < length; i++)
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & (PARTS - 1);
}
