/**
 * The only source of chance in a run: a small seeded generator (sfc32, 32-bit arithmetic, so that it is the same on
 * every machine and fast). `fork` gives an independent stream by name: one more draw in the network does not change
 * what the clients do. Not for secrets.
 */

/** FNV-1a over the UTF-16 units of a text, 32 bits. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

/** A stream of seeded numbers. The same seed and name give the same stream. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  readonly #seed: number;
  readonly #name: string;

  /** `seed`: an integer, `0 <= seed < 2^53`. `name` tells streams of one seed apart. */
  constructor(seed: number, name = '') {
    this.#seed = seed;
    this.#name = name;
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 0x1_0000_0000) >>> 0;
    this.#c = hashText(name);
    for (let i = 0; i < 16; i += 1) this.next();
  }

  /** An integer in `0..2^32-1`. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0;
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }

  /** A number in `[0, 1)`. */
  fraction(): number {
    return this.next() / 0x1_0000_0000;
  }

  /** An integer in `min..max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** One of the items; the list must not be empty. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new RangeError('Cannot pick from an empty list');
    return item;
  }

  /** One of the keys of `weights`, in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return this.pick(entries.map(([key]) => key));
  }

  /** The items in another order. */
  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i -= 1) {
      const j = this.between(0, i);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }

  /** A waiting time with this mean, exponentially distributed, at least 1. */
  wait(mean: number): number {
    return Math.max(1, Math.round(-Math.log(1 - this.fraction()) * mean));
  }

  /** An integer in `min..max` that is small more often than large (uniform in its logarithm); `min` at least 1. */
  skewed(min: number, max: number): number {
    return Math.round(min * (max / min) ** this.fraction());
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.next() & 0xff);
  }

  /** An independent stream: it depends on the seed and the names only, not on what was drawn here. */
  fork(name: string): Random {
    return new Random(this.#seed, `${this.#name}/${name}`);
  }
}
