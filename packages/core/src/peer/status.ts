/** What a member tells about itself: for ClusterService, health, metrics and the simulator's checkers. Changes nothing. */
import type { Epoch, Sid, Zxid } from '@quorate/protocol';
import type { Entry } from '../pipeline/entry.ts';
import type { LearnerStatus, VoteRight, ZabPhase, ZabStatus } from '../zab/config.ts';
import type { ServerState } from '../zab/messages.ts';
import type { MemberConfig } from './config.ts';
import type { Routing } from './routing.ts';

export interface MemberStatus {
  readonly sid: Sid;
  readonly role: ServerState;
  readonly phase: ZabPhase;
  /** The established epoch, or the last one that was adopted. */
  readonly epoch: Epoch;
  readonly acceptedEpoch: Epoch;
  readonly leader: Sid | undefined;
  /** Of the last applied txn: what reads see. */
  readonly lastZxid: Zxid;
  readonly committed: Zxid;
  readonly lastLogged: Zxid;
  readonly lastFlushed: Zxid;
  readonly voters: readonly Sid[];
  readonly observers: readonly Sid[];
  /** Sessions of the ensemble, not only those attached here. */
  readonly sessions: number;
  /** Sessions attached here. */
  readonly attachments: number;
  readonly znodes: number;
  readonly ephemerals: number;
  /** Sum of the lengths of all data. */
  readonly dataBytes: number;
  /** Hash of everything replicated: equal on members with the same lastZxid. */
  readonly digest: bigint;
  /** Writes of this member that are not answered. */
  readonly outstanding: number;
  /** Why the disk failed, once it has: the member has no place in the ensemble until it is made anew. */
  readonly diskFailed: string | undefined;
  /** Reads are answered: it has a leader, or lost it not too long ago. */
  readonly serving: boolean;
  /** Writes can be ordered, as far as this member knows. */
  readonly hasQuorum: boolean;
  /** Whether this member counts as the voter that it is; undefined on an observer. */
  readonly voteRight: VoteRight | undefined;
  /** Why it is not part of a quorum, or does not vote, where an election alone does not help: a sentence for people. */
  readonly waiting: string | undefined;
  /** How many txns the present epoch still takes before its leader begins another one. */
  readonly epochTxnsLeft: number;
  /** On a leader: its learners. Empty elsewhere. */
  readonly learners: readonly LearnerStatus[];
}

/** What the status is drawn from. */
export interface StatusSources {
  readonly config: MemberConfig;
  readonly zab: ZabStatus;
  readonly entry: Entry;
  readonly routing: Routing;
  readonly diskFailed: string | undefined;
}

export function memberStatus({ config, zab, entry, routing, diskFailed }: StatusSources): MemberStatus {
  const { tree } = entry.state;
  return {
    sid: config.sid,
    role: zab.state,
    phase: zab.phase,
    epoch: zab.epoch,
    acceptedEpoch: zab.acceptedEpoch,
    leader: zab.leader,
    lastZxid: tree.lastZxid,
    committed: zab.committed,
    lastLogged: zab.lastLogged,
    lastFlushed: zab.lastFlushed,
    voters: config.voters,
    observers: config.observers,
    sessions: tree.sessions.size,
    attachments: entry.attachments.count,
    znodes: tree.znodeCount,
    ephemerals: tree.ephemeralCount,
    dataBytes: tree.dataBytes,
    digest: tree.digest,
    outstanding: entry.outstanding.count,
    diskFailed,
    serving: routing.readFault(entry.host.now().monotonicMs) === undefined,
    hasQuorum: zab.hasQuorum && routing.standing.kind !== 'looking',
    voteRight: zab.voteRight,
    waiting: zab.waiting,
    epochTxnsLeft: zab.epochTxnsLeft,
    learners: zab.learners,
  };
}
