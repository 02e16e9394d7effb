/**
 * One member over all its runs: started from what its disk holds through the shipping recovery, crashed, paused, and
 * started again. What a run does is in member-run.ts.
 */
import { type LogRecord, type PeerAction, type PeerEvent, QuorumPeer, Recovery, type StateRecord } from '@quorate/core';
import { firstSessionId, type Sid } from '@quorate/protocol';
import { type SimStore, StorageError } from '@quorate/storage/testing';
import { CLOCK_START_MS } from './clock.ts';
import type { Endpoint } from './connection.ts';
import type { Knobs } from './knobs.ts';
import { type Aim, MemberRun, MOVE_CALLS, type Surroundings, viewOf } from './member-run.ts';
import { type DiskView, type StatusView, Violation } from './observation.ts';
import type { Plant } from './planted/plant.ts';

export interface MemberOptions {
  readonly knobs: Knobs;
  /** A planted fault for each run. */
  readonly plant: (() => Plant) | undefined;
  /** The member has crashed by an aimed or planned crash, or failed by its own account: it is down. */
  readonly down: () => void;
}

/** Whether the disk works again is looked at this often, µs. */
const REPAIR_US = 20_000;

/** A core that is ready to be driven, and what it came from. */
interface Opened {
  readonly peer: QuorumPeer;
  readonly actions: readonly PeerAction[];
  readonly disk: DiskView;
  readonly store: SimStore;
}

export class Member {
  readonly sid: Sid;
  readonly #around: Surroundings;
  readonly #options: MemberOptions;
  #run: MemberRun | undefined;
  #runs = 0;
  #moves = 0;

  constructor(around: Surroundings, options: MemberOptions) {
    this.sid = around.sid;
    this.#around = around;
    this.#options = options;
  }

  /** How often it has been started. */
  get runs(): number {
    return this.#runs;
  }

  get isUp(): boolean {
    return this.#run !== undefined;
  }

  get status(): StatusView | undefined {
    return this.#run?.status;
  }

  /** The monotonic clock of the present run, ms. */
  get clockMs(): number {
    return this.#run?.clockMs ?? 0;
  }

