/**
 * One call of a client, from the moment it comes in: who it is, whether it can be legal, its place in its session's line,
 * and then its way: a read from the tree, a sync or linearizable read by way of the leader's word, a write into the
 * history. Every call taken is answered exactly once (P2).
 */
import {
  type Answer,
  assert,
  type Identity,
  isListingKind,
  isReadKind,
  isWatchKind,
  type ListingOp,
  NO_SESSION,
  type Op,
  type OpResult,
  type ReadOp,
  type WatchOp,
  type Zxid,
} from '@quorate/protocol';
import type { Call } from '../peer/events.ts';
import type { Txn } from '../tree/txn.ts';
import type { Entry } from './entry.ts';
import type { Listings } from './listings.ts';
import { readAnswer, writeAnswer } from './reads.ts';
import { type Refusal, refusal, refusalForGood, refused } from './refusal.ts';
import type { Place } from './session-order.ts';
import { isSameToken } from './session-token.ts';
import { guardsFault, opFault } from './validate.ts';
import { watchAnswer, watcherFault, withWatch } from './watch-calls.ts';

/** What is known of a call's session when it comes in. */
type Standing =
  | { readonly kind: 'none' }
  | { readonly kind: 'known' }
  /** Not in this member's tree: another member may have opened it a moment ago, so the leader is asked. */
  | { readonly kind: 'unknown'; readonly token: Uint8Array }
  | { readonly kind: 'refused'; readonly reason: Refusal };

/** What is answered from the tree of this member. */
type LocalOp = ReadOp | ListingOp | WatchOp;

type OrderedCallOp = Exclude<Op, LocalOp | { kind: 'sync' }>;

const NOBODY: readonly Identity[] = [];

const LEFT = refusal('UNAVAILABLE', 'Cannot write: the connection that it came by is gone; it was not applied');
const STOPPING = refusalForGood('This member is stopping; nothing was done');

export class Calls {
  readonly #entry: Entry;
  readonly #listings: Listings;

  constructor(entry: Entry, listings: Listings) {
    this.#entry = entry;
    this.#listings = listings;
  }

  take(call: Call): void {
    const { attachments, order, isStopping } = this.#entry;
    const standing = this.#standing(call);
    // Whoever cannot show that the session is his does not even get into its line.
    if (standing.kind === 'refused') return this.#answerNow(call, standing.reason);
    if (standing.kind === 'known') attachments.heardSession(call.session);
    if (this.#isOverrun(call)) return;
    const fault = isStopping ? STOPPING : (formFault(call) ?? this.#throttle(call));
    const isBarrier = fault === undefined && (needsLeaderFirst(call, standing) || this.#needsOrder(call));
    const { callId, session, attachment } = call;
    const place = order.join({ callId, session, attachment, isBarrier });
    if (fault !== undefined) this.#fail(place, fault);
    else if (standing.kind === 'unknown') this.#gate(place, call, () => this.#check(place, call, standing.token));
    else this.#start(place, call);
  }

  #standing(call: Call): Standing {
    const { session, attachment, token } = call;
    const { attachments, state } = this.#entry;
    const known = state.tree.sessions.get(session);
    if (attachment !== 0) {
      if (attachments.get(attachment)?.session === session) return { kind: 'known' };
      if (session === NO_SESSION && attachments.isConnected(attachment)) return { kind: 'none' };
      if (known === undefined) return expired('Cannot take the call: its session has ended');
      const reason = refusal('SESSION_MOVED', 'Cannot take the call: its session is not attached by this connection');
      return { kind: 'refused', reason };
    }
    if (session === NO_SESSION) return { kind: 'none' };
    if (token === undefined) return expired('Cannot take the call: it names a session without its token');
    if (known === undefined) return { kind: 'unknown', token };
    return isSameToken(known.token, token)
      ? { kind: 'known' }
      : expired('Cannot take the call: the session is not yours');
  }

  /** Far past every bound: a client that is told to hold back and does not is let go, or its answers would pile up. */
  #isOverrun(call: Call): boolean {
    const { order, options, host } = this.#entry;
    if (order.held < 2 * options.limits.outstandingMax || order.isIdle(call.session)) return false;
    this.#answerNow(call, throttled(order.held));
    if (call.attachment !== 0) {
      this.#entry.detached(call.attachment);
      host.closeAttachment(call.attachment, 'THROTTLED', 'Too many calls wait for answers', false);
    }
    return true;
  }

  /** A call that would have to wait, when as many wait as may. */
  #throttle(call: Call): Refusal | undefined {
    const { order, options } = this.#entry;
    if (order.held < options.limits.outstandingMax) return undefined;
    const isAnsweredAtOnce = isRead(call.op) && !call.linearizable && order.isIdle(call.session);
    return isAnsweredAtOnce ? undefined : throttled(order.held);
  }

