/**
 * What a session's numbered writes came to, kept until its client has acknowledged it, so that a write that is asked for again
 * gets its first result and no second one. Replicated like the session itself: part of its record and of the digest.
 *
 * The last result is kept also when it is acknowledged. So a number up to the last one that has no result here was either
 * acknowledged or never taken, and is taken no more: a write that was overtaken can do no harm.
 */
import { assert } from '@quorate/protocol';
import { type PackedData, pack, unpack } from './packed.ts';

/** The result of one numbered write. */
export class StoredResult {
  readonly request: number;
  /** The encoded answer (`encodeAnswer`), its zxid included. */
  readonly packed: PackedData;
  /** What it has added to the tree's digest. */
  hashHigh = 0;
  hashLow = 0;

  /** `bytes` are copied. */
  constructor(request: number, bytes: Uint8Array) {
    this.request = request;
    this.packed = pack(bytes);
  }

  get bytes(): Uint8Array {
    return unpack(this.packed) as Uint8Array;
  }

  get length(): number {
    return this.packed?.length ?? 0;
  }
}

/** Read-only face. */
export interface Results {
  /** The highest number that was taken; 0 for none. */
  readonly last: number;
  /** How many are kept, and their bytes together. */
  readonly size: number;
  readonly bytes: number;
  /** The encoded answer to the request, or undefined when none is kept. */
  get(request: number): Uint8Array | undefined;
}

/** This many forgotten places are let stand before the others move up: moving all up for each would cost as much as there are. */
const SLACK = 32;

/** For `tree/` alone. */
export class SessionResults implements Results {
  /** By rising number, from `#head` on; what is before that is forgotten. */
  #kept: (StoredResult | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  get last(): number {
    return this.#kept.at(-1)?.request ?? 0;
  }

  get size(): number {
    return this.#kept.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(request: number): Uint8Array | undefined {
    const found = this.#kept[this.#firstFrom(request)];
    return found?.request === request ? found.bytes : undefined;
  }

  all(): readonly StoredResult[] {
    return this.#kept.slice(this.#head) as StoredResult[];
  }

  /** Adds the result of a later request than any before, and forgets all up to `acknowledged`. Returns what was forgotten. */
  add(acknowledged: number, result: StoredResult): readonly StoredResult[] {
    const { last } = this;
    assert(result.request > last, () => `Cannot keep the result of request ${result.request} after that of ${last}`);
    const kept = this.#kept;
    const gone: StoredResult[] = [];
    const end = this.#firstFrom(acknowledged + 1);
    for (; this.#head < end; this.#head++) {
      const forgotten = kept[this.#head] as StoredResult;
      kept[this.#head] = undefined;
      this.#bytes -= forgotten.length;
      gone.push(forgotten);
    }
    kept.push(result);
    this.#bytes += result.length;
    if (this.#head >= SLACK && this.#head * 2 >= kept.length) {
      this.#kept = kept.slice(this.#head);
      this.#head = 0;
    }
    return gone;
  }

  /** Index of the first result from number `request` on. */
  #firstFrom(request: number): number {
    // What is acknowledged, or asked for again, is nearly always among the oldest.
    let low = this.#head;
    let high = this.#kept.length;
    for (let step = 1; low + step < high; step *= 2) {
      if (this.#requestAt(low + step) >= request) high = low + step;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#requestAt(middle) < request) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #requestAt(index: number): number {
    return (this.#kept[index] as StoredResult).request;
  }
}
