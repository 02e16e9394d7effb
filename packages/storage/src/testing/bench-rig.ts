/**
 * What the cases of the conformance suite work with: a disk that outlives its stores, a store with everything that it
 * reported, and records to write. Waits for conditions; never for time.
 */
import { makeZxid, toZxid, type Zxid } from '@quorate/protocol';
import type {
  LogRecord,
  MemberStore,
  RecoveredSummary,
  StateRecord,
  StorageCommand,
  StoreEvents,
  StoreIdentity,
  VoteRight,
} from '../contract.ts';
import type { Engine } from '../io.ts';
import { GateEngine } from './gate-engine.ts';

/** One kind of store under test, on one disk of its own. */
export interface StorageHarness {
  /** Opens a store on the disk. */
  open(options: {
    readonly identity: StoreIdentity;
    readonly events: StoreEvents;
    readonly wrapEngine: (engine: Engine) => Engine;
    readonly firstVoteRight?: VoteRight;
  }): Promise<MemberStore>;
  /** Lets a little of what is under way be done; `change` resolves when some of it is. */
  progress(store: MemberStore, change: Promise<void>): Promise<void>;
  /** The process is gone: what it had not begun to write is not written. `engine` has been shut. */
  kill(engine: Engine): Promise<void>;
  /** Removes the disk. */
  dispose(): Promise<void>;
}

export const IDENTITY: StoreIdentity = { clusterId: 'test-cluster', sid: 7 };

/** What recovery handed out. */
export interface Recovered {
  readonly summary: RecoveredSummary;
  /** key → value, as text. */
  readonly state: ReadonlyMap<string, string>;
  /** zxid → payload, as text, in order. */
  readonly log: ReadonlyMap<Zxid, string>;
}

/** A recovered store, with a record of all that it reported. */
export class Rig implements StoreEvents {
  readonly tickets: number[] = [];
  readonly failures: string[] = [];
  readonly written: Zxid[] = [];
  readonly opened: { readonly stream: number; readonly zxid: Zxid }[] = [];
  readonly refused: { readonly stream: number; readonly reason: string }[] = [];
  ready = 0;
  gate!: GateEngine;
  store!: MemberStore;
  recovered!: Recovered;
  readonly #harness: StorageHarness;
  #ticket = 0;

  private constructor(harness: StorageHarness) {
    this.#harness = harness;
  }

  /** Opens and recovers. Rejects with what the store rejects with. */
  static async open(
    harness: StorageHarness,
    identity: StoreIdentity = IDENTITY,
    firstVoteRight: VoteRight = 'unformed',
  ): Promise<Rig> {
    const rig = new Rig(harness);
    rig.store = await harness.open({
      identity,
      firstVoteRight,
      events: rig,
      wrapEngine: (engine) => {
        rig.gate = new GateEngine(engine);
        return rig.gate;
      },
    });
    const state = new Map<string, string>();
    const log = new Map<Zxid, string>();
    try {
      const summary = await rig.store.recover({
        state: (records) => {
          for (const { key, value } of records) state.set(textOf(key), textOf(value ?? new Uint8Array()));
        },
        log: (records) => {
          for (const { zxid, payload } of records) log.set(zxid, textOf(payload));
        },
      });
      rig.recovered = { summary, state, log };
    } catch (thrown) {
      await rig.store.close();
      throw thrown;
    }
    rig.gate.seen.length = 0;
    return rig;
  }

  persisted(ticket: number): void {
    this.tickets.push(ticket);
  }

  failed(reason: string): void {
    this.failures.push(reason);
  }

  checkpointReady(): void {
    this.ready++;
  }

  checkpointWritten(zxid: Zxid): void {
    this.written.push(zxid);
  }

  stateOpened(stream: number, zxid: Zxid): void {
    this.opened.push({ stream, zxid });
  }

  stateFailed(stream: number, reason: string): void {
    this.refused.push({ stream, reason });
  }

