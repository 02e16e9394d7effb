/**
 * A scan in pages over one LevelDB iterator. An iterator for each page would be begun anew with a search, and what it held outside of
 * the heap of JavaScript would stay until a collection of garbage found it: hundreds of megabytes at the start of a large tree.
 * The next page is read while the caller works on the last one.
 */
import type { Io, KvPair } from '../io.ts';
import type { Database } from './database.ts';

type ScanIo = Io & { readonly kind: 'scan' };

/** Most pairs in one page; bytes are what bounds it. */
const PAGE_PAIRS_MAX = 10_000;

export class LevelScan {
  readonly #iterator: ReturnType<typeof iteratorOf>;
  readonly #to: Uint8Array | undefined;
  readonly #maxBytes: number;
  /** The page after the last one. */
  #ahead: Promise<KvPair[]>;
  /** Last key that was handed out. */
  #last: Uint8Array | undefined = undefined;

  /** As of now: later writes do not show. */
  constructor(level: Database, io: ScanIo) {
    this.#iterator = iteratorOf(level, io);
    this.#to = io.to;
    this.#maxBytes = io.maxBytes;
    this.#ahead = this.#fetch();
  }

  /** True when `io` asks for what comes after the last page. */
  goesOn(io: ScanIo): boolean {
    return io.after && io.from === this.#last && io.to === this.#to && io.maxBytes === this.#maxBytes;
  }

  /** The next page; empty at the end. One call at a time. */
  async next(): Promise<readonly KvPair[]> {
    const page = await this.#ahead;
    this.#last = page.at(-1)?.[0];
    if (page.length > 0) this.#ahead = this.#fetch();
    return page;
  }

  /** Waits for a read under way. */
  async close(): Promise<void> {
    await this.#iterator.close();
  }

  #fetch(): Promise<KvPair[]> {
    const page: Promise<KvPair[]> = this.#iterator.nextv(PAGE_PAIRS_MAX);
    // Who asks for it is told; when nobody does, the scan was closed.
    page.catch(() => undefined);
    return page;
  }
}

function iteratorOf(level: Database, { from, after, to, maxBytes }: ScanIo) {
  return level.iterator<Uint8Array, Uint8Array>({
    ...(after ? { gt: from } : { gte: from }),
    ...(to === undefined ? {} : { lt: to }),
    highWaterMarkBytes: maxBytes,
  });
}
