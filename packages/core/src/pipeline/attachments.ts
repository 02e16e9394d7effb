/**
 * The streams and sockets at this member and the session each carries: who was heard from since the leader was last told,
 * and how long a session may be held while there is no leader (architecture §3, "Failover that clients do not notice").
 * A session is attached here at most once (P8). It does not decide whether a session may attach (`session-calls.ts`).
 */
import { assert, type ErrorCode, formatSessionId, type SessionId, type Zxid } from '@quorate/protocol';

export interface Attachment {
  /** Number given by the driver, never 0. */
  readonly number: number;
  readonly session: SessionId;
  readonly timeoutMs: number;
  /** Writes of an earlier owner of the session are at or before this position, those of a later one after it. */
  readonly grantedAt: Zxid;
  /** Monotonic time at which the ensemble, not only this member, last heard of the session. */
  toldMs: number;
}

/** What was granted to an attachment. */
export type GrantedSession = Pick<Attachment, 'session' | 'timeoutMs' | 'grantedAt'>;

/** Closes the stream or socket, which had that session. */
export type CloseAttachment = (attachment: number, code: ErrorCode, reason: string, session: SessionId) => void;

/**
 * Without a leader a session is held until this part of its timeout has passed since the ensemble last heard of it: a client is
 * heard from a third of the timeout apart when it has nothing to say, and needs time to move before its session ends.
 */
const HOLD_PART = 2 / 3;

export class Attachments {
  readonly #close: CloseAttachment;
  readonly #byNumber = new Map<number, Attachment>();
  readonly #bySession = new Map<SessionId, Attachment>();
  /** Attachments whose open or attach is under way. */
  readonly #connecting = new Set<number>();
  /** Sessions heard from since the leader was last told, attached or not. */
  #heard = new Set<SessionId>();

  constructor(close: CloseAttachment) {
    this.#close = close;
  }

  get count(): number {
    return this.#byNumber.size;
  }

  /** The attachment of that number, when it has a session. */
  get(number: number): Attachment | undefined {
    return this.#byNumber.get(number);
  }

  /** True while the client of that number is connected here, with a session or on the way to one. */
  isConnected(number: number): boolean {
    return this.#byNumber.has(number) || this.#connecting.has(number);
  }

  /** The client of this attachment has asked for a session. False when it has asked before. */
  connecting(number: number): boolean {
    if (this.isConnected(number)) return false;
    this.#connecting.add(number);
    return true;
  }

  /** What it had asked for was refused. */
  notConnected(number: number): void {
    this.#connecting.delete(number);
  }

  /**
   * The session is this attachment's from now on; one that had it here loses it. False when the client has gone meanwhile.
   */
  attach(number: number, granted: GrantedSession, nowMs: number): boolean {
    const { session } = granted;
    if (!this.#connecting.delete(number)) return false;
    const before = this.#bySession.get(session);
    if (before !== undefined)
      this.#end(before, 'SESSION_MOVED', `Session ${formatSessionId(session)} was attached again`);
    assert(!this.#byNumber.has(number), () => `P8: attachment ${number} has a session already`);
    const attachment = { number, ...granted, toldMs: nowMs };
    this.#byNumber.set(number, attachment);
    this.#bySession.set(session, attachment);
    return true;
  }

  /** The stream or socket is gone. */
  detached(number: number): void {
    this.#connecting.delete(number);
    const attachment = this.#byNumber.get(number);
    if (attachment !== undefined) this.#forget(attachment);
  }

  /** Something came from the client of this attachment: any call counts as life (case C014). */
  heard(number: number): void {
    const attachment = this.#byNumber.get(number);
    if (attachment !== undefined) this.#heard.add(attachment.session);
  }

  /** Something came for a session from a client that has proved to be its own. */
  heardSession(session: SessionId): void {
    this.#heard.add(session);
  }

  /** The sessions to tell the leader about, which hears of them now. */
  takeHeard(nowMs: number): readonly SessionId[] {
    if (this.#heard.size === 0) return [];
    const sessions = [...this.#heard];
    this.#heard = new Set();
    for (const session of sessions) {
      const attachment = this.#bySession.get(session);
      if (attachment !== undefined) attachment.toldMs = nowMs;
    }
    return sessions;
  }

  /** The session has ended, or is attached elsewhere. */
  lost(session: SessionId, code: ErrorCode, reason: string): void {
    this.#heard.delete(session);
    const attachment = this.#bySession.get(session);
    if (attachment !== undefined) this.#end(attachment, code, reason);
  }

  /**
   * A write by an attachment elsewhere was ordered at `zxid`. P10: if the session was granted here before that, it has moved,
   * though this member may have been cut off when it did: what it still holds of the session must not be ordered any more.
   */
  writtenElsewhere(session: SessionId, zxid: Zxid): void {
    const attachment = this.#bySession.get(session);
    if (attachment === undefined || zxid <= attachment.grantedAt) return;
    this.lost(session, 'SESSION_MOVED', `Session ${formatSessionId(session)} is attached to another member now`);
  }

  /** The leader is lost, and was last heard from at `leaderHeardMs`: what it was told after that may not have arrived. */
  leaderLost(leaderHeardMs: number): void {
    for (const attachment of this.#byNumber.values()) {
      if (attachment.toldMs > leaderHeardMs) attachment.toldMs = leaderHeardMs;
    }
  }

  /** While there is no leader: lets go of every session that has been held for as long as it may be. */
  closeOverdue(nowMs: number): void {
    for (const attachment of [...this.#byNumber.values()]) {
      if (nowMs - attachment.toldMs <= attachment.timeoutMs * HOLD_PART) continue;
      this.#end(attachment, 'UNAVAILABLE', 'This member has lost its leader; the session goes on elsewhere');
    }
  }

  /** Lets go of every session, and forgets what was heard. */
  closeAll(code: ErrorCode, reason: string): void {
    for (const attachment of [...this.#byNumber.values()]) this.#end(attachment, code, reason);
    this.#heard = new Set();
  }

  /**
   * The tree was replaced, and nobody saw what led to it: sessions that `isKnown` does not know have ended, and the others may
   * have moved, so that their clients have to ask for them again.
   */
  jumped(isKnown: (session: SessionId) => boolean): void {
    for (const { session } of [...this.#byNumber.values()]) {
      if (isKnown(session)) this.lost(session, 'UNAVAILABLE', 'This member was far behind; the session may go on here');
      else this.lost(session, 'SESSION_EXPIRED', `Session ${formatSessionId(session)} has ended`);
    }
  }

  #end(attachment: Attachment, code: ErrorCode, reason: string): void {
    this.#forget(attachment);
    this.#close(attachment.number, code, reason, attachment.session);
  }

  #forget(attachment: Attachment): void {
    this.#byNumber.delete(attachment.number);
    this.#bySession.delete(attachment.session);
  }
}
