/**
 * One watch of the client: what was told and not yet taken, and when to ask for more. A piece is acknowledged when the
 * reader has taken most of what is here, so that a slow reader costs a piece or two of memory and no more.
 */
import { type OpFailure, type WatchEvent as Told, type WatchPiece, type WatchSpec } from '@quorate/protocol';
import { CoordinationError, errorOfFailure } from './errors.ts';
import { Fifo } from './fifo.ts';
import type { Chroot } from './paths.ts';
import type { Watch, WatchEvent } from './watch.ts';
import { WatchPosition } from './watch-position.ts';
import { makeZnode } from './znode.ts';

/** Another piece is asked for when no more than this waits for the reader: events, and bytes of their data. */
const WAITING_MAX = 64;
const WAITING_BYTES_MAX = 256 * 1024;

/** What a watch says to the member it is at. */
export interface WatchLine {
  begin(spec: WatchSpec): void;
  taken(): void;
  /** Nobody wants it any more. */
  end(): void;
  /** The member has ended it: begin it again after a pause. */
  again(): void;
}

interface Readiness {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Waiter {
  resolve(result: IteratorResult<WatchEvent, undefined>): void;
  reject(error: unknown): void;
}

export class WatchHandle implements Watch {
  readonly ready: Promise<void>;
  readonly #hasValues: boolean;
  readonly #chroot: Chroot;
  readonly #line: WatchLine;
  readonly #position: WatchPosition;
  /** Told and not taken. The last event of a piece has the position that is reached with it. */
  readonly #events = new Fifo<{ readonly event: WatchEvent; readonly position: bigint | undefined }>();
  readonly #waiters = new Fifo<Waiter>();
  readonly #readiness: Readiness;
  #taken = 0n;
  #waitingBytes = 0;
  #owesTaken = false;
  /** It is to be begun again when the reader has taken most of what is here. */
  #owesBegin = false;
  #hasBegun = false;
  #onEnd: () => void = () => undefined;
  #end: { readonly error: CoordinationError | undefined } | undefined;

  constructor(spec: WatchSpec, chroot: Chroot, line: WatchLine) {
    this.#hasValues = spec.withValues;
    this.#chroot = chroot;
    this.#line = line;
    this.#position = new WatchPosition(spec);
    this.#taken = spec.from ?? 0n;
    let readiness: Readiness | undefined;
    this.ready = new Promise<void>((resolve, reject) => {
      readiness = { resolve, reject };
    });
    this.#readiness = readiness as unknown as Readiness;
    // Whoever does not look at `ready` learns of the failure from the iteration.
    this.ready.catch(() => undefined);
  }

  get position(): bigint {
    return this.#taken;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Calls `action` once when the watch is over. */
  onEnd(action: () => void): void {
    if (this.#end === undefined) this.#onEnd = action;
    else action();
  }

  /** A member is attached, or the pause after an end is over. */
  begin(): void {
    if (this.#end !== undefined) return;
    this.#owesTaken = false;
    this.#owesBegin = this.#isFull;
    if (!this.#isFull) this.#line.begin(this.#position.begin());
  }

  take(piece: WatchPiece): void {
    if (this.#end !== undefined) return;
    this.#hasBegun = true;
    this.#owesTaken = true;
    const news = this.#position.take(piece);
    const { told } = this.#position;
    news.forEach((event, i) => {
      if (event.kind === 'ready') this.#readiness.resolve();
      this.#waitingBytes += event.data?.length ?? 0;
      this.#events.push({ event: this.#outward(event), position: i === news.length - 1 ? told : undefined });
    });
    if (this.#events.length === 0) this.#taken = told;
    while (this.#waiters.length > 0 && this.#events.length > 0) this.#waiters.shift()?.resolve(this.#shift());
    this.#askForMore();
  }

  /** The member has ended it. What another may do better, or this one later, is tried again. */
  ended(failure: OpFailure): void {
    if (this.#end !== undefined) return;
    const { code } = failure;
    const isPassing = code === 'UNAVAILABLE' || code === 'SERVER_BEHIND' || (code === 'THROTTLED' && this.#hasBegun);
    this.#owesTaken = false;
    if (isPassing && this.#isFull) this.#owesBegin = true;
    else if (isPassing) this.#line.again();
    else this.fail(errorOfFailure(failure, false));
  }

  /** No more comes: the iteration ends after what is here, or rejects with `error`. */
  finish(error?: CoordinationError): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#onEnd();
    this.#readiness.reject(error ?? new CoordinationError('CLOSED', 'The watch was closed before it was ready'));
    for (let waiter = this.#waiters.shift(); waiter !== undefined; waiter = this.#waiters.shift()) {
      if (error === undefined) waiter.resolve({ done: true, value: undefined });
      else waiter.reject(error);
    }
  }

  /** The reader gives it up. */
  abort(error: CoordinationError): void {
    if (this.#end !== undefined) return;
    this.#line.end();
    this.finish(error);
  }

  fail(error: CoordinationError): void {
    const path = error.path === undefined ? undefined : this.#chroot.outward(error.path);
    this.finish(new CoordinationError(error.code, error.message, { path, cause: error.cause }));
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        await this[Symbol.asyncDispose]();
        return { done: true, value: undefined };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#end === undefined) this.#line.end();
    this.finish();
    this.#events.takeAll();
    this.#waitingBytes = 0;
  }

  #next(): Promise<IteratorResult<WatchEvent, undefined>> {
    if (this.#events.length > 0) {
      const result = this.#shift();
      this.#askForMore();
      return Promise.resolve(result);
    }
    if (this.#end?.error !== undefined) return Promise.reject(this.#end.error);
    if (this.#end !== undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  #shift(): IteratorResult<WatchEvent, undefined> {
    const { event, position } = this.#events.shift() as { event: WatchEvent; position: bigint | undefined };
    if (position !== undefined) this.#taken = position;
    if ('node' in event) this.#waitingBytes -= event.node.data.length;
    return { done: false, value: event };
  }

  get #isFull(): boolean {
    return this.#events.length > WAITING_MAX || this.#waitingBytes > WAITING_BYTES_MAX;
  }

  #askForMore(): void {
    if (this.#end !== undefined || this.#isFull) return;
    if (this.#owesTaken) this.#line.taken();
    if (this.#owesBegin) this.#line.again();
    this.#owesTaken = false;
    this.#owesBegin = false;
  }

  #outward({ kind, zxid, path: inward, stat, data }: Told): WatchEvent {
    if (kind === 'ready') return { type: 'ready', zxid };
    if (kind === 'gap') return { type: 'gap', afterZxid: zxid };
    const path = this.#chroot.outward(inward);
    if (kind === 'deleted') return { type: 'deleted', path, zxid };
    if (stat === undefined) throw new Error(`The member told of ${kind} ${inward} without its stat`);
    const about = this.#hasValues ? { path, stat, node: makeZnode(path, data, stat) } : { path, stat };
    if (kind === 'current') return { type: 'current', ...about };
    return { type: kind === 'dataChanged' ? 'changed' : kind, zxid, ...about };
  }
}
