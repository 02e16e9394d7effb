/**
 * The kinds of fault, and how often each comes: the chance that it is on in a run, and the range of its mean time between
 * two strikes, ms. Swarm: each run turns some kinds off and others up, so that corners are reached which one fixed mix
 * would miss. What a kind does is in the file beside this one that is named after what it strikes.
 */
import type { Random } from '../random.ts';

export const FAULT_RATES = {
  /** A member is gone at once, its process or its whole machine. */
  crash: { chance: 0.4, minMs: 200, maxMs: 3_000 },
  /** The same just before or after a chosen kind of action, such as saving an epoch. */
  aimedCrash: { chance: 0.5, minMs: 100, maxMs: 1_500 },
  crashAll: { chance: 0.2, minMs: 700, maxMs: 4_000 },
  /** A member is told to stop, and ends when it has answered what is in flight. */
  stop: { chance: 0.2, minMs: 300, maxMs: 4_000 },
  /** One member after the other is told to stop, as soon as the one before it is back. */
  rollingRestart: { chance: 0.15, minMs: 700, maxMs: 4_000 },
  pause: { chance: 0.3, minMs: 200, maxMs: 3_000 },
  slowMember: { chance: 0.15, minMs: 300, maxMs: 3_000 },
  sever: { chance: 0.35, minMs: 100, maxMs: 2_000 },
  /** Two parts that do not see each other. */
  partition: { chance: 0.4, minMs: 200, maxMs: 3_000 },
  /** The leader alone, so that the others must elect. */
  isolateLeader: { chance: 0.2, minMs: 300, maxMs: 3_000 },
  /** Two parts that do not see each other, and one member that sees both. */
  bridge: { chance: 0.2, minMs: 300, maxMs: 3_000 },
  /** Each member sees its two neighbours only. */
  ring: { chance: 0.15, minMs: 300, maxMs: 3_000 },
  /** One direction of one link is silent. */
  oneWay: { chance: 0.25, minMs: 200, maxMs: 3_000 },
  /** A member hears all and is not heard, or the other way round. */
  mute: { chance: 0.2, minMs: 300, maxMs: 3_000 },
  /** The bytes of one link wait for a while, and then all come. */
  stall: { chance: 0.25, minMs: 100, maxMs: 2_000 },
  /** What goes over one link takes longer. */
  lag: { chance: 0.2, minMs: 200, maxMs: 2_000 },
  slowDisk: { chance: 0.25, minMs: 200, maxMs: 3_000 },
  /** A sync that does not come back for long. */
  stalledDisk: { chance: 0.2, minMs: 300, maxMs: 3_000 },
  /** One write fails, and everything works again: EIO. */
  failedWrite: { chance: 0.25, minMs: 200, maxMs: 3_000 },
  /** Every write fails for a while: ENOSPC. */
  fullDisk: { chance: 0.2, minMs: 300, maxMs: 3_000 },
  /** A member is down, and what is on its disk is damaged when it comes back. Never beyond a minority of voters. */
  damagedDisk: { chance: 0.25, minMs: 300, maxMs: 3_000 },
  /** A member is down, and has an empty disk when it comes back. Never beyond a minority of voters. */
  emptyDisk: { chance: 0.2, minMs: 300, maxMs: 3_000 },
  /** The leader is asked to hand over. */
  handOver: { chance: 0.3, minMs: 100, maxMs: 2_000 },
  /** A wall clock jumps, by up to some hours. */
  clockStep: { chance: 0.2, minMs: 100, maxMs: 2_000 },
} as const;

export type FaultKind = keyof typeof FAULT_RATES;
export const FAULT_KINDS = Object.keys(FAULT_RATES) as readonly FaultKind[];

export interface FaultKnobs {
  /** Mean time between strikes of each kind, µs; 0: that kind is off in this run. */
  readonly everyUs: Readonly<Record<FaultKind, number>>;
  /** A fault that has a length lasts this long on average, µs. */
  readonly lastsUs: number;
  /** The same for partitions, pauses and stalls: in half of the runs long enough to outlast every timeout. */
  readonly outlastsUs: number;
  /** A crashed member stays away this long on average, µs. */
  readonly downUs: number;
}

const MS = 1_000;

/** `faultsUs`: how long faults go on. A kind that is on strikes about once at least. */
export function drawFaults(random: Random, options: { syncTimeoutMs: number; faultsUs: number }): FaultKnobs {
  const { syncTimeoutMs, faultsUs } = options;
  const isCalm = random.chance(0.03);
  const everyUs = (kind: FaultKind): number => {
    const { chance, minMs, maxMs } = FAULT_RATES[kind];
    const us = Math.min(random.skewed(minMs, maxMs) * MS, faultsUs);
    return random.chance(chance) && !isCalm ? us : 0;
  };
  return {
    everyUs: Object.fromEntries(FAULT_KINDS.map((kind) => [kind, everyUs(kind)])) as Record<FaultKind, number>,
    lastsUs: random.skewed(50, 1_000) * MS,
    outlastsUs: (random.chance(0.5) ? random.skewed(50, 1_000) : syncTimeoutMs * random.between(2, 4)) * MS,
    downUs: random.skewed(20, 500) * MS,
  };
}

/** True when no kind of fault is on. */
export function isCalm({ everyUs }: FaultKnobs): boolean {
  return Object.values(everyUs).every((us) => us === 0);
}
