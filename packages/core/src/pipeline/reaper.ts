/**
 * Finds the znodes whose time is over: containers whose children have gone, znodes with a TTL whose data is older than that.
 * It only names them; `leader-desk.ts` deletes them by ordinary txns, after `prepare.ts` has looked at what is in flight.
 * Source: ZooKeeper `ContainerManager`, reference §5.5, cases C008 and C019.
 *
 * A TTL is held against mtime, which is wall clock, by a clock of the leader's own: the wall clock at the begin of its
 * leadership and the monotonic time since, but never later than the wall clock says. So a wall clock that is set forward deletes nothing
 * early, and one that is set back only keeps znodes longer.
 */
import type { Now } from '../peer/events.ts';
import type { Lifetime } from '../tree/lifetime.ts';

export interface ReaperOptions {
  /** From the end of one round to the begin of the next, ms. */
  readonly intervalMs: number;
  /** Most znodes named in a minute. */
  readonly perMinuteMax: number;
  /** A container that never had a child goes at this age, ms; 0: never. */
  readonly containerUnusedMs: number;
}

/** What it needs to know of a container or a znode with a TTL. `Znode` fits. */
export interface TimedZnode {
  readonly path: string;
  readonly lifetime: Lifetime | undefined;
  readonly mtimeMs: number;
  readonly creates: number;
  readonly childCount: number;
}

/** Znodes looked at in one step: a million of them must not hold up the loop. */
const LOOK_MAX = 2_000;

const MINUTE_MS = 60_000;

/** One leadership's reaper; its first round begins one interval after the leadership. */
export class Reaper {
  readonly #options: ReaperOptions;
  readonly #candidates: () => Iterator<TimedZnode>;
  readonly #start: Now;
  /** The round that is going on. */
  #round: Iterator<TimedZnode> | undefined;
  #nextRoundMs: number;
  /** How many may be named now. Grows with time, to at most what a second gives. */
  #allowance = 0;
  #lastMs: number;

  constructor(options: ReaperOptions, candidates: () => Iterator<TimedZnode>, now: Now) {
    this.#options = options;
    this.#candidates = candidates;
    this.#start = now;
    this.#nextRoundMs = now.monotonicMs + options.intervalMs;
    this.#lastMs = now.monotonicMs;
  }

  /** Paths of znodes whose time is over, as the tree is now; a bounded part of a round at each call. */
  step(now: Now): readonly string[] {
    this.#grow(now.monotonicMs);
    if (this.#round === undefined) {
      if (now.monotonicMs < this.#nextRoundMs) return [];
      this.#round = this.#candidates();
    }
    const nowMs = Math.min(now.wallMs, this.#start.wallMs + (now.monotonicMs - this.#start.monotonicMs));
    const due: string[] = [];
    for (let looked = 0; looked < LOOK_MAX && this.#allowance >= 1; looked++) {
      const next = this.#round.next();
      if (next.done === true) {
        this.#round = undefined;
        this.#nextRoundMs = now.monotonicMs + this.#options.intervalMs;
        break;
      }
      if (!this.#isDue(next.value, nowMs)) continue;
      this.#allowance--;
      due.push(next.value.path);
    }
    return due;
  }

  #grow(monotonicMs: number): void {
    const perMs = this.#options.perMinuteMax / MINUTE_MS;
    this.#allowance = Math.min(this.#allowance + (monotonicMs - this.#lastMs) * perMs, Math.max(1, perMs * 1_000));
    this.#lastMs = monotonicMs;
  }

  #isDue({ lifetime, mtimeMs, creates, childCount }: TimedZnode, nowMs: number): boolean {
    if (childCount > 0 || lifetime === undefined) return false;
    if (lifetime !== 'container') return nowMs - mtimeMs > lifetime.ttlMs;
    if (creates !== 0) return true;
    const { containerUnusedMs } = this.#options;
    return containerUnusedMs > 0 && nowMs - mtimeMs > containerUnusedMs;
  }
}
