/** What one member is told about itself and its ensemble. Validated by `server/src/config` before it comes here. */
import type { SessionId, Sid } from '@quorate/protocol';

export interface MemberConfig {
  readonly sid: Sid;
  /** Members whose acks and votes count. */
  readonly voters: readonly Sid[];
  /** Members that learn and serve, but do not vote. */
  readonly observers: readonly Sid[];
  /** Different in every run of this member; names the run in the txns that came in by it. 0 <= incarnation < 2^48. */
  readonly incarnation: number;
  /** First session id this run hands out. */
  readonly firstSessionId: SessionId;
  /** Seed for the jitter of elections; the only randomness of the core. */
  readonly seed: number;
  /** A quorum of voters with new disks may form a new ensemble without the rest. */
  readonly bootstrap: boolean;
  readonly timing: Timing;
  readonly limits: Limits;
}

export interface Timing {
  /** ZooKeeper's tickTime: the unit of session timeouts, and the width of an expiry bucket. Default 2000. */
  readonly tickMs: number;
  /** Shortest session timeout handed out. Default 2 ticks. */
  readonly sessionTimeoutMinMs: number;
  /** Longest session timeout handed out. Default 20 ticks. */
  readonly sessionTimeoutMaxMs: number;
  /** Leader pings learners this often. Default 250. */
  readonly heartbeatMs: number;
  /** Silence after which a learner gives its leader up, and a leader a learner or, without a quorum, itself. Default 3000. */
  readonly syncTimeoutMs: number;
  /** Longest time for discovery and synchronization without progress. Default 10000. */
  readonly initTimeoutMs: number;
  /** While looking: votes are sent again this often. Default 200. */
  readonly electionRetryMs: number;
  /** While looking, with a quorum agreed but not all voters heard: wait this long for a better vote. Default 30. */
  readonly electionSettleMs: number;
  /** Longest time that a member without a leader keeps serving reads and holding sessions. Default 30000. */
  readonly staleReadMaxMs: number;
  /** A disk that has work and finishes none of it for this long counts as failed. Default 10000. */
  readonly diskStallMs: number;
  /** The leader looks this often for containers and znodes with a TTL whose time is over. Default 60000. */
  readonly reapIntervalMs: number;
  /** A container that never had a child is deleted at this age; 0: never. Default 0. */
  readonly containerUnusedMs: number;
  /** A watch that has nothing to tell says so this often. Default 5000. */
  readonly watchProgressMs: number;
  /** A watch whose reader takes nothing for this long is dropped. Default 30000. */
  readonly watchStallMs: number;
}

export interface Limits {
  /** Forwarded or proposed writes of this member that are not answered: count. Past it: THROTTLED. Default 20000. */
  readonly outstandingMax: number;
  /** The same in bytes of data. Default 64 MiB. */
  readonly outstandingBytesMax: number;
  /** Committed history kept in memory for learners that come back (DIFF), bytes. Past it they get a snapshot. Default 16 MiB. */
  readonly historyBytesMax: number;
  /**
   * History that a learner is sent in one message, bytes, about. It gets eight of them, and more when it has shown that it
   * got those. Default 1 MiB.
   */
  readonly syncMessageBytes: number;
  /** Txns of one epoch, after which the leader begins a new one so that the counter never overflows. Default 2^32 − 2^20. */
  readonly epochTxnsMax: number;
  /** A checkpoint is begun when this much was logged since the last one, bytes. Default 8 MiB. */
  readonly checkpointBytes: number;
  /** ... or this many txns. Default 50000. */
  readonly checkpointTxns: number;
  /** Containers and znodes with a TTL deleted in a minute, at most. Default 10000. */
  readonly reapPerMinuteMax: number;
  /** Changes kept in memory for watches that begin again where they were, bytes, data included; the oldest go. Default 16 MiB. */
  readonly watchBytesMax: number;
  /** Listings in pages that are open at this member; past it THROTTLED. Default 16. */
  readonly listingsMax: number;
  /** Images of znodes that have changed since listings began which show them, bytes; past it a listing is given up. Default 64 MiB. */
  readonly listingBytesMax: number;
  /** Watches of this member that can be resumed; past it THROTTLED. Default 10000. */
  readonly resumableWatchesMax: number;
  /** Memory for the watches that connections have (ZooKeeper's), bytes, about; past it THROTTLED. Default 256 MiB. */
  readonly connectionWatchBytesMax: number;
}

export const DEFAULT_TIMING: Timing = {
  tickMs: 2_000,
  sessionTimeoutMinMs: 4_000,
  sessionTimeoutMaxMs: 40_000,
  heartbeatMs: 250,
  syncTimeoutMs: 3_000,
  initTimeoutMs: 10_000,
  electionRetryMs: 200,
  electionSettleMs: 30,
  staleReadMaxMs: 30_000,
  diskStallMs: 10_000,
  reapIntervalMs: 60_000,
  containerUnusedMs: 0,
  watchProgressMs: 5_000,
  watchStallMs: 30_000,
};

export const DEFAULT_LIMITS: Limits = {
  outstandingMax: 20_000,
  outstandingBytesMax: 64 * 1024 * 1024,
  historyBytesMax: 16 * 1024 * 1024,
  syncMessageBytes: 1024 * 1024,
  epochTxnsMax: 2 ** 32 - 2 ** 20,
  checkpointBytes: 8 * 1024 * 1024,
  checkpointTxns: 50_000,
  reapPerMinuteMax: 10_000,
  watchBytesMax: 16 * 1024 * 1024,
  listingsMax: 16,
  listingBytesMax: 64 * 1024 * 1024,
  resumableWatchesMax: 10_000,
  connectionWatchBytesMax: 256 * 1024 * 1024,
};
