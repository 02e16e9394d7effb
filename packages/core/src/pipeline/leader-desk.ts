/**
 * What only the leader does with requests, its own and its learners': gives them their place in the history, says who
 * owns a session and whether it lives, ends those that nobody heard from, and answers for its leadership.
 * One desk lives as long as one leadership; it is made when the tree holds all that the epoch starts from (P4).
 */
import {
  assert,
  type ErrorCode,
  formatSessionId,
  formatZxid,
  NO_SESSION,
  type SessionId,
  type Sid,
  type Zxid,
} from '@quorate/protocol';
import type { Now } from '../peer/events.ts';
import type { RequestMessage } from '../peer/messages.ts';
import type { Txn } from '../tree/txn.ts';
import { encodeTxn } from '../tree/txn-codec.ts';
import type { CurrentTree } from './current-tree.ts';
import { isOwnersWrite, Preparation } from './prepare.ts';
import { Reaper, type ReaperOptions } from './reaper.ts';
import { type Refusal, refusal } from './refusal.ts';
import { type Doubt, SessionDoubts } from './session-doubts.ts';
import { isSameToken } from './session-token.ts';
import { type SessionStanding, SessionTracker } from './session-tracker.ts';
import { SyncRounds } from './sync.ts';
import type { WriteRequest } from './write-request.ts';

/** What the desk needs of the member around it. */
export interface DeskHost {
  /** Gives the payload its place in the history: `Zab.propose`. */
  propose(payload: Uint8Array): Zxid;
  /** Last position in this member's log. */
  lastLogged(): Zxid;
  committed(): Zxid;
  /** Monotonic time of the step that is being taken. */
  nowMs(): number;
  /** Begins a round that confirms this leadership: `Zab.confirmLeadership`. */
  confirmLeadership(): number;
  /** Nothing may be proposed now, because leadership is being handed over: `Zab.isHandingOver`. */
  isHeld(): boolean;
  /** Sends to a member, which may be this one; one that is not here hears nothing. */
  reply(sid: Sid, message: RequestMessage): void;
  /** Tells people something that they should look at. */
  warn(reason: string): void;
}

export interface DeskOptions {
  /** Width of an expiry bucket, ms. */
  readonly tickMs: number;
  /** All members, this one among them. */
  readonly members: readonly Sid[];
  readonly reaper: ReaperOptions;
}

/** Sessions ended in one step: thousands that end together must not hold up those that live (case C020). */
const EXPIRE_MAX = 500;

/** One quota is warned of no more often than this, ms; and so many are remembered. */
const WARN_AGAIN_MS = 60_000;
const WARNED_MAX = 1_000;

/** The last write taken from one run of one member. */
interface Taken {
  readonly incarnation: number;
  readonly seq: number;
}

export class LeaderDesk {
  readonly #host: DeskHost;
  readonly #members: readonly Sid[];
  readonly #tracker: SessionTracker;
  readonly #preparation: Preparation;
  readonly #reaper: Reaper;
  readonly #rounds = new SyncRounds();
  readonly #doubts = new SessionDoubts();
  readonly #state: CurrentTree;
  readonly #taken = new Map<Sid, Taken>();
  /** When it was last said of each quota that a soft limit was passed. */
  readonly #warned = new Map<string, number>();
  /** Writes that came while proposals are held. What is here when leadership goes is sent again by the members it came from. */
  #held: { readonly sid: Sid; readonly request: WriteRequest }[] = [];

  constructor(options: DeskOptions, state: CurrentTree, host: DeskHost, now: Now) {
    const { tree } = state;
    assert(
      tree.lastZxid === host.lastLogged(),
      () => `P4: leading with a log up to ${formatZxid(host.lastLogged())}, applied only ${formatZxid(tree.lastZxid)}`,
    );
    this.#host = host;
    this.#state = state;
    this.#members = options.members;
    this.#preparation = new Preparation(tree);
    this.#tracker = new SessionTracker(options.tickMs, now.monotonicMs);
    this.#reaper = new Reaper(options.reaper, () => state.tree.timedZnodes(), now);
    for (const id of tree.sessions.ids()) {
      const session = tree.sessions.get(id);
      if (session !== undefined) this.#tracker.add(id, session.timeoutMs, undefined);
    }
  }

  /** Sessions that this leader believes alive. */
  get sessionCount(): number {
    return this.#tracker.size;
  }

  /** Records held for what is proposed and not applied. */
  get inFlight(): number {
    return this.#preparation.size;
  }

  /** What is known of a session's client. */
  standingOf(session: SessionId): SessionStanding | undefined {
    this.#tracker.follow(this.#host.nowMs());
    return this.#tracker.standing(session);
  }

  /** Orders a member's writes, in the order given. */
  order(sid: Sid, requests: readonly WriteRequest[], now: Now): void {
    if (this.#held.length > 0 || this.#host.isHeld()) {
      for (const request of requests) this.#held.push({ sid, request });
      return;
    }
    for (const request of requests) this.#takeIn(sid, request, now);
  }

  /** These sessions were heard from. */
  touch(sessions: readonly SessionId[]): void {
    for (const session of sessions) this.#heard(session);
  }

  /**
   * A member asks whether a session is alive and its client's own, and with `own` attaches it there. That it has ended is
   * said only when that is certain.
   */
  revalidate(sid: Sid, message: Doubt['message']): void {
    if (this.#preparation.session(message.session) === undefined) {
      this.#doubts.ask({ sid, message, after: this.#host.lastLogged() });
    } else this.#answer(sid, message);
  }

