/**
 * Questions about sessions that the leader does not know, or that are about to end as far as it knows. It may be wrong: what
 * it has proposed may never be committed, and if it leads no more, the session may have been opened elsewhere. A client that is
 * told "ended" gives its session up for good, so the answer waits until a quorum has confirmed this leadership and all that
 * was in the log has been applied (P7 for the word "ended"). Without a quorum the question waits for its deadline.
 */
import type { Sid, Zxid } from '@quorate/protocol';
import type { RequestMessage } from '../peer/messages.ts';

export interface Doubt {
  readonly sid: Sid;
  readonly message: Extract<RequestMessage, { kind: 'revalidate' }>;
  /** The log reached to here when it was asked. */
  readonly after: Zxid;
}

/** Past it a question is not taken: whoever asked hears nothing and asks again. Members bound what they ask themselves. */
const COUNT_MAX = 20_000;

export class SessionDoubts {
  #gathering: Doubt[] = [];
  #rounds: { readonly round: number; readonly doubts: readonly Doubt[] }[] = [];
  /** Confirmed, and waiting for the log to be applied. */
  #confirmed: Doubt[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  ask(doubt: Doubt): void {
    if (this.#count >= COUNT_MAX) return;
    this.#count++;
    this.#gathering.push(doubt);
  }

  /** End of a turn: one round for all that was asked in it. */
  flush(confirm: () => number): void {
    if (this.#gathering.length === 0) return;
    const doubts = this.#gathering;
    this.#gathering = [];
    this.#rounds.push({ round: confirm(), doubts });
  }

  /** A quorum has confirmed this leader since round `round` was begun. Follow with `resolved`. */
  confirmed(round: number): void {
    const open = this.#rounds.findIndex((later) => later.round > round);
    const done = this.#rounds.splice(0, open === -1 ? this.#rounds.length : open);
    for (const { doubts } of done) this.#confirmed.push(...doubts);
  }

  /** Those that the tree, at `applied`, can answer now. */
  resolved(applied: Zxid): readonly Doubt[] {
    if (this.#confirmed.length === 0) return [];
    const ready = this.#confirmed.filter(({ after }) => after <= applied);
    this.#confirmed = this.#confirmed.filter(({ after }) => after > applied);
    this.#count -= ready.length;
    return ready;
  }
}
