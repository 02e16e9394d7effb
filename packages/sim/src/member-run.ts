/**
 * One run of a member, from its start to its crash: the queue of events, turns of random length, each event one step of
 * the core, and its actions carried out in order on the simulated network, disk and clients. It does what the server's
 * driver does, and can end between any two actions.
 */
import type { PeerAction, PeerEvent, QuorumPeer } from '@quorate/core';
import { type Sid, unreachable } from '@quorate/protocol';
import type { SimStore } from '@quorate/storage/testing';
import type { Front } from './clients/front.ts';
import type { MemberClock } from './clock.ts';
import type { DiskDrive } from './disk-drive.ts';
import type { MemberKnobs } from './knobs.ts';
import type { Network } from './network.ts';
import { type Observation, type StatusView, Violation } from './observation.ts';
import type { Plant, PlantSite } from './planted/plant.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';
import type { Watcher } from './watcher.ts';

/** What surrounds a member, the same in all its runs. */
export interface Surroundings {
  readonly sid: Sid;
  readonly knobs: MemberKnobs;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly network: Network;
  readonly drive: DiskDrive;
  readonly front: Front;
  readonly observe: (observation: Observation) => void;
  readonly clock: MemberClock;
  readonly watcher: Watcher;
  /** The first txn after a zxid in the log that this member has handed to its disk. */
  readonly nextLogged: PlantSite['nextLogged'];
}

export interface MemberRunOptions {
  readonly number: number;
  readonly peer: QuorumPeer;
  readonly store: SimStore;
  readonly plant: Plant | undefined;
  /** The run has ended by its own doing: an assertion, a failed disk, a `fail` action. */
  readonly failed: (error: unknown) => void;
  /** Its disk has failed: it goes on without one until it is made anew. */
  readonly diskFailed: (reason: string) => void;
  /** It has ended as it was told to. */
  readonly stopped: () => void;
  /** A crash that was planned for between two actions has come due. */
  readonly crash: () => void;
}

/** Calls of operators, not of clients, have numbers from here on; nobody waits for their answers. */
export const MOVE_CALLS = 2 ** 40;

/** Watches what a member does, to strike at a chosen moment: asked before each action. */
export type Aim = (action: PeerAction) => boolean;

export class MemberRun {
  readonly number: number;
  isOver = false;
  /** A turn may wait for this much longer than it would, µs: a member that is short of processor time. */
  lateUs = 0;
  readonly #around: Surroundings;
  readonly #options: MemberRunOptions;
  readonly #startedUs: number;
  readonly #inbox: PeerEvent[] = [];
  /** Streams of the state that are being sent. */
  readonly #streams = new Set<number>();
  readonly #site: PlantSite;
  #shown: StatusView | undefined;
  #isTurnPlanned = false;
  #hasTick = false;
  #isPaused = false;
  #lastLink = 0;
  #crashIn: number | undefined;
  #aim: { readonly aim: Aim; readonly strike: () => void } | undefined;

