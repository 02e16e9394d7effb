/**
 * Finds a client's write in the committed history: by the zxid of its answer, or by its value (every write of the
 * workload that carries data carries a value of its own). Shared by the checkers that look at whole histories.
 */
import type { Txn } from '@quorate/core';
import type { Zxid } from '@quorate/protocol';
import { type CallRecord, fateOf, isWrite } from '../calls.ts';
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
      const value = valueOf(txn);
      if (value === undefined) continue;
      const found = this.#byValue.get(value) ?? [];
      found.push(zxid);
      this.#byValue.set(value, found);
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
    const value = valueOfCall(record);
    return value === undefined ? undefined : this.placesOf(value)[0];
  }
}

/** The value that a write carries; undefined when it carries none. */
export function valueOfCall(record: CallRecord): string | undefined {
  const { op } = record.call;
  if (op.kind !== 'create' && op.kind !== 'setData') return undefined;
  return op.data === undefined ? undefined : keyOf(op.data);
}

function valueOf({ body }: Txn): string | undefined {
  if (body.kind !== 'create' && body.kind !== 'setData') return undefined;
  return body.data === undefined ? undefined : keyOf(body.data);
}
