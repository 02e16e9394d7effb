/** Listings in pages: what is asked for, and what a page has. Each listing shows one position of the history, over all its pages. */
import type { Stat } from './stat.ts';
import type { Zxid } from './zxid.ts';

/** What is wanted of each znode, and of one page. */
interface ListingWish {
  /** The parent, or the top of the subtree. */
  readonly path: string;
  readonly withStat: boolean;
  /** Brings the stat too. */
  readonly withData: boolean;
  /** Most znodes of this page; 0 for LISTING_PAGE_DEFAULT; cut to LISTING_PAGE_MAX. A page may have fewer, even none. */
  readonly limit: number;
  /** `next` of the page before: goes on with that listing, whatever else is wanted here. Undefined: a new listing. */
  readonly token: Uint8Array | undefined;
  /** With a token: the listing is not wanted any more. */
  readonly isEnd: boolean;
}

/** The direct children, by code unit. */
export interface ListChildrenOp extends ListingWish {
  readonly kind: 'listChildren';
  /** Only names after this one, which need not be there; empty for all. Without a token. */
  readonly after: string;
}

/** A znode and what is below it, a znode before its children, children by code unit. */
export interface GetSubtreeOp extends ListingWish {
  readonly kind: 'getSubtree';
  /** How far below the top; 0: it alone. Undefined: all. */
  readonly depth: number | undefined;
}

export type ListingOp = ListChildrenOp | GetSubtreeOp;

/** A znode in a page, as it was at the position of the listing. */
export interface ListedZnode {
  /** Of `listChildren` the name, of `getSubtree` the path. */
  readonly name: string;
  /** Undefined when it was not asked for, or the caller may not read the znode; then nothing below it is told either. */
  readonly stat: Stat | undefined;
  /** Undefined is null, or not asked for, or not to be read. */
  readonly data: Uint8Array | undefined;
}

interface ListingPage {
  /** Position in the history that the listing shows. */
  readonly at: Zxid;
  /** Of the znode at the top; in the first page. */
  readonly top: Stat | undefined;
  readonly entries: readonly ListedZnode[];
  /** Token of the next page; undefined when this is the last one. */
  readonly next: Uint8Array | undefined;
}

export type ListingResult =
  | (ListingPage & { readonly kind: 'listChildren' })
  | (ListingPage & { readonly kind: 'getSubtree' });

/** True for an operation that is answered with a page. */
export function isListingKind(kind: string): kind is ListingOp['kind'] {
  return kind === 'listChildren' || kind === 'getSubtree';
}
