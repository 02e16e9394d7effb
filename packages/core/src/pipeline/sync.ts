/**
 * Reads that must not be stale, and syncs: how far a member must have applied to have seen all that was committed when
 * it was asked (a read index). Both sides: `SyncRequests` at the member where the call came in, `SyncRounds` at the leader,
 * which answers only after a quorum has confirmed it (P7). One request a turn and one round a turn, however many wait.
 */
import type { Sid, Zxid } from '@quorate/protocol';
import type { Deadlines, Expirable } from './deadlines.ts';
import { type Refusal, refusal } from './refusal.ts';

/** Whoever waits. Told exactly once, one or the other. */
export interface SyncWaiter {
  /** This member has applied everything that was committed when the wait began. */
  reached(): void;
  failed(reason: Refusal): void;
}

interface Waiting extends Expirable {
  /** Turn in which it asked. */
  readonly seq: number;
  readonly waiter: SyncWaiter;
}

const TIMED_OUT = 'Cannot confirm that this member is up to date: the deadline passed without a leader and its quorum';

export class SyncRequests {
  readonly #deadlines: Deadlines;
  /** Not answered by the leader, in order of asking. */
  readonly #asked = new Set<Waiting>();
  /** Answered; waiting to be applied up to a zxid. In order of zxid. */
  readonly #confirmed = new Map<Waiting, Zxid>();
  /** Of the turn that is being gathered. */
  #seq = 1;
  #isDue = false;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /** Number of those who wait. */
  get count(): number {
    return this.#asked.size + this.#confirmed.size;
  }

  ask(deadlineMs: number, waiter: SyncWaiter): void {
    const waiting: Waiting = {
      seq: this.#seq,
      waiter,
      deadlineMs,
      expire: () => {
        this.#end(waiting);
        waiter.failed(refusal('UNAVAILABLE', TIMED_OUT));
      },
    };
    this.#asked.add(waiting);
    this.#isDue = true;
    this.#deadlines.add(waiting);
  }

  /** End of a turn: asks the leader, once for all. Not called while there is no leader. */
  flush(send: (seq: number) => void): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    send(this.#seq++);
  }

  /** There is a new leader: everything that is not answered must be asked again. */
  askAgain(): void {
    this.#isDue = this.#asked.size > 0;
  }

  /** The leader answers every request up to `seq`; `applied` is where this member is. What was not asked is not answered. */
  reply(seq: number, zxid: Zxid, applied: Zxid): void {
    if (seq >= this.#seq) return;
    for (const waiting of this.#asked) {
      if (waiting.seq > seq) break;
      this.#asked.delete(waiting);
      this.#confirmed.set(waiting, zxid);
    }
    this.applied(applied);
  }

  /** Nobody is asked any more. */
  abandon(reason: Refusal): void {
    for (const waiting of [...this.#asked, ...this.#confirmed.keys()]) {
      this.#end(waiting);
      waiting.waiter.failed(reason);
    }
  }

  /** This member has applied up to `applied`. */
  applied(applied: Zxid): void {
    for (const [waiting, zxid] of this.#confirmed) {
      if (zxid > applied) return;
      this.#end(waiting);
      waiting.waiter.reached();
    }
  }

  #end(waiting: Waiting): void {
    this.#asked.delete(waiting);
    this.#confirmed.delete(waiting);
    this.#deadlines.remove(waiting);
  }
}

/** A member that asked, and the last of its requests. */
interface Asker {
  readonly sid: Sid;
  readonly seq: number;
}

/** One leadership's rounds. */
export class SyncRounds {
  /** Asked in this turn: the latest request of each member answers its earlier ones. */
  #gathering = new Map<Sid, number>();
  #rounds: { readonly round: number; readonly zxid: Zxid; readonly askers: readonly Asker[] }[] = [];

  ask(sid: Sid, seq: number): void {
    this.#gathering.set(sid, seq);
  }

  /** End of a turn: begins one round for all that was asked. `committed` is the position they will wait for. */
  flush(confirm: () => number, committed: () => Zxid): void {
    if (this.#gathering.size === 0) return;
    const askers = [...this.#gathering].map(([sid, seq]) => ({ sid, seq }));
    this.#gathering = new Map();
    // The commit point first: whatever was committed when the requests came is in it.
    const zxid = committed();
    this.#rounds.push({ round: confirm(), zxid, askers });
  }

  /** A quorum has confirmed this leader since round `round` was begun. */
  confirmed(round: number, reply: (asker: Asker, zxid: Zxid) => void): void {
    const open = this.#rounds.findIndex((later) => later.round > round);
    const done = this.#rounds.splice(0, open === -1 ? this.#rounds.length : open);
    for (const { askers, zxid } of done) for (const asker of askers) reply(asker, zxid);
  }
}
