/** Listings: children and subtrees, fetched page by page while they are read, at one position of the history. */
import {
  LISTING_PAGE_DEFAULT,
  LISTING_PAGE_MAX,
  type ListedZnode as ListedOnWire,
  type ListingOp,
  type ListingResult,
  nameOf,
} from '@quorate/protocol';
import type { ReadOptions } from './api.ts';
import type { Stat } from './znode.ts';

export interface ListingOptions extends ReadOptions {
  /** Bring the stat of each znode. Default false. */
  readonly stat?: boolean | undefined;
  /** Bring the data of each, and the stat. Default false. */
  readonly data?: boolean | undefined;
  /** Znodes that are fetched at once, 1..4096. Default 1000. `timeoutMs` is for each page, `signal` for all. */
  readonly pageSize?: number | undefined;
}

export interface ListOptions extends ListingOptions {
  /** Only names after this one, which need not exist. */
  readonly after?: string | undefined;
}

export interface WalkOptions extends ListingOptions {
  /** How far below the znode; 0: it alone. Default: all. */
  readonly depth?: number | undefined;
}

/** A znode in a listing. */
export interface ListedZnode {
  readonly path: string;
  readonly name: string;
  /** Undefined when it was not asked for, or the caller has no right to read the znode. */
  readonly stat: Stat | undefined;
  /** Undefined is null, or not asked for, or not to be read. */
  readonly data: Uint8Array | undefined;
}

/**
 * The znodes of a listing, in order, all as they were at `zxid`. Each `for await` begins a new one. It rejects with GAP when the member
 * does not keep the listing any more: it was left alone for 30 s, too much has changed, or the client goes on at another
 * member; with THROTTLED when the member has as many as it may.
 */
export interface Listing extends AsyncIterable<ListedZnode> {
  /** Position in the history that it shows; undefined before the first znode has come. */
  readonly zxid: bigint | undefined;
}

/** What is asked for the first page; `linearizable` counts for that one only. */
export type Ask = (op: ListingOp, isFirst: boolean) => Promise<ListingResult>;

export class PagedListing implements Listing {
  #zxid: bigint | undefined;
  readonly #op: ListingOp;
  readonly #ask: Ask;
  readonly #outward: (path: string) => string;

  /** `outward`: the caller's path for the ensemble's. */
  constructor(op: ListingOp, ask: Ask, outward: (path: string) => string) {
    this.#op = op;
    this.#ask = ask;
    this.#outward = outward;
  }

  get zxid(): bigint | undefined {
    return this.#zxid;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ListedZnode, undefined> {
    let op = this.#op;
    let isFirst = true;
    try {
      do {
        const { entries, at, next } = await this.#ask(op, isFirst);
        this.#zxid = at;
        isFirst = false;
        op = { ...op, token: next };
        for (const entry of entries) yield this.#shown(entry);
      } while (op.token !== undefined);
    } finally {
      // Whoever leaves early lets the member forget what it keeps.
      if (op.token !== undefined) void this.#ask({ ...op, isEnd: true }, false).catch(() => undefined);
    }
    return undefined;
  }

  #shown({ name, stat, data }: ListedOnWire): ListedZnode {
    const own = data?.slice();
    if (this.#op.kind === 'getSubtree') {
      const path = this.#outward(name);
      return { path, name: nameOf(path), stat, data: own };
    }
    const parent = this.#outward(this.#op.path);
    return { path: parent === '/' ? `/${name}` : `${parent}/${name}`, name, stat, data: own };
  }
}

/** What all listings have in common. Throws RangeError for a page size or a depth that is none. */
export function checkListing({ stat = false, data = false, pageSize = LISTING_PAGE_DEFAULT }: ListingOptions) {
  const limit = checkCount('pageSize', pageSize, 1, LISTING_PAGE_MAX);
  return { withStat: stat || data, withData: data, limit, token: undefined, isEnd: false };
}

export function checkDepth(depth: number | undefined): number | undefined {
  return depth === undefined ? undefined : checkCount('depth', depth, 0, 0xffff_ffff);
}

export function checkAfter(after: string | undefined): string {
  if (after !== undefined && typeof after !== 'string')
    throw new TypeError(`after must be a string, not ${typeof after}`);
  return after ?? '';
}

function checkCount(what: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${what} must be an integer from ${min} to ${max}, not ${String(value)}`);
}
