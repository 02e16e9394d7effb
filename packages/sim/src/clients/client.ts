/** What every simulated client has in common, and what it is given. */

import type { ClientKnobs } from '../knobs.ts';
import type { Observation } from '../observation.ts';
import type { Random } from '../random.ts';
import type { Schedule } from '../schedule.ts';
import type { Front } from './front.ts';

export interface ClientOptions {
  readonly name: string;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly fronts: readonly Front[];
  readonly knobs: ClientKnobs;
  /** Session timeout to ask for, ms. */
  readonly timeoutMs: number;
  readonly observe: (observation: Observation) => void;
  /** Since when all has been well, in virtual µs; undefined while faults go on. */
  readonly healthySinceUs: () => number | undefined;
  /** Whether the next thing of this kind is done, or left out; see script.ts. */
  readonly takes: (what: string) => boolean;
}

export interface Client {
  readonly name: string;
  start(): void;
  /** No more calls of its own; a session is kept alive. */
  quiesce(): void;
  /** Looks for a session that was left to expire: it must have ended. */
  lookBack(): void;
  /** What must not be so once all is well and quiet, in words; undefined when all is as it should be. */
  readonly complaint: string | undefined;
}

/** A member to turn to: one that is up, and another than `not` when there is one. Undefined when all are down. */
export function pickFront(random: Random, fronts: readonly Front[], not?: Front): Front | undefined {
  const open = fronts.filter((front) => front.isOpen);
  const others = open.filter((front) => front !== not);
  const slow = others.filter(({ isSlow }) => isSlow);
  // Where a disk is slow, a client may come that has seen more.
  if (slow.length > 0 && random.chance(0.5)) return random.pick(slow);
  const choice = others.length > 0 ? others : open;
  return choice.length === 0 ? undefined : random.pick(choice);
}
