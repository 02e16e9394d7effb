/**
 * Linearizability in real time: whatever anybody was shown before a write, a sync or a linearizable read began, that one
 * comes after. For a write: a larger zxid than any answer before it. For a sync or linearizable read: not a smaller one.
 * (What a state at a zxid must look like is the business of answers-fit-history; both together are linearizability.)
 */
import { formatZxid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { describeCall, fateOf, isWrite } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import type { CallView, Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class RealTimeChecker implements Checker {
  readonly name = 'real-time';
  readonly kinds = ['called', 'answered'] as const;
  /** The latest zxid of any answer so far. */
  #shown: Zxid = ZERO_ZXID;
  /** What had been shown when each call that is in flight began. */
  readonly #before = new Map<number, Zxid>();
  /** The same for numbered writes, of which each copy began when the first did. */
  readonly #firsts = new Map<string, Zxid>();

  #begun({ session, request }: CallView): Zxid {
    if (request === undefined) return this.#shown;
    const key = `${session}:${request}`;
    const first = this.#firsts.get(key) ?? this.#shown;
    this.#firsts.set(key, first);
    return first;
  }

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind === 'called') {
      const { callId, op, linearizable } = observation.call;
      if (linearizable || isWrite(op) || op.kind === 'sync') this.#before.set(callId, this.#begun(observation.call));
    } else if (observation.kind === 'answered') {
      const { callId, answer } = observation;
      const fate = fateOf(answer);
      if (fate !== 'done' && fate !== 'refused') return;
      const record = ledger.calls.all.get(callId);
      const before = this.#before.get(callId);
      this.#before.delete(callId);
      if (record !== undefined && before !== undefined) {
        const isLate = isWrite(record.call.op) ? answer.zxid > before : answer.zxid >= before;
        if (!isLate) {
          violated(
            this,
            `${describeCall(record)} stands at ${formatZxid(answer.zxid)}, but ${formatZxid(before)} had been shown before it began`,
          );
        }
      }
      if (answer.zxid > this.#shown) this.#shown = answer.zxid;
    }
  }
}
