/** Every knob of a run, drawn from its seed and printed first. Times are virtual. Which faults there are: faults/kinds.ts. */
import { DEFAULT_LIMITS, DEFAULT_TIMING, type Limits, type Timing } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import { drawFaults, type FaultKnobs } from './faults/kinds.ts';
import { Random } from './random.ts';

export interface NetworkKnobs {
  readonly latencyMinUs: number;
  readonly latencyMaxUs: number;
  /** A dialler tries again within this time. */
  readonly redialMaxUs: number;
  readonly dialTimeoutUs: number;
}

export interface DiskKnobs {
  /** How long one synced write takes. */
  readonly syncMinUs: number;
  readonly syncMaxUs: number;
  /** How long one read of a state stream takes. */
  readonly readMaxUs: number;
}

export interface MemberKnobs {
  /** A turn takes at most so many events. */
  readonly turnEventsMax: number;
  /** An event waits at most so long before the turn that takes it. */
  readonly busyMaxUs: number;
  /** A tick comes this often; at most 50 ms. */
  readonly tickUs: number;
  /** Largest state chunk, bytes. */
  readonly chunkBytes: number;
  /** Most records of one recovery step. */
  readonly recoveryRecordsMax: number;
  /** Chance that a member is first started some time during the faults, not at the beginning. */
  readonly lateChance: number;
  /** The wall clock of a member is wrong by at most this much, ms. */
  readonly wallSkewMaxMs: number;
  /** A member's clocks are faster or slower than virtual time by at most this part. */
  readonly driftMax: number;
  /** A quorum of empty voters may form the ensemble. Not where a disk may be empty because it was replaced. */
  readonly bootstrap: boolean;
}

export interface ClientKnobs {
  /** Sessions on streams. */
  readonly streams: number;
  /** Sessions without a stream. */
  readonly unary: number;
  /** Clients without a session. */
  readonly sessionless: number;
  /** Mean pause of a client between two calls. */
  readonly pauseUs: number;
  /** Most calls in flight on a stream. */
  readonly pipeline: number;
  /** Znodes that all clients fight over. */
  readonly contended: number;
  /** How often a call is a multi (half as often a multiRead), makes ancestors or sets or creates, lists in pages, concerns znodes that go by themselves, access control lists, quotas: a plain setData is 18. */
  readonly multis: number;
  readonly compounds: number;
  readonly listings: number;
  readonly timed: number;
  readonly acls: number;
  readonly quotas: number;
  /** Chance that a read on a stream leaves a watch. */
  readonly watches: number;
  /** Chance that a write is guarded. */
  readonly guards: number;
  /** Longest data of a write, about. Most are short. */
  readonly valueBytesMax: number;
  readonly deadlineMaxMs: number;
  /** A client on a stream that waits for longer than this goes elsewhere. */
  readonly patienceUs: number;
  /** Mean time after which a client moves by itself, closes its session, or falls silent until it expires. */
  readonly moveUs: number;
  readonly closeUs: number;
  readonly silenceUs: number;
}

export interface Knobs {
  readonly seed: number;
  readonly voters: readonly Sid[];
  readonly observers: readonly Sid[];
  readonly timing: Timing;
  readonly limits: Limits;
  readonly network: NetworkKnobs;
  readonly disk: DiskKnobs;
  readonly member: MemberKnobs;
  readonly faults: FaultKnobs;
  readonly clients: ClientKnobs;
  /** How long faults go on. Short runs see as much for their time as long ones, and much that goes wrong goes wrong early. */
  readonly faultsUs: number;
  /** Whether the run goes on until the sessions that were left have expired. */
  readonly awaitsExpiry: boolean;
  /** After the heal, everything is as it should be within this time. */
  readonly healUs: number;
}

const MS = 1_000;

/** Timings about ten times shorter than in production, in the same proportions, so that a short run sees many elections. */
function drawTiming(random: Random): Timing {
  const heartbeatMs = random.skewed(40, 120);
  const tickMs = heartbeatMs * random.between(3, 5);
  const syncTimeoutMs = heartbeatMs * random.between(4, 10);
  return {
    tickMs,
    sessionTimeoutMinMs: 2 * tickMs,
    sessionTimeoutMaxMs: 20 * tickMs,
    heartbeatMs,
    syncTimeoutMs,
    initTimeoutMs: syncTimeoutMs * random.between(2, 4),
    electionRetryMs: random.between(20, 100),
    electionSettleMs: random.between(2, 30),
    staleReadMaxMs: random.skewed(200, 5_000),
    diskStallMs: random.skewed(500, 20_000),
    reapIntervalMs: random.between(1, 4) * tickMs,
    containerUnusedMs: 0,
    watchProgressMs: DEFAULT_TIMING.watchProgressMs,
    watchStallMs: DEFAULT_TIMING.watchStallMs,
  };
}

