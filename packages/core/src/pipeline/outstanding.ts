/**
 * Writes that came in at this member and have no txn yet in its tree: numbered, bounded, forwarded in order, recognized
 * when they are delivered (P5), and forwarded again when a new leader's history turns out not to have them (P6).
 * It neither knows who leads nor how a write is answered: `forward` and the waiter are given.
 */
import {
  assert,
  formatZxid,
  type Guard,
  type Identity,
  type Numbered,
  type SessionId,
  type Sid,
  type Zxid,
} from '@quorate/protocol';
import type { Origin, Txn } from '../tree/txn.ts';
import type { Deadlines, Expirable } from './deadlines.ts';
import { type Refusal, refusal } from './refusal.ts';
import { type OrderedOp, requestCost, type WriteRequest } from './write-request.ts';

/** Whoever waits for a write. Told exactly once, one or the other. */
export interface WriteWaiter {
  /** Its txn has just been applied at `zxid`. */
  delivered(zxid: Zxid, txn: Txn): void;
  /** It failed without a txn; the code says whether it may still take effect. */
  failed(reason: Refusal): void;
}

export interface OutstandingOptions {
  readonly sid: Sid;
  readonly incarnation: number;
  readonly countMax: number;
  readonly bytesMax: number;
  readonly deadlines: Deadlines;
}

/** A write to be taken in. */
export interface NewWrite {
  readonly session: SessionId;
  /** Attachment it came by, 0 for none. */
  readonly attachment: number;
  readonly numbered?: Numbered | undefined;
  readonly op: OrderedOp;
  readonly guards?: readonly Guard[] | undefined;
  readonly identities?: readonly Identity[] | undefined;
  readonly deadlineMs: number;
}

interface Pending extends Expirable {
  readonly request: WriteRequest;
  readonly attachment: number;
  readonly cost: number;
  readonly waiter: WriteWaiter;
  /** It has left this member's hands: from then on its fate can be unknown. */
  isSent: boolean;
}

const OVER_IN_TIME = 'Cannot write: the deadline passed before a leader could take it; it was not applied';
const OVER_UNKNOWN = 'The deadline passed before the write was answered; whether it was applied is not known';
const JUMPED = 'The answer to the write was skipped by a snapshot; whether it was applied is not known';
const ORPHANED = 'The connection that the write came by is gone; whether it was applied is not known';
const LEFT = 'Cannot write: the connection that it came by is gone; it was not applied';

export class Outstanding {
  readonly #options: OutstandingOptions;
  /** By seq, in order of seq. */
  readonly #pending = new Map<number, Pending>();
  /** Taken in since the last `flush`, in order. */
  readonly #unsent = new Set<Pending>();
  #bytes = 0;
  #nextSeq = 1;
  #lastDelivered = 0;

  constructor(options: OutstandingOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#pending.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a write in, to go out with the next `flush`. Returns why not when a bound is reached: THROTTLED. */
  add(write: NewWrite, waiter: WriteWaiter): Refusal | undefined {
    const { countMax, bytesMax, incarnation, deadlines } = this.#options;
    const seq = this.#nextSeq;
    const attached = write.attachment !== 0;
    const { session, numbered, op, guards, identities } = write;
    const plain = { incarnation, seq, session, attached, numbered, op, identities };
    const request: WriteRequest = guards === undefined || guards.length === 0 ? plain : { ...plain, guards };
    const cost = requestCost(request);
    if (this.#pending.size >= countMax || this.#bytes + cost > bytesMax) {
      return refusal(
        'THROTTLED',
        `Cannot write: ${this.#pending.size} writes of ${this.#bytes} bytes wait for answers`,
      );
    }
    this.#nextSeq++;
    const { attachment, deadlineMs } = write;
    const pending: Pending = {
      request,
      attachment,
      cost,
      waiter,
      deadlineMs,
      isSent: false,
      expire: () => this.#fail(pending, timedOut(pending)),
    };
    this.#pending.set(seq, pending);
    this.#bytes += cost;
    this.#unsent.add(pending);
    deadlines.add(pending);
    return undefined;
  }

  /** Hands over what came since the last time, in order. Not called while there is no leader. */
  flush(forward: (requests: readonly WriteRequest[]) => void): void {
    this.#send([...this.#unsent], forward);
  }

  /**
   * A leader was found and everything its epoch starts from is applied here: what has no txn by now never gets one from
   * an earlier leader (P6), so it is forwarded again, in order. Except what a client left behind whose attachment `isGone`:
   * it may have gone on elsewhere, and its old writes must not come after its new ones.
   */
  forwardAgain(forward: (requests: readonly WriteRequest[]) => void, isGone: (attachment: number) => boolean): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.attachment === 0 || !isGone(pending.attachment)) continue;
      this.#fail(pending, pending.isSent ? refusal('OUTCOME_UNKNOWN', ORPHANED) : refusal('UNAVAILABLE', LEFT));
    }
    this.#send([...this.#pending.values()], forward);
  }

  /** A txn of this origin was applied: tells the waiter, if there is one still. */
  delivered(origin: Origin, zxid: Zxid, txn: Txn): void {
    const { sid, incarnation } = this.#options;
    if (origin.sid !== sid || origin.incarnation !== incarnation) return;
    assert(
      origin.seq > this.#lastDelivered && origin.seq < this.#nextSeq,
      () => `P5: write ${origin.seq} of this member came at ${formatZxid(zxid)}, after ${this.#lastDelivered}`,
    );
    this.#lastDelivered = origin.seq;
    const pending = this.#pending.get(origin.seq);
    if (pending === undefined) return;
    this.#remove(pending);
    pending.waiter.delivered(zxid, txn);
  }

  /** A snapshot replaced the tree: what had been sent may or may not be in it. */
  jumped(): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.isSent) this.#fail(pending, refusal('OUTCOME_UNKNOWN', JUMPED));
    }
  }

  /** Nothing is ordered by this run any more: `unsent` is surely not applied, of `sent` it is not known. */
  abandon(unsent: Refusal, sent: Refusal): void {
    for (const pending of [...this.#pending.values()]) this.#fail(pending, pending.isSent ? sent : unsent);
  }

  #send(due: readonly Pending[], forward: (requests: readonly WriteRequest[]) => void): void {
    if (due.length === 0) return;
    for (const pending of due) pending.isSent = true;
    this.#unsent.clear();
    forward(due.map((pending) => pending.request));
  }

  #fail(pending: Pending, reason: Refusal): void {
    this.#remove(pending);
    pending.waiter.failed(reason);
  }

  #remove(pending: Pending): void {
    this.#pending.delete(pending.request.seq);
    this.#unsent.delete(pending);
    this.#bytes -= pending.cost;
    this.#options.deadlines.remove(pending);
  }
}

function timedOut(pending: Pending): Refusal {
  return pending.isSent ? refusal('OUTCOME_UNKNOWN', OVER_UNKNOWN) : refusal('UNAVAILABLE', OVER_IN_TIME);
}
