/**
 * What a member asks of its disk, and what it is told: the contract between `storage` and whoever drives a core.
 * Callbacks rather than promises, so that the simulator can be synchronous. The shapes of StorageCommand, LogRecord and
 * StateRecord are those of `core`; neither package imports the other.
 *
 * Two lanes. The log lane (`submit`) is strictly ordered. The state lane (checkpoint and streams) is ordered in itself
 * and runs beside it. `installCommit` is a line across both: what was asked of the state lane before it was submitted
 * is done first, what is asked after it concerns the new state.
 */
import type { Epoch, Sid, Zxid } from '@quorate/protocol';

/** One txn of the log: the payload is opaque here. */
export interface LogRecord {
  readonly zxid: Zxid;
  readonly payload: Uint8Array;
}

/** One record of the state database. `value` undefined deletes the key. A key is not empty and does not begin with byte 0. */
export interface StateRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/**
 * Whether a member counts as the voter that its configuration says. `unformed`: the disk is new, nothing was ever promised
 * on it. `held`: it counts. `recovering`: an earlier disk of this member is lost, and promises with it; it may not count
 * until it was synchronized. `core` decides; the disk only keeps it. It never goes back in the order unformed, recovering, held.
 */
export type VoteRight = 'unformed' | 'held' | 'recovering';

/** Work for the ordered lane. */
export type StorageCommand =
  /** Adds records to the log; they continue it without a gap. `committed` is a hint for recovery. */
  | { readonly kind: 'append'; readonly records: readonly LogRecord[]; readonly committed: Zxid }
  /** Removes every log record after `after`, which is not before the durable checkpoint. */
  | { readonly kind: 'truncate'; readonly after: Zxid }
  | {
      readonly kind: 'saveEpochs';
      readonly acceptedEpoch: Epoch;
      readonly currentEpoch: Epoch;
      readonly voteRight: VoteRight;
    }
  /** Starts a new state database beside the present one; one that was half received is thrown away. */
  | { readonly kind: 'installBegin' }
  | { readonly kind: 'installChunk'; readonly records: readonly StateRecord[] }
  /** Swaps the new state database in, at `zxid`, which is not before the end of the log; the log goes on after it. */
  | { readonly kind: 'installCommit'; readonly zxid: Zxid }
  /** Throws a half-received state database away, if there is one. */
  | { readonly kind: 'installAbort' }
  /**
   * Gives log records up to and including `through` up, which is not after the durable checkpoint. Reported as
   * persisted at once: the space is freed in slices, beside the appends that follow.
   */
  | { readonly kind: 'purgeLog'; readonly through: Zxid };

/** What the store reports. Never called from inside a call of the store, save those of the memory twin's `pump`. */
export interface StoreEvents {
  /** All commands up to and including `ticket` are done, and durable. */
  persisted(ticket: number): void;
  /** The disk failed, or a command broke the contract. Comes once; nothing is done or reported after it. */
  failed(reason: string): void;
  /** Answer to `checkpointPut`: the next part can come. */
  checkpointReady(): void;
  /** Answer to `checkpointCommit`: the checkpoint is durable. */
  checkpointWritten(zxid: Zxid): void;
  /** Answer to `openState`: the stream shows the state as it is on disk, at the durable checkpoint `zxid`. */
  stateOpened(stream: number, zxid: Zxid): void;
  /** Answer to `openState` when it cannot be. (A stream that breaks later rejects `readState`.) */
  stateFailed(stream: number, reason: string): void;
}

/** Takes what recovery reads: the whole state first, then the log after it, each in order and in parts. */
export interface RecoverySink {
  state(records: readonly StateRecord[]): void;
  log(records: readonly LogRecord[]): void;
}

export interface RecoveredSummary {
  /** The state that was read is exactly that after this txn. */
  readonly checkpointZxid: Zxid;
  readonly acceptedEpoch: Epoch;
  readonly currentEpoch: Epoch;
  readonly voteRight: VoteRight;
  /** Highest committed zxid that was noted on disk: a lower bound. Not after `lastZxid`. */
  readonly committed: Zxid;
  /** End of the log; the checkpoint's zxid when nothing follows it. */
  readonly lastZxid: Zxid;
  /** What was cut off the end of the log because it was never acknowledged: a sentence for the log. */
  readonly tornTail: string | undefined;
}

/** Part of a stream. `done`: nothing follows. */
export interface StatePage {
  readonly records: readonly StateRecord[];
  readonly done: boolean;
}

/** For status and metrics. */
export interface StoreStats {
  /** Commands taken and not yet reported. */
  readonly queuedCommands: number;
  /** Bytes that they hold: of appends, and of parts of a new state. */
  readonly queuedBytes: number;
  /** Entries (group commits) in the log. */
  readonly logEntries: number;
  readonly logBytes: number;
  /** End of the log on disk. */
  readonly lastZxid: Zxid;
  readonly checkpointZxid: Zxid;
  /** Writes, each synced, made since the store was opened. */
  readonly syncs: number;
}

/**
 * The disk of one member. `recover` comes first, once. Queues are not bounded here: the core bounds what is outstanding
 * (`outstandingBytesMax`), and `stats` shows it. Payloads and values that were handed over must not be changed.
 */
export interface MemberStore {
  /** Reads everything. Rejects with StorageError DAMAGED when what is on disk cannot be what was acknowledged. */
  recover(sink: RecoverySink): Promise<RecoveredSummary>;
  /** Takes a command for the ordered lane. Tickets rise. Consecutive appends may become one write. */
  submit(ticket: number, command: StorageCommand): void;
  /** Adds records to the checkpoint that is being gathered. One at a time: wait for `checkpointReady`. */
  checkpointPut(records: readonly StateRecord[]): void;
  /** Writes what was gathered, atomically, as the state at `zxid`, which is on disk in the log or is the checkpoint's. */
  checkpointCommit(zxid: Zxid): void;
  /** Throws away what was gathered. */
  checkpointAbort(): void;
  /** Opens a stream of the state on disk. Costs no copy; later checkpoints do not show in it. */
  openState(stream: number): void;
  /**
   * The next records of an opened stream, about `maxBytes` of them (at least one). One call a stream at a time.
   * Rejects with StorageError when the stream cannot go on: damage, not open, ended by an install or by `close`.
   */
  readState(stream: number, maxBytes: number): Promise<StatePage>;
  /** Ends a stream, whether open or not. */
  closeState(stream: number): void;
  readonly stats: StoreStats;
  /** Finishes what was submitted, then closes. Idempotent. Streams end. */
  close(): Promise<void>;
}

/** Whose data a folder holds. Written at its first use, compared ever after. */
export interface StoreIdentity {
  readonly clusterId: string;
  readonly sid: Sid;
}
