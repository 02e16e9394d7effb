/**
 * Reads that must not be stale, and syncs: how far a member must have applied to have seen all that was committed when
 * it was asked (a read index). Both sides: `SyncRequests` at the member where the call came in, `SyncRounds` at the leader,
 * which answers only after a quorum has confirmed it (P7). One request a turn and one round a turn, however many wait.
 */
import { assert, type Sid, type Zxid } from '@quorate/protocol';
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
  isOver: boolean;
}

const TIMED_OUT = 'Cannot confirm that this member is up to date: the deadline passed without a leader and its quorum';

export class SyncRequests {
  readonly #deadlines: Deadlines;
  /** Not answered by the leader, in order of asking. */
  #asked: Waiting[] = [];
  /** Answered; waiting to be applied up to a zxid. In order of zxid. */
  #confirmed: { readonly zxid: Zxid; readonly waiting: Waiting }[] = [];
  /** Of the turn that is being gathered. */
  #seq = 1;
  #isDue = false;
  #count = 0;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /** Number of those who wait. */
  get count(): number {
    return this.#count;
  }

  ask(deadlineMs: number, waiter: SyncWaiter): void {
    const waiting: Waiting = {
      seq: this.#seq,
      waiter,
      isOver: false,
      deadlineMs,
      expire: () => {
        if (this.#end(waiting)) waiter.failed(refusal('UNAVAILABLE', TIMED_OUT));
      },
    };
    this.#asked.push(waiting);
    this.#isDue = true;
    this.#count++;
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
    this.#asked = this.#asked.filter((waiting) => !waiting.isOver);
    this.#isDue = this.#asked.length > 0;
  }

  /** The leader answers every request up to `seq`; `applied` is where this member is. */
  reply(seq: number, zxid: Zxid, applied: Zxid): void {
    assert(seq < this.#seq, () => `P7: answer to sync request ${seq}, which was not asked`);
    let answered = 0;
    for (const waiting of this.#asked) {
      if (waiting.seq > seq) break;
      answered++;
      if (!waiting.isOver) this.#confirmed.push({ zxid, waiting });
    }
    this.#asked = this.#asked.slice(answered);
    this.applied(applied);
  }

  /** This member has applied up to `zxid`. */
  applied(zxid: Zxid): void {
    while (true) {
      const first = this.#confirmed[0];
      if (first === undefined || first.zxid > zxid) return;
      this.#confirmed.shift();
      if (this.#end(first.waiting)) first.waiting.waiter.reached();
    }
  }

  #end(waiting: Waiting): boolean {
    if (waiting.isOver) return false;
    waiting.isOver = true;
    this.#count--;
    this.#deadlines.remove(waiting);
    return true;
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
    while (true) {
      const first = this.#rounds[0];
      if (first === undefined || first.round > round) return;
      this.#rounds.shift();
      for (const asker of first.askers) reply(asker, first.zxid);
    }
  }
}
