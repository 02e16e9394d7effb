/**
 * The order that the Zab paper asks of primaries (§III): what a leader has broadcast is delivered in the order in which it was
 * broadcast and without gaps (local primary order); nothing of an earlier epoch comes after anything of a later one (global
 * primary order); and a leader begins to broadcast only with everything of earlier epochs that is ever delivered, in its
 * history (primary integrity). A txn is broadcast when it is sent or logged for the first time, and delivered when a member has applied it.
 */
import { type Epoch, epochOf, formatZxid, makeZxid, nextZxid, type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { Ledger, LoggedTxn } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class PrimaryOrderChecker implements Checker {
  readonly name = 'primary-order';
  readonly kinds = ['status', 'sent'] as const;
  readonly #leaders = new Map<Epoch, Sid>();

  /** Who sent a txn before anybody had logged it: a leader's own disk may get it after the first learner's. */
  readonly #senders = new Map<Zxid, Sid>();

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind === 'status') {
      const { sid, status } = observation;
      if (status.role === 'leading' && status.phase === 'broadcast') this.#leaders.set(status.epoch, sid);
    } else if (observation.kind === 'sent') {
      const { from, message } = observation;
      if (message.kind !== 'propose' && message.kind !== 'diff') return;
      for (const { zxid } of message.records) {
        if (!ledger.logged.has(zxid) && !this.#senders.has(zxid)) this.#senders.set(zxid, from);
      }
    }
  }

  finish(ledger: Ledger): void {
    const last = new Map<Epoch, LoggedTxn>();
    // In the order in which they were logged first.
    for (const txn of ledger.logged.values()) {
      const epoch = epochOf(txn.zxid);
      const before = last.get(epoch);
      this.#checkBroadcast(txn, before);
      if (before === undefined) this.#checkIntegrity(txn, ledger);
      last.set(epoch, txn);
    }
    this.#checkDelivery(ledger);
  }

  /** By the leader of its epoch alone, each right after the one before. */
  #checkBroadcast(txn: LoggedTxn, before: LoggedTxn | undefined): void {
    const leader = this.#leaders.get(epochOf(txn.zxid));
    const by = this.#senders.get(txn.zxid) ?? txn.by;
    if (leader !== undefined && leader !== by) {
      violated(this, `${formatZxid(txn.zxid)} was broadcast by member ${by}; member ${leader} leads its epoch`);
    }
    const expected = before === undefined ? makeZxid(epochOf(txn.zxid), 1) : nextZxid(before.zxid);
    if (txn.zxid !== expected) {
      const after = before === undefined ? 'first of its epoch' : `right after ${formatZxid(before.zxid)}`;
      violated(this, `${formatZxid(txn.zxid)} was broadcast ${after}`);
    }
  }

  /** The history from which a leader begins holds the latest txn of earlier epochs that is ever delivered. */
  #checkIntegrity({ zxid, by, previous }: LoggedTxn, ledger: Ledger): void {
    let latest: Zxid = ZERO_ZXID;
    for (const delivered of ledger.committed) {
      if (epochOf(delivered) < epochOf(zxid) && delivered > latest) latest = delivered;
    }
    let at = previous;
    while (at > latest) at = ledger.logged.get(at)?.previous ?? ZERO_ZXID;
    if (at !== latest) {
      violated(
        this,
        `member ${by} has broadcast ${formatZxid(zxid)} without ${formatZxid(latest)}, which was delivered`,
      );
    }
  }

  #checkDelivery({ committed }: Ledger): void {
    committed.forEach((zxid, index) => {
      const before = committed[index - 1] ?? ZERO_ZXID;
      if (zxid < before) violated(this, `${formatZxid(zxid)} was delivered after ${formatZxid(before)}`);
      const isNext =
        epochOf(zxid) === epochOf(before) ? zxid === nextZxid(before) : zxid === makeZxid(epochOf(zxid), 1);
      if (!isNext) violated(this, `${formatZxid(zxid)} was delivered right after ${formatZxid(before)}: a gap`);
    });
  }
}
