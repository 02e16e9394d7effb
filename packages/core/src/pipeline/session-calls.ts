/**
 * What clients ask about sessions themselves: open one, go on with one here, keep one alive without a stream.
 * A session that has ended is never replaced by a fresh one (case C015), and one is never served from a state older than
 * what its client has seen (case C055).
 */
import {
  formatSessionId,
  formatZxid,
  nextSessionId,
  SESSION_TOKEN_BYTES,
  type SessionId,
  type Zxid,
} from '@quorate/protocol';
import type { PeerEvent } from '../peer/events.ts';
import type { Txn } from '../tree/txn.ts';
import type { Entry } from './entry.ts';
import { writeAnswer } from './reads.ts';
import { type Refusal, refusal, refused } from './refusal.ts';
import { negotiateTimeout } from './session-tracker.ts';
import type { CreateSessionOp } from './write-request.ts';

type OpenSession = Extract<PeerEvent, { kind: 'openSession' }>;
type AttachSession = Extract<PeerEvent, { kind: 'attachSession' }>;
type EndSession = Extract<PeerEvent, { kind: 'endSession' }>;
type KeepAlive = Extract<PeerEvent, { kind: 'keepAlive' }>;

/** A session that a connection may go on with. */
interface Granted {
  readonly session: SessionId;
  readonly timeoutMs: number;
  readonly grantedAt: Zxid;
  readonly resumed: boolean;
}

const STOPPING = refusal('UNAVAILABLE', 'This member is stopping; no session is opened or attached');
const ASKED_BEFORE = refusal('INVALID_ARGUMENT', 'This connection has a session already, or has asked for one');
const GONE = refusal('UNAVAILABLE', 'The connection is gone; the session was not attached');

export class SessionCalls {
  readonly #entry: Entry;
  #nextSession: SessionId;

  constructor(entry: Entry) {
    this.#entry = entry;
    this.#nextSession = entry.options.firstSessionId;
  }

  open(event: OpenSession): void {
    const { outstanding, options, attachments } = this.#entry;
    const { callId, attachment, token, deadlineMs } = event;
    const fault = this.#fault;
    if (fault !== undefined) return this.#refuse(callId, fault);
    if (token.length !== SESSION_TOKEN_BYTES) {
      return this.#refuse(callId, refusal('INVALID_ARGUMENT', `A session token has ${SESSION_TOKEN_BYTES} bytes`));
    }
    if (attachment !== 0 && !attachments.connecting(attachment)) return this.#refuse(callId, ASKED_BEFORE);
    const session = this.#nextSession;
    this.#nextSession = nextSessionId(session);
    const timeoutMs = negotiateTimeout(event.timeoutMs, options.timing);
    const op: CreateSessionOp = { kind: 'createSession', timeoutMs, token };
    const full = outstanding.add(
      { session, attachment, op, deadlineMs },
      {
        delivered: (zxid, txn) => this.#opened(event, session, zxid, txn),
        failed: (reason) => this.#notConnected(event, reason),
      },
    );
    if (full !== undefined) this.#notConnected(event, full);
  }

  attach(event: AttachSession): void {
    const { attachments, claims, askClaim, state } = this.#entry;
    const { callId, attachment, session, token, deadlineMs, lastZxidSeen } = event;
    const fault = this.#fault;
    if (fault !== undefined) return this.#refuse(callId, fault);
    const { lastZxid } = state.tree;
    if (lastZxidSeen > lastZxid) {
      const message = `This member is at ${formatZxid(lastZxid)}, the client has seen ${formatZxid(lastZxidSeen)}`;
      return this.#refuse(callId, refusal('SERVER_BEHIND', message));
    }
    if (!attachments.connecting(attachment)) return this.#refuse(callId, ASKED_BEFORE);
    const waiter = {
      valid: (timeoutMs: number, grantedAt: Zxid) => this.#attached(event, timeoutMs, grantedAt),
      failed: (reason: Refusal) => this.#notConnected(event, reason),
    };
    const isGone = (): boolean => !attachments.isConnected(attachment);
    claims.ask({ session, token, own: true, deadlineMs, isGone }, waiter, askClaim);
  }

  keepAlive(event: KeepAlive): void {
    const { claims, askClaim, host } = this.#entry;
    const { callId, session, token, deadlineMs } = event;
    const fault = this.#fault;
    if (fault !== undefined) return this.#refuse(callId, fault);
    const waiter = {
      valid: (timeoutMs: number) => host.sessionAlive(callId, timeoutMs),
      failed: (reason: Refusal) => this.#refuse(callId, reason),
    };
    claims.ask({ session, token, own: false, deadlineMs }, waiter, askClaim);
  }

  /** An operator's word, not the client's: it takes no place in the session's line, as an expiry does not. */
  end({ callId, session, deadlineMs }: EndSession): void {
    const { outstanding, host, state } = this.#entry;
    const fault = this.#fault;
    if (fault !== undefined) return this.#refuse(callId, fault);
    const full = outstanding.add(
      { session, attachment: 0, op: { kind: 'closeSession' }, deadlineMs },
      {
        delivered: (zxid, txn) => host.answer(callId, writeAnswer(state.tree, zxid, txn)),
        failed: (reason) => this.#refuse(callId, reason),
      },
    );
    if (full !== undefined) this.#refuse(callId, full);
  }

  /** Why no session is opened, attached or kept alive here. */
  get #fault(): Refusal | undefined {
    return this.#entry.isStopping ? STOPPING : this.#entry.placeFault;
  }

  #opened(event: OpenSession, session: SessionId, zxid: Zxid, txn: Txn): void {
    const { body } = txn;
    if (body.kind !== 'createSession') {
      const code = body.kind === 'error' ? body.code : 'INTERNAL';
      return this.#notConnected(event, refusal(code, `Cannot open session ${formatSessionId(session)}`));
    }
    this.#ready(event, { session, timeoutMs: body.timeoutMs, grantedAt: zxid, resumed: false });
  }

  #attached(event: AttachSession, timeoutMs: number, grantedAt: Zxid): void {
    const { session } = event;
    if (this.#entry.state.tree.sessions.get(session) === undefined) {
      const message = `This member has not yet seen session ${formatSessionId(session)}`;
      return this.#notConnected(event, refusal('SERVER_BEHIND', message));
    }
    this.#ready(event, { session, timeoutMs, grantedAt, resumed: true });
  }

  #ready(event: OpenSession | AttachSession, granted: Granted): void {
    const { session, timeoutMs, grantedAt, resumed } = granted;
    const { attachments, host } = this.#entry;
    const { callId, attachment, token } = event;
    if (
      attachment !== 0 &&
      !attachments.attach(attachment, { session, timeoutMs, grantedAt }, host.now().monotonicMs)
    ) {
      // It may open another by the same number no more; the session itself lives until it expires.
      return this.#refuse(callId, GONE);
    }
    host.sessionReady({ callId, attachment, session, token, timeoutMs, resumed });
  }

  #notConnected(event: OpenSession | AttachSession, reason: Refusal): void {
    this.#entry.attachments.notConnected(event.attachment);
    this.#refuse(event.callId, reason);
  }

  #refuse(callId: number, reason: Refusal): void {
    this.#entry.host.answer(callId, refused(reason, this.#entry.state.tree.lastZxid));
  }
}
