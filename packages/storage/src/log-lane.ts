/**
 * The ordered lane: takes commands, gathers consecutive appends while a write is under way (group commit), reports
 * completions cumulatively. Starts a write at once when none runs. Between commands it keeps the lower bound near the
 * log's end; when nothing waits it purges. Appends that wait are held by reference, without a copy.
 */
import { assert, unreachable } from '@quorate/protocol';
import type { StorageCommand } from './contract.ts';
import type { DiskState } from './disk-state.ts';
import { installAbort, installBegin, installChunk, installCommit } from './install-plans.ts';
import type { Plan } from './io.ts';
import type { Lane } from './lane.ts';
import {
  append,
  boundIsDue,
  ENTRY_BYTES_MAX,
  noteBound,
  purgeIsDue,
  purgeLog,
  purgeSlice,
  recordBytes,
  saveEpochs,
  truncate,
} from './log-plans.ts';

interface Queued {
  readonly ticket: number;
  readonly command: StorageCommand;
  /** Bytes that it adds to the log or to a new state. */
  readonly bytes: number;
}

type Append = StorageCommand & { readonly kind: 'append' };

/** What the log lane tells the store around it. */
export interface LogLaneHost {
  persisted(ticket: number): void;
  /** What has been written is about to be reported: calls `report`, in order, when the watermark says it too. */
  note(report: () => void): void;
  /** True when the state lane stands still for an install. */
  stateIsHeld(): boolean;
  /** True while a checkpoint is being written. */
  stateIsWritten(): boolean;
  /** The install is done: the state lane may go on. */
  releaseState(): void;
  /** The lane has become idle: nothing is queued, nothing runs. */
  idle(): void;
  /** Some of the log may have been deleted. */
  purged(): void;
}

export class LogLane {
  readonly #lane: Lane;
  readonly #disk: DiskState;
  readonly #host: LogLaneHost;
  readonly #queue: Queued[] = [];
  /** Queue before this is taken already. */
  #start = 0;
  #queuedBytes = 0;
  #reported = 0;
  #taken = 0;
  #lastTicket = 0;
  #closing = false;

  constructor(lane: Lane, disk: DiskState, host: LogLaneHost) {
    this.#lane = lane;
    this.#disk = disk;
    this.#host = host;
  }

  /** Commands taken and not reported. */
  get queuedCommands(): number {
    return this.#taken - this.#reported;
  }

  /** Nothing is queued, nothing runs. */
  get idle(): boolean {
    return this.#start === this.#queue.length && !this.#lane.busy;
  }

  /** Bytes that they hold: of appends, and of parts of a new state. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  submit(ticket: number, command: StorageCommand): void {
    assert(ticket > this.#lastTicket, () => `Ticket ${ticket} comes after ${this.#lastTicket}`);
    this.#lastTicket = ticket;
    const bytes = bytesOf(command);
    this.#queue.push({ ticket, command, bytes });
    this.#queuedBytes += bytes;
    this.#taken++;
    this.next();
  }

  /** Purges no more, so that the lane becomes idle when its queue is empty. */
  finish(): void {
    this.#closing = true;
    this.next();
  }

  /** Starts what is to be done next, if the lane is free. */
  next(): void {
    if (this.#lane.busy) return;
    // The bound is in the state database: behind a large checkpoint it would wait, and every append behind it.
    if (boundIsDue(this.#disk) && !this.#host.stateIsWritten()) {
      this.#lane.run(noteBound(this.#disk), () => this.next());
      return;
    }
    const head = this.#queue[this.#start];
    if (head === undefined) {
      this.#rest();
      return;
    }
    if (head.command.kind === 'installCommit' && !this.#host.stateIsHeld()) return;
    if (head.command.kind === 'append') this.#appendAll();
    else this.#runOne(head);
  }

  #rest(): void {
    if (this.#closing || !purgeIsDue(this.#disk)) {
      this.#host.idle();
      return;
    }
    this.#lane.run(purgeSlice(this.#disk), () => {
      this.next();
      this.#host.purged();
    });
  }

  /** Takes the append at the head of the queue and those behind it that fit into the same write. */
  #appendAll(): void {
    const appends: Append[] = [];
    let bytes = 0;
    let ticket = 0;
    for (let at = this.#start; at < this.#queue.length; at++) {
      const queued = this.#queue[at] as Queued;
      if (queued.command.kind !== 'append') break;
      if (appends.length > 0 && bytes + queued.bytes > ENTRY_BYTES_MAX) break;
      appends.push(queued.command);
      bytes += queued.bytes;
      ticket = queued.ticket;
    }
    this.#take(appends.length);
    this.#lane.run(append(this.#disk, appends), () => this.#report(ticket, appends.length, bytes));
  }

  #runOne(head: Queued): void {
    this.#take(1);
    this.#lane.run(planOf(this.#disk, head.command), () => {
      if (head.command.kind === 'installCommit') this.#host.releaseState();
      this.#report(head.ticket, 1, head.bytes);
    });
  }

  /** The next write is started before the last one is reported, so that the disk does not wait for the core. */
  #report(ticket: number, count: number, bytes: number): void {
    this.next();
    this.#host.purged();
    this.#host.note(() => {
      this.#reported += count;
      this.#queuedBytes -= bytes;
      this.#host.persisted(ticket);
    });
  }

  #take(count: number): void {
    this.#start += count;
    if (this.#start * 2 < this.#queue.length) return;
    this.#queue.splice(0, this.#start);
    this.#start = 0;
  }
}

function bytesOf(command: StorageCommand): number {
  switch (command.kind) {
    case 'append':
      return command.records.reduce((sum, one) => sum + recordBytes(one), 0);
    case 'installChunk':
      return command.records.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
    default:
      return 0;
  }
}

function planOf(disk: DiskState, command: StorageCommand): Plan {
  switch (command.kind) {
    case 'append':
      return append(disk, [command]);
    case 'truncate':
      return truncate(disk, command.after);
    case 'saveEpochs':
      return saveEpochs(disk, command);
    case 'installBegin':
      return installBegin(disk);
    case 'installChunk':
      return installChunk(disk, command.records);
    case 'installCommit':
      return installCommit(disk, command.zxid);
    case 'installAbort':
      return installAbort(disk);
    case 'purgeLog':
      return purgeLog(disk, command.through);
    default:
      return unreachable(command);
  }
}
