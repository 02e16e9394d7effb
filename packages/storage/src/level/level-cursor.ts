/** A consistent view of a LevelDB database: an iterator, which LevelDB bases on a snapshot of its own. */
import type { Cursor, KvPair } from '../io.ts';
import type { Database } from './database.ts';
import { storageErrorOf } from './level-error.ts';

/** What one call of the iterator fetches, bytes. */
const FETCH_BYTES = 64 * 1024;
const FETCH_PAIRS = 1000;

export class LevelCursor implements Cursor {
  readonly #iterator: ReturnType<typeof iteratorOf>;
  readonly #place: string;
  /** What was fetched and not handed out yet begins at `#at`. */
  #fetched: readonly KvPair[] = [];
  #at = 0;

  constructor(
    level: Database,
    range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined },
    place: string,
  ) {
    const bounds = { gte: range.from, ...(range.to === undefined ? {} : { lt: range.to }) };
    this.#iterator = iteratorOf(level, bounds);
    this.#place = place;
  }

  next(maxBytes: number, done: (pairs: readonly KvPair[]) => void, failed: (thrown: unknown) => void): void {
    void this.#answer(maxBytes, done, failed);
  }

  close(): void {
    // It waits for a fetch under way; a failure to close changes nothing that was promised.
    void this.#iterator.close().catch(() => {});
  }

  async #answer(
    maxBytes: number,
    done: (pairs: readonly KvPair[]) => void,
    failed: (thrown: unknown) => void,
  ): Promise<void> {
    let pairs: KvPair[];
    try {
      pairs = await this.#fetch(maxBytes);
    } catch (thrown) {
      failed(storageErrorOf(thrown, this.#place, 'read'));
      return;
    }
    done(pairs);
  }

  async #fetch(maxBytes: number): Promise<KvPair[]> {
    const page: KvPair[] = [];
    for (let bytes = 0; bytes < maxBytes; ) {
      const pair = this.#fetched[this.#at];
      if (pair === undefined) {
        this.#fetched = await this.#iterator.nextv(FETCH_PAIRS);
        this.#at = 0;
        if (this.#fetched.length === 0) break;
        continue;
      }
      page.push(pair);
      bytes += pair[0].length + pair[1].length;
      this.#at++;
    }
    return page;
  }
}

function iteratorOf(level: Database, bounds: { readonly gte: Uint8Array; readonly lt?: Uint8Array }) {
  return level.iterator<Uint8Array, Uint8Array>({ ...bounds, highWaterMarkBytes: FETCH_BYTES });
}
