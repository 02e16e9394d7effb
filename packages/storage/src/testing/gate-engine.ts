/**
 * An engine around an engine, for tests: sees every operation, can stop before a given one as a crash would, and can fail
 * one as a disk would.
 */
import type { Cursor, DbName, Engine, Io, IoResult, LaneName } from '../io.ts';

/** What the gate has seen: an operation that began, or that was completed. */
export interface Seen {
  readonly when: 'started' | 'done';
  readonly io: Io;
}

export class GateEngine implements Engine {
  readonly seen: Seen[] = [];
  /**
   * How many more operations are let through; when it is used up nothing is started or reported any more. Notes of the
   * watermark are not counted: they come beside what is.
   */
  budget = Number.POSITIVE_INFINITY;
  /** Says why an operation fails instead of being carried out; undefined: it does not. */
  fault: (io: Io) => string | undefined = () => undefined;
  #shut = false;
  #waiting: (() => void)[] = [];
  readonly #inner: Engine;

  constructor(inner: Engine) {
    this.#inner = inner;
  }

  /** True when the budget was used up, or `shut` was called. */
  get isShut(): boolean {
    return this.#shut;
  }

  /** Nothing is started or reported any more. */
  shut(): void {
    this.#shut = true;
    this.#changed();
  }

  /** Resolves when an operation has been answered, or the gate is shut. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Operations that were started. */
  get started(): readonly Io[] {
    return this.seen.filter(({ when }) => when === 'started').map(({ io }) => io);
  }

  start(lane: LaneName, io: Io, done: (result: IoResult) => void, failed: (thrown: unknown) => void): void {
    if (this.budget <= 0 && io.kind !== 'note') this.shut();
    if (this.#shut) return;
    if (io.kind !== 'note') this.budget--;
    this.seen.push({ when: 'started', io });
    const reason = this.fault(io);
    const report = (result: IoResult): void => {
      if (this.#shut) return;
      this.seen.push({ when: 'done', io });
      if (reason === undefined) done(result);
      else failed(new Error(reason));
      this.#changed();
    };
    // A failed operation does nothing, and is answered as late as any other.
    this.#inner.start(lane, reason === undefined ? io : { kind: 'nothing' }, report, (thrown) => {
      if (!this.#shut) failed(thrown);
      this.#changed();
    });
  }

  openCursor(db: DbName, range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined }): Cursor {
    return this.#inner.openCursor(db, range);
  }

  close(): Promise<void> {
    this.shut();
    return this.#inner.close();
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
