/**
 * The parts at the member where clients' calls come in, and the one face through which they reach the leader, be it
 * this member or another. What each part does is in its own file; calls are taken apart in `calls.ts` (operations) and
 * `session-calls.ts` (opening, attaching, keeping alive).
 */
import type { Answer, ErrorCode, Notification, SessionId, Sid, Zxid } from '@quorate/protocol';
import type { Limits, Timing } from '../peer/config.ts';
import type { Now } from '../peer/events.ts';
import type { RequestMessage } from '../peer/messages.ts';
import { Attachments } from './attachments.ts';
import type { CurrentTree } from './current-tree.ts';
import { Deadlines } from './deadlines.ts';
import { Outstanding } from './outstanding.ts';
import { type Refusal, refusal, refusalForGood } from './refusal.ts';
import { type AskClaim, SessionClaims } from './session-claims.ts';
import { SessionOrder } from './session-order.ts';
import { SyncRequests } from './sync.ts';
import { Watches } from './watches.ts';
import type { WriteRequest } from './write-request.ts';

/** The way to the leader; there is one only while this member leads or follows. */
export interface Upstream {
  /** Writes to be ordered, in this order. */
  forward(requests: readonly WriteRequest[]): void;
  send(message: RequestMessage): void;
}

/** What the entry needs of the member around it. */
export interface EntryHost {
  /** The clocks at this step. */
  readonly now: () => Now;
  /** Undefined while there is no leader. */
  readonly upstream: () => Upstream | undefined;
  /** Why reads are not answered now, or undefined when they are. `isStaleAllowed`: also when there has been no leader for long. */
  readonly readFault: (isStaleAllowed?: boolean) => Refusal | undefined;
  answer(callId: number, answer: Answer): void;
  /** `isIdle`: nothing that came by it is under way. */
  closeAttachment(attachment: number, code: ErrorCode, reason: string, isIdle: boolean): void;
  /** What the watches of that connection are told, in order with the answers. */
  notify(attachment: number, notifications: readonly Notification[]): void;
  /** Another turn is to come at once. */
  wantTurn(): void;
  sessionReady(ready: SessionReady): void;
  sessionAlive(callId: number, timeoutMs: number): void;
}

/** A session that was opened or attached. */
export interface SessionReady {
  readonly callId: number;
  readonly attachment: number;
  readonly session: SessionId;
  readonly token: Uint8Array;
  readonly timeoutMs: number;
  readonly resumed: boolean;
}

export interface EntryOptions {
  readonly sid: Sid;
  readonly incarnation: number;
  readonly firstSessionId: SessionId;
  readonly timing: Timing;
  readonly limits: Limits;
}

export class Entry {
  readonly options: EntryOptions;
  readonly state: CurrentTree;
  readonly host: EntryHost;
  readonly deadlines = new Deadlines();
  readonly order: SessionOrder;
  readonly outstanding: Outstanding;
  readonly syncs: SyncRequests;
  readonly claims: SessionClaims;
  readonly attachments: Attachments;
  readonly watches: Watches;
  #toldMs = 0;
  #isStopping = false;
  #placeFault: Refusal | undefined;
  /** Attachments that are let go of at the next tick. */
  readonly #movable = new Set<number>();

  constructor(options: EntryOptions, state: CurrentTree, host: EntryHost) {
    const { sid, incarnation, limits } = options;
    const { outstandingMax: countMax, outstandingBytesMax: bytesMax } = limits;
    const { deadlines } = this;
    this.options = options;
    this.state = state;
    this.host = host;
    this.order = new SessionOrder(({ callId, attachment }, answer) => {
      this.watches.settle(attachment);
      host.answer(callId, answer);
    });
    this.outstanding = new Outstanding({ sid, incarnation, countMax, bytesMax, deadlines });
    this.syncs = new SyncRequests(deadlines);
    this.claims = new SessionClaims(deadlines, countMax);
    this.attachments = new Attachments((attachment, code, reason, session) => {
      host.closeAttachment(attachment, code, reason, this.order.isIdle(session));
      // Whoever comes back says what he watched: nothing is told to a connection that is closed.
      this.watches.detached(attachment);
    });
    this.watches = new Watches(limits.connectionWatchBytesMax, state, {
      notify: (attachment, notifications) => host.notify(attachment, notifications),
      wantTurn: () => host.wantTurn(),
      letGo: (attachment, reason) => this.#letGo(attachment, reason),
    });
  }

  /** No new calls are taken. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Why nothing that needs the leader is taken any more: this member has given its place up. Reads are not its concern. */
  get placeFault(): Refusal | undefined {
    return this.#placeFault;
  }

