/**
 * Every answer tells the truth about the history at its zxid: a read shows exactly the state after that txn (data, all of
 * Stat, children); a write that was done was allowed there and has the effect that was answered; a write that was
 * refused had to be refused there, for that reason. Judged by a second, slow implementation of the tree.
 * Not verified: answers about reasons outside the tree (sessions, limits, unavailability).
 */
import {
  formatZxid,
  isReadKind,
  type OpResult,
  type SingleReadOp,
  type Stat,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { type CallRecord, describeCall, fateOf, isWrite } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import { TreeModel } from '../tree-model.ts';
import { type Checker, violated } from './checker.ts';

export class AnswersFitHistoryChecker implements Checker {
  readonly name = 'answers-fit-history';
  readonly kinds = [] as const;

  finish(ledger: Ledger): void {
    const byZxid = answersByZxid(ledger);
    const model = new TreeModel();
    this.#checkReads(byZxid.get(ZERO_ZXID) ?? [], model);
    for (const zxid of ledger.committed) {
      const answers = byZxid.get(zxid) ?? [];
      byZxid.delete(zxid);
      const txn = ledger.txn(zxid);
      if (txn === undefined) violated(this, `the txn at ${formatZxid(zxid)} was never logged`);
      const created = this.#judgeWrites(answers, model);
      const wrong = model.apply(zxid, txn);
      if (wrong !== undefined) violated(this, `the txn at ${formatZxid(zxid)} is impossible: ${wrong}`);
      this.#checkReads(answers, model);
      for (const [record, path] of created) this.#checkDone(record, path, model);
    }
    byZxid.delete(ZERO_ZXID);
    for (const [zxid, [record]] of byZxid) {
      if (record !== undefined)
        violated(this, `${describeCall(record)} shows ${formatZxid(zxid)}, where nothing is committed`);
    }
  }

  /** Before the txn: was the answer right? Returns the writes that were done, with the paths that they concern. */
  #judgeWrites(answers: readonly CallRecord[], model: TreeModel): [CallRecord, string][] {
    const done: [CallRecord, string][] = [];
    for (const record of answers) {
      const { op } = record.call;
      if (!isWrite(op) || 'parts' in op || op.kind === 'setAcl' || op.kind === 'createOrSet') continue;
      const result = record.answer?.result;
      const refusal = model.refusalOf(op);
      const answered = result?.kind === 'error' ? result.code : undefined;
      if (refusal !== answered) {
        violated(
          this,
          `${describeCall(record)} had to be ${refusal ?? 'done'} at ${formatZxid(record.answer?.zxid ?? 0n)}`,
        );
      }
      if (answered === undefined) done.push([record, model.pathOf(op)]);
    }
    return done;
  }

  #checkDone(record: CallRecord, path: string, model: TreeModel): void {
    const result = record.answer?.result;
    if (result?.kind === 'create' && result.path !== path) {
      violated(this, `${describeCall(record)} was answered with path ${result.path}, not ${path}`);
    }
    if (result?.kind === 'create' || result?.kind === 'setData') this.#checkStat(record, result.stat, model.stat(path));
  }

  #checkReads(answers: readonly CallRecord[], model: TreeModel): void {
    for (const record of answers) {
      const { op } = record.call;
      const result = record.answer?.result;
      if (result === undefined || !isZnodeRead(op)) continue;
      const znode = model.znodes.get(op.path);
      if (result.kind === 'error') {
        if (znode !== undefined)
          violated(this, `${describeCall(record)}: ${op.path} does exist at ${formatZxid(zxidOf(record))}`);
        continue;
      }
      if (znode === undefined)
        violated(this, `${describeCall(record)}: ${op.path} does not exist at ${formatZxid(zxidOf(record))}`);
      this.#checkRead(record, result, model, op.path);
    }
  }

  #checkRead(record: CallRecord, result: OpResult, model: TreeModel, path: string): void {
    const znode = model.znodes.get(path);
    if (result.kind === 'getData') {
      const shown = textOf(result.data);
      if (shown !== textOf(znode?.data)) {
        violated(
          this,
          `${describeCall(record)} shows ${shown} at ${formatZxid(zxidOf(record))}, not ${textOf(znode?.data)}`,
        );
      }
    }
    if (result.kind === 'getChildren') {
      const children = [...(znode?.children ?? [])].sort().join();
      const shown = [...result.children].sort().join();
      if (shown !== children) violated(this, `${describeCall(record)} lists [${shown}], not [${children}]`);
    }
    if (result.kind === 'getAllChildrenNumber') {
      const total = model.countBelow(path);
      if (result.total !== total) violated(this, `${describeCall(record)} counts ${result.total}, not ${total}`);
    }
    if ('stat' in result) this.#checkStat(record, result.stat, model.stat(path));
  }

  #checkStat(record: CallRecord, shown: Stat, right: Stat | undefined): void {
    for (const field of Object.keys(shown) as (keyof Stat)[]) {
      if (shown[field] !== right?.[field]) {
        violated(
          this,
          `${describeCall(record)} shows ${field} ${String(shown[field])} at ${formatZxid(zxidOf(record))}, not ${String(right?.[field])}`,
        );
      }
    }
  }
}

function zxidOf(record: CallRecord): Zxid {
  return record.answer?.zxid ?? ZERO_ZXID;
}

function textOf(data: Uint8Array | undefined): string {
  return data === undefined ? 'no data' : `"${String.fromCharCode(...data)}"`;
}

function answersByZxid(ledger: Ledger): Map<Zxid, CallRecord[]> {
  const byZxid = new Map<Zxid, CallRecord[]>();
  for (const record of ledger.calls.all.values()) {
    const fate = fateOf(record.answer);
    if (fate !== 'done' && fate !== 'refused') continue;
    const zxid = zxidOf(record);
    const answers = byZxid.get(zxid) ?? [];
    answers.push(record);
    byZxid.set(zxid, answers);
  }
  return byZxid;
}

/** True for reads of one znode. */
function isZnodeRead(op: { readonly kind: string }): op is Exclude<SingleReadOp, { kind: 'getEphemerals' }> {
  return isReadKind(op.kind) && op.kind !== 'getEphemerals' && op.kind !== 'multiRead';
}
