/**
 * One member, whole: the agreement, the tree and the pipeline, put together. `step` takes one event and returns what the
 * driver has to do about it; it never waits and knows no clock, disk or socket. This file only routes; each subject has a
 * file of its own: routing.ts (where the leader is), zab-host.ts (what the agreement asks), checkpointing.ts, and the
 * parts in `pipeline/`. A broken invariant throws AssertionError out of `step`: the driver must end the process.
 */
import { type Answer, assert, formatZxid, unreachable } from '@quorate/protocol';
import { Calls } from '../pipeline/calls.ts';
import type { CurrentTree } from '../pipeline/current-tree.ts';
import { Entry, type EntryHost } from '../pipeline/entry.ts';
import { Feeds, type FeedsHost, type FeedsOptions } from '../pipeline/feeds.ts';
import { Listings } from '../pipeline/listings.ts';
import { refusal, refused } from '../pipeline/refusal.ts';
import { SessionCalls } from '../pipeline/session-calls.ts';
import type { DataTree } from '../tree/data-tree.ts';
import { Journal } from '../tree/journal.ts';
import type { ZabRecovered } from '../zab/config.ts';
import { Zab } from '../zab/zab.ts';
import type { PeerAction } from './actions.ts';
import { Checkpointing } from './checkpointing.ts';
import type { MemberConfig } from './config.ts';
import { DiskWatch } from './disk-watch.ts';
import type { Now, PeerEvent } from './events.ts';
import { LeaderMoves } from './leader-moves.ts';
import type { PeerMessage } from './messages.ts';
import { Outbox } from './outbox.ts';
import { Routing, type RoutingZab } from './routing.ts';
import { SessionInspector } from './session-inspector.ts';
import { type MemberStatus, memberStatus } from './status.ts';
import { type Distrust, Trust } from './trust.ts';
import { WatchInspector } from './watch-inspector.ts';
import { MemberZabHost } from './zab-host.ts';

/** A checkpoint is one write of all that has changed since the last one: it may take this many times as long as the log. */
const CHECKPOINT_PATIENCE = 3;

export class QuorumPeer {
  readonly #config: MemberConfig;
  readonly #outbox = new Outbox();
  readonly #state: { tree: DataTree } & CurrentTree;
  readonly #zab: Zab;
  readonly #routing: Routing;
  readonly #entry: Entry;
  readonly #calls: Calls;
  readonly #sessionCalls: SessionCalls;
  readonly #feeds: Feeds;
  readonly #listings: Listings;
  readonly #checkpointing: Checkpointing;
  readonly #moves: LeaderMoves;
  readonly #trust: Trust;
  readonly #logWatch: DiskWatch;
  readonly #checkpointWatch: DiskWatch;
  #now: Now;
  #hasStopped = false;
  #hasFailed = false;
  #hasLeft = false;
  #diskFailed: string | undefined;

