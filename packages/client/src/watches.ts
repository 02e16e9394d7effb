/**
 * The watches of a client on its present stream: their numbers, their words to the member, and the pause before one that a
 * member has ended is begun again. A watch outlives streams and sessions: at every attachment it goes on from where it was.
 */
import { ByteWriter, type WatchCommand, type WatchNews, type WatchSpec } from '@quorate/protocol';
import { writeWatchCommand } from '@quorate/protocol/frames';
import { type Backoff, backoffMs } from './backoff.ts';
import { CoordinationError } from './errors.ts';
import type { Chroot } from './paths.ts';
import { WatchHandle, type WatchLine } from './watch-handle.ts';

/** What the watches need of the connection. */
export interface WatchesHost {
  /** Sends a frame on the present stream. Only while attached. */
  readonly write: (frame: Uint8Array) => void;
  readonly backoff: Backoff;
  readonly random: () => number;
}

interface Entry {
  readonly handle: WatchHandle;
  /** Its number on the present stream; 0 while it is not begun there. */
  number: number;
  /** Ends since it was last told something. */
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

export class Watches {
  readonly #host: WatchesHost;
  readonly #entries = new Set<Entry>();
  readonly #byNumber = new Map<number, Entry>();
  /** Rises over all streams, so that no number comes twice on one. */
  #lastNumber = 0;
  #isAttached = false;

  constructor(host: WatchesHost) {
    this.#host = host;
  }

  /** Begins a watch, now or as soon as a member is attached. */
  open(spec: WatchSpec, chroot: Chroot): WatchHandle {
    const line: WatchLine = {
      begin: (now) => this.#begin(entry, now),
      taken: () => this.#say(entry, 'taken'),
      end: () => this.#over(entry),
      again: () => this.#again(entry),
    };
    const entry: Entry = { handle: new WatchHandle(spec, chroot, line), number: 0, failures: 0, timer: undefined };
    this.#entries.add(entry);
    if (this.#isAttached) entry.handle.begin();
    return entry.handle;
  }

  attached(): void {
    this.#isAttached = true;
    for (const { handle } of this.#entries) handle.begin();
  }

  detached(): void {
    this.#isAttached = false;
    this.#byNumber.clear();
    for (const entry of this.#entries) {
      entry.number = 0;
      clearTimeout(entry.timer);
    }
  }

  /** What the member tells. A watch that is not wanted any more may still be told something. */
  take(news: WatchNews): void {
    const entry = this.#byNumber.get(news.watch);
    if (entry === undefined) return;
    if (news.kind === 'piece') {
      entry.failures = 0;
      entry.handle.take(news.piece);
      return;
    }
    this.#byNumber.delete(entry.number);
    entry.number = 0;
    entry.handle.ended(news.failure);
    if (entry.handle.isOver) this.#entries.delete(entry);
  }

  /** The client is closed: every watch ends. */
  close(): void {
    this.detached();
    for (const { handle } of this.#entries) handle.finish();
    this.#entries.clear();
  }

  #begin(entry: Entry, spec: WatchSpec): void {
    entry.number = ++this.#lastNumber;
    this.#byNumber.set(entry.number, entry);
    this.#write({ kind: 'begin', watch: entry.number, spec });
  }

  #say(entry: Entry, kind: 'taken' | 'end'): void {
    if (entry.number !== 0) this.#write({ kind, watch: entry.number });
  }

  #over(entry: Entry): void {
    this.#say(entry, 'end');
    this.#byNumber.delete(entry.number);
    this.#entries.delete(entry);
    clearTimeout(entry.timer);
  }

  #again(entry: Entry): void {
    const pauseMs = backoffMs(this.#host.backoff, ++entry.failures, this.#host.random);
    entry.timer = setTimeout(() => {
      if (this.#isAttached && entry.number === 0) entry.handle.begin();
    }, pauseMs);
  }

  #write(command: WatchCommand): void {
    const writer = new ByteWriter(64);
    writeWatchCommand(writer, command);
    this.#host.write(writer.finish());
  }
}

/** Ends a watch when its signal aborts. */
export function endOnAbort(handle: WatchHandle, path: string, signal: AbortSignal): void {
  const message = `Aborted the watch of ${path}`;
  handle.abort(new CoordinationError('ABORTED', message, { path, cause: signal.reason }));
}
