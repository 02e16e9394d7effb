/**
 * The leader's view of the numbered writes of each session: what the tree keeps of them plus what is in flight. So a write that is
 * asked for again becomes no second change (P14), also when its first is not applied yet or comes only afterwards.
 * It remembers what is in flight alone. (What is kept, and for how long: tree/results.ts.)
 */
import {
  assert,
  type Numbered,
  type SessionId,
  UNACKNOWLEDGED_BYTES_MAX,
  UNACKNOWLEDGED_MAX,
  type Zxid,
} from '@quorate/protocol';
import type { Results } from '../tree/results.ts';
import type { Txn, TxnBody, TxnPart } from '../tree/txn.ts';

/** The part of the tree that is looked through to. */
export interface ResultsBase {
  readonly sessions: { get(id: SessionId): { readonly results: Results } | undefined };
}

/**
 * new: it may become a txn · taken: it has one · past: it has none, and a later one of its session has, so that it must not get
 * one any more · full: too much is kept for the session
 */
export type NumberStanding = 'new' | 'taken' | 'past' | 'full';

interface InFlight {
  readonly session: SessionId;
  readonly request: number;
  readonly cost: number;
}

interface SessionInFlight {
  readonly requests: Set<number>;
  last: number;
  bytes: number;
}

/** What a result takes beside paths and texts, bytes, from above. */
const FIXED_COST = 128;

export class RequestNumbers {
  readonly #base: ResultsBase;
  readonly #inFlight = new Map<Zxid, InFlight>();
  readonly #bySession = new Map<SessionId, SessionInFlight>();

  constructor(base: ResultsBase) {
    this.#base = base;
  }

  /** Numbers remembered: for bounds and tests. */
  get size(): number {
    return this.#inFlight.size;
  }

  standing(session: SessionId, { request, acknowledged }: Numbered): NumberStanding {
    const kept = this.#base.sessions.get(session)?.results;
    const flying = this.#bySession.get(session);
    const last = flying?.last ?? kept?.last ?? 0;
    if (request <= last) {
      const isTaken = flying?.requests.has(request) === true || kept?.get(request) !== undefined;
      return isTaken ? 'taken' : 'past';
    }
    const bytes = (kept?.bytes ?? 0) + (flying?.bytes ?? 0);
    return request - acknowledged > UNACKNOWLEDGED_MAX || bytes > 2 * UNACKNOWLEDGED_BYTES_MAX ? 'full' : 'new';
  }

  /** The txn is proposed at `zxid`. */
  proposed(zxid: Zxid, { session, numbered, body }: Txn): void {
    if (numbered === undefined) return;
    const { request } = numbered;
    const cost = costOf(body);
    this.#inFlight.set(zxid, { session, request, cost });
    const flying = this.#bySession.get(session);
    if (flying === undefined) {
      this.#bySession.set(session, { requests: new Set([request]), last: request, bytes: cost });
    } else {
      assert(request > flying.last, () => `P14: request ${request} is proposed after request ${flying.last}`);
      flying.requests.add(request);
      flying.last = request;
      flying.bytes += cost;
    }
  }

  /** The txn has been applied to the tree, which has its result now. */
  applied(zxid: Zxid): void {
    const gone = this.#inFlight.get(zxid);
    if (gone === undefined) return;
    this.#inFlight.delete(zxid);
    const flying = this.#bySession.get(gone.session);
    if (flying === undefined) return;
    flying.requests.delete(gone.request);
    flying.bytes -= gone.cost;
    if (flying.requests.size === 0) this.#bySession.delete(gone.session);
  }
}

/** Bytes that the result will take, about. */
function costOf(body: TxnBody): number {
  if (body.kind === 'compound') return FIXED_COST + (body.parts.at(-1)?.path.length ?? 0);
  if (body.kind === 'multi') return body.parts.reduce((sum, part) => sum + partCost(part), FIXED_COST);
  const path = 'path' in body ? (body.path?.length ?? 0) : 0;
  return FIXED_COST + path + (body.kind === 'error' ? body.message.length : 0);
}

function partCost(part: TxnPart): number {
  return FIXED_COST + part.path.length + (part.kind === 'getData' ? part.length : 0);
}
