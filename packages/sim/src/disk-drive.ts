/**
 * A member's disk under virtual time: the shipping storage logic on a simulated disk. Each piece of its work takes as long
 * as the seed says; what is durable is observed when the store reports it. Survives the runs of its member; a crash loses
 * what was not synced, but for a prefix.
 */
import type { PeerAction, PeerEvent, StorageCommand, VoteRight } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import { openMemoryStore, SimDisk, type SimStore, tornAppend } from '@quorate/storage/testing';
import { damage } from './faults/damage.ts';
import type { DiskKnobs } from './knobs.ts';
import type { Observation } from './observation.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';

/** Work of one lane is done in order, the lanes run beside each other. */
const LANES = ['log', 'state', 'housekeeping', 'watermark'] as const;
type LaneName = (typeof LANES)[number];

/** Actions that are for the disk. */
export type DiskAction = Extract<
  PeerAction,
  { kind: 'persist' | 'checkpointPut' | 'checkpointCommit' | 'checkpointAbort' | 'openState' | 'closeState' }
>;

export interface DiskDriveOptions {
  readonly sid: Sid;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly knobs: DiskKnobs;
  readonly observe: (observation: Observation) => void;
}

export class DiskDrive {
  /** Work takes this many times as long. */
  slowness = 1;
  /** A planted fault: syncs that are none. */
  set lies(lies: boolean) {
    this.#lies = lies;
    this.#disk.syncLies = lies;
  }
  readonly sid: Sid;
  readonly #options: DiskDriveOptions;
  #disk = new SimDisk();
  #lies = false;
  /** The right to vote as the disk has it; undefined while that is not known: never opened, damaged, or another disk. */
  #voteRight: VoteRight | undefined;
  #store: SimStore | undefined;
  #pumping = new Set<LaneName>();
  #isStalled = false;
  /** Why writes fail, and for how many more of them. */
  #failing: { readonly reason: string; left: number } | undefined;
  /** Commands handed over and not reported as durable. */
  #pending: { readonly ticket: number; readonly command: StorageCommand }[] = [];

  constructor(options: DiskDriveOptions) {
    this.sid = options.sid;
    this.#options = options;
  }

