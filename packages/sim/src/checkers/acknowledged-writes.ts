/**
 * Durability and integrity of writes, at the end: every acknowledged write stands in the committed history, once, at the
 * zxid that its answer named; nothing that was refused or surely not done is there; what is unknown is there at most
 * once; and nothing is there that no client asked for.
 */
import type { TxnBody } from '@quorate/core';
import { formatZxid, type SessionId, ZERO_ZXID } from '@quorate/protocol';
import { type CallRecord, describeCall, fateOf, isWrite } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import { type Checker, violated } from './checker.ts';
import { valueOfCall, WriteIndex } from './write-index.ts';

/** How many deletes of one path by one session were answered with success, and how many may have happened besides. */
interface Deletes {
  done: number;
  unknown: number;
  found: number;
}

export class AcknowledgedWritesChecker implements Checker {
  readonly name = 'acknowledged-writes';
  readonly kinds = [] as const;

  finish(ledger: Ledger): void {
    const index = new WriteIndex(ledger);
    const asked = new Set<string>();
    const deletes = new Map<string, Deletes>();
    for (const record of ledger.calls.meant()) {
      if (!isWrite(record.call.op)) continue;
      const value = valueOfCall(record);
      if (value !== undefined) {
        asked.add(value);
        this.#checkValue(record, index.placesOf(value));
      }
      if (record.call.op.kind === 'delete') this.#countDelete(deletes, record, record.call.op.path);
      if (fateOf(record.answer) === 'done') this.#checkPresent(record, ledger);
    }
    for (const value of index.values()) {
      if (!asked.has(value)) violated(this, `the history holds the value "${value}", which nobody wrote`);
    }
    this.#checkDeletes(deletes, index);
  }

  #checkValue(record: CallRecord, places: readonly bigint[]): void {
    const fate = fateOf(record.answer);
    const where = places.map(formatZxid).join(', ');
    if (places.length > 1) violated(this, `${describeCall(record)} took effect more than once: at ${where}`);
    if (fate === 'done' && places.length === 0) violated(this, `${describeCall(record)} was acknowledged and is lost`);
    if ((fate === 'refused' || fate === 'not-done') && places.length > 0) {
      violated(this, `${describeCall(record)} was said not to have happened and stands at ${where}`);
    }
  }

  #checkPresent(record: CallRecord, ledger: Ledger): void {
    const zxid = record.answer?.zxid ?? ZERO_ZXID;
    const body = ledger.isCommitted(zxid) ? ledger.txn(zxid)?.body : undefined;
    if (body === undefined)
      violated(this, `${describeCall(record)} was acknowledged at ${formatZxid(zxid)}, where nothing is committed`);
    if (!isEffectOf(record, body)) {
      violated(
        this,
        `${describeCall(record)} was acknowledged at ${formatZxid(zxid)}, where something else stands: ${body.kind}`,
      );
    }
  }

  #countDelete(deletes: Map<string, Deletes>, record: CallRecord, path: string): void {
    const count = countOf(deletes, record.call.session, path);
    const fate = fateOf(record.answer);
    if (fate === 'done') count.done += 1;
    if (fate === 'unknown') count.unknown += 1;
  }

  #checkDeletes(deletes: Map<string, Deletes>, index: WriteIndex): void {
    for (const { txn } of index.txns) {
      if (txn.body.kind === 'delete') countOf(deletes, txn.session, txn.body.path).found += 1;
    }
    for (const [key, { done, unknown, found }] of deletes) {
      if (found < done || found > done + unknown) {
        violated(this, `"${key}" was deleted ${found} times: ${done} were acknowledged, ${unknown} more are possible`);
      }
    }
  }
}

function countOf(deletes: Map<string, Deletes>, session: SessionId, path: string): Deletes {
  const key = `${path} by session 0x${session.toString(16)}`;
  const count = deletes.get(key) ?? { done: 0, unknown: 0, found: 0 };
  deletes.set(key, count);
  return count;
}

/** Whether `body` is what the call asked for, as its answer tells it. */
function isEffectOf({ call, answer }: CallRecord, body: TxnBody): boolean {
  const { op } = call;
  if (op.kind === 'create') {
    return body.kind === 'create' && answer?.result.kind === 'create' && answer.result.path === body.path;
  }
  if (op.kind === 'setData') return body.kind === 'setData' && body.path === op.path;
  return op.kind === 'delete' && body.kind === 'delete' && body.path === op.path;
}
