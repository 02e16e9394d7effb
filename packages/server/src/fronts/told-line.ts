/**
 * What the watches of one connection are told, until it is written: each notification stands before the first reply that was not
 * there when it came, and behind all that were. They stay references until there is room to write them, as replies do. Bounded by
 * the connection, which looks at `bytes`.
 */
import type { Notification } from '@quorate/protocol';

/** About what a notification takes beside its path, bytes. */
const NOTIFICATION_BYTES = 32;

interface Waiting {
  readonly items: Notification[];
  /** Those before it are written. */
  at: number;
}

/** `Slot` is the place of a reply. */
export class ToldLine<Slot extends object> {
  readonly #before = new Map<Slot, Waiting>();
  #atEnd: Waiting = { items: [], at: 0 };
  #bytes = 0;

  /** About what waits to be written, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** To be written before the reply of `slot`; undefined for behind all replies. */
  add(slot: Slot | undefined, notifications: readonly Notification[]): void {
    const waiting = slot === undefined ? this.#atEnd : (this.#before.get(slot) ?? { items: [], at: 0 });
    if (slot !== undefined) this.#before.set(slot, waiting);
    for (const one of notifications) {
      waiting.items.push(one);
      this.#bytes += bytesOf(one);
    }
  }

  /** A place was added behind all others. */
  slotAdded(slot: Slot): void {
    if (this.#atEnd.items.length === 0) return;
    this.#before.set(slot, this.#atEnd);
    this.#atEnd = { items: [], at: 0 };
  }

  /** True when something is to be written before the reply of `slot`; undefined for behind all replies. */
  has(slot: Slot | undefined): boolean {
    return slot === undefined ? this.#atEnd.items.length > 0 : this.#before.has(slot);
  }

  /** Takes out the next of those, `countMax` at most. */
  take(slot: Slot | undefined, countMax: number): readonly Notification[] {
    const waiting = slot === undefined ? this.#atEnd : this.#before.get(slot);
    if (waiting === undefined) return [];
    const taken = waiting.items.slice(waiting.at, waiting.at + countMax);
    waiting.at += taken.length;
    for (const one of taken) this.#bytes -= bytesOf(one);
    if (waiting.at === waiting.items.length) {
      if (slot === undefined) this.#atEnd = { items: [], at: 0 };
      else this.#before.delete(slot);
    }
    return taken;
  }
}

function bytesOf({ path }: Notification): number {
  return NOTIFICATION_BYTES + path.length;
}