  /** Hands a command over; returns its ticket. */
  submit(command: StorageCommand): number {
    this.store.submit(++this.#ticket, command);
    return this.#ticket;
  }

  /** Appends, without waiting. */
  append(records: readonly LogRecord[], committed: Zxid = toZxid(0n)): number {
    return this.submit({ kind: 'append', records, committed });
  }

  /** Hands a command over and waits until it is durable. */
  async done(command: StorageCommand): Promise<void> {
    const ticket = this.submit(command);
    await this.until(() => (this.tickets.at(-1) ?? 0) >= ticket);
  }

  /** Accepts an epoch, which every log with records of it needs. */
  epochs(acceptedEpoch: number, currentEpoch = acceptedEpoch, voteRight: VoteRight = 'held'): Promise<void> {
    return this.done({ kind: 'saveEpochs', acceptedEpoch, currentEpoch, voteRight });
  }

  /** Gathers and writes a checkpoint; waits until it is durable. */
  async checkpoint(zxid: Zxid, records: readonly StateRecord[]): Promise<void> {
    const before = this.written.length;
    this.store.checkpointPut(records);
    this.store.checkpointCommit(zxid);
    await this.until(() => this.written.length > before);
  }

  /** Installs a whole state; waits until it is durable. */
  async install(zxid: Zxid, records: readonly StateRecord[]): Promise<void> {
    this.submit({ kind: 'installBegin' });
    this.submit({ kind: 'installChunk', records });
    await this.done({ kind: 'installCommit', zxid });
  }

  /** Reads a stream to its end. */
  async drain(stream: number, maxBytes: number): Promise<ReadonlyMap<string, string>> {
    const read = new Map<string, string>();
    for (;;) {
      const { records, done } = await this.store.readState(stream, maxBytes);
      for (const { key, value } of records) read.set(textOf(key), textOf(value ?? new Uint8Array()));
      if (done) return read;
    }
  }

  /** Waits for a condition, letting the store work. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.failures.length > 0 && !condition()) throw new Error(`The store failed: ${this.failures[0]}`);
      await this.#harness.progress(this.store, this.gate.change());
    }
  }

  /** Waits until everything that was handed over is reported, or the gate is shut, or the store has failed. */
  async settled(): Promise<void> {
    while (this.store.stats.queuedCommands > 0 && !this.gate.isShut && this.failures.length === 0) {
      await this.#harness.progress(this.store, this.gate.change());
    }
  }

  /** Closes in order. */
  async close(): Promise<void> {
    let closed = false;
    const closing = this.store.close().then(() => {
      closed = true;
    });
    while (!closed) await this.#harness.progress(this.store, Promise.race([closing, this.gate.change()]));
  }

  /** Ends as a killed process does. */
  async kill(): Promise<void> {
    this.gate.shut();
    await this.#harness.kill(this.gate);
  }

  /** Kills, and opens again. */
  async killAndReopen(): Promise<Rig> {
    await this.kill();
    return Rig.open(this.#harness);
  }

  /** Closes, and opens again. */
  async reopen(): Promise<Rig> {
    await this.close();
    return Rig.open(this.#harness);
  }
}

/** Txn `counter` of `epoch`. */
export function z(epoch: number, counter: number): Zxid {
  return makeZxid(epoch, counter);
}

/** Records `from` to `to` of an epoch; the payload names the zxid, and is padded to `bytes`. */
export function records(epoch: number, from: number, to: number, bytes = 0): LogRecord[] {
  return Array.from({ length: to - from + 1 }, (_, i) => {
    const zxid = makeZxid(epoch, from + i);
    return { zxid, payload: Buffer.from(`txn ${epoch}.${from + i}`.padEnd(bytes, '.')) };
  });
}

/** State records of text; undefined deletes. */
export function state(values: Readonly<Record<string, string | undefined>>): StateRecord[] {
  return Object.entries(values).map(([key, value]) => ({
    key: Buffer.from(key),
    value: value === undefined ? undefined : Buffer.from(value),
  }));
}

/** Bytes as text. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