  constructor(around: Surroundings, options: MemberRunOptions) {
    this.number = options.number;
    this.#around = around;
    this.#options = options;
    this.#startedUs = around.schedule.nowUs;
    this.#site = {
      sid: around.sid,
      random: around.random,
      nextLogged: around.nextLogged,
      inject: (event) => this.deliver(event),
      status: () => this.status,
    };
  }

  get status(): StatusView {
    return viewOf(this.#options.peer);
  }

  /** Its monotonic clock, ms. */
  get clockMs(): number {
    return this.#around.clock.monotonicMs(this.#startedUs);
  }

  /** Carries out what recovery gave, and begins to live. */
  begin(actions: readonly PeerAction[]): void {
    this.#around.watcher.started();
    this.#carryOut(actions);
    this.#tick();
  }

  /** Puts an event into the queue. */
  deliver(event: PeerEvent): void {
    if (this.isOver) return;
    this.#inbox.push(event);
    this.#planTurn();
  }

  /** A new link's number. */
  nextLink(): number {
    this.#lastLink += 1;
    return this.#lastLink;
  }

  /** Takes no event until `resume`; its clock goes on. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#inbox.length > 0) this.#planTurn();
  }

  /** Lets `strike` happen right before the first action for which `aim` holds. */
  aimAt(aim: Aim, strike: () => void): void {
    this.#aim = { aim, strike };
  }

  /** Crashes after `count` more actions. */
  crashAfter(count: number): void {
    this.#crashIn = count;
  }

  #tick(): void {
    if (this.isOver) return;
    if (!this.#hasTick) {
      this.#hasTick = true;
      this.deliver({ kind: 'tick' });
    }
    const { schedule, clock, knobs } = this.#around;
    schedule.after(clock.virtualUs(knobs.tickUs), () => this.#tick());
  }

  #planTurn(): void {
    if (this.#isTurnPlanned || this.#isPaused) return;
    this.#isTurnPlanned = true;
    const { schedule, random, knobs } = this.#around;
    schedule.after(random.between(0, knobs.busyMaxUs + this.lateUs), () => {
      this.#isTurnPlanned = false;
      if (this.isOver || this.#isPaused) return;
      this.#turn();
      if (!this.isOver && this.#inbox.length > 0) this.#planTurn();
    });
  }

  /** One turn, as the driver takes it: some events, then `turnEnded`. Time stands still in it. */
  #turn(): void {
    const { random, knobs } = this.#around;
    const count = random.between(1, knobs.turnEventsMax);
    for (let i = 0; i < count && !this.isOver; i += 1) {
      const event = this.#inbox.shift();
      if (event === undefined) break;
      if (event.kind === 'tick') this.#hasTick = false;
      this.#showTold(event);
      const said = this.#around.watcher.before(event);
      if (said !== undefined) this.#step(said);
      for (const seen of this.#options.plant?.event?.(event, this.#site) ?? [event]) this.#step(seen);
    }
    this.#step({ kind: 'turnEnded' });
    if (!this.isOver) this.#showStatus();
  }

  #showTold(event: PeerEvent): void {
    if (event.kind !== 'peerMessage' || event.message.kind !== 'touch') return;
    const { network, sid, observe } = this.#around;
    if (!network.isCurrent(sid, event.sid, event.link)) return;
    observe({ kind: 'told', sid, from: event.sid, sessions: event.message.sessions });
  }

  /** Most turns change nothing that anybody looks at. */
  #showStatus(): void {
    const { status } = this;
    if (this.#shown !== undefined && isSame(status, this.#shown)) return;
    this.#shown = status;
    this.#around.observe({ kind: 'status', sid: this.#around.sid, run: this.number, status });
  }

  #step(event: PeerEvent): void {
    if (this.isOver) return;
    const time = { monotonicMs: this.clockMs, wallMs: this.#around.clock.wallMs };
    const now = this.#options.plant?.now?.(time, event, this.#site) ?? time;
    let actions: readonly PeerAction[];
    try {
      actions = this.#options.peer.step(event, now);
    } catch (error) {
      this.#options.failed(error);
      return;
    }
    this.#carryOut(actions);
  }

  #carryOut(actions: readonly PeerAction[]): void {
    for (const action of actions) {
      if (this.#isForWatcher(action)) continue;
      for (const carried of this.#options.plant?.action?.(action, this.#site) ?? [action]) {
        if (this.#aim?.aim(carried) === true) {
          const { strike } = this.#aim;
          this.#aim = undefined;
          strike();
        }
        if (this.#crashIn !== undefined) {
          if (this.#crashIn === 0) this.#options.crash();
          else this.#crashIn -= 1;
        }
        if (this.isOver) return;
        this.#one(carried);
      }
    }
  }

  /** What only the watcher sees counts as nothing that the member does: no plan and no crash goes by it. */
  #isForWatcher(action: PeerAction): boolean {
    if (action.kind !== 'feedPiece' && action.kind !== 'feedEnded') return action.kind === 'turnWanted';
    const news = this.#around.watcher.take(action);
    if (news === undefined) return true;
    const { tree } = this.#options.peer;
    const { lastZxid: zxid, znodeCount: znodes } = tree;
    this.#around.observe({ kind: 'watched', sid: this.#around.sid, run: this.number, ...news, zxid, znodes });
    return true;
  }

  #one(action: PeerAction): void {
    const { network, drive, front, observe, sid } = this.#around;
    switch (action.kind) {
      case 'send':
        observe({ kind: 'sent', from: sid, run: this.number, to: action.sid, message: action.message });
        network.send(sid, action.link, action.sid, action.message);
        break;
      case 'closeLink':
        network.close(sid, action.sid, action.link);
        break;
      case 'persist':
        observe({ kind: 'issued', sid, command: action.command });
        drive.carryOut(action);
        break;
      case 'checkpointPut':
      case 'checkpointCommit':
      case 'checkpointAbort':
      case 'openState':
        drive.carryOut(action);
        break;
      case 'closeState':
        this.#streams.delete(action.stream);
        drive.carryOut(action);
        break;
      case 'sendState':
        this.#streams.add(action.stream);
        this.#sendState(action);
        break;
      case 'answer':
        if (action.callId < MOVE_CALLS) front.take(action);
        break;
      case 'sessionReady':
      case 'sessionAlive':
      case 'notify':
      case 'closeAttachment':
        front.take(action);
        break;
      case 'turnWanted':
      case 'feedPiece':
      case 'feedEnded':
      case 'statusChanged':
        break;
      case 'leaderMoved':
        observe({ kind: 'traced', sid, name: action.kind, fields: { leader: action.leader } });
        break;
      case 'stopped':
        this.#options.stopped();
        break;
      case 'diskFailed':
        this.#options.diskFailed(action.reason);
        break;
      case 'fail':
        this.#options.failed(action.reason);
        break;
      case 'warning':
        break;
      // Nothing here alters a tree: a member that differs from the others is a violation, not a case to be gone through.
      case 'rebuild':
      case 'alarm':
        this.#options.failed(action.reason);
        break;
      case 'trace':
        observe({ kind: 'traced', sid, name: action.name, fields: action.fields });
        break;
      default:
        unreachable(action);
    }
  }

  /** Sends the next page of a stream, then plans the one after it, while the link and the stream last. */
  #sendState(action: Extract<PeerAction, { kind: 'sendState' }>): void {
    const { schedule, drive, network, sid, knobs } = this.#around;
    const { stream, sid: to, link } = action;
    schedule.after(drive.readUs(), () => {
      if (this.isOver || !this.#streams.has(stream) || !network.isCurrent(sid, to, link)) return;
      try {
        const page = this.#options.store.readStateNow(stream, knobs.chunkBytes);
        if (page.records.length > 0) network.send(sid, link, to, { kind: 'stateChunk', records: page.records });
        if (page.done) this.deliver({ kind: 'stateSent', stream });
        else this.#sendState(action);
      } catch (error) {
        if (error instanceof Violation) throw error;
        this.deliver({ kind: 'stateFailed', stream, reason: String(error) });
      }
    });
  }
}

/** What the checkers want to know of a member's status. */
export function viewOf(peer: QuorumPeer): StatusView {
  const { role, phase, epoch, leader, lastZxid, committed, digest, serving, hasQuorum, voteRight } = peer.status;
  return { role, phase, epoch, leader, lastZxid, committed, digest, serving, hasQuorum, voteRight };
}

function isSame(a: StatusView, b: StatusView): boolean {
  return (
    a.lastZxid === b.lastZxid &&
    a.committed === b.committed &&
    a.digest === b.digest &&
    a.role === b.role &&
    a.phase === b.phase &&
    a.epoch === b.epoch &&
    a.leader === b.leader &&
    a.serving === b.serving &&
    a.hasQuorum === b.hasQuorum &&
    a.voteRight === b.voteRight
  );
}
