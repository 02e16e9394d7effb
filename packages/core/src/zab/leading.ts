/**
 * The leader's side of every conversation, phase by phase: routes what learners say, moves on when a quorum allows it,
 * watches the time. State: leadership.ts; what each phase does: discovery.ts, synchronization.ts, broadcast.ts.
 */
import type { Sid } from '@quorate/protocol';
import {
  commitByQuorum,
  confirmedPing,
  flushLeader,
  isCounterNearlyUsedUp,
  isHeardByQuorum,
  ping,
  takeFromLearner,
  warnOfEpochEnd,
} from './broadcast.ts';
import type { ZabContext } from './context.ts';
import { decideEpoch, isEpochAgreed, takeAckEpoch, takeFollowerInfo, tellEpoch } from './discovery.ts';
import { type EarlyFollower, isBetterVote } from './election.ts';
import { successorWhenReady, watchHandOver } from './hand-over.ts';
import { dropLearner, Leadership, leaderVote } from './leadership.ts';
import type { Vote, ZabMessage } from './messages.ts';
import { grantVotes, takeVoteClaim, takeVoteTaken } from './regaining.ts';
import { continueHistory, isHistoryAgreed, sendUpToDate, synchronize, takeAckNewLeader } from './synchronization.ts';
import { GO_ON, giveUp, type Verdict } from './verdict.ts';

/** Begins to lead. `early` decided before this member knew. */
export function startLeading(context: ZabContext, leadership: Leadership, early: readonly EarlyFollower[]): Verdict {
  context.host.trace('elected', { round: context.round });
  context.notifyAll('leading', leaderVote(context, leadership));
  const onPromised = (): void => advanceLeader(context, leadership);
  let verdict = decideEpoch(context, leadership, onPromised);
  for (const from of early) {
    if (verdict.kind === 'goOn') verdict = takeFollowerInfo(context, leadership, from, onPromised);
  }
  return verdict;
}

/** One message from a member that is, was or wants to be a learner. */
export function messageToLeader(
  context: ZabContext,
  leadership: Leadership,
  from: { readonly sid: Sid; readonly link: number },
  message: ZabMessage,
): Verdict {
  if (message.kind === 'followerInfo') {
    const { acceptedEpoch, voteRight } = message;
    const follower = { ...from, acceptedEpoch, voteRight };
    return takeFollowerInfo(context, leadership, follower, () => advanceLeader(context, leadership));
  }
  const learner = leadership.learners.get(from.sid);
  // Without a record it is the rest of a conversation that this member has ended.
  if (learner === undefined || learner.link !== from.link) return GO_ON;
  learner.heardMs = context.nowMs;
  let verdict = GO_ON;
  switch (message.kind) {
    case 'ackEpoch':
      verdict = takeAckEpoch(context, leadership, learner, message);
      break;
    case 'ackNewLeader':
      takeAckNewLeader(context, leadership, learner, message.epoch);
      break;
    case 'ack':
      takeFromLearner(context, leadership, learner, message);
      commitByQuorum(context, leadership);
      return GO_ON;
    case 'pong':
      takeFromLearner(context, leadership, learner, message);
      continueHistory(context, leadership, learner);
      // What it said before may count again.
      commitByQuorum(context, leadership);
      break;
    case 'voteClaim':
      takeVoteClaim(context, leadership, learner);
      return GO_ON;
    case 'voteTaken':
      takeVoteTaken(context, leadership, learner);
      return GO_ON;
    default:
      dropLearner(context, leadership, learner, `unexpected ${message.kind}`);
  }
  if (verdict.kind === 'goOn') advanceLeader(context, leadership);
  return verdict;
}

/** Moves on to the next phase when a quorum allows it, and takes along every learner that has come far enough. */
export function advanceLeader(context: ZabContext, leadership: Leadership): void {
  if (leadership.isOver || !isEpochAgreed(context, leadership)) return;
  if (!leadership.isSynchronizing) adoptOwnEpoch(context, leadership);
  for (const learner of leadership.learners.values()) {
    if (learner.stage === 'acked') synchronize(context, leadership, learner);
  }
  if (!leadership.isEstablished && isHistoryAgreed(context, leadership)) establish(context, leadership);
}

/** The leader adopts its own epoch as its learners do: history on disk, then the epoch, and only then it counts. */
function adoptOwnEpoch(context: ZabContext, leadership: Leadership): void {
  leadership.isSynchronizing = true;
  context.currentEpoch = leadership.establishedEpoch;
  context.disk.saveEpochs(context.promises, () => {
    if (leadership.isOver) return;
    leadership.hasAdopted = true;
    advanceLeader(context, leadership);
  });
}

