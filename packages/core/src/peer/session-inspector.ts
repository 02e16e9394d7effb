/**
 * What an operator asks about sessions: which there are, and how each stands. Answered from this member's tree and, on the
 * leader, from what it knows of their clients. Tokens are secrets and are not shown. It changes nothing.
 */
import { NO_SESSION, type SessionId, type Sid, type Zxid } from '@quorate/protocol';
import type { CurrentTree } from '../pipeline/current-tree.ts';
import type { SessionStanding } from '../pipeline/session-tracker.ts';

/** How one session stands. */
export interface SessionDetails {
  readonly id: SessionId;
  readonly timeoutMs: number;
  readonly ephemeralCount: number;
  /** Member that it is attached to; undefined when this member does not lead, or the leader has not learnt it yet. */
  readonly member: Sid | undefined;
  /** It ends after this at the latest when nothing is heard, ms. Undefined when this member does not lead. */
  readonly expiresInMs: number | undefined;
}

export interface SessionPage {
  /** By id, ascending as unsigned numbers. */
  readonly sessions: readonly SessionDetails[];
  /** There are some after the last of these. */
  readonly more: boolean;
  /** Position that the page shows. */
  readonly zxid: Zxid;
}

/** The leader's view; undefined when this member does not lead, or for a session that it knows nothing of. */
type StandingOf = (id: SessionId) => SessionStanding | undefined;

/** Most sessions of one page: it is made in one piece. */
export const SESSION_PAGE_MAX = 1_000;

export class SessionInspector {
  readonly #state: CurrentTree;
  readonly #standingOf: StandingOf;

  constructor(state: CurrentTree, standingOf: StandingOf) {
    this.#state = state;
    this.#standingOf = standingOf;
  }

  /** The first `limit` sessions with ids above `after`; at most SESSION_PAGE_MAX. */
  page(after: SessionId, limit: number): SessionPage {
    const { sessions, lastZxid } = this.#state.tree;
    const ids = sessions.idsAfter(after);
    const shown = ids.slice(0, Math.min(Math.max(1, limit), SESSION_PAGE_MAX));
    const details = shown.flatMap((id) => this.get(id) ?? []);
    return { sessions: details, more: ids.length > shown.length, zxid: lastZxid };
  }

  get(id: SessionId): SessionDetails | undefined {
    const session = this.#state.tree.sessions.get(id);
    if (session === undefined) return undefined;
    const standing = this.#standingOf(id);
    return {
      id,
      timeoutMs: session.timeoutMs,
      ephemeralCount: session.ephemerals.size,
      member: standing?.owner,
      expiresInMs: standing?.expiresInMs,
    };
  }

  /** Paths of its ephemerals, sorted; at most `max`. */
  ephemeralsOf(id: SessionId, max: number): readonly string[] {
    return [...(this.#state.tree.sessions.get(id)?.ephemerals ?? [])].sort().slice(0, max);
  }

  /** The session that owns the ephemeral; undefined when the znode is not there or not ephemeral. */
  ownerOf(path: string): SessionId | undefined {
    const owner = this.#state.tree.znode(path)?.ephemeralOwner ?? NO_SESSION;
    return owner === NO_SESSION ? undefined : owner;
  }

  get zxid(): Zxid {
    return this.#state.tree.lastZxid;
  }
}
