/**
 * The agreement: a member's place in the ensemble (looking, leading, learning) and the routing of what happens to the
 * phase it concerns. Payloads are opaque; there is no clock, no disk and no socket here. The protocol as built, its
 * table and its invariants Z1…: README.md. Source: Zab paper (Junqueira, Reed, Serafini 2011); reference §9.
 */
import { assert, type Sid, type Zxid } from '@quorate/protocol';
import { commitByQuorum, flushLearner, propose } from './broadcast.ts';
import type { VoteRight, ZabConfig, ZabRecovered, ZabStatus } from './config.ts';
import { type Role, ZabContext } from './context.ts';
import { Election } from './election.ts';
import { settleFormation } from './formation.ts';
import { chooseSuccessor, namedSuccessor } from './hand-over.ts';
import type { ZabHost } from './host.ts';
import { dropLearner, Leadership, type Learner, leaderVote } from './leadership.ts';
import {
  confirm,
  endLeaderTurn,
  isDeserted,
  messageToLeader,
  mustMakeWay,
  startLeading,
  stopLeading,
  tickLeader,
} from './leading.ts';
import { Learnership } from './learnership.ts';
import {
  hasLeaderLeft,
  messageToLearner,
  serveWhenReady,
  startLearning,
  stopLearning,
  tickLearner,
} from './learning.ts';
import type { ServerState, Vote, ZabMessage } from './messages.ts';
import { settleClaim } from './regaining.ts';
import { stateOf, statusOf } from './status.ts';
import { finishSnapshot, sendSnapshot } from './synchronization.ts';
import type { Verdict } from './verdict.ts';

export class Zab {
  readonly #context: ZabContext;
  #role: Role | undefined;
  /** The right to vote that the others were told. */
  #toldRight: VoteRight;

  constructor(config: ZabConfig, host: ZabHost, recovered: ZabRecovered) {
    this.#context = new ZabContext(config, host, recovered);
    this.#toldRight = recovered.voteRight;
  }

