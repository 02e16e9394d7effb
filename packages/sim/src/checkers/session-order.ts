/**
 * What one session may rely on: the calls of one attachment are answered in the order in which they were made; its writes
 * stand in the history in that order, over all attachments; and no answer shows an older state than an earlier
 * one did (so a session reads its own writes and never goes back). Source: reference §1.7, §9.10.
 *
 * Unary calls say nothing of what their client has seen, so for them the last rule holds at one run of one member only;
 * and nothing fences them, so a unary write of unknown outcome may still be on its way when its client goes on.
 */
import { formatZxid, NO_SESSION, type SessionId, type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { type CallRecord, describeCall, fateOf } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';
import { WriteIndex } from './write-index.ts';

export class SessionOrderChecker implements Checker {
  readonly name = 'session-order';
  readonly kinds = ['answered', 'crashed'] as const;
  /** The last call that was answered on each attachment. */
  readonly #lastAnswered = new Map<number, CallRecord>();
  /** What has been shown, by session; for unary calls by member and session. */
  readonly #seen = new Map<SessionId, Zxid>();
  readonly #seenAt = new Map<Sid, Map<SessionId, Zxid>>();

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind === 'answered') {
      const record = ledger.calls.all.get(observation.callId);
      if (record !== undefined && record.answers === 1) this.#answered(record);
    } else if (observation.kind === 'crashed') this.#seenAt.delete(observation.sid);
  }

  #answered(record: CallRecord): void {
    const { call, answer } = record;
    if (call.attachment !== 0) {
      const before = this.#lastAnswered.get(call.attachment);
      if (before !== undefined && before.calledAt > record.calledAt) {
        violated(this, `${describeCall(record)} was answered after ${describeCall(before)}, which was made later`);
      }
      this.#lastAnswered.set(call.attachment, record);
    }
    const fate = fateOf(answer);
    if (answer === undefined || call.session === NO_SESSION || (fate !== 'done' && fate !== 'refused')) return;
    const seenBy = call.attachment === 0 ? this.#unarySeen(call.sid) : this.#seen;
    const seen = seenBy.get(call.session) ?? ZERO_ZXID;
    if (answer.zxid < seen) {
      // A write that was asked for again shows where it took effect the first time.
      if (call.request !== undefined) return;
      violated(
        this,
        `${describeCall(record)} shows ${formatZxid(answer.zxid)} to a session that has seen ${formatZxid(seen)}`,
      );
    }
    seenBy.set(call.session, answer.zxid);
  }

  #unarySeen(sid: Sid): Map<SessionId, Zxid> {
    const seen = this.#seenAt.get(sid) ?? new Map<SessionId, Zxid>();
    this.#seenAt.set(sid, seen);
    return seen;
  }

  /** Writes whose answer was lost count too, where their value shows that they are in the history. */
  finish(ledger: Ledger): void {
    const index = new WriteIndex(ledger);
    const last = new Map<SessionId, { readonly record: CallRecord; readonly zxid: Zxid }>();
    for (const record of ledger.calls.meant()) {
      const { session } = record.call;
      const zxid = session === NO_SESSION || isAdrift(record) ? undefined : index.zxidOf(record);
      if (zxid === undefined) continue;
      const before = last.get(session);
      if (before !== undefined && before.zxid >= zxid) {
        violated(
          this,
          `${describeCall(record)} stands at ${formatZxid(zxid)}, before ${describeCall(before.record)} at ${formatZxid(before.zxid)}, which was made earlier`,
        );
      }
      last.set(session, { record, zxid });
    }
  }
}

/** A unary write of which its client does not know what became. */
function isAdrift({ call, answer }: CallRecord): boolean {
  return call.attachment === 0 && fateOf(answer) === 'unknown';
}
