/**
 * One direction of a connection: first in, first out, each item after a latency drawn from the seed. A blocked pipe
 * keeps what was put in (as TCP does when packets are lost) and goes on when it is unblocked. It knows nothing of what
 * it carries nor of who is at its ends.
 */
import type { Schedule } from './schedule.ts';

/** How long one item is under way at least, µs; drawn for each. */
export type Latency = () => number;

export class Pipe<T> {
  readonly #schedule: Schedule;
  readonly #latency: Latency;
  readonly #arrive: (item: T) => void;
  #items: { readonly item: T; readonly dueUs: number }[] = [];
  #lastDueUs = 0;
  #isPumping = false;
  #isBlocked: boolean;

  constructor(
    schedule: Schedule,
    options: { readonly latency: Latency; readonly arrive: (item: T) => void; readonly blocked: boolean },
  ) {
    this.#schedule = schedule;
    this.#latency = options.latency;
    this.#arrive = options.arrive;
    this.#isBlocked = options.blocked;
  }

  /** How many items are under way. */
  get length(): number {
    return this.#items.length;
  }

  push(item: T): void {
    const dueUs = Math.max(this.#lastDueUs, this.#schedule.nowUs + this.#latency());
    this.#lastDueUs = dueUs;
    this.#items.push({ item, dueUs });
    this.#pump();
  }

  block(): void {
    this.#isBlocked = true;
  }

  unblock(): void {
    this.#isBlocked = false;
    this.#pump();
  }

  /** Loses what is under way, but for the first `keep` items. */
  lose(keep = 0): void {
    this.#items.length = Math.min(keep, this.#items.length);
  }

  #pump(): void {
    const first = this.#items[0];
    if (this.#isPumping || this.#isBlocked || first === undefined) return;
    this.#isPumping = true;
    this.#schedule.at(Math.max(first.dueUs, this.#schedule.nowUs), () => {
      this.#isPumping = false;
      if (!this.#isBlocked) this.#deliver();
    });
  }

  /** Hands over all that is due; an arrival may block the pipe or lose the rest. */
  #deliver(): void {
    while (!this.#isBlocked) {
      const first = this.#items[0];
      if (first === undefined || first.dueUs > this.#schedule.nowUs) break;
      this.#items.shift();
      this.#arrive(first.item);
    }
    this.#pump();
  }
}
