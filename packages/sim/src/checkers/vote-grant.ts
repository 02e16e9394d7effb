/**
 * A voter that lost its disk has its vote back in one way only: it claims it, a quorum of others, its leader among them, answers
 * the leader after that, the leader grants it, and then the right is written down. Judged by what members send and what their
 * disks hold; that nobody is counted before is vote-right's.
 */
import type { VoteRight } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

/** One member's claim with one leader. */
interface Claim {
  /** Voters that have answered the leader since. */
  readonly answered: Set<Sid>;
  isGranted: boolean;
}

export class VoteGrantChecker implements Checker {
  readonly name = 'vote-grant';
  readonly kinds = ['started', 'diskReplaced', 'sent', 'durable'] as const;
  readonly #rights = new Map<Sid, VoteRight>();
  /**
   * Each member's claims, the newest last. A leader that stood still may grant one that its member has long made elsewhere: that is
   * of no use to the member, and no wrong.
   */
  readonly #claims = new Map<Sid, Map<Sid, Claim>>();
  /** Members that have lost a disk with data on it, and do not hold the right again. */
  readonly #losers = new Set<Sid>();

  observe(observation: Observation, ledger: Ledger): void {
    switch (observation.kind) {
      case 'started':
        this.#claims.delete(observation.sid);
        this.#rights.set(observation.sid, observation.disk.voteRight);
        break;
      case 'diskReplaced':
        if ((ledger.member(observation.sid).lost?.last ?? 0n) > 0n) this.#losers.add(observation.sid);
        break;
      case 'sent':
        this.#sent(observation, ledger);
        break;
      case 'durable':
        if (observation.command.kind === 'saveEpochs') this.#saved(observation.sid, observation.command.voteRight);
        break;
      default:
        break;
    }
  }

  #sent({ from, to, message }: Extract<Observation, { kind: 'sent' }>, { voters }: Ledger): void {
    if (message.kind === 'voteClaim') {
      const claims = this.#claims.get(from) ?? new Map<Sid, Claim>();
      claims.delete(to);
      claims.set(to, { answered: new Set([to]), isGranted: false });
      this.#claims.set(from, claims);
    } else if (message.kind === 'pong') {
      if (!voters.includes(from)) return;
      for (const [sid, claims] of this.#claims) if (sid !== from) claims.get(to)?.answered.add(from);
    } else if (message.kind === 'voteGrant') {
      const claim = this.#claims.get(to)?.get(from);
      // One of an earlier run of the member: the right that it would write down is judged there.
      if (claim === undefined) return;
      const answered = [...claim.answered];
      if (answered.length <= voters.length / 2) {
        violated(
          this,
          `leader ${from} gives member ${to} its vote; [${answered.join()}] of ${voters.length} voters confirm it`,
        );
      }
      claim.isGranted = true;
    }
  }

  #saved(sid: Sid, right: VoteRight): void {
    const before = this.#rights.get(sid);
    this.#rights.set(sid, right);
    if (right !== 'held' || before === 'held') return;
    const isForming = before === 'unformed' && !this.#losers.has(sid);
    if (!isForming && [...(this.#claims.get(sid)?.values() ?? [])].at(-1)?.isGranted !== true) {
      violated(this, `member ${sid} has the right to vote on its disk (${before} before), which nobody has granted`);
    }
    this.#losers.delete(sid);
  }
}
