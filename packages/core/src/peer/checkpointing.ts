/**
 * When a checkpoint is begun, and its course: parts are handed to the driver one at a time, then the whole is written, then
 * what it makes unnecessary may go. One at a time; its cost is what changed since the last one. What a checkpoint holds
 * is the tree's (`tree/checkpoint.ts`).
 */
import { assert, formatZxid, type Zxid } from '@quorate/protocol';
import type { CurrentTree } from '../pipeline/current-tree.ts';
import type { Outbox } from './outbox.ts';

export interface CheckpointingOptions {
  /** Begun when this much was logged since the last one, bytes ... */
  readonly checkpointBytes: number;
  /** ... or this many txns. */
  readonly checkpointTxns: number;
}

/** Bytes of one part: small enough not to be felt between two turns. */
const PART_BYTES = 64 * 1024;

type Course =
  | { readonly kind: 'idle' }
  | { readonly kind: 'gathering'; readonly zxid: Zxid; readonly isLast: boolean }
  | { readonly kind: 'writing'; readonly zxid: Zxid };

export class Checkpointing {
  readonly #options: CheckpointingOptions;
  readonly #state: CurrentTree;
  readonly #outbox: Outbox;
  readonly #written: (zxid: Zxid) => void;
  #course: Course = { kind: 'idle' };
  #bytes = 0;
  #txns = 0;
  #asked = 0;
  #answered = 0;
  /** A snapshot is replacing the tree: what would be gathered now is of no use. */
  #isInstalling = false;

  /** `written` is told of each durable checkpoint, before the log up to it is given up. */
  constructor(options: CheckpointingOptions, state: CurrentTree, outbox: Outbox, written: (zxid: Zxid) => void) {
    this.#options = options;
    this.#state = state;
    this.#outbox = outbox;
    this.#written = written;
  }

  /** Pieces of work for the disk that were handed out so far. */
  get asked(): number {
    return this.#asked;
  }

  /** How many of them are answered, or given up. */
  get answered(): number {
    return this.#answered;
  }

  /** A txn of that many bytes was applied. */
  delivered(bytes: number): void {
    this.#bytes += bytes;
    this.#txns++;
  }

  /** End of a turn, between two txns: begins one when enough was logged. */
  turnEnded(): void {
    if (this.#course.kind !== 'idle' || this.#isInstalling) return;
    const { checkpointBytes, checkpointTxns } = this.#options;
    if (this.#bytes < checkpointBytes && this.#txns < checkpointTxns) return;
    this.#bytes = 0;
    this.#txns = 0;
    this.#put(this.#state.tree.beginCheckpoint());
  }

  /** The driver can take the next part. */
  ready(): void {
    if (this.#course.kind !== 'gathering') return;
    const { zxid, isLast } = this.#course;
    this.#answered = this.#asked;
    if (!isLast) return this.#put(zxid);
    this.#course = { kind: 'writing', zxid };
    this.#asked++;
    this.#outbox.push({ kind: 'checkpointCommit', zxid });
  }

  /** The checkpoint at `zxid` is durable. One that was given up meanwhile is ignored: the next has its records again. */
  written(zxid: Zxid): void {
    if (this.#course.kind !== 'writing') return;
    assert(
      this.#course.zxid === zxid,
      () => `A checkpoint at ${formatZxid(zxid)} was written, another one was asked for`,
    );
    this.#course = { kind: 'idle' };
    this.#answered = this.#asked;
    this.#state.tree.endCheckpoint(true);
    this.#written(zxid);
    this.#outbox.persist({ kind: 'purgeLog', through: zxid });
    this.#outbox.push({ kind: 'trace', name: 'checkpointWritten', fields: { zxid: formatZxid(zxid) } });
  }

  /** A snapshot begins to replace the tree. */
  installBegin(): void {
    this.#isInstalling = true;
    if (this.#course.kind === 'idle') return;
    this.#course = { kind: 'idle' };
    this.#answered = this.#asked;
    this.#state.tree.endCheckpoint(false);
    this.#outbox.push({ kind: 'checkpointAbort' });
  }

  /** The snapshot is in place, or was thrown away. */
  installOver(isReplaced: boolean): void {
    this.#isInstalling = false;
    if (!isReplaced) return;
    this.#bytes = 0;
    this.#txns = 0;
  }

  #put(zxid: Zxid): void {
    const { records, done } = this.#state.tree.nextCheckpointRecords(PART_BYTES);
    this.#course = { kind: 'gathering', zxid, isLast: done };
    this.#asked++;
    this.#outbox.push({ kind: 'checkpointPut', records });
  }
}
