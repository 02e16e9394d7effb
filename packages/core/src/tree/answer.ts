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
  type PartResult,
  type Stat,
  unreachable,
  type Zxid,
} from '@quorate/protocol';
import type { SessionTable } from './sessions.ts';
import type { TreeChange, Txn, TxnBody, TxnPart } from './txn.ts';

/** The tree as far as an answer needs it. */
export interface AnswerBase {
  readonly sessions: SessionTable;
  stat(path: string): Stat | undefined;
  readonly partEnds: readonly PartEnd[];
}

/** What a part of a txn left, or found, at its path. */
export interface PartEnd {
  /** Undefined where it left none, or found none. */
  readonly stat: Stat | undefined;
  /** Of a read: the data. */
  readonly data: Uint8Array | undefined;
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
    case 'setData':
    case 'delete':
      return changeResult(body, tree.stat(body.path));
    case 'setAcl':
      return { kind: 'setAcl', stat: statOf(tree, body.path) };
    case 'multi':
      return { kind: 'multi', results: body.parts.map((part, i) => partResult(part, tree.partEnds[i])) };
    case 'compound':
      return compoundResult(body, tree.partEnds.at(-1)?.stat);
    case 'closeSession':
    case 'createSession':
      return { kind: 'closeSession' };
    case 'error':
      return failureOf(body);
    default:
      return unreachable(body);
  }
}

function compoundResult(
  { answers, parts, more }: Extract<TxnBody, { kind: 'compound' }>,
  stat: Stat | undefined,
): OpResult {
  if (answers === 'deleteSubtree') return { kind: answers, deleted: parts.length, more: more === true };
  const last = parts.at(-1);
  assert(last !== undefined && stat !== undefined, () => `P1: a txn that answers a ${answers} left no znode`);
  if (answers === 'create') return { kind: 'create', path: last.path, stat };
  return { kind: 'createOrSet', created: last.kind === 'create', stat };
}

function failureOf({ code, path, message, part }: Extract<TxnBody, { kind: 'error' }>): OpFailure {
  const failure: OpFailure = { kind: 'error', code, path, message };
  return part === undefined ? failure : { ...failure, part };
}

function partResult(part: TxnPart, end: PartEnd | undefined): PartResult {
  const stat = end?.stat;
  switch (part.kind) {
    case 'check':
      return { kind: 'check' };
    case 'exists':
      return { kind: 'exists', stat };
    case 'getData':
      assert(stat !== undefined, () => `P1: ${part.path} was read by the txn just applied and is not there`);
      return { kind: 'getData', data: end?.data, stat };
    default:
      return changeResult(part, stat);
  }
}

function statOf(tree: AnswerBase, path: string): Stat {
  const stat = tree.stat(path);
  assert(stat !== undefined, () => `P1: ${path} was written by the txn just applied and is not there`);
  return stat;
}

function changeResult(change: TreeChange, stat: Stat | undefined): Extract<OpResult, { kind: TreeChange['kind'] }> {
  if (change.kind === 'delete') return { kind: 'delete' };
  assert(stat !== undefined, () => `P1: ${change.path} was written by the txn just applied and is not there`);
  return change.kind === 'create' ? { kind: 'create', path: change.path, stat } : { kind: 'setData', stat };
}