/** A quorum holds the whole history under the new epoch: all of it is committed, and proposals may begin. */
function establish(context: ZabContext, leadership: Leadership): void {
  const { history, host } = context;
  const epoch = leadership.establishedEpoch;
  leadership.isEstablished = true;
  leadership.quorumMs = context.nowMs;
  history.commit(history.last);
  context.deliver();
  for (const learner of leadership.learners.values()) {
    learner.heardMs = context.nowMs;
    tellEpoch(context, leadership, learner);
    if (learner.stage === 'active') sendUpToDate(context, learner);
  }
  context.notifyAll('leading', leaderVote(context, leadership));
  host.trace('established', { epoch, elapsedMs: context.nowMs - leadership.startedMs });
  host.standing({ kind: 'leading', epoch });
}

export function tickLeader(context: ZabContext, leadership: Leadership): Verdict {
  const { heartbeatMs, syncTimeoutMs, initTimeoutMs } = context.config.timing;
  if (context.nowMs - leadership.pingedMs >= heartbeatMs) ping(context, leadership);
  for (const learner of [...leadership.learners.values()]) {
    const silence = context.nowMs - learner.heardMs;
    const bound = learner.stage === 'active' ? syncTimeoutMs : initTimeoutMs;
    if (silence > bound) {
      dropLearner(context, leadership, learner, `silent for ${silence} ms in stage ${learner.stage}`);
    }
  }
  noteQuorum(context, leadership);
  watchHandOver(context, leadership);
  if (leadership.isEstablished) {
    const lostMs = context.nowMs - leadership.quorumMs;
    return lostMs > syncTimeoutMs ? giveUp(`no quorum was heard for ${lostMs} ms`) : GO_ON;
  }
  const bound = leadership.epoch === undefined ? syncTimeoutMs : initTimeoutMs;
  return context.nowMs - leadership.startedMs > bound ? giveUp(`not established within ${bound} ms`) : GO_ON;
}

/** Two heartbeats without an answer, and a voter does not count as present. */
function noteQuorum(context: ZabContext, leadership: Leadership): void {
  if (isHeardByQuorum(context, leadership, 2 * context.config.timing.heartbeatMs)) {
    leadership.quorumMs = context.nowMs;
  }
}

export function endLeaderTurn(context: ZabContext, leadership: Leadership): Verdict {
  flushLeader(context, leadership);
  warnOfEpochEnd(context, leadership);
  if (isCounterNearlyUsedUp(context, leadership)) return giveUp('the counter of this epoch is nearly used up');
  const successor = successorWhenReady(context, leadership);
  if (successor !== undefined) {
    if (leadership.handOver?.isLeaving === true) context.isAbstaining = true;
    return { kind: 'giveUp', reason: `leadership is handed over to member ${successor.leader}`, successor };
  }
  return GO_ON;
}

/**
 * True when this leadership has to make way for another member that says it leads: that one adopted an epoch which leaves no
 * quorum to this one. Of two that have no quorum yet the better vote goes on, and nobody waits in vain for followers.
 */
export function mustMakeWay(context: ZabContext, leadership: Leadership, other: Vote): boolean {
  const { epoch } = leadership;
  if (epoch !== undefined && leadership.isEstablished) return other.peerEpoch > epoch;
  if (isDeserted(leadership)) return true;
  return epoch === undefined ? isBetterVote(other, leaderVote(context, leadership)) : other.peerEpoch >= epoch;
}

/** True while this leadership is not established and no voter follows it. */
export function isDeserted(leadership: Leadership): boolean {
  return !leadership.isEstablished && ![...leadership.learners.values()].some(({ votes }) => votes);
}

/** Passes on that a quorum has confirmed this leadership since it was asked. */
export function confirm(context: ZabContext, leadership: Leadership): void {
  if (!leadership.isEstablished) return;
  const seq = confirmedPing(context, leadership);
  grantVotes(context, leadership, seq);
  if (seq <= leadership.confirmed) return;
  leadership.confirmed = seq;
  context.host.leadershipConfirmed(seq);
}

/** Ends every conversation; links stay up, for nothing of these conversations follows on them. */
export function stopLeading(context: ZabContext, leadership: Leadership): void {
  leadership.isOver = true;
  for (const learner of [...leadership.learners.values()]) dropLearner(context, leadership, learner);
}
