/**
 * How a new ensemble comes to be. A voter with a new disk cannot tell by itself whether it is new or its disk was replaced.
 * It takes the right to vote when EVERY other voter says, on its present link, that it is empty as well: then nobody has
 * anything that could have been forgotten. As soon as one has data or an epoch, this member's disk counts as lost.
 * With `bootstrap` a quorum of empty voters is enough: the word of the operator, for an ensemble that starts without the rest.
 *
 * Only when the right is on disk does a member take part, so that an epoch exists only once a quorum holds the right for good.
 */
import type { Sid } from '@quorate/protocol';
import type { Role, ZabContext } from './context.ts';
import { quorumSize } from './quorum.ts';
import { changeRight, otherVoters } from './rights.ts';

/** Unformed: decides what this member is, as far as it can be known by now. Called after everything that can change it. */
export function settleFormation(context: ZabContext): void {
  if (!context.isVoter || context.savedRight !== 'unformed') return;
  const { rights, config } = context;
  const others = otherVoters(context);
  const used = others.find((sid) => rights.of(sid)?.isEmpty === false);
  if (used !== undefined) changeRight(context, 'recovering', `voter ${used} has data, and this member's disk is new`);
  else if (!context.isEmpty) changeRight(context, 'recovering', 'it has data, but never held the right to vote');
  else if (mayForm(context)) {
    const reason = config.bootstrap ? 'a quorum of voters is empty, and bootstrap is set' : 'all voters are empty';
    changeRight(context, 'held', `a new ensemble: ${reason}`);
  }
}

function mayForm(context: ZabContext): boolean {
  const { config, rights } = context;
  const others = otherVoters(context);
  const here = others.filter((sid) => rights.of(sid) !== undefined);
  if (here.some((sid) => rights.of(sid)?.voteRight === 'recovering')) return false;
  return here.length + 1 >= (config.bootstrap ? quorumSize(config.voters) : config.voters.length);
}

/** Why this member is not part of a quorum, where something beyond an election is missing; for people. */
export function waitingFor(context: ZabContext, role: Role | undefined): string | undefined {
  if (!context.isVoter) return undefined;
  if (role?.kind === 'leading' && role.leadership.isEstablished) return undefined;
  if (role?.kind === 'learning' && role.learnership.isServing) return waitingForRight(context);
  return context.voteRight === 'unformed' ? waitingToForm(context) : waitingForQuorum(context);
}

function waitingToForm(context: ZabContext): string {
  const { config, rights } = context;
  const others = otherVoters(context);
  const lost = others.filter((sid) => rights.of(sid)?.voteRight === 'recovering');
  if (lost.length > 0) {
    return (
      `no new ensemble is formed, because ${voters(lost)} lost data (recovering); ` +
      'restore their disks, or empty the data folders of all voters to begin anew'
    );
  }
  const missing = others.filter((sid) => rights.of(sid) === undefined);
  if (missing.length === 0) return 'forming a new ensemble';
  const rule = config.bootstrap
    ? 'with --bootstrap a new ensemble is formed when a quorum of its voters is there'
    : 'a new ensemble is formed when all its voters are there, or with --bootstrap';
  return `waiting for ${voters(missing)}: ${rule}`;
}

/** Not counted are those that say so; of the absent nothing is known. */
function waitingForQuorum(context: ZabContext): string | undefined {
  const { config, rights, voteRight } = context;
  const isWithout = (sid: Sid): boolean => (sid === config.sid ? voteRight !== 'held' : rights.isWithout(sid));
  const without = config.voters.filter(isWithout);
  const needed = quorumSize(config.voters);
  const left = config.voters.length - without.length;
  if (left < needed) {
    return (
      `no quorum can be formed: ${voters(without)} lost data and may not vote (recovering), ` +
      `${left} of ${config.voters.length} voters are left and ${needed} are needed; ` +
      `restore the disks of ${needed - left} of them as they were when last used`
    );
  }
  if (voteRight === 'held') return undefined;
  return 'this voter lost its data, and counts again once a leader has synchronized it; there is no leader';
}

function waitingForRight(context: ZabContext): string | undefined {
  if (context.voteRight === 'held') return undefined;
  const missing = otherVoters(context).filter((sid) => !context.rights.hasMet(sid));
  if (missing.length === 0)
    return 'this voter lost its data, and waits for a quorum of the others to give its vote back';
  return (
    `this voter lost its data, and has its vote back when ${voters(missing)} can be reached, ` +
    `or ${context.formerLifeMs / 1_000} s after its start`
  );
}

function voters(sids: readonly Sid[]): string {
  return `${sids.length === 1 ? 'voter' : 'voters'} ${sids.join(', ')}`;
}