  /** Starts from what the disk holds, at once. While the disk does not work it stays down. */
  start(): void {
    const { sid, network, front, observe, random, drive } = this.#around;
    if (!drive.works) {
      this.#options.down();
      return;
    }
    this.#runs += 1;
    const number = this.#runs;
    try {
      const plant = this.#options.plant?.();
      const { peer, actions, disk, store } = this.#open(number, plant);
      const run = new MemberRun(this.#around, {
        number,
        peer,
        store,
        plant,
        failed: (error) => this.#failed(number, error),
        crash: () => {
          this.crash(random.chance(0.7));
          this.#options.down();
        },
        diskFailed: (reason) => this.#withoutDisk(number, reason),
        stopped: () => {
          this.crash(false);
          this.#options.down();
        },
      });
      this.#run = run;
      observe({ kind: 'started', sid, run: number, disk, status: viewOf(peer) });
      front.isOpen = true;
      network.join(sid, endpointOf(run));
      run.begin(actions);
    } catch (error) {
      this.#failed(number, error);
    }
  }

  /** Ends the run at once. `power`: the disk loses what is not synced, and nobody is told. */
  crash(power: boolean): void {
    const run = this.#run;
    if (run === undefined) return;
    const { sid, drive, network, front, observe } = this.#around;
    run.isOver = true;
    this.#run = undefined;
    drive.crash(power);
    observe({ kind: 'crashed', sid, run: run.number });
    network.leave(sid, power);
    front.crash();
  }

  /** Processes nothing until `resume`; its clock goes on. Ends with the run. */
  pause(): void {
    if (this.#run === undefined) return;
    this.#run.pause();
    this.#around.network.freeze(this.sid, true);
  }

  resume(): void {
    this.#run?.resume();
    this.#around.network.freeze(this.sid, false);
  }

  /** Each turn waits for up to so much longer. Ends with the run. */
  slowBy(us: number): void {
    if (this.#run !== undefined) this.#run.lateUs = us;
  }

  stepWallClock(ms: number): void {
    this.#around.clock.step(ms);
  }

  /** See MemberRun. Ends with the run. */
  aimAt(aim: Aim, strike: () => void): void {
    this.#run?.aimAt(aim, strike);
  }

  /** Crashes after `count` more actions. Ends with the run. */
  crashAfter(count: number): void {
    this.#run?.crashAfter(count);
  }

  deliver(event: PeerEvent): void {
    this.#run?.deliver(event);
  }

  /** Asks it to end by itself; it is down when nothing is in flight any more. */
  stop(): void {
    this.deliver({ kind: 'stop' });
  }

  /** Asks the leader to hand over, to any voter or to this one. Nothing but a refusal comes of it elsewhere. */
  moveLeader(to: Sid | undefined): void {
    this.#moves += 1;
    this.deliver({ kind: 'moveLeader', callId: MOVE_CALLS + this.#moves, to, deadlineMs: this.clockMs + 1_000 });
  }

  /** The run goes on without its disk; when that works again, a new one takes its place. */
  #withoutDisk(number: number, reason: string): void {
    const { drive, observe, schedule, sid } = this.#around;
    drive.close();
    observe({ kind: 'diskLost', sid, run: number, reason });
    const look = (): void => {
      if (this.#run?.number !== number) return;
      if (!drive.works) {
        schedule.after(REPAIR_US, look);
        return;
      }
      this.crash(false);
      this.start();
      observe({ kind: 'traced', sid, name: 'reopened', fields: {} });
    };
    schedule.after(REPAIR_US, look);
  }

  #failed(number: number, error: unknown): void {
    if (error instanceof Violation) throw error;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.crash(false);
    this.#around.observe({ kind: 'failed', sid: this.sid, run: number, reason });
    this.#options.down();
  }

  /** What is damaged is set aside, as the server does it. */
  #open(number: number, plant: Plant | undefined): Opened {
    try {
      return this.#recover(number, plant);
    } catch (thrown) {
      if (!(thrown instanceof StorageError) || thrown.code !== 'DAMAGED') throw thrown;
      this.#around.drive.setAside(thrown.message);
      return this.#recover(number, plant);
    }
  }

  #recover(number: number, plant: Plant | undefined): Opened {
    const { sid, drive, random, clock, observe } = this.#around;
    const { knobs } = this.#options;
    const { wallMs } = clock;
    const recovery = new Recovery({
      sid,
      voters: knobs.voters,
      observers: knobs.observers,
      incarnation: number,
      firstSessionId: firstSessionId(sid, wallMs),
      seed: random.next(),
      bootstrap: knobs.member.bootstrap,
      timing: knobs.timing,
      limits: knobs.limits,
    });
    const store = drive.open((event) => this.deliver(event));
    const log: LogRecord[] = [];
    const state: StateRecord[] = [];
    const { checkpointZxid, acceptedEpoch, currentEpoch, voteRight, committed, tornTail } = store.recoverNow({
      state: (records) => {
        if (plant?.recovered !== undefined) state.push(...records);
        inParts(records, knobs.member.recoveryRecordsMax, (part) => recovery.state(part));
      },
      log: (records) => log.push(...records),
    });
    const read = plant?.recovered?.(log, { tornTail, state }) ?? log;
    inParts(read, knobs.member.recoveryRecordsMax, (part) => recovery.log(part));
    drive.recovered(voteRight);
    if (tornTail !== undefined) observe({ kind: 'traced', sid, name: 'tornTail', fields: { tornTail } });
    const now = { monotonicMs: CLOCK_START_MS, wallMs };
    const summary = { checkpointZxid, acceptedEpoch, currentEpoch, voteRight, committed };
    const { peer, actions } = recovery.finish(summary, now);
    const disk = { baseZxid: checkpointZxid, records: log, acceptedEpoch, currentEpoch, voteRight };
    return { peer, actions, store, disk };
  }
}

/** Hands records over in parts, as a reader of a large database does. */
function inParts<T>(records: readonly T[], countMax: number, take: (part: readonly T[]) => void): void {
  for (let at = 0; at < records.length; at += countMax) take(records.slice(at, at + countMax));
}

/** How the network reaches a run: all by events. */
function endpointOf(run: MemberRun): Endpoint {
  return {
    linkUp: (sid) => {
      const link = run.nextLink();
      run.deliver({ kind: 'linkUp', sid, link });
      return link;
    },
    linkDown: (sid, link) => run.deliver({ kind: 'linkDown', sid, link }),
    message: (sid, link, message) => run.deliver({ kind: 'peerMessage', sid, link, message }),
  };
}
