/**
 * Looking for a leader: members tell each other whom they would follow until a quorum says the same name.
 * A vote prefers the most recent history: (currentEpoch, last zxid, sid). Safety does not rest on this phase
 * (discovery checks again); it makes the likely leader the right one, and quickly.
 *
 * Differs from ZooKeeper's FastLeaderElection: a candidate counts only while there is a link to it, so no vote for a dead
 * member goes round; and there is no fixed wait at the end: with every connected voter heard it ends at once.
 * Source: reference §9.2.
 */
import type { Sid } from '@quorate/protocol';
import type { VoteRight } from './config.ts';
import type { ZabContext } from './context.ts';
import type { ServerState, Vote, ZabMessage } from './messages.ts';

type Notification = Extract<ZabMessage, { kind: 'notification' }>;

/** A member that decided to follow this one before this one knew that it leads. */
export interface EarlyFollower {
  readonly sid: Sid;
  readonly link: number;
  readonly acceptedEpoch: number;
  readonly voteRight: VoteRight;
}

/** True when `a` is to be preferred to `b`. */
export function isBetterVote(a: Vote, b: Vote): boolean {
  if (a.peerEpoch !== b.peerEpoch) return a.peerEpoch > b.peerEpoch;
  if (a.zxid !== b.zxid) return a.zxid > b.zxid;
  return a.leader > b.leader;
}

export function isSameVote(a: Vote, b: Vote): boolean {
  return a.leader === b.leader && a.peerEpoch === b.peerEpoch && a.zxid === b.zxid;
}

export class Election {
  readonly #context: ZabContext;
  /** Undefined without a vote, and on a member about to stop: it only listens. */
  #vote: Vote | undefined;
  /** Votes of this round, this member's own not included. */
  readonly #votes = new Map<Sid, Vote>();
  readonly #early = new Map<Sid, EarlyFollower>();
  /** Who was told the present vote once more. */
  readonly #reminded = new Set<Sid>();
  #sentMs: number;
  /** Since when a quorum has agreed while some connected voter was not heard in this round. */
  #agreedMs: number | undefined;

  constructor(context: ZabContext) {
    this.#context = context;
    context.round++;
    this.#vote = this.#firstVote();
    this.#sentMs = context.nowMs;
    context.notifyAll('looking', this.vote);
  }

  get vote(): Vote {
    return this.#vote ?? { leader: 0, peerEpoch: 0, zxid: this.#context.history.last };
  }