  /** Nobody waits for an answer. */
  get isIdle(): boolean {
    return this.order.held === 0 && this.outstanding.count === 0 && this.claims.count === 0;
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** The disk has failed: whoever waits for the leader is told what is known, for this run will not hear of it any more. */
  diskFailed(reason: string): void {
    const what = `The disk of member ${this.options.sid} failed (${reason})`;
    this.#abandon(what, `${what}: until it works again only reads are answered here`);
  }

  /** What is in memory here is not to be trusted: clients are let go, and whoever waits is told what is known. */
  leave(): void {
    const what = `Member ${this.options.sid} has left service`;
    const why = `${what}: its tree is not what the others have, and is built anew`;
    this.#abandon(what, why);
    this.attachments.closeAll('UNAVAILABLE', why);
  }

  #abandon(what: string, meanwhile: string): void {
    this.#placeFault = refusalForGood(meanwhile);
    const sent = refusal(
      'OUTCOME_UNKNOWN',
      `${what} before the write was answered; whether it was applied is not known`,
    );
    this.outstanding.abandon(refusalForGood(`Cannot write: ${what}; the write was not applied`), sent);
    this.syncs.abandon(this.#placeFault);
    this.claims.abandon(this.#placeFault);
  }

  /**
   * A call by this attachment was refused because this member has no place: its client is served better elsewhere. It is let go
   * of at the next tick, when what came with that call is answered; whoever only reads stays.
   */
  refusedForPlace(attachment: number): void {
    if (attachment !== 0) this.#movable.add(attachment);
  }

  /** The stream or socket is gone, and with it what it watched. */
  detached(attachment: number): void {
    this.attachments.detached(attachment);
    this.watches.detached(attachment);
  }

  /** Asks the leader about a session; undefined while there is none. */
  get askClaim(): AskClaim | undefined {
    const upstream = this.host.upstream();
    if (upstream === undefined) return undefined;
    return (seq, { session, token, own }) => upstream.send({ kind: 'revalidate', seq, session, token, own });
  }

  /** A leader was found: everything that waits for one is sent again, in order. */
  leaderFound(upstream: Upstream): void {
    this.#tell(upstream);
    const { attachments } = this;
    this.outstanding.forwardAgain(
      (requests) => upstream.forward(requests),
      (attachment) => !attachments.isConnected(attachment),
    );
    const { askClaim } = this;
    if (askClaim !== undefined) this.claims.askAgain(askClaim);
    this.syncs.askAgain();
  }

  /** End of a turn: sends what it has gathered. */
  turnEnded(): void {
    const upstream = this.host.upstream();
    if (upstream === undefined) return;
    this.outstanding.flush((requests) => upstream.forward(requests));
    this.syncs.flush((seq) => upstream.send({ kind: 'syncRequest', seq }));
  }

  /** Time has passed. */
  tick(): void {
    const now = this.host.now();
    const upstream = this.host.upstream();
    if (this.#movable.size > 0) this.#letMove();
    this.deadlines.expire(now.monotonicMs);
    if (upstream === undefined) this.attachments.closeOverdue(now.monotonicMs);
    else if (now.monotonicMs - this.#toldMs >= this.options.timing.heartbeatMs) this.#tell(upstream);
  }

  #letMove(): void {
    for (const attachment of this.#movable) {
      this.#letGo(attachment, 'This member has no place; the session goes on elsewhere');
    }
    this.#movable.clear();
  }

  #letGo(attachment: number, reason: string): void {
    const session = this.attachments.get(attachment)?.session;
    if (session !== undefined) this.attachments.lost(session, 'UNAVAILABLE', reason);
  }

  /** The leader's answer to something that was asked. */
  fromLeader(message: Extract<RequestMessage, { kind: 'syncReply' | 'revalidated' | 'sessionMoved' }>): void {
    if (message.kind === 'syncReply') this.syncs.reply(message.seq, message.zxid, this.state.tree.lastZxid);
    else if (message.kind === 'revalidated') this.claims.reply(message);
    else this.attachments.lost(message.session, 'SESSION_MOVED', 'The session is attached to another member now');
  }

  /** A snapshot replaced the tree, which is at `zxid`. */
  treeReplaced(zxid: Zxid): void {
    const { sessions } = this.state.tree;
    this.outstanding.jumped();
    this.syncs.applied(zxid);
    this.attachments.jumped((session) => sessions.get(session) !== undefined);
  }

  /** P11: whoever was heard from is made known to the leader with the next heartbeat. */
  #tell(upstream: Upstream): void {
    const nowMs = this.host.now().monotonicMs;
    this.#toldMs = nowMs;
    const sessions = this.attachments.takeHeard(nowMs);
    if (sessions.length > 0) upstream.send({ kind: 'touch', sessions });
  }
}
