/**
 * Owns one core: feeds it events one at a time, carries its actions out in order, and reports every completion. It
 * decides nothing: what must wait for the disk is the core's to know.
 *
 * Events gather until the loop has read all that is at hand; then one turn takes them all, if they don't take too long, says
 * `turnEnded`, and each connection gets one write. A broken invariant ends the member (C167): `onFatal` is called once and nothing happens
 * after it. A failed disk ends the run of a core; another one may be started in its place.
 */
import type { MemberStatus, Now, PeerAction, PeerEvent, SessionInspector, WatchInspector } from '@quorate/core';
import { type ErrorCode, type Notification, type SessionId, unreachable } from '@quorate/protocol';
import type { MemberStore, StoreEvents } from '@quorate/storage';
import { Calls } from './calls.ts';
import { FeedReaders } from './feed-readers.ts';
import { Intake } from './intake.ts';
import type { Log } from './logging.ts';
import type { Links } from './peers/links.ts';
import { StateSender } from './state-sender.ts';

/** What the driver needs of a core. */
export interface Core {
  step(event: PeerEvent, now: Now): readonly PeerAction[];
  readonly status: MemberStatus;
  readonly sessions: SessionInspector;
  readonly watches: WatchInspector;
}

/** A stream or socket that a session is attached to. */
export interface Attachment {
  /** End of a turn in which it was answered: write. */
  flush(): void;
  /**
   * Its session has ended or moved, or this member cannot serve it: say so and end. `isIdle`: what came by it and has no answer
   * is not carried out any more.
   */
  close(code: ErrorCode, reason: string, isIdle: boolean): void;
  /** What its watches are told: after what was answered before, and before what is answered later. */
  notify(notifications: readonly Notification[]): void;
}

export interface DriverOptions {
  readonly links: Pick<Links, 'send' | 'flush' | 'close' | 'get' | 'hold'>;
  readonly log: Log;
  /** Called once when the member cannot go on; the process must end. */
  readonly onFatal: (reason: string) => void;
  /** The core has given its place up, for its store has failed. It still answers reads; another one may be started. */
  readonly onDiskFailed: (reason: string) => void;
  /** The core has given its place up, for its memory cannot be trusted; it answers nothing. See the action `rebuild`. */
  readonly onRebuild: (reason: string, isDiskWrong: boolean) => void;
  /** The member's place has changed. At most once a turn. */
  readonly onStatus: () => void;
  /** `stop` has been answered. */
  readonly onStopped: () => void;
  /** A turn begins no other event after this time, ms; TURN_MS. */
  readonly turnMs?: number;
}

/** Events of one turn; what is beyond waits for the next one, so that answers are not held back. */
const TURN_EVENTS_MAX = 4_096;

/**
 * Nor does a turn begin another event after this time, ms: what is done with one may take a hundred times as long as with
 * another, and the loop has more to do than turns.
 */
const TURN_MS = 5;

/** The core is told that time has passed this often, ms. */
const TICK_MS = 50;

