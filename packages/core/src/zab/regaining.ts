/**
 * How a voter that lost its disk has its vote back. It follows a leader as an observer does. Both sides of the dialogue:
 *
 *     learner                                        leader, established
 *     it is synchronized, and nobody can count
 *     a word of its former life any more
 *     voteClaim                             →        a ping; a quorum of the other voters answers it
 *                                           ←        voteGrant(committed)
 *     everything up to there on disk, then the
 *     right, with the leader's epoch
 *     voteTaken                             →        counted from here on
 *
 * Why each step is needed: README, "A voter that lost its disk". Z10.
 */
import { assert, type Zxid } from '@quorate/protocol';
import { commitByQuorum } from './broadcast.ts';
import type { ZabContext } from './context.ts';
import { commitFault } from './fit.ts';
import { dropLearner, type Leadership, type Learner } from './leadership.ts';
import type { Learnership } from './learnership.ts';
import { changeRight, otherVoters } from './rights.ts';
import { fault, GO_ON, type Verdict } from './verdict.ts';

/** Learner: goes on with its claim as far as it can. Called after everything that can change it. */
export function settleClaim(context: ZabContext, learnership: Learnership): void {
  if (context.savedRight !== 'recovering' || !context.isVoter || !learnership.isServing) return;
  if (learnership.claim === 'none' && isFormerLifeOver(context)) {
    learnership.claim = 'made';
    context.host.send(learnership.leader, learnership.link, { kind: 'voteClaim' });
  }
  const { claim } = learnership;
  if (typeof claim !== 'bigint' || context.history.flushed < claim) return;
  const { leader, link, epoch } = learnership;
  assert(
    context.acceptedEpoch === epoch && context.currentEpoch === epoch,
    () => `Z10: the vote is taken in epoch ${epoch}, on disk are ${context.acceptedEpoch} and ${context.currentEpoch}`,
  );
  changeRight(context, 'held', `leader ${leader} has synchronized it in epoch ${epoch}`, () => {
    if (!learnership.isOver) context.host.send(leader, link, { kind: 'voteTaken' });
  });
}

/**
 * True when no leader can count a word of this member's former life: each voter has had a new link to it since its start,
 * or has had the time in which it drops, whatever happens, what it was told before (`countedLearner`).
 */
function isFormerLifeOver(context: ZabContext): boolean {
  if (context.nowMs - context.startedMs > context.formerLifeMs) return true;
  return otherVoters(context).every((sid) => context.rights.hasMet(sid));
}

/** Learner: it may take its vote once everything up to `zxid` is on its disk. */
export function takeVoteGrant(context: ZabContext, learnership: Learnership, zxid: Zxid): Verdict {
  if (learnership.claim !== 'made') return fault('voteGrant without a claim');
  const wrong = commitFault(context.history, zxid);
  if (wrong !== undefined) return fault(`voteGrant: ${wrong}`);
  learnership.claim = zxid;
  return GO_ON;
}

/** Leader: a learner claims its vote. A round of pings begun now shows whether this member still leads. */
export function takeVoteClaim(context: ZabContext, leadership: Leadership, learner: Learner): void {
  const mayClaim = leadership.isEstablished && learner.stage === 'active' && learner.claim === 'none';
  if (!mayClaim || learner.votes || !context.isVoting(learner.sid)) {
    dropLearner(context, leadership, learner, `voteClaim in stage ${learner.stage}`);
    return;
  }
  learner.claim = leadership.pingSeq + 1;
  leadership.pingDue = true;
}

/** Leader: a quorum of voters, of which those that claim are none, has answered ping `seq`. */
export function grantVotes(context: ZabContext, leadership: Leadership, seq: number): void {
  for (const learner of leadership.learners.values()) {
    if (typeof learner.claim !== 'number' || learner.claim > seq) continue;
    learner.claim = 'granted';
    context.host.send(learner.sid, learner.link, { kind: 'voteGrant', zxid: context.history.committed });
  }
}

/** Leader: the learner holds its vote, on its disk. What it has acknowledged in this conversation is there as well. */
export function takeVoteTaken(context: ZabContext, leadership: Leadership, learner: Learner): void {
  if (learner.claim !== 'granted') {
    dropLearner(context, leadership, learner, 'voteTaken without a grant');
    return;
  }
  learner.claim = 'none';
  learner.votes = true;
  context.host.trace('voteGiven', { learner: learner.sid });
  commitByQuorum(context, leadership);
}