  /** Begins when no barrier stands ahead; waits for that no longer than its deadline. */
  #gate(place: Place, call: Call, begin: () => void): void {
    const { order, deadlines } = this.#entry;
    const late = {
      deadlineMs: call.deadlineMs,
      expire: () => this.#fail(place, refusal('UNAVAILABLE', 'The deadline passed before the call could begin')),
    };
    order.begin(place, () => {
      deadlines.remove(late);
      begin();
    });
    if (place.begin !== undefined) deadlines.add(late);
  }

  #check(place: Place, call: Call, token: Uint8Array): void {
    const { claims, askClaim, placeFault } = this.#entry;
    if (placeFault !== undefined) return this.#refuse(place, placeFault);
    const { session, deadlineMs } = call;
    const waiter = {
      valid: () => this.#proceed(place, call, false),
      failed: (reason: Refusal) => this.#fail(place, reason),
    };
    claims.ask({ session, token, own: false, deadlineMs }, waiter, askClaim);
  }

  #start(place: Place, call: Call): void {
    if (isRead(call.op) || call.op.kind === 'sync') this.#proceed(place, call, call.session !== NO_SESSION);
    else this.#gate(place, call, () => this.#proceed(place, call, true));
  }

  /** `isKnown`: the session was in the tree, so that a read that finds it gone knows that it has ended. */
  #proceed(place: Place, call: Call, isKnown: boolean): void {
    const { op } = call;
    const { placeFault } = this.#entry;
    if (placeFault !== undefined && !(isRead(op) && !call.linearizable)) return this.#refuse(place, placeFault);
    if (isRead(op)) {
      const answer = (): Answer => this.#read(call, op, isKnown);
      if (!isWatch(op) && this.#needsOrder(call)) this.#order(place, call, op, answer);
      else this.#answer(place, call, answer);
    } else if (op.kind === 'sync') {
      const result: OpResult = { kind: 'sync', path: op.path };
      this.#sync(place, call, () => ({ zxid: this.#applied, result }));
    } else this.#write(place, call, op);
  }

  /** True when children have to be put in order before the call can be answered without a pause. */
  #needsOrder({ op, listBytesMax }: Call): boolean {
    if (!isRead(op) || isWatch(op) || !this.#listings.mustWait(op)) return false;
    const isRefused =
      op.kind === 'getChildren' &&
      listBytesMax !== undefined &&
      (this.#entry.state.tree.znode(op.path)?.leastListBytes ?? 0) > listBytesMax;
    return !isRefused;
  }

  #order(place: Place, call: Call, op: ReadOp | ListingOp, answer: () => Answer): void {
    this.#listings.wait(op, call.deadlineMs, {
      reached: () => this.#answer(place, call, answer),
      failed: (reason) => this.#fail(place, reason),
    });
  }

  #answer(place: Place, call: Call, answer: () => Answer): void {
    if (call.linearizable) this.#sync(place, call, answer);
    else this.#entry.order.ready(place, answer);
  }

  #read(call: Call, op: LocalOp, isKnown: boolean): Answer {
    const { state, host } = this.#entry;
    const fault = host.readFault(call.isStaleAllowed);
    if (fault !== undefined) return refused(fault, this.#applied);
    if (isKnown && state.tree.sessions.get(call.session) === undefined) {
      return refused(refusal('SESSION_EXPIRED', 'Cannot read: the session has ended'), this.#applied);
    }
    return this.#answerHere(call, op);
  }

  #answerHere(call: Call, op: LocalOp): Answer {
    const { state, watches, attachments } = this.#entry;
    const { session, identities = NOBODY, listBytesMax } = call;
    if (isListing(op)) return this.#listings.page(op, identities);
    // A client that has gone meanwhile is told nothing more.
    const attachment = attachments.isConnected(call.attachment) ? call.attachment : 0;
    const watcher = { attachment, identities };
    if (isWatch(op)) return watchAnswer(watches, state.tree, watcher, op);
    const isWatching = 'watch' in op && op.watch === true;
    const fault = isWatching ? watcherFault(call.attachment) : undefined;
    if (fault !== undefined) return refused(fault, this.#applied);
    const answer = readAnswer(state.tree, op, session, identities, listBytesMax);
    return isWatching && attachment !== 0 ? withWatch(watches, watcher, op, answer) : answer;
  }

  #sync(place: Place, call: Call, answer: () => Answer): void {
    const { order, syncs } = this.#entry;
    syncs.ask(call.deadlineMs, {
      reached: () => order.ready(place, answer),
      failed: (reason) => this.#fail(place, reason),
    });
  }

  #write(place: Place, call: Call, op: OrderedCallOp): void {
    const { session, attachment, numbered, guards, identities, deadlineMs } = call;
    // P10: it may have waited behind others while its client went on elsewhere; its old writes must not come after its new ones.
    if (attachment !== 0 && !this.#entry.attachments.isConnected(attachment)) return this.#fail(place, LEFT);
    const full = this.#entry.outstanding.add(
      { session, attachment, numbered, op, guards, identities, deadlineMs },
      {
        delivered: (zxid, txn) => this.#delivered(place, zxid, txn),
        failed: (reason) => this.#fail(place, reason),
      },
    );
    if (full !== undefined) this.#fail(place, full);
  }

  #delivered(place: Place, zxid: Zxid, txn: Txn): void {
    const { order, state, attachments, host } = this.#entry;
    assert(order.isFirst(place), () => `P1: write ${place.callId} is done before a call ahead of it in its line`);
    order.ready(place, () => writeAnswer(state.tree, zxid, txn));
    const isMoved = txn.body.kind === 'error' && txn.body.code === 'SESSION_MOVED';
    if (!isMoved || attachments.get(place.attachment)?.session !== place.session) return;
    this.#entry.detached(place.attachment);
    host.closeAttachment(place.attachment, 'SESSION_MOVED', 'The session is attached to another member now', false);
  }

  #fail(place: Place, reason: Refusal): void {
    this.#entry.order.ready(place, () => refused(reason, this.#applied));
  }

  #refuse(place: Place, placeFault: Refusal): void {
    this.#fail(place, placeFault);
    this.#entry.refusedForPlace(place.attachment);
  }

  #answerNow(call: Call, reason: Refusal): void {
    this.#entry.host.answer(call.callId, refused(reason, this.#applied));
  }

  get #applied(): Zxid {
    return this.#entry.state.tree.lastZxid;
  }
}

function formFault({ op, session, guards }: Call): Refusal | undefined {
  return opFault(op, session) ?? (guards === undefined ? undefined : guardsFault(guards));
}

function isRead(op: Op): op is LocalOp {
  return isReadKind(op.kind) || isListingKind(op.kind) || isWatchKind(op.kind);
}

function isListing(op: LocalOp): op is ListingOp {
  return isListingKind(op.kind);
}

function isWatch(op: LocalOp): op is WatchOp {
  return isWatchKind(op.kind);
}

/** It puts nothing into the history and yet has to hear from the leader: what `session-order.ts` calls a barrier. */
function needsLeaderFirst(call: Call, standing: Standing): boolean {
  return standing.kind === 'unknown' || call.op.kind === 'sync' || (call.linearizable && isRead(call.op));
}

function expired(message: string): Standing {
  return { kind: 'refused', reason: refusal('SESSION_EXPIRED', message) };
}

function throttled(held: number): Refusal {
  return refusal('THROTTLED', `Cannot take the call: ${held} calls wait for answers`);
}
