/** What a learner (follower or observer) knows of the leader it follows, on the one link on which it follows it. */
import type { Epoch, Sid, Zxid } from '@quorate/protocol';
import type { ZabContext } from './context.ts';
import type { Vote } from './messages.ts';

/**
 * discovery: leaderInfo is awaited · synchronizing: history is being received · installing: a snapshot is being received ·
 * adopting: everything is here, the disk is awaited, then upToDate · following: broadcast
 */
export type LearnerPhase = 'discovery' | 'synchronizing' | 'installing' | 'adopting' | 'following';

export class Learnership {
  readonly leader: Sid;
  readonly link: number;
  /** The vote that elected the leader, as others in the same round must see it. */
  readonly vote: Vote;
  phase: LearnerPhase = 'discovery';
  epoch: Epoch = 0;
  /** True once acceptedEpoch is on disk and ackEpoch was sent. */
  hasAcceptedEpoch = false;
  /** True once ackNewLeader was sent: from then on the disk's progress is acknowledged. */
  hasAdoptedEpoch = false;
  /** Something of the synchronization has come: a cut or a snapshot may only be the first of it. */
  hasSyncData = false;
  /** Of the snapshot that is being received. */
  snapshotZxid: Zxid | undefined;
  /** End of the history that the epoch starts from for this learner. */
  newLeaderZxid: Zxid | undefined;
  /** The last zxid that was acknowledged. */
  acked: Zxid;
  /** All of this must be delivered before the member serves; known once the leader has declared it up to date. */
  servesFrom: Zxid | undefined;
  /** Everything up to servesFrom has been delivered and the rest of the member was told. */
  isServing = false;
  heardMs: number;
  isOver = false;
  /** This member's claim to have its vote back; the zxid up to which its disk must be once it is granted. */
  claim: 'none' | 'made' | Zxid = 'none';
  /** The leader has said that it leads. Until then it may not know yet that it was elected. */
  isDeclared: boolean;

  constructor(context: ZabContext, vote: Vote, link: number, isDeclared: boolean) {
    this.leader = vote.leader;
    this.link = link;
    this.vote = vote;
    this.acked = context.history.base;
    this.heardMs = context.nowMs;
    this.isDeclared = isDeclared;
  }
}
