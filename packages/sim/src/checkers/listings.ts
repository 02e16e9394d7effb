/**
 * Listings in pages: every page shows the children, or the subtree, exactly as they were at the one position of its listing, goes on
 * where the page before has ended, and the last one leaves nothing out. What may not be read shows by its name alone, and nothing
 * below it does. Source: `ListingOp`, case C123.
 * Not verified: how much a page has, as long as it is no more than was asked for.
 */
import { formatZxid, type ListingOp, type ListingResult, PERMS, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { isAllowed } from '../acl-model.ts';
import { type CallRecord, describeCall } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import { isSameValue } from '../same-value.ts';
import { TreeModel } from '../tree-model.ts';
import { type Checker, violated } from './checker.ts';

/** A page, and what is known of where it begins. */
interface Page {
  readonly record: CallRecord;
  readonly result: ListingResult;
  /** The call that began the listing. */
  readonly first: ListingOp;
  readonly at: Zxid;
  /** The last entry before it; undefined: it is the first page. */
  readonly after: string | undefined;
}

export class ListingsChecker implements Checker {
  readonly name = 'listings';
  readonly kinds = [] as const;

  finish(ledger: Ledger): void {
    const byZxid = new Map<Zxid, Page[]>();
    for (const page of this.#pages(ledger)) byZxid.set(page.at, [...(byZxid.get(page.at) ?? []), page]);
    if (byZxid.size === 0) return;
    const model = new TreeModel();
    for (const page of byZxid.get(ZERO_ZXID) ?? []) this.#check(page, model);
    byZxid.delete(ZERO_ZXID);
    for (const zxid of ledger.committed) {
      const txn = ledger.txn(zxid);
      if (txn !== undefined) model.apply(zxid, txn);
      for (const page of byZxid.get(zxid) ?? []) this.#check(page, model);
      byZxid.delete(zxid);
    }
    for (const [zxid, [page]] of byZxid) {
      if (page !== undefined)
        violated(this, `${describeCall(page.record)} shows ${formatZxid(zxid)}, where nothing is committed`);
    }
  }

  /** Each page with the one before it, in the order of the calls: a token comes by an answer. */
  #pages({ calls }: Ledger): readonly Page[] {
    const pages: Page[] = [];
    const byToken = new Map<string, Page>();
    for (const record of calls.all.values()) {
      const { op } = record.call;
      const result = record.answer?.result;
      if (!isListing(op) || result?.kind !== op.kind || op.isEnd) continue;
      const before = op.token === undefined ? undefined : byToken.get(String(op.token));
      if (op.token !== undefined && before === undefined) continue;
      const first = before?.first ?? op;
      const page = { record, result, first, at: before?.at ?? result.at, after: before && lastOf(before) };
      if (result.at !== page.at)
        violated(this, `${describeCall(record)} goes on at ${formatZxid(result.at)}, not ${formatZxid(page.at)}`);
      pages.push(page);
      if (result.next !== undefined) byToken.set(String(result.next), page);
    }
    return pages;
  }

  #check({ record, result, first, after }: Page, model: TreeModel): void {
    const what = `${describeCall(record)} of ${formatZxid(result.at)}`;
    const all = whole(model, first, record.call.identities ?? []);
    if (all === undefined) violated(this, `${what} lists what is not there, or may not be read`);
    const start = after === undefined ? 0 : all.findIndex(({ name }) => name === after) + 1;
    const right = all.slice(start, start + result.entries.length);
    if (!isSameValue(result.entries, right)) {
      const names = (entries: readonly { readonly name: string }[]): string => entries.map(({ name }) => name).join();
      violated(this, `${what} shows [${names(result.entries)}], not [${names(right)}] as they were`);
    }
    const { op } = record.call;
    if (isListing(op) && op.limit > 0 && result.entries.length > op.limit)
      violated(this, `${what} is longer than was asked for`);
    if (result.next === undefined && start + right.length < all.length) violated(this, `${what} ends before the last`);
    const top = after === undefined && record.call.op === first ? model.stat(first.path) : undefined;
    if (!isSameValue(result.top, top)) violated(this, `${what} shows another top`);
  }
}

function isListing(op: CallRecord['call']['op']): op is ListingOp {
  return op.kind === 'listChildren' || op.kind === 'getSubtree';
}

/** Where the next page begins: a page without entries has not gone on. */
function lastOf({ result, after }: Page): string | undefined {
  return result.entries.at(-1)?.name ?? after;
}

/** All entries of the listing; undefined where there can be none. */
function whole(model: TreeModel, op: ListingOp, identities: NonNullable<CallRecord['call']['identities']>) {
  const top = model.znodes.get(op.path);
  if (top === undefined || !isAllowed(top.acl, PERMS.READ, identities)) return undefined;
  const entries: ListingResult['entries'][number][] = [];
  const tell = (path: string, depth: number): void => {
    const znode = model.znodes.get(path);
    const mayRead = isAllowed(znode?.acl, PERMS.READ, identities);
    const name = op.kind === 'getSubtree' ? path : path.slice(path.lastIndexOf('/') + 1);
    const stat = mayRead && (op.withStat || op.withData) ? model.stat(path) : undefined;
    entries.push({ name, stat, data: mayRead && op.withData ? znode?.data : undefined });
    if (op.kind === 'getSubtree' && mayRead) below(path, depth);
  };
  const below = (path: string, depth: number): void => {
    if (op.kind === 'getSubtree' && depth >= (op.depth ?? Infinity)) return;
    for (const name of [...(model.znodes.get(path)?.children ?? [])].sort()) {
      if (op.kind === 'listChildren' && name <= op.after) continue;
      tell(path === '/' ? `/${name}` : `${path}/${name}`, depth + 1);
    }
  };
  if (op.kind === 'getSubtree') tell(op.path, 0);
  else below(op.path, 0);
  return entries;
}
