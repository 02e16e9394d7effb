/**
 * The state lane: gathers a checkpoint and writes it as one atomic batch, opens streams of the state on disk. Ordered in
 * itself. Stands still where an install was submitted until the log lane has carried it out.
 */
import { formatZxid, unreachable, type Zxid } from '@quorate/protocol';
import type { StateRecord, StoreEvents } from './contract.ts';
import type { DiskState } from './disk-state.ts';
import { type Engine, type Plan, write } from './io.ts';
import type { Lane } from './lane.ts';
import { ContractError } from './log-plans.ts';
import { BOUND_KEY, CHECKPOINT_KEY, packBound, packCheckpoint, STATE_RANGE, stateOp } from './state-format.ts';
import type { Streams } from './streams.ts';

type StateWork =
  | { readonly kind: 'put'; readonly records: readonly StateRecord[] }
  | { readonly kind: 'commit'; readonly zxid: Zxid }
  | { readonly kind: 'abort' }
  | { readonly kind: 'open'; readonly stream: number }
  /** An install was submitted here. */
  | { readonly kind: 'hold' };

export class StateLane {
  readonly #lane: Lane;
  readonly #engine: Engine;
  readonly #disk: DiskState;
  readonly #streams: Streams;
  readonly #events: StoreEvents;
  /** The lane has come to a hold, or has become idle. */
  readonly #stopped: () => void;
  #queue: StateWork[] = [];
  #held = false;
  #committing = false;

  constructor(parts: {
    readonly lane: Lane;
    readonly engine: Engine;
    readonly disk: DiskState;
    readonly streams: Streams;
    readonly events: StoreEvents;
    readonly stopped: () => void;
  }) {
    this.#lane = parts.lane;
    this.#engine = parts.engine;
    this.#disk = parts.disk;
    this.#streams = parts.streams;
    this.#events = parts.events;
    this.#stopped = parts.stopped;
  }

  /** True while it stands still for an install. */
  get held(): boolean {
    return this.#held;
  }

  /** True while a checkpoint is being written. */
  get committing(): boolean {
    return this.#committing;
  }

  get idle(): boolean {
    return this.#queue.length === 0 && !this.#lane.busy && !this.#held;
  }

  add(work: StateWork): void {
    this.#queue.push(work);
    this.next();
  }

  /** Goes on after a hold. */
  release(): void {
    this.#held = false;
    this.next();
  }

  /** Forgets an `open` that has not been reached. */
  cancelOpen(stream: number): void {
    this.#queue = this.#queue.filter((work) => work.kind !== 'open' || work.stream !== stream);
  }

  next(): void {
    if (this.#lane.busy || this.#held) return;
    const work = this.#queue.shift();
    if (work === undefined) {
      this.#stopped();
      return;
    }
    this.#start(work);
  }

  #start(work: StateWork): void {
    switch (work.kind) {
      case 'put':
        this.#run(put(this.#disk, work.records), () => this.#events.checkpointReady());
        break;
      case 'commit':
        this.#commit(work.zxid);
        break;
      case 'abort':
        this.#run(discard(this.#disk), () => {});
        break;
      case 'open':
        this.#open(work.stream);
        break;
      case 'hold':
        this.#lane.run(discard(this.#disk), () => {
          this.#held = true;
          this.#stopped();
        });
        break;
      default:
        unreachable(work);
    }
  }

  #commit(zxid: Zxid): void {
    this.#committing = true;
    this.#lane.run(commit(this.#disk, zxid), () => {
      this.#committing = false;
      this.next();
      this.#events.checkpointWritten(zxid);
    });
  }

  #run(plan: Plan, report: () => void): void {
    this.#lane.run(plan, () => {
      this.next();
      report();
    });
  }

  /** The view is taken here and now, between two checkpoints: it is exactly the state at the checkpoint's zxid. */
  #open(stream: number): void {
    const zxid = this.#disk.checkpointZxid;
    const db = this.#disk.stateDb;
    const refusal = this.#streams.add(stream, db, () => this.#engine.openCursor(db, STATE_RANGE));
    this.#run(nothing(), () => {
      if (refusal !== undefined) this.#events.stateFailed(stream, refusal);
      else if (this.#streams.has(stream)) this.#events.stateOpened(stream, zxid);
    });
  }
}

function* nothing(): Plan {
  yield { kind: 'nothing' };
}

function* put(disk: DiskState, records: readonly StateRecord[]): Plan {
  yield { kind: 'gather', db: disk.stateDb, ops: records.map(stateOp) };
}

function* discard(disk: DiskState): Plan {
  yield { kind: 'discard', db: disk.stateDb };
}

/** One atomic, synced write: what was gathered, the checkpoint's zxid, and how far the log is on disk by now. */
function* commit(disk: DiskState, zxid: Zxid): Plan {
  if (zxid < disk.checkpointZxid || zxid > disk.lastZxid) {
    throw new ContractError(
      `Cannot write the checkpoint at ${formatZxid(zxid)}: the last one is at ${formatZxid(disk.checkpointZxid)}, ` +
        `the log on disk ends at ${formatZxid(disk.lastZxid)}`,
    );
  }
  const bound = { zxid: disk.lastZxid, generation: disk.head.generation };
  const ops = [
    { key: CHECKPOINT_KEY, value: packCheckpoint(zxid) },
    { key: BOUND_KEY, value: packBound(bound) },
  ];
  yield* write(disk.stateDb, ops, { gathered: true });
  disk.checkpointZxid = zxid;
}
