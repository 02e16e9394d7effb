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
    void this.#fetch(maxBytes).then(done, (thrown: unknown) => {
      failed(storageErrorOf(thrown, this.#place, 'read'));
    });
  }

  close(): void {
    // It waits for a fetch under way; a failure to close changes nothing that was promised.
    void this.#iterator.close().catch(() => {});
  }

  async #fetch(maxBytes: number): Promise<KvPair[]> {
    const pairs: KvPair[] = [];
    for (let bytes = 0; bytes < maxBytes; ) {
      const fetched = await this.#iterator.nextv(FETCH_PAIRS);
      if (fetched.length === 0) break;
      for (const [key, value] of fetched) {
        pairs.push([key, value]);
        bytes += key.length + value.length;
      }
    }
    return pairs;
  }
}

function iteratorOf(level: Database, bounds: { readonly gte: Uint8Array; readonly lt?: Uint8Array }) {
  return level.iterator<Uint8Array, Uint8Array>({ ...bounds, highWaterMarkBytes: FETCH_BYTES });
}