  get status(): ZabStatus {
    return statusOf(this.#context, this.#role);
  }

  /** zxid of the last record in the log, on disk or not. */
  get lastLogged(): Zxid {
    return this.#context.history.last;
  }

  get committed(): Zxid {
    return this.#context.history.committed;
  }

  /** On a leader: the member follows it and has everything. */
  isSynced(sid: Sid): boolean {
    return this.#role?.kind === 'leading' && this.#role.leadership.learners.get(sid)?.stage === 'active';
  }

  /** Delivers what is known to be committed and begins to look for a leader. Called once, first. */
  start(nowMs: number): void {
    assert(this.#role === undefined, () => 'Zab was started twice');
    this.#context.nowMs = nowMs;
    this.#context.startedMs = nowMs;
    this.#context.deliver();
    this.#look('start');
    this.#settle();
  }

  linkUp(sid: Sid, link: number, nowMs: number): void {
    const context = this.#at(nowMs);
    if (context.links.has(sid)) this.#linkLost(sid);
    context.links.set(sid, link);
    context.rights.forget(sid);
    const role = this.#started;
    if (role.kind === 'looking') role.election.linkUp(sid);
    else context.notify(sid, this.#state, this.#vote);
    this.#settle();
  }

  linkDown(sid: Sid, link: number, nowMs: number): void {
    const context = this.#at(nowMs);
    if (context.links.get(sid) !== link) return;
    this.#linkLost(sid);
    this.#settle();
  }

  message(sid: Sid, link: number, message: ZabMessage, nowMs: number): void {
    const context = this.#at(nowMs);
    if (context.links.get(sid) !== link) return;
    const role = this.#started;
    if (message.kind === 'notification') this.#notification(sid, message);
    else if (role.kind === 'leading') this.#judge(messageToLeader(context, role.leadership, { sid, link }, message));
    else if (role.kind === 'learning') this.#toLearner(role.learnership, sid, message);
    else if (message.kind === 'followerInfo') {
      role.election.followerInfo({ sid, link, acceptedEpoch: message.acceptedEpoch, voteRight: message.voteRight });
    }
    this.#settle();
  }

  /** All disk work up to and including `ticket` is durable. */
  persisted(ticket: number, nowMs: number): void {
    const context = this.#at(nowMs);
    context.disk.persisted(ticket);
    if (this.#role?.kind === 'leading') commitByQuorum(context, this.#role.leadership);
    this.#settle();
  }

  tick(nowMs: number): void {
    const context = this.#at(nowMs);
    const role = this.#started;
    if (role.kind === 'looking') role.election.tick();
    else if (role.kind === 'leading') this.#judge(tickLeader(context, role.leadership));
    else this.#judge(tickLearner(context, role.learnership));
    this.#settle();
    context.trim();
  }

  /** Sends what this turn has gathered. */
  turnEnded(nowMs: number): void {
    const context = this.#at(nowMs);
    const role = this.#started;
    if (role.kind === 'leading') this.#judge(endLeaderTurn(context, role.leadership));
    else if (role.kind === 'learning') flushLearner(context, role.learnership);
    else context.disk.issueAppends();
    this.#settle();
  }

  /** The state database was opened for a snapshot. */
  stateOpened(stream: number, zxid: Zxid, nowMs: number): void {
    const context = this.#at(nowMs);
    const learner = this.#streaming(stream);
    if (learner === undefined) context.host.closeState(stream);
    else sendSnapshot(context, learner, stream, zxid);
  }

  stateSent(stream: number, nowMs: number): void {
    const context = this.#at(nowMs);
    const learner = this.#streaming(stream);
    if (learner === undefined || this.#role?.kind !== 'leading') return;
    finishSnapshot(context, this.#role.leadership, learner, stream);
    this.#settle();
  }

  stateFailed(stream: number, reason: string, nowMs: number): void {
    const context = this.#at(nowMs);
    const learner = this.#streaming(stream);
    if (learner === undefined || this.#role?.kind !== 'leading') return;
    dropLearner(context, this.#role.leadership, learner, `snapshot failed: ${reason}`);
  }

  /** Gives the payload the next zxid. Only while standing is `leading`. */
  propose(payload: Uint8Array): Zxid {
    const role = this.#started;
    assert(role.kind === 'leading', () => `Cannot propose while ${role.kind}`);
    return propose(this.#context, role.leadership, payload);
  }

  /**
   * Asks a quorum whether this member still leads. Returns the number of the round; `leadershipConfirmed` follows with it
   * or a later one, or the standing changes. Rounds asked for in one turn are one.
   */
  confirmLeadership(): number {
    const role = this.#started;
    assert(role.kind === 'leading' && role.leadership.isEstablished, () => `Cannot confirm while ${role.kind}`);
    role.leadership.pingDue = true;
    return role.leadership.pingSeq + 1;
  }

  /** A checkpoint at `zxid` is durable: history before it may go. */
  checkpointed(zxid: Zxid): void {
    if (zxid > this.#context.checkpoint) this.#context.checkpoint = zxid;
    this.#context.trim();
  }

  /**
   * Gives this member's place up and looks again. With `abstain` it votes for nobody from now on, so that another member
   * takes over: for a member that is about to stop.
   */
  resign(reason: string, nowMs: number, abstain = false): void {
    this.#at(nowMs).isAbstaining = abstain;
    if (this.#started.kind !== 'looking') this.#look(reason);
    this.#settle();
  }

  /**
   * Leaves for good: the disk is not to be relied on any more. The place is given up, every link is closed, so that the
   * others go on without this member at once, and it takes part in nothing until it is made anew from its disk.
   */
  retire(reason: string, nowMs: number): void {
    const context = this.#at(nowMs);
    context.isAbstaining = true;
    this.#look(reason);
    for (const [sid, link] of [...context.links]) context.closeLink(sid, link, reason);
    this.#settle();
  }

  /** On a leader: proposals are held, because another member is to take over. */
  get isHandingOver(): boolean {
    return this.#role?.kind === 'leading' && this.#role.leadership.handOver !== undefined;
  }

  /**
   * Begins to hand leadership over to `to`, or to the member that is furthest; see hand-over.ts. Returns the target, or
   * undefined when no synced voter can be it. Nothing may be proposed while `isHandingOver`, which ends when this member does
   * not lead any more, or goes on leading. `isLeaving`: this member is about to stop, and is no candidate afterwards.
   */
  handOver(to: Sid | undefined, nowMs: number, isLeaving = false): Sid | undefined {
    this.#at(nowMs);
    const role = this.#started;
    if (role.kind !== 'leading') return undefined;
    const { leadership } = role;
    if (leadership.handOver !== undefined) {
      if (isLeaving) leadership.handOver.isLeaving = true;
      return to === undefined || to === leadership.handOver.to ? leadership.handOver.to : undefined;
    }
    const target = chooseSuccessor(this.#context, leadership, to);
    if (target !== undefined) leadership.handOver = { to: target, sinceMs: nowMs, isLeaving };
    return target;
  }

  #look(reason: string, endedBy: 'learner' | 'leader' = 'learner', successor?: Vote): void {
    const context = this.#context;
    const role = this.#role;
    context.successor = successor;
    if (role?.kind === 'leading') stopLeading(context, role.leadership);
    else if (role?.kind === 'learning') stopLearning(context, role.learnership, endedBy);
    context.host.trace('looking', { reason });
    // The rest of the member stops counting on a leader before anything else happens.
    if (role !== undefined && role.kind !== 'looking') context.host.standing({ kind: 'looking' });
    this.#role = { kind: 'looking', election: new Election(context) };
  }

  #lead(election: Election): void {
    const leadership = new Leadership(this.#context);
    this.#role = { kind: 'leading', leadership };
    this.#judge(startLeading(this.#context, leadership, election.earlyFollowers));
  }

  #learn(vote: Vote, isDeclared: boolean): void {
    const context = this.#context;
    const link = context.links.get(vote.leader);
    assert(link !== undefined, () => `Cannot follow member ${vote.leader}: there is no link to it`);
    const learnership = new Learnership(context, vote, link, isDeclared);
    this.#role = { kind: 'learning', learnership };
    startLearning(context, learnership);
  }

  #notification(sid: Sid, message: Extract<ZabMessage, { kind: 'notification' }>): void {
    const context = this.#context;
    context.rights.note(sid, message);
    settleFormation(context);
    const role = this.#started;
    if (role.kind === 'looking') {
      const leader = role.election.notification(sid, message);
      if (leader !== undefined) this.#learn({ ...message.vote, leader }, true);
    } else if (role.kind === 'learning' && sid === role.learnership.leader) {
      if (hasLeaderLeft(context, role.learnership, message)) this.#leaderLeft(role.learnership, message);
    } else if (message.state === 'leading') {
      const isOver =
        role.kind === 'leading' && context.isVoting(sid) && mustMakeWay(context, role.leadership, message.vote);
      if (isOver) this.#look(`member ${sid} leads, and adopted epoch ${message.vote.peerEpoch}`);
    } else if (message.state === 'looking') {
      if (role.kind === 'leading') {
        const learner = role.leadership.learners.get(sid);
        if (learner !== undefined) dropLearner(context, role.leadership, learner);
      }
      context.notify(sid, this.#state, this.#vote);
    }
  }

  #leaderLeft(learnership: Learnership, message: Extract<ZabMessage, { kind: 'notification' }>): void {
    const context = this.#context;
    const { leader } = learnership;
    const successor = namedSuccessor(context, learnership, message);
    if (successor === undefined) return this.#look(`member ${leader} does not lead`, 'leader');
    // In the same round as the leader that left, its vote counts at once.
    if (message.round > context.round) context.round = message.round - 1;
    this.#look(`member ${leader} hands over to member ${successor.leader}`, 'leader', successor);
    if (this.#started.kind === 'looking') this.#notification(leader, message);
  }

  #toLearner(learnership: Learnership, sid: Sid, message: ZabMessage): void {
    // A member that takes this one for a leader is told where this one stands.
    if (message.kind === 'followerInfo') this.#context.notify(sid, this.#state, this.#vote);
    else if (sid === learnership.leader) this.#judge(messageToLearner(this.#context, learnership, message));
  }

  /** Draws the consequences of what has changed: an election's outcome, deliveries, confirmations, the standing. */
  #settle(): void {
    const context = this.#context;
    settleFormation(context);
    this.#tellRight();
    for (let role = this.#started; role.kind === 'looking'; role = this.#started) {
      const leader = role.election.outcome();
      if (leader === undefined) break;
      if (leader === context.config.sid) this.#lead(role.election);
      else this.#learn(role.election.vote, false);
    }
    context.deliver();
    const role = this.#started;
    if (role.kind === 'leading') confirm(context, role.leadership);
    else if (role.kind === 'learning') {
      serveWhenReady(context, role.learnership);
      settleClaim(context, role.learnership);
    }
  }

  /** The others learn of it at once, and a vote that was gained takes part in the election. */
  #tellRight(): void {
    const context = this.#context;
    if (this.#toldRight === context.voteRight) return;
    this.#toldRight = context.voteRight;
    const role = this.#started;
    if (role.kind === 'looking') role.election.rightChanged();
    else context.notifyAll(this.#state, this.#vote);
  }

  #judge(verdict: Verdict): void {
    if (verdict.kind !== 'giveUp') return;
    if (verdict.isFault === true) {
      const context = this.#context;
      context.host.trace('badMessage', { reason: verdict.reason, count: ++context.faults });
    }
    this.#look(verdict.reason, 'learner', verdict.successor);
  }

  #linkLost(sid: Sid): void {
    const context = this.#context;
    context.links.delete(sid);
    context.rights.forget(sid);
    const role = this.#started;
    if (role.kind === 'looking') role.election.linkDown(sid);
    else if (role.kind === 'learning') {
      if (sid === role.learnership.leader) this.#look(`the link to leader ${sid} is down`);
    } else {
      const learner = role.leadership.learners.get(sid);
      if (learner === undefined) return;
      dropLearner(context, role.leadership, learner);
      if (learner.votes && isDeserted(role.leadership))
        this.#look(`the link to member ${sid}, the last to follow, is down`);
    }
  }

  #streaming(stream: number): Learner | undefined {
    return this.#role?.kind === 'leading' ? this.#role.leadership.byStream(stream) : undefined;
  }

  get #started(): Role {
    assert(this.#role !== undefined, () => 'Zab was not started');
    return this.#role;
  }

  get #state(): ServerState {
    return stateOf(this.#context, this.#role);
  }

  get #vote(): Vote {
    const role = this.#started;
    if (role.kind === 'looking') return role.election.vote;
    return role.kind === 'leading' ? leaderVote(this.#context, role.leadership) : role.learnership.vote;
  }

  #at(nowMs: number): ZabContext {
    this.#context.nowMs = nowMs;
    return this.#context;
  }
}