  /** Opens the store for a new run; `deliver` gets its completions until the next crash. Throws StorageError. */
  open(deliver: (event: PeerEvent) => void): SimStore {
    const { sid, observe } = this.#options;
    const store = openMemoryStore(this.#disk, {
      identity: { clusterId: 'sim', sid },
      place: `disk of member ${sid}`,
      events: {
        persisted: (ticket) => {
          while (this.#pending[0] !== undefined && this.#pending[0].ticket <= ticket) {
            const { command } = this.#pending[0];
            if (command.kind === 'saveEpochs') this.#voteRight = command.voteRight;
            observe({ kind: 'durable', sid, command });
            this.#pending.shift();
          }
          deliver({ kind: 'persisted', ticket });
        },
        failed: (reason) => deliver({ kind: 'storageFailed', reason }),
        checkpointReady: () => deliver({ kind: 'checkpointReady' }),
        checkpointWritten: (zxid) => {
          observe({ kind: 'checkpointed', sid, zxid });
          deliver({ kind: 'checkpointWritten', zxid });
        },
        stateOpened: (stream, zxid) => deliver({ kind: 'stateOpened', stream, zxid }),
        stateFailed: (stream, reason) => deliver({ kind: 'stateFailed', stream, reason }),
      },
    });
    this.#store = store;
    return store;
  }

  carryOut(action: DiskAction): void {
    const store = this.#store;
    if (store === undefined) return;
    switch (action.kind) {
      case 'persist':
        this.#pending.push(action);
        store.submit(action.ticket, action.command);
        break;
      case 'checkpointPut':
        store.checkpointPut(action.records);
        break;
      case 'checkpointCommit':
        store.checkpointCommit(action.zxid);
        break;
      case 'checkpointAbort':
        store.checkpointAbort();
        break;
      case 'openState':
        store.openState(action.stream);
        break;
      case 'closeState':
        store.closeState(action.stream);
        break;
    }
    this.#pump(store);
  }

  /** The store has failed and is given up; what it had not completed is done or not. */
  close(): void {
    this.crash(false);
  }

  /** The process dies; with `power`, the machine too, and what was not synced is lost but for a prefix. */
  crash(power: boolean): void {
    const { random } = this.#options;
    const survive = (_: string, count: number): number => random.between(0, count);
    const isTorn = random.chance(0.3);
    if (power) {
      this.#disk.crash(survive, (db, ops) => (isTorn && db === 'log' ? tornAppend(ops, random.fraction()) : undefined));
    } else this.#disk.kill(survive);
    this.#store = undefined;
    this.#pending = [];
    this.#pumping = new Set();
  }

  /** Whether its member counts as a voter by what is on it. */
  get holdsRight(): boolean {
    return this.#voteRight === 'held';
  }

  /** A run has read the disk, and found this right to vote. */
  recovered(voteRight: VoteRight): void {
    this.#voteRight = voteRight;
  }

  /** Something is wrong with the disk of a member that is down; how, in words. Undefined: nothing was there to damage. */
  damage(): string | undefined {
    const how = damage(this.#disk, this.#options.random);
    if (how !== undefined) this.#voteRight = undefined;
    return how;
  }

  /** The member is down and gets a new, empty disk. */
  replace(): void {
    this.#disk = new SimDisk();
    this.#disk.syncLies = this.#lies;
    this.#voteRight = undefined;
    this.#options.observe({ kind: 'diskReplaced', sid: this.sid, how: 'it is new' });
  }

  /** What was found is damaged: it is set aside, as the server does it, and the member begins anew without a vote. */
  setAside(reason: string): void {
    this.#disk.kill();
    this.#disk.setAside(reason);
    this.#options.observe({ kind: 'diskReplaced', sid: this.sid, how: `it was damaged: ${reason}` });
  }

  /** The next `count` writes fail; Infinity: until `mend`. A store gives up at the first; each may have landed all the same. */
  fail(reason: string, count: number): void {
    this.#failing = { reason, left: count };
  }

  mend(): void {
    this.#failing = undefined;
    this.#store?.failNextWrite(undefined);
  }

  /** False while writes would fail: then a store is not to be opened. */
  get works(): boolean {
    return this.#failing === undefined;
  }

  /** Nothing is completed until `goOn`, not even by the next run. */
  stall(): void {
    this.#isStalled = true;
  }

  goOn(): void {
    this.#isStalled = false;
    if (this.#store !== undefined) this.#pump(this.#store);
  }

  /** Its work takes longer than it would, or does not go on. */
  get isSlow(): boolean {
    return this.#isStalled || this.slowness > 1;
  }

  /** How long the next read takes, µs. */
  readUs(): number {
    return this.#options.random.between(10, this.#options.knobs.readMaxUs) * this.slowness;
  }

  #failNext(store: SimStore, failing: { readonly reason: string; left: number }): void {
    store.failNextWrite(failing.reason, this.#options.random.chance(0.5));
    failing.left -= 1;
    if (failing.left === 0) this.#failing = undefined;
  }

  /** Sees to it that every lane with work goes on. */
  #pump(store: SimStore): void {
    const { schedule, random, knobs } = this.#options;
    if (this.#isStalled) return;
    for (const lane of LANES) {
      if (this.#pumping.has(lane) || store.pending(lane) === 0) continue;
      const pumping = this.#pumping;
      pumping.add(lane);
      // A note of the watermark is not synced.
      const us = lane === 'watermark' ? random.between(5, 100) : random.skewed(knobs.syncMinUs, knobs.syncMaxUs);
      schedule.after(us * this.slowness, () => {
        if (this.#store !== store) return;
        pumping.delete(lane);
        if (this.#isStalled) return;
        if (this.#failing !== undefined) this.#failNext(store, this.#failing);
        store.pump(1, lane);
        this.#pump(store);
      });
    }
  }
}
