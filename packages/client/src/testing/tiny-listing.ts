/** Listings of a TinyTree: pages of what there is now. A token is where the next page begins, in ASCII digits; nothing is kept. */
import {
  LISTING_PAGE_DEFAULT,
  type ListedZnode,
  type ListingOp,
  type ListingResult,
  type Zxid,
} from '@quorate/protocol';

/** `all` are the znodes of the whole listing, in order. */
export function tinyPage(op: ListingOp, all: readonly ListedZnode[], at: Zxid): ListingResult {
  const from = op.token === undefined ? 0 : Number(String.fromCharCode(...op.token));
  const to = op.isEnd ? all.length : from + (op.limit || LISTING_PAGE_DEFAULT);
  const entries = op.isEnd ? [] : all.slice(from, to).map((entry) => shown(op, entry));
  const next = to >= all.length ? undefined : Uint8Array.from(String(to), (digit) => digit.charCodeAt(0));
  return { kind: op.kind, at, top: undefined, entries, next };
}

function shown({ withStat, withData }: ListingOp, { name, stat, data }: ListedZnode): ListedZnode {
  return { name, stat: withStat || withData ? stat : undefined, data: withData ? data : undefined };
}
