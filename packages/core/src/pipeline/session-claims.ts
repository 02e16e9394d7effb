/**
 * Questions to the leader whether a session is alive and the caller's own: asked before a session is attached, kept alive
 * without an attachment, or used by a unary call when it is not known here. Only the leader's word counts, for it alone
 * knows what is in flight; without one a question waits for its deadline. Asked again of every new leader.
 */
import type { SessionId, Zxid } from '@quorate/protocol';
import type { RequestMessage } from '../peer/messages.ts';
import type { Deadlines, Expirable } from './deadlines.ts';
import { type Refusal, refusal } from './refusal.ts';

export interface Claim {
  readonly session: SessionId;
  readonly token: Uint8Array;
  /** To attach it here: the leader refuses the writes of other members for it from then on. */
  readonly own: boolean;
  readonly deadlineMs: number;
  /** The connection that it is asked for is gone: an answer would only take the session from where its client is now. */
  readonly isGone?: () => boolean;
}

/** Whoever asked. Told exactly once, one or the other. */
export interface ClaimWaiter {
  valid(timeoutMs: number, grantedAt: Zxid): void;
  failed(reason: Refusal): void;
}

/** A question as it goes to the leader. */
export type AskClaim = (seq: number, claim: Claim) => void;

interface Asked extends Expirable {
  readonly claim: Claim;
  readonly waiter: ClaimWaiter;
}

const TIMED_OUT = 'Cannot confirm the session: the deadline passed without a leader';
const GONE = refusal('UNAVAILABLE', 'The connection is gone; the session was not attached');

export class SessionClaims {
  readonly #deadlines: Deadlines;
  readonly #countMax: number;
  readonly #asked = new Map<number, Asked>();
  #nextSeq = 1;

  constructor(deadlines: Deadlines, countMax: number) {
    this.#deadlines = deadlines;
    this.#countMax = countMax;
  }

  /** Questions that are not answered. */
  get count(): number {
    return this.#asked.size;
  }

  /** Asks; `send` is undefined while there is no leader. Past the bound: THROTTLED. */
  ask(claim: Claim, waiter: ClaimWaiter, send: AskClaim | undefined): void {
    if (this.#asked.size >= this.#countMax) {
      waiter.failed(refusal('THROTTLED', `Cannot confirm the session: ${this.#asked.size} others wait`));
      return;
    }
    const seq = this.#nextSeq++;
    const asked: Asked = {
      claim,
      waiter,
      deadlineMs: claim.deadlineMs,
      expire: () => {
        this.#asked.delete(seq);
        waiter.failed(refusal('UNAVAILABLE', TIMED_OUT));
      },
    };
    this.#asked.set(seq, asked);
    this.#deadlines.add(asked);
    send?.(seq, claim);
  }

  /** There is a new leader. What nobody waits for any more is not asked again. */
  askAgain(send: AskClaim): void {
    for (const [seq, asked] of [...this.#asked]) {
      if (asked.claim.isGone?.() !== true) send(seq, asked.claim);
      else {
        this.#asked.delete(seq);
        this.#deadlines.remove(asked);
        asked.waiter.failed(GONE);
      }
    }
  }

  /** Nobody is asked any more. */
  abandon(reason: Refusal): void {
    for (const [seq, asked] of [...this.#asked]) {
      this.#asked.delete(seq);
      this.#deadlines.remove(asked);
      asked.waiter.failed(reason);
    }
  }

  /** The leader's answer; one that is not waited for any more is ignored. */
  reply(message: Extract<RequestMessage, { kind: 'revalidated' }>): void {
    const { seq, timeoutMs, error, grantedAt } = message;
    const asked = this.#asked.get(seq);
    if (asked === undefined) return;
    this.#asked.delete(seq);
    this.#deadlines.remove(asked);
    if (error === undefined) asked.waiter.valid(timeoutMs, grantedAt);
    else asked.waiter.failed(refusal(error, 'Cannot use the session: it has ended or is not yours'));
  }
}
