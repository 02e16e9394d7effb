/**
 * Linearizability of what clients saw, and of that alone: the committed history, the members and their disks are not
 * looked at. Calls and results are handed to the search of ../linearizability. What it cannot decide counts as broken.
 */

import type { Answer } from '@quorate/protocol';
import type { CallRecord } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import { checkLinearizable } from '../linearizability/check.ts';
import { type HistoryCall, isModelled } from '../linearizability/history.ts';
import type { SessionOp } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class LinearizableChecker implements Checker {
  readonly name = 'linearizable';
  readonly kinds = [] as const;

  finish(ledger: Ledger): void {
    const history = ledger.calls.meant().flatMap(callOf);
    const verdict = checkLinearizable(history);
    if (verdict.kind !== 'linearizable') violated(this, `${verdict.kind}: ${verdict.message}`);
  }
}

/** The call as its client knows it; nothing for calls about sessions that are no operations. */
function callOf({ call, calledAt, answer, answeredAt, isRepeated = false }: CallRecord): HistoryCall | [] {
  const { op, session, attachment, sid, callId, linearizable, guards } = call;
  if (isSessionOp(op) || !isModelled(op)) return [];
  return {
    process: `call ${callId} (session 0x${session.toString(16)} at member ${sid})`,
    session,
    // One that was asked for again is answered out of its place in the line, and with the zxid of the first time.
    stream: attachment === 0 || isRepeated ? undefined : session.toString(16),
    op,
    linearizable,
    invokedAt: calledAt,
    returnedAt: answer === undefined ? undefined : answeredAt,
    result: seenOf(answer?.result),
    ...(guards === undefined ? {} : { guards }),
    ...(answer === undefined || isRepeated ? {} : { zxid: answer.zxid }),
  };
}

function seenOf(result: Answer['result'] | undefined): HistoryCall['result'] {
  switch (result?.kind) {
    case 'listChildren':
    case 'getSubtree':
    case 'addWatch':
    case 'checkWatches':
    case 'removeWatches':
    case 'setWatches':
      return undefined;
    default:
      return result;
  }
}

function isSessionOp(op: CallRecord['call']['op']): op is SessionOp {
  return op.kind === 'openSession' || op.kind === 'attachSession' || op.kind === 'keepAlive';
}