  /** `tree` is at `recovered.baseZxid`. Follow with `start`. Made by `Recovery`. */
  constructor(config: MemberConfig, tree: DataTree, recovered: ZabRecovered, now: Now) {
    const { baseZxid } = recovered;
    assert(
      tree.lastZxid === baseZxid,
      () => `Cannot start with a tree at ${formatZxid(tree.lastZxid)} and a log after ${formatZxid(baseZxid)}`,
    );
    this.#config = config;
    this.#now = now;
    this.#state = { tree };
    const { diskStallMs } = config.timing;
    this.#logWatch = new DiskWatch(diskStallMs, now.monotonicMs, 'the log');
    this.#checkpointWatch = new DiskWatch(diskStallMs * CHECKPOINT_PATIENCE, now.monotonicMs, 'a checkpoint');
    const outbox = this.#outbox;
    this.#routing = new Routing(config, this.#routingZab(), outbox, () => this.#entry);
    this.#entry = new Entry(config, this.#state, this.#entryHost());
    this.#listings = new Listings(config, this.#state, this.#entry.deadlines, {
      nowMs: () => this.#now.monotonicMs,
      wantTurn: () => outbox.push({ kind: 'turnWanted' }),
    });
    this.#calls = new Calls(this.#entry, this.#listings);
    this.#sessionCalls = new SessionCalls(this.#entry);
    this.#checkpointing = new Checkpointing(config.limits, this.#state, outbox, (zxid) => this.#zab.checkpointed(zxid));
    const journal = new Journal(config.limits.watchBytesMax, baseZxid);
    this.#feeds = new Feeds(feedsOptions(config), this.#state, journal, this.#feedsHost());
    this.#report(tree);
    const routing = this.#routing;
    this.#trust = new Trust(config, this.#state, { status: () => this.#zab.status }, { routing, outbox });
    const host = new MemberZabHost({
      outbox,
      entry: this.#entry,
      routing,
      checkpointing: this.#checkpointing,
      trust: this.#trust,
      now: () => this.#now,
      replaceTree: (replaced) => {
        this.#state.tree = replaced;
        this.#report(replaced);
        this.#feeds.treeReplaced();
        this.#listings.treeReplaced();
        this.#entry.watches.treeReplaced();
      },
      fail: (reason) => this.#fail(reason),
      hasFailed: () => this.#hasFailed,
    });
    this.#zab = new Zab(config, host, recovered);
    this.#moves = new LeaderMoves(config, {
      standing: () => this.#routing.standing,
      handOver: (to) => this.#zab.handOver(to, this.#now.monotonicMs),
      isHandingOver: () => this.#zab.isHandingOver,
      done: (callId, leader) => outbox.push({ kind: 'leaderMoved', callId, leader }),
      refuse: (callId, reason) => this.#answer(callId, refused(reason, this.#state.tree.lastZxid)),
    });
  }

  /** Delivers what is known to be committed and begins to look for a leader. Called once, first. */
  start(now: Now): readonly PeerAction[] {
    this.#now = now;
    this.#zab.start(now.monotonicMs);
    this.#routing.settle();
    return this.#outbox.take();
  }

  /** Takes one event. Actions are in the order in which they must be carried out. After `fail` nothing happens any more. */
  step(event: PeerEvent, now: Now): readonly PeerAction[] {
    if (this.#hasFailed) return [];
    this.#now = now;
    const isRetired = this.#hasLeft || this.#diskFailed !== undefined;
    if (!isRetired || !isOfTheEnsemble(event)) this.#route(event);
    // What waited for a leader goes out in the very step in which one was found; after a turn's end, with that turn.
    if (this.#routing.settle() && event.kind === 'turnEnded') this.#turnEnded();
    if (this.#trust.distrust !== undefined) this.#leave(this.#trust.distrust);
    this.#moves.settle(now.monotonicMs);
    if (this.#entry.isStopping && !this.#hasStopped && this.#entry.isIdle && !this.#zab.isHandingOver) this.#stop();
    return this.#outbox.take();
  }

  /** The replicated state, for tests and tools. Whoever changes it makes this member differ from the others. */
  get tree(): DataTree {
    return this.#state.tree;
  }

  /** What there is to know of sessions, now. */
  get sessions(): SessionInspector {
    return new SessionInspector(this.#state, (id) => this.#routing.desk?.standingOf(id));
  }

  /** What there is to know of the watches that connections have here, now. */
  get watches(): WatchInspector {
    return new WatchInspector(this.#entry.watches, this.#entry.attachments);
  }

  get status(): MemberStatus {
    const { status } = this.#zab;
    const diskFailed = this.#diskFailed;
    return memberStatus({ config: this.#config, zab: status, entry: this.#entry, routing: this.#routing, diskFailed });
  }

  #route(event: PeerEvent): void {
    const nowMs = this.#now.monotonicMs;
    switch (event.kind) {
      case 'tick':
        this.#zab.tick(nowMs);
        this.#entry.tick();
        this.#routing.tick(this.#now);
        this.#trust.tick(nowMs);
        this.#feeds.tick();
        this.#listings.tick();
        return this.#watchDisk();
      case 'turnEnded':
        return this.#turnEnded();
      case 'linkUp':
        this.#routing.linkUp(event.sid, event.link);
        this.#trust.linkUp(event.sid);
        return this.#zab.linkUp(event.sid, event.link, nowMs);
      case 'linkDown':
        this.#routing.linkDown(event.sid, event.link);
        return this.#zab.linkDown(event.sid, event.link, nowMs);
      case 'peerMessage':
        return this.#message(event.sid, event.link, event.message);
      case 'persisted':
        this.#logWatch.persisted(event.ticket);
        return this.#zab.persisted(event.ticket, nowMs);
      case 'storageFailed':
        return this.#loseDisk(event.reason);
      case 'checkpointReady':
        return this.#checkpointing.ready();
      case 'checkpointWritten':
        return this.#checkpointing.written(event.zxid);
      case 'stateOpened':
        return this.#zab.stateOpened(event.stream, event.zxid, nowMs);
      case 'stateSent':
        return this.#zab.stateSent(event.stream, nowMs);
      case 'stateFailed':
        return this.#zab.stateFailed(event.stream, event.reason, nowMs);
      case 'openSession':
        return this.#sessionCalls.open(event);
      case 'attachSession':
        return this.#sessionCalls.attach(event);
      case 'keepAlive':
        return this.#sessionCalls.keepAlive(event);
      case 'endSession':
        return this.#sessionCalls.end(event);
      case 'heard':
        return this.#entry.attachments.heard(event.attachment);
      case 'detached':
        return this.#entry.detached(event.attachment);
      case 'attachReader':
        this.#entry.attachments.connecting(event.attachment);
        return;
      case 'identified':
        return this.#entry.watches.identified(event.attachment, event.identities);
      case 'call':
        return this.#calls.take(event.call);
      case 'feedOpened':
        return this.#feeds.open(event.feed, event.spec, event.identities);
      case 'feedTaken':
        return this.#feeds.taken(event.feed);
      case 'feedClosed':
        return this.#feeds.closed(event.feed);
      case 'moveLeader':
        return this.#moves.begin(event);
      case 'stop':
        return this.#stopping();
      default:
        unreachable(event);
    }
  }

  #message(sid: number, link: number, message: PeerMessage): void {
    this.#routing.heard(sid, link, this.#now);
    switch (message.kind) {
      case 'forward':
      case 'syncRequest':
      case 'syncReply':
      case 'touch':
      case 'revalidate':
      case 'revalidated':
      case 'sessionMoved':
        return this.#routing.fromPeer(sid, link, message, this.#now);
      case 'compareDigest':
      case 'digestAt':
      case 'digestAgreed':
        return this.#trust.fromPeer(sid, link, message);
      default:
        this.#zab.message(sid, link, message, this.#now.monotonicMs);
    }
  }

  /** Requests first, so that what they become leaves with this very turn. */
  #turnEnded(): void {
    this.#entry.turnEnded();
    this.#routing.desk?.turnEnded(this.#now);
    this.#zab.turnEnded(this.#now.monotonicMs);
    this.#checkpointing.turnEnded();
    this.#feeds.turnEnded();
    this.#listings.turnEnded();
    this.#entry.watches.turnEnded();
  }

  /** Takes no new calls. A leader hands its place over first, and follows while the calls in flight are answered. */
  #stopping(): void {
    if (!this.#entry.isStopping) this.#zab.handOver(undefined, this.#now.monotonicMs, true);
    this.#entry.stop();
  }

  /** Nobody waits for an answer any more: lets the clients go, and the ensemble know at once. */
  #stop(): void {
    this.#hasStopped = true;
    this.#entry.attachments.closeAll('UNAVAILABLE', 'This member is stopping');
    this.#feeds.endAll(refusal('UNAVAILABLE', 'This member is stopping; the watch goes on at another member'));
    if (this.#zab.status.state === 'leading') this.#zab.resign('this member is stopping', this.#now.monotonicMs, true);
    this.#outbox.push({ kind: 'stopped' });
  }

  #watchDisk(): void {
    if (this.#diskFailed !== undefined || this.#hasLeft) return;
    const { monotonicMs } = this.#now;
    const { asked, answered } = this.#checkpointing;
    this.#checkpointWatch.persisted(answered);
    const fault =
      this.#logWatch.tick(monotonicMs, this.#outbox.lastTicket) ?? this.#checkpointWatch.tick(monotonicMs, asked);
    if (fault !== undefined) this.#loseDisk(fault);
  }

  /**
   * The disk failed. What was not reported as durable may or may not be there, so nothing is acknowledged, promised or
   * proposed from now on, and the place goes to the others at once. Whatever waits is told what is known of it.
   */
  #loseDisk(reason: string): void {
    this.#diskFailed = reason;
    this.#outbox.diskFailed();
    this.#zab.retire(`the disk failed: ${reason}`, this.#now.monotonicMs);
    this.#entry.diskFailed(reason);
    this.#moves.abandon();
    this.#outbox.push({ kind: 'diskFailed', reason });
    this.#outbox.push({ kind: 'statusChanged' });
  }

  /**
   * What is in memory here is not what the ensemble agreed on: nothing is answered from it from now on, the place goes to the
   * others, and another member is made from the disk. Whether that one is right shows when trees are compared again.
   */
  #leave({ reason, isDiskWrong }: Distrust): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#routing.leave();
    this.#entry.leave();
    this.#feeds.endAll(refusal('UNAVAILABLE', 'This member has left service; the watch goes on at another member'));
    this.#moves.abandon();
    this.#outbox.push({ kind: 'statusChanged' });
    // Without its disk it has no place to give up, and is made anew in any case.
    if (this.#diskFailed !== undefined) return;
    this.#outbox.diskFailed();
    this.#zab.retire(reason, this.#now.monotonicMs);
    this.#outbox.push({ kind: 'rebuild', reason, isDiskWrong });
  }

  #fail(reason: string): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#outbox.push({ kind: 'fail', reason });
  }

  #report(tree: DataTree): void {
    const { watches } = this.#entry;
    tree.report((...change) => {
      this.#feeds.changed(...change);
      watches.changed(...change);
    });
  }

  #feedsHost(): FeedsHost {
    const outbox = this.#outbox;
    return {
      nowMs: () => this.#now.monotonicMs,
      readFault: () => this.#routing.readFault(this.#now.monotonicMs),
      piece: (feed, piece) => outbox.push({ kind: 'feedPiece', feed, piece }),
      ended: (feed, { code, path, message }) => outbox.push({ kind: 'feedEnded', feed, code, path, message }),
      wantTurn: () => outbox.push({ kind: 'turnWanted' }),
    };
  }

  #routingZab(): RoutingZab {
    return {
      propose: (payload) => this.#zab.propose(payload),
      lastLogged: () => this.#zab.lastLogged,
      committed: () => this.#zab.committed,
      confirmLeadership: () => this.#zab.confirmLeadership(),
      isHeld: () => this.#zab.isHandingOver,
      isLearner: (sid) => this.#zab.isSynced(sid),
    };
  }

  #entryHost(): EntryHost {
    const outbox = this.#outbox;
    return {
      now: () => this.#now,
      upstream: () => this.#routing.upstream,
      readFault: (isStaleAllowed) => this.#routing.readFault(this.#now.monotonicMs, isStaleAllowed),
      answer: (callId, answer) => this.#answer(callId, answer),
      closeAttachment: (attachment, code, reason, isIdle) =>
        outbox.push({ kind: 'closeAttachment', attachment, code, reason, isIdle }),
      sessionReady: (ready) => outbox.push({ kind: 'sessionReady', ...ready }),
      sessionAlive: (callId, timeoutMs) => outbox.push({ kind: 'sessionAlive', callId, timeoutMs }),
      notify: (attachment, notifications) => outbox.push({ kind: 'notify', attachment, notifications }),
      wantTurn: () => outbox.push({ kind: 'turnWanted' }),
    };
  }

  #answer(callId: number, answer: Answer): void {
    const { lastZxid } = this.#state.tree;
    assert(
      answer.zxid <= lastZxid,
      () => `P12: call ${callId} is answered at ${formatZxid(answer.zxid)}, applied is ${formatZxid(lastZxid)}`,
    );
    this.#outbox.push({ kind: 'answer', callId, answer });
  }
}

function feedsOptions({ timing, limits }: MemberConfig): FeedsOptions {
  return { feedsMax: limits.resumableWatchesMax, progressMs: timing.watchProgressMs, stallMs: timing.watchStallMs };
}

/** What a member that has given its place up takes no part in any more; the clock and its clients are still heard. */
function isOfTheEnsemble(event: PeerEvent): boolean {
  switch (event.kind) {
    case 'linkUp':
    case 'linkDown':
    case 'peerMessage':
    case 'persisted':
    case 'storageFailed':
    case 'checkpointReady':
    case 'checkpointWritten':
    case 'stateOpened':
    case 'stateSent':
    case 'stateFailed':
      return true;
    default:
      return false;
  }
}
