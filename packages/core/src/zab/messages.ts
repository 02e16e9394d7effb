/**
 * What members say to each other to agree on one history. Each variant says why it exists.
 * A conversation lives on one link (one connection between two members): messages on a link arrive in order and
 * once, or the link breaks and what was in flight on it is gone. Source: Zab paper §V; reference §9.
 */
import type { Epoch, Sid, Zxid } from '@quorate/protocol';
import type { VoteRight } from './config.ts';

/** Whom a member would follow, and how recent that candidate's history is. Greater (epoch, zxid, leader) wins. */
export interface Vote {
  readonly leader: Sid;
  /** currentEpoch of the candidate: the last epoch whose leader's history it adopted. */
  readonly peerEpoch: Epoch;
  /** Last zxid in the candidate's log. */
  readonly zxid: Zxid;
}

export type ServerState = 'looking' | 'following' | 'leading' | 'observing';

/** One txn as agreed on: the payload is opaque here. */
export interface LogRecord {
  readonly zxid: Zxid;
  readonly payload: Uint8Array;
}

/** One record of the state database, as it travels in a snapshot. `value` undefined deletes the key. */
export interface StateRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

export type ZabMessage =
  /**
   * Election: the sender's vote, and whether it is still looking or already follows that leader; whether it counts as a
   * voter, and whether it is empty (no data, no epoch ever promised). The first word on every link.
   */
  | {
      readonly kind: 'notification';
      readonly state: ServerState;
      readonly round: number;
      readonly vote: Vote;
      readonly voteRight: VoteRight;
      readonly isEmpty: boolean;
    }
  /** Discovery 1, learner → prospective leader: I want to follow; this is the highest epoch I promised, and whether I count. */
  | { readonly kind: 'followerInfo'; readonly acceptedEpoch: Epoch; readonly voteRight: VoteRight }
  /** Discovery 2, leader → learner: the epoch of this leadership. */
  | { readonly kind: 'leaderInfo'; readonly epoch: Epoch }
  /** Discovery 3, learner → leader, after acceptedEpoch is on disk. `counted` is false when the epoch had been accepted before. */
  | {
      readonly kind: 'ackEpoch';
      readonly currentEpoch: Epoch;
      readonly lastZxid: Zxid;
      readonly counted: boolean;
    }
  /** Synchronization: cut your log after `after` (TRUNC); what follows continues from there. */
  | { readonly kind: 'truncate'; readonly after: Zxid }
  /** Synchronization: a snapshot of the state at `zxid` follows in stateChunk messages (SNAP). */
  | { readonly kind: 'snapshot'; readonly zxid: Zxid }
  | { readonly kind: 'stateChunk'; readonly records: readonly StateRecord[] }
  /** Synchronization: the snapshot is complete. */
  | { readonly kind: 'stateEnd'; readonly zxid: Zxid }
  /** Synchronization: history that continues what the learner has (DIFF). Not yet acknowledged one by one. */
  | { readonly kind: 'diff'; readonly records: readonly LogRecord[] }
  /** End of the synchronization data: the leader's history up to `lastZxid` is yours; adopt the epoch. */
  | { readonly kind: 'newLeader'; readonly epoch: Epoch; readonly lastZxid: Zxid }
  /** Learner → leader: history up to newLeader's lastZxid is on disk, then currentEpoch is on disk. */
  | { readonly kind: 'ackNewLeader'; readonly epoch: Epoch }
  /** Leader → learner: a quorum adopted the epoch; everything up to `committed` is committed; serve. */
  | { readonly kind: 'upToDate'; readonly committed: Zxid }
  /** Broadcast: new txns in order, and (cumulative) what is committed by now. */
  | { readonly kind: 'propose'; readonly records: readonly LogRecord[]; readonly committed: Zxid }
  /** Learner → leader: everything up to `zxid` is on my disk (cumulative). */
  | { readonly kind: 'ack'; readonly zxid: Zxid }
  /** Leader → learner: everything up to `zxid` is committed (cumulative); sent when there is no proposal to carry it. */
  | { readonly kind: 'commit'; readonly zxid: Zxid }
  /** Leader → learner: are you there, and do you still follow me? */
  | { readonly kind: 'ping'; readonly seq: number }
  /** Learner → leader: yes; answers every ping up to `seq`. */
  | { readonly kind: 'pong'; readonly seq: number }
  /** Learner that lost its disk → leader: synchronized; nobody can count a word of my former life; give me my vote back. */
  | { readonly kind: 'voteClaim' }
  /** Leader → learner: a quorum without you has confirmed me since; take your vote when all up to `zxid` is on your disk. */
  | { readonly kind: 'voteGrant'; readonly zxid: Zxid }
  /** Learner → leader: my right to vote is on my disk, with your epoch. */
  | { readonly kind: 'voteTaken' };