/** Reads both clocks. */
export function readClocks(): Now {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

export class Driver {
  readonly calls = new Calls();
  readonly feeds = new FeedReaders();
  readonly #options: DriverOptions;
  readonly #attachments = new Map<number, Attachment>();
  /** Attachments that were answered in this turn. */
  readonly #answered = new Set<Attachment>();
  #stateSender: StateSender | undefined;
  readonly #intake: Intake;
  #core: Core | undefined;
  #store: MemberStore | undefined;
  #isScheduled = false;
  #isOver = false;
  #hasStatusChanged = false;
  #lastAttachment = 0;
  /** Number of the store whose reports count. */
  #run = 0;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#intake = new Intake(options.links, () => this.#store?.stats.queuedBytes ?? 0);
  }

  /** What the next store reports goes here; from now on no earlier one is listened to. */
  newRun(): StoreEvents {
    const run = ++this.#run;
    const post = (event: PeerEvent): void => {
      if (run === this.#run) this.post(event);
    };
    return {
      persisted: (ticket) => post({ kind: 'persisted', ticket }),
      failed: (reason) => post({ kind: 'storageFailed', reason }),
      checkpointReady: () => post({ kind: 'checkpointReady' }),
      checkpointWritten: (zxid) => post({ kind: 'checkpointWritten', zxid }),
      stateOpened: (stream, zxid) => post({ kind: 'stateOpened', stream, zxid }),
      stateFailed: (stream, reason) => post({ kind: 'stateFailed', stream, reason }),
    };
  }

  /**
   * Takes a recovered core into service, the first or one in the place of another, whose clients and links are to be let go
   * first: it knows of none. `first` are the actions that recovery gave.
   */
  start(core: Core, store: MemberStore, first: readonly PeerAction[]): void {
    this.#intake.filter(({ kind }) => !STORE_EVENTS.has(kind));
    this.#core = core;
    this.#store = store;
    this.#stateSender = this.#newStateSender(store);
    this.#intake.relieve();
    this.#guard(() => this.#execute(first));
    clearInterval(this.#ticker);
    this.#ticker = setInterval(() => this.post({ kind: 'tick' }), TICK_MS);
    this.post({ kind: 'tick' });
  }

  /** Undefined before `start`. */
  get status(): MemberStatus | undefined {
    return this.#core?.status;
  }

  /** What there is to know of sessions, now. Undefined before `start`. */
  get sessions(): SessionInspector | undefined {
    return this.#core?.sessions;
  }

  /** What there is to know of the watches that connections have here, now. Undefined before `start`. */
  get watches(): WatchInspector | undefined {
    return this.#core?.watches;
  }

  /** Hands an event to the core, in the next turn. */
  post(event: PeerEvent): void {
    if (this.#isOver) return;
    this.#intake.push(event);
    this.#schedule();
  }

  /** A new attachment's number. */
  attach(attachment: Attachment): number {
    this.#attachments.set(++this.#lastAttachment, attachment);
    return this.#lastAttachment;
  }

  /** The stream or socket is gone: nothing more goes to it. */
  detach(number: number): void {
    if (this.#attachments.delete(number)) this.post({ kind: 'detached', attachment: number });
  }

  /** Asks for a flush of an attachment at the end of this turn. */
  answered(attachment: Attachment): void {
    this.#answered.add(attachment);
  }

  get attachments(): number {
    return this.#attachments.size;
  }

  /** Closes every attachment, and ends every watch, with the same word. */
  closeAttachments(code: ErrorCode, reason: string): void {
    for (const attachment of [...this.#attachments.values()]) attachment.close(code, reason, false);
    this.feeds.endAll(code, reason);
  }

  /** Nothing happens after this. Idempotent. */
  halt(): void {
    this.#isOver = true;
    this.#intake.clear();
    clearInterval(this.#ticker);
  }

  /** Of this run: a stream of an earlier one may have the same number. */
  #newStateSender(store: MemberStore): StateSender {
    const run = this.#run;
    return new StateSender(store, this.#options.links, (event) => {
      if (run === this.#run) this.post(event);
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#core === undefined) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    if (this.#isOver) return;
    this.#guard(() => this.#runTurn());
    if (this.#intake.length > 0) this.#schedule();
  };

  #runTurn(): void {
    const now = readClocks();
    // What is posted meanwhile waits for the next turn.
    const { turnMs = TURN_MS } = this.#options;
    for (let left = Math.min(this.#intake.length, TURN_EVENTS_MAX); left > 0; left--) {
      const event = this.#intake.shift();
      if (event === undefined) break;
      this.#step(event, now);
      if (this.#isOver) return;
      if (event.kind === 'persisted') this.#intake.relieve();
      if (performance.now() - now.monotonicMs >= turnMs) break;
    }
    this.#step({ kind: 'turnEnded' }, now);
    if (this.#isOver) return;
    this.#options.links.flush();
    for (const attachment of this.#answered) attachment.flush();
    this.#answered.clear();
    if (this.#hasStatusChanged) {
      this.#hasStatusChanged = false;
      this.#options.onStatus();
    }
  }

  #step(event: PeerEvent, now: Now): void {
    const actions = this.#core?.step(event, now) ?? [];
    if (actions.length > 0) this.#execute(actions);
  }

  /** An error in the core, or in carrying out what it asked for, leaves a state that nobody can vouch for. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail((error as Error).stack ?? String(error));
    }
  }

  #fail(reason: string): void {
    if (this.#isOver) return;
    this.halt();
    this.#options.onFatal(reason);
  }

  #execute(actions: readonly PeerAction[]): void {
    for (const action of actions) {
      this.#one(action);
      if (this.#isOver) return;
    }
  }

  #one(action: PeerAction): void {
    switch (action.kind) {
      case 'send':
        return this.#options.links.send(action.sid, action.link, action.message);
      case 'closeLink':
        return this.#options.links.close(action.sid, action.link, action.reason);
      case 'answer':
        return this.calls.answer(action.callId, action.answer);
      case 'sessionReady':
        return this.calls.sessionReady(action.callId, action);
      case 'sessionAlive':
        return this.calls.sessionAlive(action.callId, action.timeoutMs);
      case 'leaderMoved':
        return this.calls.leaderMoved(action.callId, action.leader);
      case 'closeAttachment':
        this.#attachments.get(action.attachment)?.close(action.code, action.reason, action.isIdle);
        return;
      case 'notify':
        this.#attachments.get(action.attachment)?.notify(action.notifications);
        return;
      case 'feedPiece':
        if (!this.feeds.piece(action.feed, action.piece)) this.post({ kind: 'feedClosed', feed: action.feed });
        return;
      case 'feedEnded':
        return this.feeds.ended(action.feed, action);
      case 'turnWanted':
        return this.#schedule();
      case 'statusChanged':
        this.#hasStatusChanged = true;
        return;
      case 'stopped':
        return this.#options.onStopped();
      case 'diskFailed':
        return this.#options.onDiskFailed(action.reason);
      case 'warning':
        return this.#options.log.warn('warning', { reason: action.reason });
      case 'alarm':
        return this.#options.log.error('alarm', { reason: action.reason });
      case 'rebuild':
        return this.#options.onRebuild(action.reason, action.isDiskWrong);
      case 'fail':
        return this.#fail(action.reason);
      case 'trace':
        return this.#options.log[WARNED.has(action.name) ? 'warn' : 'info'](action.name, action.fields);
      default:
        return this.#storage(action);
    }
  }

  #storage(action: Extract<PeerAction, { kind: StorageAction }>): void {
    const store = this.#store;
    if (store === undefined) throw new Error('The core asked for the disk before the driver was started');
    switch (action.kind) {
      case 'persist':
        return store.submit(action.ticket, action.command);
      case 'checkpointPut':
        return store.checkpointPut(action.records);
      case 'checkpointCommit':
        return store.checkpointCommit(action.zxid);
      case 'checkpointAbort':
        return store.checkpointAbort();
      case 'openState':
        return store.openState(action.stream);
      case 'sendState':
        return this.#stateSender?.send(action);
      case 'closeState':
        return this.#stateSender?.close(action.stream);
      default:
        return unreachable(action);
    }
  }
}

/** What the core tells in passing, and operators should see. */
const WARNED: ReadonlySet<string> = new Set(['epochNearlyUsedUp']);

/** What a store reports, or what is sent from it. */
const STORE_EVENTS: ReadonlySet<PeerEvent['kind']> = new Set([
  'persisted',
  'storageFailed',
  'checkpointReady',
  'checkpointWritten',
  'stateOpened',
  'stateSent',
  'stateFailed',
]);

type StorageAction =
  | 'persist'
  | 'checkpointPut'
  | 'checkpointCommit'
  | 'checkpointAbort'
  | 'openState'
  | 'sendState'
  | 'closeState';

/** Session ids that events carry. */
export type { SessionId };
