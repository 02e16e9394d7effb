/**
 * Open streams of the state on disk. Each holds a view of one database, which keeps old files alive: it is closed at the
 * end, at `close`, and when its database is replaced. Reads are pulled by the caller, so that nothing is buffered here.
 */

import type { StatePage } from './contract.ts';
import type { Cursor, DbName, KvPair } from './io.ts';
import { stateRecords } from './recovery.ts';
import { reasonOf, StorageError } from './storage-error.ts';

/** Most streams at a time: far above the number of members. Past it `add` refuses. */
const STREAMS_MAX = 64;

interface Stream {
  readonly db: DbName;
  readonly cursor: Cursor;
  reading: boolean;
}

export class Streams {
  readonly #place: string;
  readonly #open = new Map<number, Stream>();

  constructor(place: string) {
    this.#place = place;
  }

  has(stream: number): boolean {
    return this.#open.has(stream);
  }

  /** Adds a stream. Returns why not, or undefined. */
  add(stream: number, db: DbName, openCursor: () => Cursor): string | undefined {
    if (this.#open.has(stream)) return `Stream ${stream} is open already`;
    if (this.#open.size >= STREAMS_MAX) return `${STREAMS_MAX} streams are open already`;
    try {
      this.#open.set(stream, { db, cursor: openCursor(), reading: false });
      return undefined;
    } catch (thrown) {
      return reasonOf(thrown);
    }
  }

  /** Reads the next page. `failed` gets a StorageError; the stream is over then. */
  read(stream: number, maxBytes: number, done: (page: StatePage) => void, failed: (error: StorageError) => void): void {
    const found = this.#open.get(stream);
    if (found === undefined || found.reading) {
      failed(new StorageError('CLOSED', `Stream ${stream} ${found === undefined ? 'is not open' : 'is being read'}`));
      return;
    }
    found.reading = true;
    const fail = (thrown: unknown): void => {
      this.close(stream);
      failed(thrown instanceof StorageError ? thrown : new StorageError('IO', reasonOf(thrown), { cause: thrown }));
    };
    const take = (pairs: readonly KvPair[]): void => {
      if (this.#open.get(stream) !== found) {
        failed(new StorageError('CLOSED', `Stream ${stream} has been closed`));
        return;
      }
      found.reading = false;
      if (pairs.length === 0) this.close(stream);
      let page: StatePage;
      try {
        page = { records: stateRecords(pairs, this.#place, found.db), done: pairs.length === 0 };
      } catch (thrown) {
        fail(thrown);
        return;
      }
      done(page);
    };
    found.cursor.next(maxBytes, take, fail);
  }

  close(stream: number): void {
    this.#open.get(stream)?.cursor.close();
    this.#open.delete(stream);
  }

  closeAll(): void {
    for (const stream of this.#open.keys()) this.close(stream);
  }
}
