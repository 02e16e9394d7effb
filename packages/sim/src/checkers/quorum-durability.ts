/**
 * Nothing is applied that could be lost: at the moment a txn is applied for the first time anywhere, a quorum of the
 * voters' disks holds it (counted on the disks themselves, not by what members claim), and no member ever applies what
 * its own disk does not hold. A disk that was lost since it held it counts, for its member does
 * not vote until it holds it again.
 */
import { formatZxid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class QuorumDurabilityChecker implements Checker {
  readonly name = 'quorum-durability';
  readonly kinds = ['status'] as const;
  #checked: Zxid = ZERO_ZXID;

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind !== 'status') return;
    const { sid, status } = observation;
    if (!ledger.member(sid).durable.has(status.lastZxid)) {
      violated(this, `member ${sid} has applied ${formatZxid(status.lastZxid)}, which its disk does not hold`);
    }
    const tip = ledger.tip;
    if (tip === this.#checked) return;
    this.#checked = tip;
    const holders = ledger.voters.filter((voter) => {
      const { durable, lost } = ledger.member(voter);
      return durable.has(tip) || lost?.has(tip) === true;
    });
    if (holders.length * 2 <= ledger.voters.length) {
      violated(
        this,
        `member ${sid} has applied ${formatZxid(tip)}, which only the disks of [${holders.join(', ')}] hold, of ${ledger.voters.length} voters`,
      );
    }
  }
}
