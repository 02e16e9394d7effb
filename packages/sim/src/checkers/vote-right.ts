/**
 * A voter that may have forgotten what it promised is counted nowhere (architecture §3): it says that it holds the right to vote
 * only when that is on its disk, does not lead without it, and what anybody has applied is held by a quorum of voters that
 * hold the right. How a right is got back is vote-grant's.
 */
import { formatZxid, type Sid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class VoteRightChecker implements Checker {
  readonly name = 'vote-right';
  readonly kinds = ['sent', 'status'] as const;
  #seen = 0;

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind === 'sent') {
      const { from, message } = observation;
      if (message.kind !== 'followerInfo' && message.kind !== 'notification') return;
      if (message.voteRight === 'held' && ledger.voters.includes(from))
        this.#checkHeld(from, 'says that it holds it', ledger);
    } else if (observation.kind === 'status') {
      const { sid, status } = observation;
      if (status.role === 'leading' && status.phase === 'broadcast') this.#checkHeld(sid, 'leads', ledger);
      this.#checkCommitted(ledger);
    }
  }

  #checkHeld(sid: Sid, what: string, ledger: Ledger): void {
    const { voteRight } = ledger.member(sid);
    if (voteRight !== 'held') violated(this, `member ${sid} ${what}; on its disk the right to vote is ${voteRight}`);
  }

  /** Each time the history has grown: who holds its end, and may be counted? */
  #checkCommitted({ committed, tip, voters, members }: Ledger): void {
    if (committed.length === this.#seen) return;
    this.#seen = committed.length;
    // What a disk has lost since was counted rightly when it was acknowledged.
    const hasLost = (sid: Sid): boolean => members.get(sid)?.lost?.has(tip) === true;
    const holders = voters.filter((sid) => members.get(sid)?.durable.has(tip) === true || hasLost(sid));
    const counted = holders.filter((sid) => members.get(sid)?.voteRight === 'held' || hasLost(sid));
    if (counted.length <= voters.length / 2) {
      violated(
        this,
        `${formatZxid(tip)} is applied; of the disks that hold it, [${holders.join()}], only [${counted.join()}] may be counted, of ${voters.length} voters`,
      );
    }
  }
}
