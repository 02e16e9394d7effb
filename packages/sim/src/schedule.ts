/**
 * Virtual time: a clock in whole microseconds, and a queue of what happens when. Things due at the same time happen
 * in the order in which they were scheduled, so that a run is the same each time. Nothing is cancelled: whoever
 * schedules checks, when its time comes, whether the thing still makes sense.
 */

interface Entry {
  readonly atUs: number;
  readonly order: number;
  readonly happen: () => void;
}

const earlier = (a: Entry, b: Entry): boolean => a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);

export class Schedule {
  /** Binary heap: the earliest entry is first. */
  readonly #heap: Entry[] = [];
  #order = 0;
  #nowUs = 0;
  #happened = 0;

  /** Virtual time since the run began, µs. */
  get nowUs(): number {
    return this.#nowUs;
  }

  /** How many entries have happened. */
  get happened(): number {
    return this.#happened;
  }

  /** Schedules `happen` for `delayUs` from now (a negative delay counts as 0). */
  after(delayUs: number, happen: () => void): void {
    this.at(this.#nowUs + Math.max(0, Math.round(delayUs)), happen);
  }

  /** Schedules `happen` for a point of time, which must not be past. */
  at(atUs: number, happen: () => void): void {
    if (atUs < this.#nowUs) throw new RangeError(`Cannot schedule for ${atUs} µs: it is ${this.#nowUs} µs already`);
    this.#push({ atUs, order: this.#order++, happen });
  }

  /** Lets everything happen that is due before or at `untilUs`; the clock then stands at `untilUs`. */
  runUntil(untilUs: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.atUs <= untilUs; first = this.#heap[0]) {
      this.#pop();
      this.#nowUs = first.atUs;
      this.#happened += 1;
      first.happen();
    }
    this.#nowUs = Math.max(this.#nowUs, untilUs);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt] as Entry;
      if (!earlier(entry, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      const left = heap[childAt];
      if (left === undefined) break;
      const right = heap[childAt + 1];
      let child = left;
      if (right !== undefined && earlier(right, left)) {
        child = right;
        childAt += 1;
      }
      if (!earlier(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}
