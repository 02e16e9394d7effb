/**
 * The search for an order: can operations that overlap in time be put one after the other so that each has its effect at
 * one moment between its invocation and its return, and every result is right? After Wing and Gong (1993), with memory of
 * what was tried (Lowe 2017): a set of operations done and a state reached are never explored twice.
 *
 * It knows no znodes: a model says what an operation does. An operation without a return is open: it may be placed
 * anywhere after its invocation, or nowhere.
 */

/** What operations mean. States are immutable values. */
export interface Model<State, Op> {
  readonly initial: State;
  /** The state after `op`, the same object when it changes nothing; undefined when its result cannot be right here. */
  readonly apply: (state: State, op: Op) => State | undefined;
  /** Equal for equal states, different for different ones. */
  readonly keyOf: (state: State) => string;
  /** True for an operation that changes no state, whatever the state. */
  readonly isPure: (op: Op) => boolean;
  /** Open operations with the same text do the same: only the first one is tried. */
  readonly signatureOf: (op: Op) => string;
}

/** An operation and its interval. Times that are equal count as overlapping. */
export interface Timed<Op> {
  readonly op: Op;
  readonly from: number;
  /** Infinity: open. */
  readonly to: number;
}

export type SearchResult<State, Op> =
  | { readonly kind: 'linearizable'; readonly steps: number }
  /** No order exists. `state` and `stuck`: where the longest attempt ended, and what then had to come next and could not. */
  | { readonly kind: 'violation'; readonly steps: number; readonly state: State; readonly stuck: readonly Timed<Op>[] }
  /** The work allowed was not enough to tell. */
  | { readonly kind: 'undecided'; readonly steps: number };

interface Frame<State> {
  readonly state: State;
  /** What may come next, the most likely first. */
  readonly candidates: readonly number[];
  next: number;
  /** What was placed to get from here to the next frame. */
  placed: number;
}

/** Looks for an order. `stepsMax`: how many placements may be tried. */
export function search<State, Op>(
  model: Model<State, Op>,
  operations: readonly Timed<Op>[],
  stepsMax: number,
): SearchResult<State, Op> {
  const line = new Line(model, operations);
  const frames: Frame<State>[] = [];
  const tried = new Tried();
  let state = model.initial;
  let steps = 0;
  let best = { left: Infinity, state };
  let bestStuck: readonly Timed<Op>[] = [];
  for (;;) {
    if (line.left === 0) return { kind: 'linearizable', steps };
    const candidates = line.candidates(state);
    if (line.left < best.left) {
      best = { left: line.left, state };
      bestStuck = line.window();
    }
    const isNew = candidates.length < 2 || tried.add(line.keyOf(state), line.openPlaced);
    frames.push({ state, candidates: isNew ? candidates : [], next: 0, placed: -1 });
    let isPlaced = false;
    while (!isPlaced) {
      const frame = frames.at(-1);
      if (frame === undefined) return { kind: 'violation', steps, state: best.state, stuck: bestStuck };
      if (frame.placed >= 0) line.putBack(frame.placed);
      frame.placed = -1;
      const candidate = frame.candidates[frame.next];
      if (candidate === undefined) {
        frames.pop();
        continue;
      }
      frame.next += 1;
      steps += 1;
      if (steps > stepsMax) return { kind: 'undecided', steps };
      const after = model.apply(frame.state, line.opAt(candidate));
      // An open operation that changes nothing here needs no place.
      if (after === undefined || (line.isOpen(candidate) && after === frame.state)) continue;
      line.place(candidate);
      frame.placed = candidate;
      state = after;
      isPlaced = true;
    }
  }
}

/**
 * Where the search has been. To be where it was, with the same operations done and in the same state, but with more of the open
 * ones used up, is to be worse off: what can be done from here could have been done from there.
 */
class Tried {
  readonly #open = new Map<string, bigint[]>();

  /** False when a place as good has been tried. `open`: a bit for each open operation that is used up. */
  add(key: string, open: bigint): boolean {
    const before = this.#open.get(key);
    if (before?.some((fewer) => (fewer & open) === fewer) === true) return false;
    if (before === undefined) this.#open.set(key, [open]);
    else before.push(open);
    return true;
  }
}

