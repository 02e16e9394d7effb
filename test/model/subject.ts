/**
 * The shipping data model as one member of an ensemble of one has it: requests through their codec, `Preparation` with txns in
 * flight, the log as bytes, `DataTree`, checkpoints gathered in steps, restarts from checkpoint and log. Beside it the
 * reference model, asked the same; whatever differs fails at once.
 */

import {
  type Guard,
  type ListingOp,
  NO_SESSION,
  type Numbered,
  type ReadOp,
  type SessionId,
  toSessionId,
  toZxid,
  type Zxid,
} from '@quorate/protocol';
import { expect } from 'vitest';
import { Preparation } from '../../packages/core/src/pipeline/prepare.ts';
import { readAnswer, writeAnswer } from '../../packages/core/src/pipeline/reads.ts';
import { Reaper } from '../../packages/core/src/pipeline/reaper.ts';
import { opFault } from '../../packages/core/src/pipeline/validate.ts';
import {
  decodeWriteRequest,
  encodeWriteRequest,
  type OrderedOp,
} from '../../packages/core/src/pipeline/write-request.ts';
import { DataTree } from '../../packages/core/src/tree/data-tree.ts';
import type { StateRecord } from '../../packages/core/src/tree/state-record.ts';
import { keyText, StateDisk } from '../../packages/core/src/tree/tree-script.fixture.ts';
import type { Txn } from '../../packages/core/src/tree/txn.ts';
import { decodeTxn, encodeTxn } from '../../packages/core/src/tree/txn-codec.ts';
import { dueForReaping } from './lifetimes.ts';
import { ModelListing } from './listings.ts';
import { writeNumbered } from './numbered.ts';
import { type Outcome, read, write } from './ops.ts';
import { bare, bareAnswer, type ModelChange, type ModelResult, ReferenceModel } from './reference.ts';
import { expectSameState } from './same-state.ts';

/** What a write may carry. */
interface Terms {
  readonly numbered?: Numbered | undefined;
  readonly guards?: readonly Guard[];
}

interface InFlight {
  readonly zxid: Zxid;
  readonly txn: Txn;
  readonly expected: Outcome;
}

const START_MS = 1_790_000_000_000;
export const UNUSED_MS = 5_000;

export class Subject {
  readonly model = new ReferenceModel();
  tree = DataTree.empty();
  preparation = new Preparation(this.tree);
  /** Everything that was ever opened, so that ended sessions are used too. */
  readonly sessions: SessionId[] = [];
  /** What came of what, such as `delete NOT_EMPTY`: shows that the sequences reach everything. */
  readonly outcomes: Set<string>;
  readonly #log: { readonly zxid: Zxid; readonly payload: Uint8Array }[] = [];
  readonly #disk = new StateDisk();
  readonly #listing = new ModelListing(this.tree);
  #inFlight: InFlight[] = [];
  #changes: ModelChange[] = [];
  #lastZxid = 0x0030_0000_0000_0000n;
  #timeMs = START_MS;
  #checkpoint:
    | { readonly zxid: Zxid; readonly model: ReferenceModel; records: StateRecord[]; done: boolean }
    | undefined;

  constructor(outcomes = new Set<string>()) {
    this.outcomes = outcomes;
    this.#listen();
  }

  get timeMs(): number {
    return this.#timeMs;
  }

  passTime(ms: number): void {
    this.#timeMs += ms;
  }

  open(timeoutMs: number): void {
    const session = toSessionId(0xfe00_0000_0000_0001n + BigInt(this.sessions.length));
    this.sessions.push(session);
    const token = new Uint8Array(16).fill(this.sessions.length);
    this.order({ kind: 'createSession', timeoutMs, token }, session);
  }

