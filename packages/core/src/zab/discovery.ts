/**
 * Discovery: a quorum promises a new epoch, higher than any it promised before, to a leader whose history is at least
 * as recent as its own. Both sides of the dialogue:
 *
 *     learner                              leader
 *     followerInfo(acceptedEpoch)   →      a quorum is here: epoch = highest acceptedEpoch + 1, on its own disk
 *                                   ←      leaderInfo(epoch)
 *     acceptedEpoch = epoch on disk
 *     ackEpoch(currentEpoch, last)  →      more recent than the leader: it resigns. A quorum: synchronization begins
 *
 * Source: Zab paper §V phase 1; reference §9.4. Only voters count (ZOOKEEPER-2959).
 */
import { assert, EPOCH_MAX, type Epoch, formatZxid, type Sid, type Zxid } from '@quorate/protocol';
import type { ZabContext } from './context.ts';
import type { EarlyFollower } from './election.ts';
import { countedLearner, dropLearner, type Leadership, type Learner } from './leadership.ts';
import type { Learnership } from './learnership.ts';
import type { ZabMessage } from './messages.ts';
import { isQuorum } from './quorum.ts';
import { fault, GO_ON, giveUp, type Verdict } from './verdict.ts';

/** Leader: a learner has come. `onPromised` runs when the epoch is on this member's own disk. */
export function takeFollowerInfo(
  context: ZabContext,
  leadership: Leadership,
  from: EarlyFollower,
  onPromised: () => void,
): Verdict {
  const before = leadership.learners.get(from.sid);
  if (before !== undefined) dropLearner(context, leadership, before);
  const votes = context.isVoting(from.sid) && from.voteRight === 'held';
  const isAhead = leadership.epoch !== undefined && from.acceptedEpoch > leadership.epoch;
  const isLost = votes && hasLostPromise(context, leadership, from);
  const learner = leadership.add(from.sid, from.link, votes, from.acceptedEpoch, context.nowMs);
  if (isAhead && !votes) {
    dropLearner(context, leadership, learner, `it promised epoch ${from.acceptedEpoch}`);
    return GO_ON;
  }
  if (from.acceptedEpoch >= EPOCH_MAX) {
    dropLearner(context, leadership, learner, `no epoch can follow ${from.acceptedEpoch}, which it promised`);
    return GO_ON;
  }
  context.epochFloor = Math.max(context.epochFloor, from.acceptedEpoch);
  if (isAhead) {
    // It promised a later epoch to a candidate that came to nothing. Only a yet later epoch can have it back.
    return giveUp(`member ${from.sid} promised epoch ${from.acceptedEpoch}, this one is ${leadership.epoch}`);
  }
  if (isLost) return giveUp(`the promise of member ${from.sid} was lost on its way, and cannot be given again`);
  if (leadership.epoch === undefined) return decideEpoch(context, leadership, onPromised);
  if (leadership.hasPromised) tellEpoch(context, leadership, learner);
  return GO_ON;
}

/**
 * True when a voter has promised this very epoch and its word did not arrive (its link broke, or the word was given to another
 * candidate): it can never be counted in this epoch, which may have to wait for it until its time is up.
 */
function hasLostPromise(
  context: ZabContext,
  leadership: Leadership,
  from: { readonly sid: Sid; readonly acceptedEpoch: Epoch },
): boolean {
  return from.acceptedEpoch === leadership.epoch && !isEpochAgreed(context, leadership);
}

/** Leader: fixes the epoch as soon as a quorum is here. Also called at the start: one voter alone is a quorum. */
export function decideEpoch(context: ZabContext, leadership: Leadership, onPromised: () => void): Verdict {
  const { config } = context;
  const isHere = (sid: Sid): boolean => sid === config.sid || leadership.learners.get(sid)?.votes === true;
  if (leadership.epoch !== undefined || !isQuorum(config.voters, isHere)) return GO_ON;
  const highest = Math.max(context.acceptedEpoch, context.epochFloor);
  if (highest >= EPOCH_MAX) {
    context.host.fail(`Cannot begin an epoch after ${highest}: epochs are used up`);
    return giveUp('epochs are used up');
  }
  const epoch = highest + 1;
  leadership.epoch = epoch;
  context.acceptedEpoch = epoch;
  context.host.trace('epochProposed', { epoch });
  // Z2: the epoch is on the leader's own disk before anyone hears of it (ZOOKEEPER-1291).
  context.disk.saveEpochs(context.promises, () => {
    if (leadership.isOver) return;
    leadership.hasPromised = true;
    for (const learner of leadership.learners.values()) tellEpoch(context, leadership, learner);
    onPromised();
  });
  return GO_ON;
}

