/** For tests: a leader's preparation before a real tree, with txns that are applied as late as a test likes. */
import { type Guard, NO_SESSION, type Numbered, type SessionId, type Zxid } from '@quorate/protocol';
import { DataTree } from '../tree/data-tree.ts';
import type { Txn, TxnBody } from '../tree/txn.ts';
import { Preparation } from './prepare.ts';
import type { OrderedOp } from './write-request.ts';

export const TOKEN = new Uint8Array(16).fill(1);

export class PreparedTree {
  readonly tree = DataTree.empty();
  readonly preparation = new Preparation(this.tree);
  #last = 0x1_0000_0000n;
  #seq = 0;
  #inFlight: { readonly zxid: Zxid; readonly txn: Txn }[] = [];

  get inFlightCount(): number {
    return this.#inFlight.length;
  }

  /** Prepares and proposes; what becomes of it is in the txn's body. */
  order(op: OrderedOp, session: SessionId = NO_SESSION, numbered?: Numbered, guards?: readonly Guard[]): TxnBody {
    return this.propose(this.prepare(op, session, numbered, guards));
  }

  /** The same; returns where in the history it is. */
  orderAt(op: OrderedOp): Zxid {
    this.order(op);
    return this.#last as Zxid;
  }

  prepare(op: OrderedOp, session: SessionId = NO_SESSION, numbered?: Numbered, guards?: readonly Guard[]): Txn {
    const plain = { incarnation: 1, seq: ++this.#seq, session, attached: false, numbered, op };
    const request = guards === undefined ? plain : { ...plain, guards };
    return this.preparation.prepare(request, 1, 1_000, undefined);
  }

  nextSeq(): number {
    return ++this.#seq;
  }

  propose(txn: Txn): TxnBody {
    const zxid = ++this.#last as Zxid;
    this.preparation.proposed(zxid, txn);
    this.#inFlight.push({ zxid, txn });
    return txn.body;
  }

  /** Position of the last txn. */
  get last(): Zxid {
    return this.#last as Zxid;
  }

  /** Applies the oldest `count` txns in flight, or all. */
  apply(count = this.#inFlight.length): void {
    for (const { zxid, txn } of this.#inFlight.splice(0, count)) {
      this.tree.apply(zxid, txn);
      this.preparation.applied(zxid);
    }
  }

  open(session: SessionId): TxnBody {
    return this.order({ kind: 'createSession', timeoutMs: 4_000, token: TOKEN }, session);
  }
}
