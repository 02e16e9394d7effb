/**
 * Exactly one answer for each call: never two, and none missing at the end unless its client could not get it any more
 * (its stream was closed, its member crashed).
 */
import { describeCall } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class OneAnswerChecker implements Checker {
  readonly name = 'one-answer';
  readonly kinds = ['answered', 'attached', 'alive'] as const;

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind !== 'answered' && observation.kind !== 'attached' && observation.kind !== 'alive') return;
    const record = ledger.calls.all.get(observation.callId);
    if (record === undefined) violated(this, `an answer came for call ${observation.callId}, which nobody made`);
    if (record.answers > 1) violated(this, `${describeCall(record)} was answered again`);
  }

  finish(ledger: Ledger): void {
    for (const record of ledger.calls.all.values()) {
      if (record.answers === 0 && !record.isAbandoned) violated(this, `${describeCall(record)} was never answered`);
    }
  }
}
