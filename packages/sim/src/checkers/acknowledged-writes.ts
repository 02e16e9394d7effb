/**
 * Durability and integrity of writes, at the end: every acknowledged write stands in the committed history, once, at the
 * zxid that its answer named; nothing that was refused or surely not done is there; what is unknown is there at most
 * once; and nothing is there that no client asked for. A multi stands there with all its parts, or none of them does.
 * (What the ensemble deletes by itself is the business of `reaped`.)
 */
import type { TxnBody, TxnPart } from '@quorate/core';
import { formatZxid, type OpResult, type SessionId, ZERO_ZXID } from '@quorate/protocol';
import { type CallRecord, describeCall, fateOf, isWrite, partsOf } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import { type Checker, violated } from './checker.ts';
import { valuesOfCall, WriteIndex } from './write-index.ts';

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
      const { op } = record.call;
      if (!isWrite(op)) continue;
      this.#checkValues(record, index, asked);
      for (const { kind, path } of partsOf(op)) if (kind === 'delete') this.#countDelete(deletes, record, path);
      if (fateOf(record.answer) === 'done') this.#checkPresent(record, ledger);
    }
    for (const value of index.values()) {
      if (!asked.has(value)) violated(this, `the history holds the value "${value}", which nobody wrote`);
    }
    this.#checkDeletes(deletes, index);
  }

  #checkValues(record: CallRecord, index: WriteIndex, asked: Set<string>): void {
    let first: string | undefined;
    for (const value of valuesOfCall(record)) {
      asked.add(value);
      const places = index.placesOf(value);
      this.#checkValue(record, places);
      const where = places.map(formatZxid).join();
      first ??= where;
      if (where !== first) {
        violated(
          this,
          `${describeCall(record)} has taken effect in part: one value stands at [${first}], one at [${where}]`,
        );
      }
    }
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
      // The leader's own txns have no member of origin; the end of a subtree asks for no path.
      if (txn.origin.sid === 0 || isSubtreeEnd(txn.body)) continue;
      for (const body of changesOf(txn.body)) {
        if (body.kind === 'delete') countOf(deletes, txn.session, body.path).found += 1;
      }
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

function isSubtreeEnd(body: TxnBody): boolean {
  return body.kind === 'compound' && body.answers === 'deleteSubtree';
}

function changesOf(body: TxnBody): readonly (TxnBody | TxnPart)[] {
  return 'parts' in body ? body.parts : [body];
}

/** Whether `body` is what the call asked for, as its answer tells it. */
function isEffectOf({ call, answer }: CallRecord, body: TxnBody): boolean {
  const { op } = call;
  const result = answer?.result;
  if (!isWrite(op) || result === undefined) return false;
  if (body.kind === 'compound') {
    if (body.answers === 'deleteSubtree') return op.kind === body.answers;
    const last = body.parts.at(-1);
    return body.answers === op.kind && 'path' in op && last !== undefined && isOf(op, result, last);
  }
  if (op.kind !== body.kind) return false;
  const parts = partsOf(op);
  const changes = changesOf(body);
  const results = result.kind === 'multi' ? result.results : [result];
  return (
    changes.length === parts.length &&
    results.length === parts.length &&
    parts.every((part, index) => isChangeOf(part, results[index], changes[index]))
  );
}

type Part = ReturnType<typeof partsOf>[number];

type Result = OpResult | { readonly kind: string } | undefined;

function isChangeOf(part: Part, result: Result, body: TxnBody | TxnPart | undefined): boolean {
  return (
    body?.kind === part.kind && 'path' in body && body.path !== undefined && isOf(part, result, { path: body.path })
  );
}

function isOf(part: Part, result: Result, { path }: { readonly path: string }): boolean {
  if (part.kind !== 'create') return path === part.path;
  return result?.kind === 'create' && 'path' in result && result.path === path;
}