/** Small enough that checkpoints, purges, DIFF, TRUNC and SNAP all happen; sometimes so large that some never do. */
function drawLimits(random: Random): Limits {
  return {
    ...DEFAULT_LIMITS,
    outstandingMax: random.chance(0.2) ? random.between(4, 16) : DEFAULT_LIMITS.outstandingMax,
    historyBytesMax: random.skewed(200, 200_000),
    syncMessageBytes: random.chance(0.5) ? DEFAULT_LIMITS.syncMessageBytes : random.skewed(100, 5_000),
    outstandingBytesMax: random.chance(0.8) ? DEFAULT_LIMITS.outstandingBytesMax : random.skewed(500, 20_000),
    epochTxnsMax: random.chance(0.15) ? random.skewed(60, 500) : DEFAULT_LIMITS.epochTxnsMax,
    checkpointBytes: random.skewed(2_000, 1_000_000),
    checkpointTxns: random.skewed(10, 2_000),
    listingsMax: random.chance(0.2) ? random.between(1, 3) : DEFAULT_LIMITS.listingsMax,
    listingBytesMax: random.chance(0.2) ? random.skewed(100, 5_000) : DEFAULT_LIMITS.listingBytesMax,
  };
}

function drawClients(random: Random): ClientKnobs {
  return {
    streams: random.between(1, 3),
    unary: random.between(0, 2),
    sessionless: random.between(0, 2),
    pauseUs: random.skewed(20, 120) * MS,
    pipeline: random.chance(0.3) ? 1 : random.between(2, 12),
    contended: random.between(1, 5),
    valueBytesMax: random.chance(0.8) ? 300 : random.skewed(1_000, 20_000),
    deadlineMaxMs: random.skewed(100, 4_000),
    patienceUs: random.skewed(30, 2_000) * MS,
    moveUs: random.skewed(500, 10_000) * MS,
    closeUs: random.skewed(1_000, 20_000) * MS,
    silenceUs: random.skewed(1_000, 20_000) * MS,
    multis: random.chance(0.6) ? random.between(4, 30) : 0,
    timed: random.chance(0.4) ? random.between(4, 30) : 0,
    acls: random.chance(0.3) ? random.between(4, 30) : 0,
    quotas: random.chance(0.3) ? random.between(4, 30) : 0,
    guards: random.chance(0.4) ? 0.1 : 0,
    watches: random.chance(0.5) ? 0.5 : 0,
    listings: random.chance(0.4) ? random.between(4, 20) : 0,
    compounds: random.chance(0.4) ? random.between(4, 30) : 0,
  };
}

/** The knobs of a seed: the same for the same seed. */
export function drawKnobs(seed: number): Knobs {
  const random = new Random(seed, 'knobs');
  const voterCount = Number(random.weighted({ '3': 65, '5': 27, '7': 8 }));
  const observerCount = Number(random.weighted({ '0': 5, '1': 3, '2': 2 }));
  const sids = random.shuffle([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const timing = drawTiming(random);
  const faultsUs = random.skewed(500, 5_000) * MS;
  const faults = drawFaults(random, { syncTimeoutMs: timing.syncTimeoutMs, faultsUs });
  return {
    seed,
    voters: sids.slice(0, voterCount).sort((a, b) => a - b),
    observers: sids.slice(voterCount, voterCount + observerCount).sort((a, b) => a - b),
    timing,
    limits: drawLimits(random),
    network: {
      latencyMinUs: random.skewed(50, 500),
      latencyMaxUs: random.skewed(500, 10_000),
      redialMaxUs: random.between(10, 100) * MS,
      dialTimeoutUs: 200 * MS,
    },
    disk: {
      syncMinUs: random.skewed(100, 1_000),
      syncMaxUs: random.skewed(1_000, 20_000),
      readMaxUs: random.skewed(200, 5_000),
    },
    member: {
      turnEventsMax: random.chance(0.3) ? 1 : random.between(2, 30),
      busyMaxUs: random.skewed(10, 3_000),
      tickUs: random.between(15, Math.floor(Math.min(50, timing.heartbeatMs / 2))) * MS,
      chunkBytes: random.skewed(100, 5_000),
      recoveryRecordsMax: random.skewed(1, 200),
      lateChance: random.chance(0.3) ? 0.3 : 0,
      wallSkewMaxMs: random.chance(0.5) ? 0 : 60_000,
      driftMax: random.chance(0.5) ? 0 : 0.1,
      bootstrap: random.chance(0.5) && faults.everyUs.emptyDisk === 0,
    },
    faults,
    clients: drawClients(random),
    faultsUs,
    awaitsExpiry: random.chance(0.4),
    healUs: (10 * timing.initTimeoutMs + 2_000) * MS,
  };
}

/** The knobs as one line of `name=value` for each group. */
export function describeKnobs(knobs: Knobs): string {
  const group = (name: string, values: object): string =>
    `  ${name}: ${Object.entries(values)
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(' ')}`;
  const { timing, limits, network, disk, member, faults, clients, ...rest } = knobs;
  const { everyUs, ...lengths } = faults;
  const kinds = Object.fromEntries(Object.entries(everyUs).filter(([, us]) => us > 0));
  return [
    group('ensemble', rest),
    group('timing', timing),
    group('limits', limits),
    group('network', network),
    group('disk', disk),
    group('member', member),
    group('faults', { ...kinds, ...lengths }),
    group('clients', clients),
  ].join('\n');
}
