/**
 * Every answer tells the truth about the history at its zxid: a read shows exactly the state after that txn (data, all of
 * Stat, children, ACL) or had to be refused there; a write that was done was allowed there, stands there as what was asked for, and
 * has the effect that was answered, part by part; a write that was refused had to be refused there, for that reason. Judged by a
 * second, slow implementation of the tree.
 * Not verified: answers about reasons outside the tree (sessions, limits, unavailability).
 */
import type { Txn } from '@quorate/core';
import {
  formatZxid,
  isReadKind,
  OPEN_ACL,
  type OpFailure,
  type OpResult,
  PERMS,
  type SingleReadOp,
  type Stat,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { isAllowed, masked } from '../acl-model.ts';
import { type CallRecord, describeCall, fateOf, isWrite } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import { guardFault, type Judged, judge } from '../request-model.ts';
import { isSameValue } from '../same-value.ts';
import { refusalFault, type Step, stepFault } from '../subtree-model.ts';
import { type ModelZnode, splitPath, TreeModel } from '../tree-model.ts';
import { type Checker, violated } from './checker.ts';

type Done = Extract<Judged, { kind: 'done' }>;

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
      const done = this.#judgeWrites(answers, model, txn);
      const wrong = model.apply(zxid, txn);
      if (wrong !== undefined) violated(this, `the txn at ${formatZxid(zxid)} is impossible: ${wrong}`);
      this.#checkReads(answers, model);
      for (const [record, judged] of done) this.#checkDone(record, judged, model);
    }
    byZxid.delete(ZERO_ZXID);
    for (const [zxid, [record]] of byZxid) {
      if (record !== undefined)
        violated(this, `${describeCall(record)} shows ${formatZxid(zxid)}, where nothing is committed`);
    }
  }

  /** Before the txn: was the answer right? Returns the writes that were done, with what they had to come to. */
  #judgeWrites(answers: readonly CallRecord[], model: TreeModel, txn: Txn): [CallRecord, Done][] {
    const done: [CallRecord, Done][] = [];
    for (const record of answers) {
      const { op, session, identities = [], guards = [] } = record.call;
      if (!isWrite(op)) continue;
      const zxid = zxidOf(record);
      if (op.kind === 'deleteSubtree') {
        this.#checkStep(record, { op, session, identities }, model, txn.body);
        continue;
      }
      const judged = judge(model, { op, session, identities, guards }, zxid, txn.timeMs);
      const result = record.answer?.result;
      const answered = result?.kind === 'error' ? textOfRefusal(result) : 'done';
      const right = judged.kind === 'refused' ? textOfRefusal(judged) : 'done';
      if (answered !== right) {
        violated(this, `${describeCall(record)} had to be ${right} at ${formatZxid(zxid)}, not ${answered}`);
      }
      if (judged.kind === 'refused') continue;
      if (!isEffect(judged.body, txn.body)) {
        violated(
          this,
          `${describeCall(record)} had to be ${textOfValue(judged.body)} at ${formatZxid(zxid)}, not ${textOfValue(txn.body)}`,
        );
      }
      done.push([record, judged]);
    }
    return done;
  }

  #checkStep(record: CallRecord, step: Step, model: TreeModel, body: Txn['body']): void {
    const result = record.answer?.result;
    const isRefused = result?.kind === 'error';
    const failed = guardFault(model, record.call.guards ?? [], step.identities);
    if (failed !== undefined) {
      if (!isRefused || result.code !== failed) violated(this, `${describeCall(record)} had to be ${failed}`);
      return;
    }
    const fault = isRefused ? refusalFault(model, step, result.code) : stepFault(model, step, body);
    if (fault !== undefined) violated(this, `${describeCall(record)} of ${formatZxid(zxidOf(record))} ${fault}`);
    if (result?.kind !== 'deleteSubtree' || body.kind !== 'compound') return;
    if (result.deleted === body.parts.length && result.more === (body.more === true)) return;
    violated(this, `${describeCall(record)} was told of ${result.deleted} deletes, not ${body.parts.length}`);
  }

  #checkDone(record: CallRecord, { body, stats, data = [] }: Done, model: TreeModel): void {
    const result = record.answer?.result;
    if (result?.kind === 'multi' && body.kind === 'multi') {
      body.parts.forEach((part, index) => {
        const partResult = result.results[index];
        if (partResult?.kind !== part.kind) violated(this, `${describeCall(record)}: part ${index} has another result`);
        if (partResult.kind === 'exists') return this.#checkExists(record, partResult.stat, stats[index]);
        if (partResult.kind === 'getData' && textOf(partResult.data) !== textOf(data[index])) {
          violated(
            this,
            `${describeCall(record)}: part ${index} shows ${textOf(partResult.data)}, not ${textOf(data[index])}`,
          );
        }
        this.#checkChange(record, partResult, part.path, stats[index]);
      });
      return;
    }
    const change = body.kind === 'compound' ? body.parts.at(-1) : body;
    if (result === undefined || change === undefined || !('path' in change) || change.path === undefined) return;
    if (result.kind === 'createOrSet' && result.created !== (change.kind === 'create')) {
      violated(
        this,
        `${describeCall(record)} was told that it ${result.created ? 'has' : 'has not'} created ${change.path}`,
      );
    }
    this.#checkChange(record, result, change.path, model.stat(change.path));
  }

  #checkExists(record: CallRecord, shown: Stat | undefined, right: Stat | undefined): void {
    if (shown !== undefined) this.#checkStat(record, shown, right);
    else if (right !== undefined) violated(this, `${describeCall(record)} misses a znode that is there`);
  }

  #checkChange(record: CallRecord, result: OpResult | { kind: string }, path: string, stat: Stat | undefined): void {
    if (result.kind === 'create' && 'path' in result && result.path !== path) {
      violated(this, `${describeCall(record)} was answered with path ${result.path}, not ${path}`);
    }
    if ('stat' in result) this.#checkStat(record, result.stat, stat);
  }

  #checkReads(answers: readonly CallRecord[], model: TreeModel): void {
    for (const record of answers) {
      const { op } = record.call;
      const result = record.answer?.result;
      if (result === undefined) continue;
      if (isZnodeRead(op)) this.#checkOneRead(record, op, result, model);
      else if (op.kind === 'multiRead' && result.kind === 'multiRead') {
        if (op.parts.length !== result.results.length) violated(this, `${describeCall(record)} has other parts`);
        op.parts.forEach((part, index) => this.#checkOneRead(record, part, result.results[index], model));
      }
    }
  }

  #checkOneRead(record: CallRecord, op: ZnodeRead, result: OpResult | OpFailure | undefined, model: TreeModel): void {
    const { identities = [] } = record.call;
    const { path } = op;
    const znode = model.znodes.get(path);
    const at = formatZxid(zxidOf(record));
    const isAllowedTo = isAllowed(znode?.acl, rightsFor(op), identities);
    if (result?.kind === 'error') {
      if (result.code !== 'NO_AUTH' && znode !== undefined)
        violated(this, `${describeCall(record)}: ${path} does exist at ${at}`);
      if (result.code === 'NO_AUTH' && (znode === undefined || isAllowedTo))
        violated(this, `${describeCall(record)}: nothing kept it from ${path} at ${at}`);
      return;
    }
    if (znode === undefined) violated(this, `${describeCall(record)}: ${path} does not exist at ${at}`);
    if (!isAllowedTo) violated(this, `${describeCall(record)} shows ${path} to whoever may not read it`);
    if (result?.kind !== op.kind) violated(this, `${describeCall(record)}: ${op.kind} of ${path} has another result`);
    this.#checkRead(record, path, result, model, znode);
  }

  #checkRead(record: CallRecord, path: string, result: OpResult, model: TreeModel, znode: ModelZnode): void {
    const at = formatZxid(zxidOf(record));
    switch (result.kind) {
      case 'getData': {
        const [shown, right] = [textOf(result.data), textOf(znode.data)];
        if (shown !== right) violated(this, `${describeCall(record)} shows ${shown} at ${at}, not ${right}`);
        break;
      }
      case 'getChildren': {
        const children = [...znode.children].sort().join();
        const shown = [...result.children].sort().join();
        if (shown !== children) violated(this, `${describeCall(record)} lists [${shown}], not [${children}]`);
        break;
      }
      case 'getAllChildrenNumber': {
        const total = model.countBelow(path);
        if (result.total !== total) violated(this, `${describeCall(record)} counts ${result.total}, not ${total}`);
        break;
      }
      case 'getAcl': {
        const acl = znode.acl ?? OPEN_ACL;
        const right = isAllowed(znode.acl, PERMS.ADMIN, record.call.identities ?? []) ? acl : masked(acl);
        if (!isSameValue(result.acl, right))
          violated(this, `${describeCall(record)} shows another ACL than that at ${at}`);
        break;
      }
      default:
        break;
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

/** What the txn says is what was to come of the write. A numbered copy that came later has its answer from the first. */
function isEffect(right: Done['body'], body: Txn['body']): boolean {
  // How many children the root has had is not modelled.
  const isBelowRoot = right.kind === 'create' && splitPath(right.path).parent === '/' && body.kind === 'create';
  return isSameValue(isBelowRoot ? { ...right, parentCreates: body.parentCreates } : right, body);
}

function textOfValue(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint') return each.toString();
    return each instanceof Uint8Array ? textOf(each) : each;
  });
}

function textOfRefusal({ code, part }: { readonly code: string; readonly part?: number | undefined }): string {
  return part === undefined ? code : `${code} in part ${part}`;
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

type ZnodeRead = Exclude<SingleReadOp, { kind: 'getEphemerals' }>;

/** True for reads of one znode. */
function isZnodeRead(op: { readonly kind: string }): op is ZnodeRead {
  return isReadKind(op.kind) && op.kind !== 'getEphemerals' && op.kind !== 'multiRead';
}

/** Rights of which one is needed. */
function rightsFor({ kind }: ZnodeRead): number {
  return kind === 'getAcl' ? PERMS.READ | PERMS.ADMIN : PERMS.READ;
}