  get earlyFollowers(): readonly EarlyFollower[] {
    return [...this.#early.values()];
  }

  linkUp(sid: Sid): void {
    this.#context.notify(sid, 'looking', this.vote);
  }

  /** A candidate that is gone is no candidate: whoever votes for it is asked again in a new round of votes. */
  linkDown(sid: Sid): void {
    this.#votes.delete(sid);
    this.#early.delete(sid);
    if (this.#context.successor?.leader === sid) this.#context.successor = undefined;
    if (this.#vote?.leader === sid) this.#restart();
  }

  /** This member's right to vote has changed, or come to be known. */
  rightChanged(): void {
    const vote = this.#ownVote();
    if (vote !== undefined && this.#vote === undefined) this.#adopt(vote);
    else this.#context.notifyAll('looking', this.vote);
  }

  followerInfo(early: EarlyFollower): void {
    this.#early.set(early.sid, early);
  }

  /** Returns the leader when this notification shows it: one that leads already. */
  notification(from: Sid, message: Notification): Sid | undefined {
    const { state, round, vote } = message;
    if (state === 'leading') return this.#context.isVoting(from) && this.#mayFollow ? from : undefined;
    if (state === 'looking') this.#early.delete(from);
    if (!this.#context.isVoting(from) || message.voteRight !== 'held') {
      this.#votes.delete(from);
      if (this.#vote?.leader === from) this.#restart();
      // Two that have no vote would answer each other for ever.
      if (state === 'looking' && this.#vote !== undefined) this.#context.notify(from, 'looking', this.vote);
      return undefined;
    }
    if (this.#vote !== undefined && this.#isCandidate(vote.leader)) this.#take(from, state, round, vote);
    return undefined;
  }

  /** The elected leader, once there is one. Called after every event and on ticks. */
  outcome(): Sid | undefined {
    const own = this.#vote;
    if (own === undefined) return undefined;
    const { config, nowMs, links } = this.#context;
    const agrees = (sid: Sid): boolean => {
      const vote = sid === config.sid ? own : this.#votes.get(sid);
      return vote !== undefined && isSameVote(vote, own);
    };
    const agreeing = config.voters.filter(agrees).length;
    if (agreeing <= config.voters.length / 2) {
      this.#agreedMs = undefined;
      return undefined;
    }
    const { rights } = this.#context;
    const allHeard = config.voters.every(
      (sid) => sid === config.sid || !links.has(sid) || this.#votes.has(sid) || rights.isWithout(sid),
    );
    this.#agreedMs ??= nowMs;
    if (allHeard || nowMs - this.#agreedMs >= config.timing.electionSettleMs) return own.leader;
    return undefined;
  }

  tick(): void {
    const { nowMs, config } = this.#context;
    if (nowMs - this.#sentMs < config.timing.electionRetryMs) return;
    this.#sentMs = nowMs;
    if (this.#context.successor === undefined) this.#context.notifyAll('looking', this.vote);
    else {
      // Whoever has not heard of the successor votes otherwise: from now on all compare alike.
      this.#context.successor = undefined;
      this.#restart();
    }
  }

  #take(from: Sid, state: ServerState, round: number, vote: Vote): void {
    const context = this.#context;
    if (state !== 'looking') {
      // It has decided already. In this round that is a vote; in another round it proves nothing about this one.
      if (round === context.round) this.#votes.set(from, vote);
      return;
    }
    if (round < context.round) {
      context.notify(from, 'looking', this.vote);
      return;
    }
    if (round > context.round) {
      const first = this.#firstVote();
      context.round = round;
      this.#votes.clear();
      this.#adopt(first === undefined || this.#isBetter(vote, first) ? vote : first);
    } else if (this.#isBetter(vote, this.vote)) this.#adopt(vote);
    else this.#remind(from, vote);
    this.#votes.set(from, vote);
  }

  /**
   * The sender votes for a worse candidate in the same round: it may have been no elector yet when this member said its vote.
   * Once for each vote of this member, for it may know why its own is better (a successor it was named).
   */
  #remind(from: Sid, vote: Vote): void {
    if (isSameVote(vote, this.vote) || this.#reminded.has(from)) return;
    this.#reminded.add(from);
    this.#context.notify(from, 'looking', this.vote);
  }

  #adopt(vote: Vote | undefined): void {
    this.#vote = vote;
    this.#reminded.clear();
    this.#agreedMs = undefined;
    this.#sentMs = this.#context.nowMs;
    this.#context.notifyAll('looking', this.vote);
  }

  #restart(): void {
    const context = this.#context;
    context.round++;
    this.#votes.clear();
    this.#adopt(this.#firstVote());
  }

  /** What this member votes for in a new round: itself, or the successor that the last leader named. */
  #firstVote(): Vote | undefined {
    const own = this.#ownVote();
    const { successor, hasVote } = this.#context;
    if (!hasVote || successor === undefined || !this.#isCandidate(successor.leader)) return own;
    return own === undefined || this.#isBetter(successor, own) ? successor : own;
  }

  /** Of two votes for equal histories the one for the named successor is the better one. */
  #isBetter(a: Vote, b: Vote): boolean {
    const named = this.#context.successor?.leader;
    const isEqual = a.peerEpoch === b.peerEpoch && a.zxid === b.zxid && a.leader !== b.leader;
    if (isEqual && (a.leader === named || b.leader === named)) return a.leader === named;
    return isBetterVote(a, b);
  }

  #ownVote(): Vote | undefined {
    const { config, currentEpoch, history, hasVote, isAbstaining } = this.#context;
    return hasVote && !isAbstaining ? { leader: config.sid, peerEpoch: currentEpoch, zxid: history.last } : undefined;
  }

  #isCandidate(sid: Sid): boolean {
    const context = this.#context;
    if (sid === context.config.sid) return context.hasVote;
    return context.isVoting(sid) && context.links.has(sid) && !context.rights.isWithout(sid);
  }

  /** A voter that does not know yet whether it is new or was lost follows nobody. */
  get #mayFollow(): boolean {
    return !this.#context.isVoter || this.#context.voteRight !== 'unformed';
  }
}
