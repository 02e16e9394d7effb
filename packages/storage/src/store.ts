/**
 * A member's store on any engine: the two lanes, the streams, recovery, and the rule that nothing is done or reported after
 * a failure. Everything that LevelDB and the memory twin share; they differ in the engine alone.
 */
import { assert, type Zxid } from '@quorate/protocol';
import type {
  MemberStore,
  RecoveredSummary,
  RecoverySink,
  StatePage,
  StateRecord,
  StorageCommand,
  StoreEvents,
  StoreStats,
} from './contract.ts';
import type { DiskState } from './disk-state.ts';
import type { Engine, Plan } from './io.ts';
import { Lane } from './lane.ts';
import { LogLane } from './log-lane.ts';
import { compactIsDue, compactLog, noteBound } from './log-plans.ts';
import { recover } from './recovery.ts';
import { StateLane } from './state-lane.ts';
import { reasonOf, StorageError } from './storage-error.ts';
import { Streams } from './streams.ts';
import { noteWatermark } from './watermark.ts';
import { WatermarkLane } from './watermark-lane.ts';

/** What a store is made of. `disk` comes from `boot`. */
export interface StoreParts {
  readonly engine: Engine;
  readonly disk: DiskState;
  /** The data folder, for messages. */
  readonly place: string;
  readonly events: StoreEvents;
  /** Synced writes so far, by the engine's count. */
  readonly syncs: () => number;
}

/** `failed` and `closed` are for good. */
type Phase = 'booted' | 'recovering' | 'open' | 'closing' | 'closed' | 'failed';

export class Store implements MemberStore {
  readonly #parts: StoreParts;
  readonly #logIo: Lane;
  readonly #stateIo: Lane;
  readonly #houseIo: Lane;
  readonly #notes: WatermarkLane;
  readonly #log: LogLane;
  readonly #state: StateLane;
  readonly #streams: Streams;
  #phase: Phase = 'booted';
  #recoveryFailed: ((thrown: unknown) => void) | undefined;
  #closed: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { engine, disk, place, events } = parts;
    const failed = (thrown: unknown): void => this.#fail(thrown);
    this.#logIo = new Lane(engine, 'log', failed);
    this.#stateIo = new Lane(engine, 'state', failed);
    this.#houseIo = new Lane(engine, 'housekeeping', failed);
    this.#notes = new WatermarkLane(new Lane(engine, 'watermark', failed), disk, () => this.#stopped());
    this.#streams = new Streams(place);
    this.#log = new LogLane(this.#logIo, disk, {
      persisted: (ticket) => events.persisted(ticket),
      note: (report) => this.#notes.note(report),
      stateIsHeld: () => this.#state.held,
      stateIsWritten: () => this.#state.committing,
      releaseState: () => this.#state.release(),
      idle: () => this.#stopped(),
      purged: () => this.#keepHouse(),
    });
    this.#state = new StateLane({
      lane: this.#stateIo,
      engine,
      disk,
      streams: this.#streams,
      events,
      stopped: () => this.#stopped(),
    });
  }

  recover(sink: RecoverySink): Promise<RecoveredSummary> {
    return new Promise((resolve, reject) => {
      this.recoverWith(sink, resolve, reject);
    });
  }

  /** `recover` with callbacks: at once when the engine answers at once. */
  recoverWith(sink: RecoverySink, done: (summary: RecoveredSummary) => void, failed: (thrown: unknown) => void): void {
    assert(this.#phase === 'booted', () => `Cannot recover: the store is ${this.#phase}`);
    this.#phase = 'recovering';
    this.#recoveryFailed = failed;
    this.#logIo.run(recover(this.#parts.disk, this.#parts.place, sink), (summary) => {
      this.#phase = 'open';
      done(summary);
    });
  }

  submit(ticket: number, command: StorageCommand): void {
    if (!this.#isOpen()) return;
    if (command.kind === 'installCommit') this.#state.add({ kind: 'hold' });
    if (this.#isOpen()) this.#log.submit(ticket, command);
  }

  checkpointPut(records: readonly StateRecord[]): void {
    if (this.#isOpen()) this.#state.add({ kind: 'put', records });
  }

  checkpointCommit(zxid: Zxid): void {
    if (this.#isOpen()) this.#state.add({ kind: 'commit', zxid });
  }

  checkpointAbort(): void {
    if (this.#isOpen()) this.#state.add({ kind: 'abort' });
  }

  openState(stream: number): void {
    if (this.#isOpen()) this.#state.add({ kind: 'open', stream });
  }

  readState(stream: number, maxBytes: number): Promise<StatePage> {
    return new Promise((resolve, reject) => {
      this.readStateWith(stream, maxBytes, resolve, reject);
    });
  }

  /** `readState` with callbacks: at once when the engine answers at once. */
  readStateWith(
    stream: number,
    maxBytes: number,
    done: (page: StatePage) => void,
    failed: (error: StorageError) => void,
  ): void {
    this.#streams.read(stream, maxBytes, done, failed);
  }

  closeState(stream: number): void {
    this.#state.cancelOpen(stream);
    this.#streams.close(stream);
  }

  get stats(): StoreStats {
    const { disk, syncs } = this.#parts;
    return {
      queuedCommands: this.#log.queuedCommands,
      queuedBytes: this.#log.queuedBytes,
      logEntries: disk.log.count,
      logBytes: disk.log.bytes,
      lastZxid: disk.lastZxid,
      checkpointZxid: disk.checkpointZxid,
      syncs: syncs(),
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#phase === 'open') {
      await new Promise<void>((resolve) => {
        this.#phase = 'closing';
        this.#drained = resolve;
        this.#log.finish();
      });
    }
    const phase = this.#phase;
    if (phase !== 'failed') this.#phase = 'closed';
    this.#stop();
    if (phase === 'recovering')
      this.#recoveryFailed?.(new StorageError('CLOSED', 'The store was closed while it recovered'));
    await this.#parts.engine.close();
  }

  /** Calls are taken only while the store is open; the contract says that others are ignored. */
  #isOpen(): boolean {
    assert(this.#phase !== 'booted' && this.#phase !== 'recovering', () => 'The store has not been recovered');
    return this.#phase === 'open';
  }

  /** One of the lanes has come to rest: the other may have waited for it. */
  #stopped(): void {
    if (this.#state.held) {
      this.#streams.closeAll();
      this.#log.next();
    }
    if (this.#phase !== 'closing' || this.#drained === undefined) return;
    if (!this.#log.idle || !this.#state.idle || !this.#notes.idle) return;
    const drained = this.#drained;
    this.#drained = undefined;
    this.#logIo.run(noteAtClose(this.#parts.disk), drained);
  }

  /** Gives purged space back, beside everything else. */
  #keepHouse(): void {
    if (this.#houseIo.busy || !compactIsDue(this.#parts.disk)) return;
    this.#houseIo.run(compactLog(this.#parts.disk), () => {});
  }

  #fail(thrown: unknown): void {
    if (this.#phase === 'failed' || this.#phase === 'closed') return;
    const phase = this.#phase;
    this.#phase = 'failed';
    this.#stop();
    if (phase === 'recovering') this.#recoveryFailed?.(thrown);
    else this.#parts.events.failed(reasonOf(thrown));
    this.#drained?.();
  }

  #stop(): void {
    this.#logIo.stop();
    this.#stateIo.stop();
    this.#houseIo.stop();
    this.#notes.stop();
    this.#streams.closeAll();
  }
}

/** Both lower bounds, exact and durable. */
function* noteAtClose(disk: DiskState): Plan {
  yield* noteBound(disk);
  yield* noteWatermark(disk, { sync: true });
}
