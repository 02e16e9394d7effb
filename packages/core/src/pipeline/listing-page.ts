/** One listing that goes on, and its pages. What may not be read shows by its name alone, and nothing below it does (case C123). */
import {
  childPath,
  type Identity,
  LISTING_PAGE_DEFAULT,
  LISTING_PAGE_MAX,
  type ListedZnode,
  type ListingOp,
  type ListingResult,
  nameOf,
  PERMS,
  type Stat,
} from '@quorate/protocol';
import { UNORDERED } from '../tree/children.ts';
import type { DataTree } from '../tree/data-tree.ts';
import type { Past, PastZnode } from '../tree/past.ts';
import { pastAllBelow } from '../tree/walk.ts';
import type { Znode } from '../tree/znode.ts';
import { mayAccess } from './access.ts';

/** A page is closed when it is this long, bytes; one znode may be longer. */
export const PAGE_BYTES = 256 * 1024;

/** What an entry takes beside its name and data, bytes, at most about: without a stat, and with one. */
const ENTRY_BYTES = 8;
const STAT_BYTES = 80;

/** Steps of the walk for one page, told or not: some ms. */
const PAGE_STEPS = LISTING_PAGE_MAX;

export class Listing {
  readonly kind: ListingOp['kind'];
  readonly path: string;
  readonly past: Past;
  /** The top of it, as it was. */
  readonly top: PastZnode & { readonly stat: Stat };
  /** A subtree of nothing but its top. */
  readonly isTopOnly: boolean;
  /** Number of the last page that was made, from 0. */
  page = 0;
  /** When it was last asked for a page; monotonic ms. */
  askedMs: number;
  /** Places of the walk where that page and the next one begin; undefined: at the top of a subtree. */
  #from: string;
  #to: string;

  constructor(tree: DataTree, op: ListingOp, top: Znode, nowMs: number) {
    const { kind, path, withData } = op;
    const depth = kind === 'listChildren' ? 1 : (op.depth ?? Number.POSITIVE_INFINITY);
    this.kind = kind;
    this.path = path;
    this.isTopOnly = depth === 0;
    this.top = { path, acl: top.acl, stat: top.stat(), data: withData ? top.data : undefined };
    this.past = tree.beginPast({ root: path, depth, withStat: op.withStat || withData, withData });
    this.#from = kind === 'listChildren' && op.after !== '' ? pastAllBelow(childPath(path, op.after)) : path;
    this.#to = this.#from;
    this.askedMs = nowMs;
  }

  /** Where the walk goes on for that page. */
  placeOf(page: number): string {
    return page === this.page ? this.#from : this.#to;
  }

  /** Makes it the present page: the next one, or the last one again. False for any other. */
  turnTo(page: number): boolean {
    if (page === this.page) return true;
    if (page !== this.page + 1) return false;
    this.page = page;
    this.#from = this.#to;
    this.past.forget(this.#from);
    return true;
  }

  get from(): string {
    return this.#from;
  }

  /** The present page goes up to there. */
  endPage(place: string): void {
    this.#to = place;
  }
}

/** The present page, as far as `identities` may see it. `next` is the caller's to set. */
export function makePage(
  listing: Listing,
  op: ListingOp,
  identities: readonly Identity[],
): { readonly page: ListingResult; readonly isLast: boolean } {
  const { past, page, kind, top } = listing;
  const limit = op.limit === 0 ? LISTING_PAGE_DEFAULT : Math.min(op.limit, LISTING_PAGE_MAX);
  const entries: ListedZnode[] = [];
  let bytes = 0;
  const tell = (znode: PastZnode, mayRead: boolean): void => {
    const entry = entryOf(listing, znode, mayRead);
    entries.push(entry);
    bytes += ENTRY_BYTES + entry.name.length + (entry.stat === undefined ? 0 : STAT_BYTES) + (entry.data?.length ?? 0);
  };
  if (page === 0 && kind === 'getSubtree') tell(past.spec.withStat ? top : { ...top, stat: undefined }, true);
  let place = listing.from;
  let isLast = listing.isTopOnly;
  for (let steps = 0; !isLast && steps < PAGE_STEPS && entries.length < limit && bytes < PAGE_BYTES; steps++) {
    const step = past.next(place);
    if (step === UNORDERED) break;
    isLast = step === undefined;
    if (step === undefined) break;
    ({ place } = step);
    if (step.znode === undefined) continue;
    const mayRead = mayAccess(step.znode, PERMS.READ, identities);
    tell(step.znode, mayRead);
    if (!mayRead) place = pastAllBelow(step.znode.path);
  }
  listing.endPage(place);
  const shown = { entries, top: page === 0 ? top.stat : undefined, at: past.zxid, next: undefined };
  return { page: { kind, ...shown }, isLast };
}

function entryOf({ kind }: Listing, { path, stat, data }: PastZnode, mayRead: boolean): ListedZnode {
  const name = kind === 'listChildren' ? nameOf(path) : path;
  return mayRead ? { name, stat, data } : { name, stat: undefined, data: undefined };
}
