/**
 * A leader hands its place to a follower that has everything, so that writes pause for one election's round trip and not for
 * the detection of a loss:
 *
 *     leader                                             target, others
 *     takes no new proposals (the desk keeps them)
 *     the target holds all of the log, all is committed
 *     notification(looking, vote for the target)    →    look; of equal histories the target's is preferred
 *                                                   ←    votes, as in any election
 *
 * Safety rests on discovery as ever: the preference only settles which of equal votes wins, and it is forgotten when no
 * leader is found within `electionRetryMs`. A target that does not come in time costs nothing: the leader goes on.
 */
import type { Sid } from '@quorate/protocol';
import type { ZabContext } from './context.ts';
import type { Leadership, Learner } from './leadership.ts';
import type { Learnership } from './learnership.ts';
import type { Vote, ZabMessage } from './messages.ts';

/** Longest time for which proposals are held while the target catches up, ms. */
export const HAND_OVER_MS = 1_000;

export interface HandOver {
  readonly to: Sid;
  readonly sinceMs: number;
  /** The leader is about to stop: afterwards it is no candidate. */
  isLeaving: boolean;
}

/**
 * The member to hand over to: `wanted`, or the synced voter that has most, of those heard from lately: one that stands still would
 * be voted for by all others and lead nobody. Undefined when there is none.
 */
export function chooseSuccessor(context: ZabContext, leadership: Leadership, wanted: Sid | undefined): Sid | undefined {
  if (!leadership.isEstablished) return undefined;
  const sinceMs = context.nowMs - 3 * context.config.timing.heartbeatMs;
  let best: Learner | undefined;
  for (const learner of leadership.learners.values()) {
    if (!learner.votes || learner.stage !== 'active') continue;
    if (wanted === undefined ? learner.heardMs < sinceMs : learner.sid !== wanted) continue;
    const isBetter =
      best === undefined || learner.acked > best.acked || (learner.acked === best.acked && learner.sid > best.sid);
    if (isBetter) best = learner;
  }
  return best?.sid;
}

/** The vote to leave with, once the target has everything and all of it is committed. */
export function successorWhenReady(context: ZabContext, leadership: Leadership): Vote | undefined {
  const { handOver } = leadership;
  if (handOver === undefined) return undefined;
  const { last, flushed, committed } = context.history;
  const target = leadership.learners.get(handOver.to);
  const isReady = target?.stage === 'active' && target.acked === last && flushed === last && committed === last;
  return isReady ? { leader: handOver.to, peerEpoch: leadership.establishedEpoch, zxid: last } : undefined;
}

/** Gives the hand-over up when the target is gone or late. */
export function watchHandOver(context: ZabContext, leadership: Leadership): void {
  const { handOver } = leadership;
  if (handOver === undefined) return;
  const waitedMs = context.nowMs - handOver.sinceMs;
  if (waitedMs <= HAND_OVER_MS && leadership.learners.get(handOver.to)?.stage === 'active') return;
  leadership.handOver = undefined;
  context.host.trace('handOverAbandoned', { to: handOver.to, waitedMs });
}

/** The successor that a leader names as it leaves: the first word of an established leader that looks again. */
export function namedSuccessor(
  context: ZabContext,
  learnership: Learnership,
  message: Extract<ZabMessage, { kind: 'notification' }>,
): Vote | undefined {
  const { state, vote } = message;
  const isNamed = state === 'looking' && vote.leader !== learnership.leader && context.isVoting(vote.leader);
  return isNamed && learnership.phase === 'following' ? vote : undefined;
}
