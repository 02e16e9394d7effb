/** What the agreement is told at its start, and what it tells about itself. `MemberConfig` of `peer/` fits `ZabConfig`. */
import type { Epoch, Sid, Zxid } from '@quorate/protocol';
import type { LogRecord, ServerState } from './messages.ts';

export interface ZabConfig {
  readonly sid: Sid;
  readonly voters: readonly Sid[];
  readonly observers: readonly Sid[];
  readonly timing: ZabTiming;
  /** A quorum of empty voters may form a new ensemble without the rest. */
  readonly bootstrap: boolean;
  readonly limits: {
    readonly historyBytesMax: number;
    readonly syncMessageBytes: number;
    readonly epochTxnsMax: number;
  };
}

/** Units and defaults: `Timing` in `peer/config.ts`. */
export interface ZabTiming {
  readonly heartbeatMs: number;
  readonly syncTimeoutMs: number;
  readonly initTimeoutMs: number;
  readonly electionRetryMs: number;
  readonly electionSettleMs: number;
}

/**
 * Whether a configured voter counts. The same shape is `VoteRight` in `storage`.
 *
 * unformed: its disk is new, nothing was ever promised or acknowledged on it · held: it counts · recovering: an earlier
 * disk of it is lost, and promises and acknowledgements with it: it is not counted until it was synchronized
 */
export type VoteRight = 'unformed' | 'held' | 'recovering';

/** What the disk holds when a member starts. */
export interface ZabRecovered {
  /** Highest epoch this member promised to a prospective leader (f.p in the paper). */
  readonly acceptedEpoch: Epoch;
  /** Epoch of the last leader whose whole history this member adopted (f.a in the paper). */
  readonly currentEpoch: Epoch;
  readonly voteRight: VoteRight;
  /** The state database is at this zxid; history begins after it. */
  readonly baseZxid: Zxid;
  /** The log after `baseZxid`, without a hole. */
  readonly records: readonly LogRecord[];
  /** Known to be committed when the log was written; at least `baseZxid`. */
  readonly committed: Zxid;
}

export type ZabPhase = 'election' | 'discovery' | 'synchronization' | 'broadcast';

export interface ZabStatus {
  readonly state: ServerState;
  readonly phase: ZabPhase;
  /** The established epoch, or the last one that was adopted. */
  readonly epoch: Epoch;
  readonly acceptedEpoch: Epoch;
  /** Election round, in memory only. */
  readonly round: number;
  readonly leader: Sid | undefined;
  readonly lastLogged: Zxid;
  readonly lastFlushed: Zxid;
  readonly committed: Zxid;
  readonly delivered: Zxid;
  /** On a leader: its learners. Empty elsewhere. */
  readonly learners: readonly LearnerStatus[];
  /** On a leader: enough voters were heard from lately. On a learner: it is synchronized. */
  readonly hasQuorum: boolean;
  /** Undefined on an observer, which has none to lose. */
  readonly voteRight: VoteRight | undefined;
  /** Why it is not part of a quorum, or has no vote, where an election alone does not help: a sentence for people. */
  readonly waiting: string | undefined;
  /** How many txns the present epoch still takes before its leader begins another one. */
  readonly epochTxnsLeft: number;
}

export interface LearnerStatus {
  readonly sid: Sid;
  readonly acked: Zxid;
  readonly synced: boolean;
  /** Its acknowledgements count. */
  readonly votes: boolean;
}