  /** A request as the leader gets it; its txn is in flight from now on. */
  order(op: OrderedOp, session: SessionId, { numbered, guards }: Terms = {}): void {
    const seq = this.#log.length + 1;
    const plain = { incarnation: 1, seq, session, attached: false, numbered, op };
    const bytes = encodeWriteRequest(guards === undefined || guards.length === 0 ? plain : { ...plain, guards });
    const txn = this.preparation.prepare(decodeWriteRequest(bytes), 1, this.#timeMs, undefined);
    const expected = writeNumbered(this.model, op, this.#place(session), numbered, guards);
    this.#note(op.kind, expected.result);
    this.#propose(txn, expected);
  }

  /** The leader has not heard of the session in time. */
  expire(session: SessionId): void {
    if (this.preparation.session(session) === undefined) return;
    const txn = this.preparation.expire(session, this.#timeMs);
    this.#propose(txn, write(this.model, { kind: 'closeSession' }, this.#place(session)));
  }

  /** A whole round of the reaper: it names exactly what the model says is due, and each is deleted. */
  reap(): void {
    this.apply();
    const options = { intervalMs: 0, perMinuteMax: 6_000_000, containerUnusedMs: UNUSED_MS };
    const now = { monotonicMs: 0, wallMs: this.#timeMs };
    const reaper = new Reaper(options, () => this.tree.timedZnodes(), now);
    const due = reaper.step({ monotonicMs: 1_000, wallMs: this.#timeMs });
    expect([...due].sort(), 'due for reaping').toEqual(dueForReaping(this.model, this.#timeMs, UNUSED_MS));
    for (const path of due) {
      const txn = this.preparation.reap(path, this.#timeMs);
      if (txn === undefined) throw new Error(`${path} is due, and nothing in flight touches it`);
      // The ensemble's own delete: no access control list is asked.
      const { zxid } = this.#place(NO_SESSION);
      const done = this.model.attempt(() => {
        this.model.remove(path, zxid);
        return { kind: 'delete' };
      });
      this.#propose(txn, { zxid, ...done });
    }
  }

  /** Applies the oldest `count` in flight, or all; each is answered as the model foresaw. */
  apply(count = this.#inFlight.length): void {
    for (const { zxid, txn, expected } of this.#inFlight.splice(0, count)) {
      this.#changes = [];
      this.tree.apply(zxid, txn);
      this.preparation.applied(zxid);
      expect(bareAnswer(writeAnswer(this.tree, zxid, txn))).toEqual(bareAnswer(expected));
      const inOrder = hasNoOrder(txn) ? byPath : (changes: readonly ModelChange[]) => changes;
      expect(inOrder(this.#changes)).toEqual(inOrder(expected.changes));
    }
  }

  /** A read, with nothing in flight. */
  read(op: ReadOp, session: SessionId): void {
    this.apply();
    const fault = opFault(op, session);
    const got =
      fault === undefined ? readAnswer(this.tree, op, session, []).result : { ...fault, kind: 'error' as const };
    const expected = read(this.model, op, this.#place(session));
    this.#note(op.kind, expected);
    expect(bare(got)).toEqual(bare(expected));
  }

  /** A page of the listing that goes on, whatever is in flight; else a new one, with nothing in flight. */
  list(op: ListingOp): void {
    if (!this.#listing.isGoing) this.apply();
    this.outcomes.add(this.#listing.step(op, this.model));
  }

  beginCheckpoint(): void {
    if (this.#checkpoint !== undefined) return;
    this.apply();
    const zxid = this.tree.beginCheckpoint();
    this.#checkpoint = { zxid, model: this.model.copy(), records: [], done: false };
  }

  gather(bytesMax: number): void {
    if (this.#checkpoint === undefined || this.#checkpoint.done) return;
    const part = this.tree.nextCheckpointRecords(bytesMax);
    this.#checkpoint.records.push(...part.records);
    this.#checkpoint.done = part.done;
  }

  /** Ends it, on the disk when it is complete and `ok`. What it wrote is the state at its begin. */
  endCheckpoint(ok: boolean): void {
    const checkpoint = this.#checkpoint;
    if (checkpoint === undefined || (ok && !checkpoint.done)) return;
    this.tree.endCheckpoint(ok);
    this.#checkpoint = undefined;
    if (!ok) return;
    const keys = checkpoint.records.map(({ key }) => keyText(key));
    expect(new Set(keys).size, 'keys of a checkpoint').toBe(keys.length);
    this.#disk.write(checkpoint.records, checkpoint.zxid);
    expectSameState(this.#disk.load(), checkpoint.model);
  }

  /** The member comes back from its disk, as leader again: the last checkpoint, then the log. */
  restart(): void {
    this.apply();
    const { digest } = this.tree;
    this.tree = this.#disk.load();
    this.#checkpoint = undefined;
    for (const { zxid, payload } of this.#log) {
      if (zxid > this.#disk.zxid) this.tree.apply(zxid, decodeTxn(payload));
    }
    this.preparation = new Preparation(this.tree);
    this.#listing.restart(this.tree);
    this.#listen();
    expect(this.tree.digest, 'digest after a restart').toBe(digest);
  }

  /** All that is in flight is applied, and everything is as in the model: also what a checkpoint and the log say. */
  finish(): void {
    this.apply();
    this.#listing.finish();
    expectSameState(this.tree, this.model);
    this.endCheckpoint(false);
    this.beginCheckpoint();
    this.gather(100_000_000);
    this.endCheckpoint(true);
    this.restart();
    expectSameState(this.tree, this.model);
    const replayed = DataTree.empty();
    for (const { zxid, payload } of this.#log) replayed.apply(zxid, decodeTxn(payload));
    expect(replayed.digest, 'digest of the log alone').toBe(this.tree.digest);
  }

  #note(kind: string, result: ModelResult): void {
    this.outcomes.add(result.kind === 'error' ? `${kind} ${result.code}` : kind);
  }

  #place(session: SessionId): { zxid: Zxid; timeMs: number; session: SessionId } {
    return { zxid: toZxid(this.#lastZxid + 1n), timeMs: this.#timeMs, session };
  }

  #propose(txn: Txn, expected: Outcome): void {
    const zxid = toZxid(++this.#lastZxid);
    const payload = encodeTxn(txn);
    this.#log.push({ zxid, payload });
    this.preparation.proposed(zxid, txn);
    this.#inFlight.push({ zxid, txn: decodeTxn(payload), expected });
  }

  #listen(): void {
    this.tree.report((kind, path, zxid) => this.#changes.push({ kind, path, zxid }));
  }
}

/** In which order ephemerals go with their session, or znodes with the one above them, is nobody's promise. */
function hasNoOrder({ body }: Txn): boolean {
  return body.kind === 'closeSession' || (body.kind === 'compound' && body.answers === 'deleteSubtree');
}

function byPath(changes: readonly ModelChange[]): ModelChange[] {
  return [...changes].sort((a, b) => (a.path < b.path ? -1 : 1));
}