  /** A member asks how far it must have applied. */
  sync(sid: Sid, seq: number): void {
    this.#rounds.ask(sid, seq);
  }

  /** Ends sessions that nobody heard from in time, and deletes znodes whose time is over. */
  tick(now: Now): void {
    if (this.#host.isHeld()) return;
    for (const session of this.#tracker.advance(now.monotonicMs, EXPIRE_MAX)) {
      assert(
        this.#preparation.session(session) !== undefined,
        () => `P9: session ${formatSessionId(session)} is to expire, but is not open`,
      );
      this.#propose(this.#preparation.expire(session, now.wallMs));
    }
    for (const path of this.#reaper.step(now)) {
      const txn = this.#preparation.reap(path, now.wallMs);
      if (txn !== undefined) this.#propose(txn);
    }
  }

  turnEnded(now: Now): void {
    if (this.#held.length > 0 && !this.#host.isHeld()) {
      const held = this.#held;
      this.#held = [];
      for (const { sid, request } of held) this.#takeIn(sid, request, now);
    }
    this.#warnOfQuotas(now.monotonicMs);
    this.#rounds.flush(
      () => this.#host.confirmLeadership(),
      () => this.#host.committed(),
    );
    this.#doubts.flush(() => this.#host.confirmLeadership());
  }

  /** A quota whose usage goes to and fro about its limit is not to fill the log. */
  #warnOfQuotas(nowMs: number): void {
    for (const path of this.#preparation.takeSoftCrossings()) {
      const last = this.#warned.get(path);
      if (last !== undefined && nowMs - last < WARN_AGAIN_MS) continue;
      if (this.#warned.size === WARNED_MAX) this.#warned.clear();
      this.#warned.set(path, nowMs);
      this.#host.warn(`${path} holds more than its quota: a soft limit was passed`);
    }
  }

  /** A quorum has confirmed this leadership since that round was begun. */
  confirmed(round: number): void {
    this.#rounds.confirmed(round, ({ sid, seq }, zxid) => this.#host.reply(sid, { kind: 'syncReply', seq, zxid }));
    this.#doubts.confirmed(round);
    this.#resolveDoubts();
  }

  /** The txn at `zxid` has just been applied to the tree. */
  applied(zxid: Zxid): void {
    this.#preparation.applied(zxid);
    this.#resolveDoubts();
  }

  #resolveDoubts(): void {
    for (const { sid, message } of this.#doubts.resolved(this.#state.tree.lastZxid)) this.#answer(sid, message);
  }

  #answer(sid: Sid, { seq, session, token, own }: Doubt['message']): void {
    const known = this.#preparation.session(session);
    const error: ErrorCode | undefined =
      known === undefined || !isSameToken(known.token, token) ? 'SESSION_EXPIRED' : undefined;
    if (error === undefined) {
      this.#heard(session);
      if (own) this.#own(session, sid);
    }
    const grantedAt = this.#host.lastLogged();
    this.#host.reply(sid, { kind: 'revalidated', seq, timeoutMs: known?.timeoutMs ?? 0, error, grantedAt });
  }

  #takeIn(sid: Sid, request: WriteRequest, now: Now): void {
    const last = this.#taken.get(sid);
    // P6: whatever a member does, one write of one run of it becomes at most one txn of this leadership.
    if (last?.incarnation === request.incarnation && request.seq <= last.seq) return;
    this.#taken.set(sid, { incarnation: request.incarnation, seq: request.seq });
    this.#order(sid, request, now);
  }

  #order(sid: Sid, request: WriteRequest, now: Now): void {
    const { session, attached } = request;
    if (session !== NO_SESSION) this.#heard(session);
    const txn = this.#preparation.prepare(request, sid, now.wallMs, this.#ownerFault(sid, request));
    if (attached && isOwnersWrite(txn.body)) this.#adopt(session, sid);
    this.#propose(txn);
    if (txn.body.kind === 'createSession') {
      this.#tracker.follow(now.monotonicMs);
      this.#tracker.add(session, txn.body.timeoutMs, attached ? sid : undefined);
    } else if (txn.body.kind === 'closeSession') this.#tracker.remove(session);
  }

  /** Its time begins anew now, not when the time was looked at last: a leader that stood still has not ticked yet. */
  #heard(session: SessionId): void {
    this.#tracker.follow(this.#host.nowMs());
    this.#tracker.touch(session);
  }

  #propose(txn: Txn): void {
    const zxid = this.#host.propose(encodeTxn(txn));
    this.#preparation.proposed(zxid, txn);
  }

  /** P10: a write that came by an attachment counts only while the session is attached there (ZOOKEEPER-710). */
  #ownerFault(sid: Sid, request: WriteRequest): Refusal | undefined {
    if (!request.attached) return undefined;
    const owner = this.#tracker.owner(request.session);
    if (owner === undefined || owner === sid) return undefined;
    return refusal('SESSION_MOVED', `Session ${formatSessionId(request.session)} is attached to another member now`);
  }

  /** A new leader learns from the first write where a session is attached. */
  #adopt(session: SessionId, sid: Sid): void {
    if (this.#tracker.owner(session) === undefined) this.#tracker.setOwner(session, sid);
  }

  #own(session: SessionId, sid: Sid): void {
    const before = this.#tracker.owner(session);
    this.#tracker.setOwner(session, sid);
    // A new leader does not know where the session was: whoever else has it attached lets go of it.
    const formers = before === undefined ? this.#members : [before];
    for (const former of formers) {
      if (former !== sid) this.#host.reply(former, { kind: 'sessionMoved', session });
    }
  }
}
