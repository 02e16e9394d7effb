/**
 * Agreement and total order: there is one history. Equal zxid means equal txn and equal predecessor, on every disk, so
 * any two logs that share a txn share everything before it; what members apply is that history, in order, and never
 * goes back. A commit point is never ahead of the log. Source: Zab paper, "total order" and "agreement".
 * Not verified here: that enough disks hold it (quorum-durability), that the trees are equal (equal-digest).
 */
import { formatZxid, type Sid, type Zxid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class AgreementChecker implements Checker {
  readonly name = 'agreement';
  readonly kinds = ['started', 'status', 'issued', 'durable'] as const;

  observe(observation: Observation, ledger: Ledger): void {
    const [conflict] = ledger.conflicts;
    if (conflict !== undefined) violated(this, conflict);
    if (observation.kind === 'issued' && observation.command.kind === 'truncate') {
      this.#checkCut(observation.sid, observation.command.after, ledger);
    }
  }

  /** A leader's history holds all that is committed, so nobody has to give up any of it. */
  #checkCut(sid: Sid, after: Zxid, { members, committed, tip }: Ledger): void {
    const member = members.get(sid);
    if (member === undefined || after >= tip) return;
    const { applied, durable } = member;
    if (after < applied) {
      violated(
        this,
        `member ${sid} cuts its log after ${formatZxid(after)} though it has applied ${formatZxid(applied)}`,
      );
    }
    const lost = committed.findLast((zxid) => zxid > after && durable.has(zxid));
    if (lost !== undefined) {
      violated(this, `member ${sid} cuts its log after ${formatZxid(after)} though ${formatZxid(lost)} is committed`);
    }
  }
}
