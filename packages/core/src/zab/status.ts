/** What the agreement tells about itself; reads state, changes none. */

import { epochTxnsLeft, isHeardByQuorum } from './broadcast.ts';
import type { ZabConfig, ZabPhase, ZabStatus } from './config.ts';
import type { Role, ZabContext } from './context.ts';
import { waitingFor } from './formation.ts';
import type { ServerState } from './messages.ts';

export function statusOf(context: ZabContext, role: Role | undefined): ZabStatus {
  const { history } = context;
  return {
    state: stateOf(context, role),
    phase: phaseOf(role),
    epoch: context.currentEpoch,
    acceptedEpoch: context.acceptedEpoch,
    round: context.round,
    leader: leaderOf(context.config, role),
    lastLogged: history.last,
    lastFlushed: history.flushed,
    committed: history.committed,
    delivered: history.delivered,
    learners: learnersOf(role),
    hasQuorum: hasQuorum(context, role),
    voteRight: context.isVoter ? context.voteRight : undefined,
    waiting: waitingFor(context, role),
    epochTxnsLeft: epochTxnsLeft(context),
  };
}

/** The member's state as others are told. */
export function stateOf(context: ZabContext, role: Role | undefined): ServerState {
  if (role === undefined || role.kind === 'looking') return 'looking';
  if (role.kind === 'leading') return 'leading';
  return context.hasVote ? 'following' : 'observing';
}

function phaseOf(role: Role | undefined): ZabPhase {
  if (role?.kind === 'leading') {
    if (role.leadership.isEstablished) return 'broadcast';
    return role.leadership.isSynchronizing ? 'synchronization' : 'discovery';
  }
  if (role?.kind === 'learning') {
    const { phase } = role.learnership;
    if (phase === 'following') return 'broadcast';
    return phase === 'discovery' ? 'discovery' : 'synchronization';
  }
  return 'election';
}

function leaderOf(config: ZabConfig, role: Role | undefined): number | undefined {
  if (role?.kind === 'leading') return config.sid;
  return role?.kind === 'learning' ? role.learnership.leader : undefined;
}

function learnersOf(role: Role | undefined): ZabStatus['learners'] {
  if (role?.kind !== 'leading') return [];
  return [...role.leadership.learners.values()].map(({ sid, acked, stage, votes }) => ({
    sid,
    acked,
    synced: stage === 'active',
    votes,
  }));
}

function hasQuorum(context: ZabContext, role: Role | undefined): boolean {
  if (role?.kind === 'leading') {
    const { isEstablished } = role.leadership;
    return isEstablished && isHeardByQuorum(context, role.leadership, 3 * context.config.timing.heartbeatMs);
  }
  return role?.kind === 'learning' && role.learnership.isServing;
}