/**
 * Leader: tells a learner the epoch. One that does not count is told when the epoch is established: before, it might promise
 * and adopt an epoch that comes to nothing, and be locked out of the one that does.
 */
export function tellEpoch(context: ZabContext, leadership: Leadership, learner: Learner): void {
  if (learner.stage !== 'informed' || !(learner.votes || leadership.isEstablished)) return;
  learner.toldMs = context.nowMs;
  learner.stage = 'promised';
  context.host.send(learner.sid, learner.link, { kind: 'leaderInfo', epoch: leadership.establishedEpoch });
}

/** Leader: a learner accepted the epoch and says how recent its history is. */
export function takeAckEpoch(
  context: ZabContext,
  leadership: Leadership,
  learner: Learner,
  message: Extract<ZabMessage, { kind: 'ackEpoch' }>,
): Verdict {
  if (learner.stage !== 'promised') {
    dropLearner(context, leadership, learner, `ackEpoch in stage ${learner.stage}`);
    return GO_ON;
  }
  const { currentEpoch, lastZxid } = leadership.summary;
  const isMoreRecent =
    message.currentEpoch > currentEpoch || (message.currentEpoch === currentEpoch && message.lastZxid > lastZxid);
  if (learner.votes && !leadership.isEstablished && isMoreRecent) {
    return giveUp(
      `member ${learner.sid} is ahead: epoch ${message.currentEpoch}, last zxid ${formatZxid(message.lastZxid)}`,
    );
  }
  learner.stage = 'acked';
  learner.lastZxid = message.lastZxid;
  learner.answeredMs = Math.max(learner.answeredMs, learner.toldMs);
  if (message.counted) learner.hasPromised = true;
  return GO_ON;
}

/** Once it is agreed it stays so: those that promised cannot take it back. */
export function isEpochAgreed(context: ZabContext, leadership: Leadership): boolean {
  if (leadership.isSynchronizing) return true;
  return isQuorum(context.config.voters, (sid) =>
    sid === context.config.sid
      ? leadership.hasPromised
      : countedLearner(context, leadership, sid)?.hasPromised === true,
  );
}

/** Learner: the leader's epoch. Never follows an epoch below the one it promised. */
export function takeLeaderInfo(context: ZabContext, learnership: Learnership, epoch: Epoch): Verdict {
  if (learnership.phase !== 'discovery' || learnership.epoch !== 0) {
    return fault(`leaderInfo in phase ${learnership.phase}`);
  }
  if (epoch < 1) return fault(`leaderInfo with epoch ${epoch}`);
  if (epoch < context.acceptedEpoch) {
    return giveUp(`epoch ${epoch} is below ${context.acceptedEpoch}, which this member promised`);
  }
  const counted = epoch > context.acceptedEpoch;
  learnership.epoch = epoch;
  context.acceptedEpoch = epoch;
  const { currentEpoch } = context;
  const lastZxid: Zxid = context.history.last;
  // Z2: the promise is on disk before it is given.
  context.disk.saveEpochs(context.promises, () => {
    if (learnership.isOver) return;
    assert(
      context.history.last === lastZxid,
      () => `Z8: history moved from ${formatZxid(lastZxid)} to ${formatZxid(context.history.last)} during discovery`,
    );
    learnership.hasAcceptedEpoch = true;
    learnership.phase = 'synchronizing';
    context.host.send(learnership.leader, learnership.link, { kind: 'ackEpoch', currentEpoch, lastZxid, counted });
  });
  return GO_ON;
}
