/**
 * What is to fail when its time has come and it is not done: kept in slots of a few milliseconds, so that adding and
 * taking out cost the same however many wait, and looking costs the number of slots. It knows no clock: the caller
 * says what time it is.
 */

/** Width of a slot, ms. Deadlines are still exact: a slot that is due in part is looked through. */
const SLOT_MS = 64;

export interface Expirable {
  /** Monotonic time, ms. Never changes while it waits. */
  readonly deadlineMs: number;
  /** Called once, when the deadline has passed. May add and remove others. */
  expire(): void;
}

export class Deadlines {
  readonly #slots = new Map<number, Set<Expirable>>();

  /** Number of slots in use: zero when nothing waits. */
  get size(): number {
    return this.#slots.size;
  }

  add(item: Expirable): void {
    const slot = slotOf(item.deadlineMs);
    const waiting = this.#slots.get(slot);
    if (waiting === undefined) this.#slots.set(slot, new Set([item]));
    else waiting.add(item);
  }

  /** Does nothing when the item does not wait. */
  remove(item: Expirable): void {
    const slot = slotOf(item.deadlineMs);
    const waiting = this.#slots.get(slot);
    if (waiting?.delete(item) === true && waiting.size === 0) this.#slots.delete(slot);
  }

  /**
   * Expires everything whose deadline is at or before `nowMs`, earlier slots first. What an `expire` adds waits for the
   * next call, even when it is due.
   */
  expire(nowMs: number): void {
    const last = slotOf(nowMs);
    const due: Expirable[] = [];
    const slots = [...this.#slots.keys()].filter((slot) => slot <= last).sort((a, b) => a - b);
    for (const slot of slots) {
      for (const item of this.#slots.get(slot) ?? []) if (item.deadlineMs <= nowMs) due.push(item);
    }
    for (const item of due) {
      // One that expired may have taken others out.
      if (this.#slots.get(slotOf(item.deadlineMs))?.has(item) !== true) continue;
      this.remove(item);
      item.expire();
    }
  }
}

function slotOf(deadlineMs: number): number {
  return Math.floor(deadlineMs / SLOT_MS);
}
