/**
 * What a write comes to: the answer that its txn gives, made from the tree right after the txn was applied. The same on every
 * member, for it is also what is kept of a numbered write.
 */
import {
  type Answer,
  assert,
  decodeAnswer,
  formatSessionId,
  type OpFailure,
  type OpResult,
  type Stat,
  unreachable,
  type Zxid,
} from '@quorate/protocol';
import type { SessionTable } from './sessions.ts';
import type { Txn, TxnBody } from './txn.ts';

/** The tree as far as an answer needs it. */
export interface AnswerBase {
  readonly sessions: SessionTable;
  stat(path: string): Stat | undefined;
}

/** The answer to the write whose txn, at `zxid`, is the last that was applied to `tree`. */
export function answerOf(tree: AnswerBase, zxid: Zxid, { session, body }: Txn): Answer {
  if (body.kind !== 'repeat') return { zxid, result: resultOf(tree, body) };
  const kept = tree.sessions.get(session)?.results.get(body.request);
  if (kept !== undefined) return decodeAnswer(kept);
  const message = `The result of request ${body.request} of session ${formatSessionId(session)} was acknowledged and is not kept`;
  return { zxid, result: { kind: 'error', code: 'OUT_OF_ORDER', path: undefined, message } };
}

function resultOf(tree: AnswerBase, body: Exclude<TxnBody, { kind: 'repeat' }>): OpResult | OpFailure {
  switch (body.kind) {
    case 'create':
      return { kind: 'create', path: body.path, stat: statOf(tree, body.path) };
    case 'setData':
      return { kind: 'setData', stat: statOf(tree, body.path) };
    case 'delete':
      return { kind: 'delete' };
    case 'closeSession':
    case 'createSession':
      return { kind: 'closeSession' };
    case 'error':
      return { kind: 'error', code: body.code, path: body.path, message: body.message };
    default:
      return unreachable(body);
  }
}

function statOf(tree: AnswerBase, path: string): Stat {
  const stat = tree.stat(path);
  assert(stat !== undefined, () => `P1: ${path} was written by the txn just applied and is not there`);
  return stat;
}
