/**
 * The two clocks of one member. The monotonic one begins anew with each run and goes a little faster or slower than
 * virtual time, always at the same rate; the wall clock goes at that rate too, is wrong by some time, and may be set.
 */
import type { Schedule } from './schedule.ts';

/** Virtual time 0 is this wall clock, ms since 1970. */
const WALL_START_MS = 1_700_000_000_000;
/** Where a member's monotonic clock begins, ms. */
export const CLOCK_START_MS = 1_000;
const MS = 1_000;

export class MemberClock {
  /** How fast it goes: 1 is as fast as virtual time. */
  readonly rate: number;
  readonly #schedule: Schedule;
  #wallErrorMs: number;

  constructor(schedule: Schedule, options: { readonly rate: number; readonly wallErrorMs: number }) {
    this.#schedule = schedule;
    this.rate = options.rate;
    this.#wallErrorMs = options.wallErrorMs;
  }

  /** Monotonic time of a run that began at `startedUs`, ms. */
  monotonicMs(startedUs: number): number {
    return CLOCK_START_MS + ((this.#schedule.nowUs - startedUs) * this.rate) / MS;
  }

  /** Whole ms since 1970. */
  get wallMs(): number {
    return Math.floor(WALL_START_MS + this.#wallErrorMs + (this.#schedule.nowUs * this.rate) / MS);
  }

  /** Virtual time that passes while the member counts `us`. */
  virtualUs(us: number): number {
    return us / this.rate;
  }

  step(ms: number): void {
    this.#wallErrorMs += ms;
  }
}
