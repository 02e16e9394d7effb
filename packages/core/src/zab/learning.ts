/**
 * The learner's side of the conversation with its leader, phase by phase. State: learnership.ts; what each phase does:
 * discovery.ts, synchronization.ts, broadcast.ts. Followers and observers differ only in whether they are counted.
 */
import { unreachable } from '@quorate/protocol';
import { takeFromLeader } from './broadcast.ts';
import type { ZabContext } from './context.ts';
import { takeLeaderInfo } from './discovery.ts';
import type { Learnership } from './learnership.ts';
import type { ZabMessage } from './messages.ts';
import { takeVoteGrant } from './regaining.ts';
import { takeNewLeader, takeSyncData, takeUpToDate } from './synchronization.ts';
import { fault, GO_ON, giveUp, type Verdict } from './verdict.ts';

export function startLearning(context: ZabContext, learnership: Learnership): void {
  const { leader, link, vote } = learnership;
  const { acceptedEpoch, voteRight } = context;
  context.host.trace('following', { leader, round: context.round });
  context.notifyAll(context.hasVote ? 'following' : 'observing', vote);
  context.host.send(leader, link, { kind: 'followerInfo', acceptedEpoch, voteRight });
}

/** One message from the leader, on the link on which it is followed. */
export function messageToLearner(context: ZabContext, learnership: Learnership, message: ZabMessage): Verdict {
  learnership.heardMs = context.nowMs;
  switch (message.kind) {
    case 'leaderInfo':
      return takeLeaderInfo(context, learnership, message.epoch);
    case 'truncate':
    case 'snapshot':
    case 'stateChunk':
    case 'stateEnd':
    case 'diff':
      return takeSyncData(context, learnership, message);
    case 'newLeader':
      return takeNewLeader(context, learnership, message);
    case 'upToDate':
      return takeUpToDate(context, learnership, message.committed);
    case 'propose':
    case 'commit':
    case 'ping':
      return takeFromLeader(context, learnership, message);
    case 'voteGrant':
      return takeVoteGrant(context, learnership, message.zxid);
    case 'voteClaim':
    case 'voteTaken':
    case 'notification':
    case 'followerInfo':
    case 'ackEpoch':
    case 'ackNewLeader':
    case 'ack':
    case 'pong':
      return fault(`unexpected ${message.kind} from leader ${learnership.leader}`);
    default:
      return unreachable(message);
  }
}

/** A leader that says it is anything but leading has ended the conversation, unless it does not know yet that it leads. */
export function hasLeaderLeft(
  context: ZabContext,
  learnership: Learnership,
  message: Extract<ZabMessage, { kind: 'notification' }>,
): boolean {
  if (message.state === 'leading') {
    learnership.isDeclared = true;
    return false;
  }
  if (message.state !== 'looking' || learnership.isDeclared || learnership.epoch !== 0) return true;
  return message.vote.leader !== learnership.leader || message.round > context.round;
}

export function tickLearner(context: ZabContext, learnership: Learnership): Verdict {
  const { syncTimeoutMs, initTimeoutMs } = context.config.timing;
  const silence = context.nowMs - learnership.heardMs;
  const isQuick = learnership.phase === 'discovery' || learnership.phase === 'following';
  if (silence <= (isQuick ? syncTimeoutMs : initTimeoutMs)) return GO_ON;
  return giveUp(`leader ${learnership.leader} was silent for ${silence} ms`);
}

/**
 * Z11: a learner serves once everything it was synchronized with is delivered: only then it knows that a write which it
 * forwarded before, and has not seen, can never be committed. What was committed meanwhile is delivered too: a member that was
 * far behind shows clients nothing older than the moment at which it was declared up to date.
 */
export function serveWhenReady(context: ZabContext, learnership: Learnership): void {
  const { history, host } = context;
  const { servesFrom, isServing } = learnership;
  if (isServing || servesFrom === undefined || history.delivered < servesFrom) return;
  learnership.isServing = true;
  const { leader, link, epoch } = learnership;
  host.standing({ kind: 'following', leader, link, epoch });
}

/** Ends the conversation. When this member ends it, the link goes too: what is in flight on it belongs to what is over. */
export function stopLearning(context: ZabContext, learnership: Learnership, endedBy: 'learner' | 'leader'): void {
  learnership.isOver = true;
  if (learnership.phase === 'installing') {
    context.host.installAbort();
    context.disk.install({ kind: 'installAbort' });
  }
  if (endedBy === 'learner') {
    context.closeLink(learnership.leader, learnership.link, `member ${learnership.leader} is not followed any more`);
  }
}
