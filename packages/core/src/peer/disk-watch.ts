/**
 * Whether the disk still answers. One that hangs reports no failure, yet everything that waits for it gathers in memory, and
 * a leader keeps a place that it cannot fill: after a bound it counts as failed. Time is counted in ticks, so that a member
 * that was frozen does not blame its disk. How the work is done, and what a failure leads to, is not known here.
 */

/** Most that the time between two ticks counts, ms: twice the longest that a driver may let pass. */
const TICK_MAX_MS = 100;

export class DiskWatch {
  readonly #stallMs: number;
  readonly #what: string;
  #done = 0;
  #doneAtTick = 0;
  #tickedMs: number;
  #silentMs = 0;

  /** `stallMs`: work that waits for longer than this, with nothing done meanwhile, is a failure. `what`: of which work. */
  constructor(stallMs: number, nowMs: number, what = 'the log') {
    this.#stallMs = stallMs;
    this.#what = what;
    this.#tickedMs = nowMs;
  }

  /** All work up to `ticket` is done. Tickets rise. */
  persisted(ticket: number): void {
    this.#done = ticket;
  }

  /** Time has passed; `issued` is the last ticket that was handed out. Returns why the disk counts as failed, once it does. */
  tick(nowMs: number, issued: number): string | undefined {
    const passedMs = Math.min(nowMs - this.#tickedMs, TICK_MAX_MS);
    this.#tickedMs = nowMs;
    const isSilent = this.#done < issued && this.#done === this.#doneAtTick;
    this.#silentMs = isSilent ? this.#silentMs + passedMs : 0;
    this.#doneAtTick = this.#done;
    return this.#silentMs > this.#stallMs
      ? `it has not answered for ${Math.round(this.#silentMs)} ms (${this.#what})`
      : undefined;
  }
}