/** The operations that have no place yet, by invocation; those with a return and the open ones apart. */
class Line<State, Op> {
  /** Operations with a return that have no place. */
  left: number;
  readonly #model: Model<State, Op>;
  readonly #sorted: readonly Timed<Op>[];
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #open: readonly number[];
  readonly #signatures: readonly string[];
  readonly #isPlaced: Uint8Array;
  /** Which open operations are placed, a bit for each. */
  openPlaced = 0n;
  readonly #openBits = new Map<number, bigint>();
  /** Two hashes over the set of those with a return that are placed: with its size they stand for the set. */
  #hashA = 0;
  #hashB = 0;

  constructor(model: Model<State, Op>, operations: readonly Timed<Op>[]) {
    this.#model = model;
    this.#sorted = [...operations].sort((a, b) => a.from - b.from);
    const size = this.#sorted.length;
    // Index `size` is the anchor of the ring.
    this.#next = new Int32Array(size + 1);
    this.#previous = new Int32Array(size + 1);
    this.#isPlaced = new Uint8Array(size);
    const open: number[] = [];
    let last = size;
    this.#sorted.forEach(({ to }, index) => {
      if (to === Infinity) {
        open.push(index);
        return;
      }
      this.#next[last] = index;
      this.#previous[index] = last;
      last = index;
    });
    this.#next[last] = size;
    this.#previous[size] = last;
    this.#open = open;
    open.forEach((index, at) => this.#openBits.set(index, 1n << BigInt(at)));
    this.#signatures = open.map((index) => model.signatureOf(this.opAt(index)));
    this.left = size - open.length;
  }

  opAt(index: number): Op {
    return this.#at(index).op;
  }

  isOpen(index: number): boolean {
    return this.#at(index).to === Infinity;
  }

  /** What must come before the next return, in order of invocation. */
  window(): readonly Timed<Op>[] {
    return this.#due().indices.map((index) => this.#at(index));
  }

  /**
   * What may be placed next: the one that returns first is tried first, open ones last. One that fits and never changes
   * anything is placed without a choice: it could only be in the way.
   */
  candidates(state: State): readonly number[] {
    const { indices, until } = this.#due();
    const { isPure, apply } = this.#model;
    for (const index of indices) {
      const op = this.opAt(index);
      if (isPure(op) && apply(state, op) !== undefined) return [index];
    }
    const due = indices.sort((a, b) => this.#at(a).to - this.#at(b).to);
    const tried = new Set<string>();
    for (const [at, index] of this.#open.entries()) {
      if (this.#at(index).from > until) break;
      const signature = this.#signatures[at] ?? '';
      if (this.#isPlaced[index] === 1 || tried.has(signature)) continue;
      tried.add(signature);
      due.push(index);
    }
    return due;
  }

  place(index: number): void {
    this.#mark(index, 1);
    if (this.isOpen(index)) return;
    const [next, previous] = [this.#next[index] ?? 0, this.#previous[index] ?? 0];
    this.#next[previous] = next;
    this.#previous[next] = previous;
    this.left -= 1;
  }

  /** Undoes the latest `place` that was not undone. */
  putBack(index: number): void {
    this.#mark(index, 0);
    if (this.isOpen(index)) return;
    this.#next[this.#previous[index] ?? 0] = index;
    this.#previous[this.#next[index] ?? 0] = index;
    this.left += 1;
  }

  keyOf(state: State): string {
    return `${this.left}:${this.#hashA}:${this.#hashB}:${this.#model.keyOf(state)}`;
  }

  /** Those invoked before the first return that is left. */
  #due(): { readonly indices: number[]; readonly until: number } {
    const anchor = this.#sorted.length;
    const indices: number[] = [];
    let until = Infinity;
    for (let index = this.#next[anchor] ?? anchor; index !== anchor; index = this.#next[index] ?? anchor) {
      const { from, to } = this.#at(index);
      if (from > until) break;
      indices.push(index);
      until = Math.min(until, to);
    }
    return { indices, until };
  }

  #mark(index: number, isPlaced: 0 | 1): void {
    this.#isPlaced[index] = isPlaced;
    const bit = this.#openBits.get(index);
    if (bit !== undefined) {
      this.openPlaced ^= bit;
      return;
    }
    this.#hashA ^= scramble(index + 1, 0x9e3779b1);
    this.#hashB ^= scramble(index + 1, 0x85ebca77);
  }

  #at(index: number): Timed<Op> {
    const timed = this.#sorted[index];
    if (timed === undefined) throw new RangeError(`There is no operation ${index}`);
    return timed;
  }
}

/** A number that looks random, the same for the same input (murmur3's finalizer). */
function scramble(value: number, salt: number): number {
  let hash = Math.imul(value, salt) ^ (salt >>> 7);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
