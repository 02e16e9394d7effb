/**
 * Finds a client's write in the committed history: by the zxid of its answer, or by its values (every write of the
 * workload that carries data carries a value of its own, each part of a multi too). Shared by the checkers that look at whole histories.
 */
import type { Txn } from '@quorate/core';
import { quotaNode, type Zxid } from '@quorate/protocol';
import { type CallRecord, fateOf, isWrite, partsOf } from '../calls.ts';
import type { Ledger } from '../ledger.ts';

/** Bytes as a text that can be a key. */
export function keyOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

export class WriteIndex {
  /** The committed txns in order. */
  readonly txns: readonly { readonly zxid: Zxid; readonly txn: Txn }[];
  readonly #byValue = new Map<string, Zxid[]>();

  constructor(ledger: Ledger) {
    this.txns = ledger.committed.flatMap((zxid) => {
      const txn = ledger.txn(zxid);
      return txn === undefined ? [] : [{ zxid, txn }];
    });
    for (const { zxid, txn } of this.txns) {
      for (const value of valuesOf(txn)) {
        const found = this.#byValue.get(value) ?? [];
        found.push(zxid);
        this.#byValue.set(value, found);
      }
    }
  }

  /** Where the value stands in the history; more than one place is a fault. */
  placesOf(value: string): readonly Zxid[] {
    return this.#byValue.get(value) ?? [];
  }

  /** Every value in the history. */
  values(): IterableIterator<string> {
    return this.#byValue.keys();
  }

  /** Where a write stands in the history, when that can be known. A refused write stands where its refusal does. */
  zxidOf(record: CallRecord): Zxid | undefined {
    if (!isWrite(record.call.op)) return undefined;
    const fate = fateOf(record.answer);
    if (record.answer !== undefined && (fate === 'done' || fate === 'refused')) return record.answer.zxid;
    const [value] = valuesOfCall(record);
    return value === undefined ? undefined : this.placesOf(value)[0];
  }
}

/** The values that a write carries. */
export function valuesOfCall({ call }: CallRecord): readonly string[] {
  return isWrite(call.op) ? partsOf(call.op).flatMap(valueOf) : [];
}

function valuesOf({ body }: Txn): readonly string[] {
  return 'parts' in body ? body.parts.flatMap(valueOf) : [valueOf(body)].flat();
}

function valueOf(change: { readonly kind: string; readonly path?: unknown; readonly data?: unknown }): string | [] {
  // What quotas say is written by more than one, and is no value of its own.
  const isQuota = typeof change.path === 'string' && quotaNode(change.path) !== undefined;
  return change.data instanceof Uint8Array && !isQuota ? keyOf(change.data) : [];
}
