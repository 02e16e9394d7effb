/**
 * A numbered write happens once: in the history each number of a session stands at most once, and numbers rise; whoever asks again
 * gets the first result, to the letter; and what was said to have come out of order stands nowhere.
 * (That what is answered is true is answers-fit-history's business.)
 */
import { formatSessionId, formatZxid, type SessionId } from '@quorate/protocol';
import { type CallRecord, describeCall, fateOf } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import { type Checker, violated } from './checker.ts';

export class OnceChecker implements Checker {
  readonly name = 'once';
  readonly kinds = [] as const;

  finish(ledger: Ledger): void {
    const taken = this.#checkHistory(ledger);
    const answers = new Map<string, CallRecord>();
    for (const record of ledger.calls.all.values()) {
      const { session, request } = record.call;
      if (request === undefined || record.answer === undefined) continue;
      const key = keyOf(session, request);
      const { result } = record.answer;
      if (result.kind === 'error' && result.code === 'OUT_OF_ORDER') {
        if (taken.has(key)) violated(this, `${describeCall(record)} stands in the history`);
      } else if (fateOf(record.answer) === 'done' || fateOf(record.answer) === 'refused') {
        const first = answers.get(key) ?? record;
        answers.set(key, first);
        if (textOf(first) !== textOf(record)) {
          violated(
            this,
            `${describeCall(record)} was answered otherwise than ${describeCall(first)}, which is the same write`,
          );
        }
      }
    }
  }

  #checkHistory(ledger: Ledger): ReadonlySet<string> {
    const last = new Map<SessionId, number>();
    const taken = new Set<string>();
    for (const zxid of ledger.committed) {
      const txn = ledger.txn(zxid);
      if (txn?.numbered === undefined) continue;
      const { session, numbered } = txn;
      const before = last.get(session) ?? 0;
      if (numbered.request <= before) {
        violated(
          this,
          `request ${numbered.request} of session ${formatSessionId(session)} stands at ${formatZxid(zxid)}, after request ${before}`,
        );
      }
      last.set(session, numbered.request);
      taken.add(keyOf(session, numbered.request));
    }
    return taken;
  }
}

function keyOf(session: SessionId, request: number): string {
  return `${session}:${request}`;
}

function textOf({ answer }: CallRecord): string {
  return JSON.stringify(answer, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
