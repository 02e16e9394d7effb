/**
 * Listings in pages: children, or a subtree, as they were when the first page was made. A listing that ends with its first page leaves
 * nothing behind; of one that goes on this member keeps a past of the tree (`tree/past.ts`), until its last page is asked for or
 * nobody has asked for a while. Nothing of it is replicated: another member, or this one after a restart, knows it not.
 *
 * Policies when full: past `listingsMax` a new one takes the place of one that was left alone for some seconds, or is refused, THROTTLED; while the images of what has changed take more than
 * `bytesMax`, the listing that has most of them is given up, and its next page is a GAP. No step does more than a page, or puts
 * more than `ORDER_STEPS` children in order; who needs an order that is not made waits for it, `ORDER_WAIT_MS` at most.
 */
import { type Answer, type Identity, type ListingOp, PERMS, type ReadOp, type Sid } from '@quorate/protocol';
import { unorderedAt } from '../tree/walk.ts';
import { mayAccess } from './access.ts';
import type { CurrentTree } from './current-tree.ts';
import type { Deadlines, Expirable } from './deadlines.ts';
import { Listing, makePage } from './listing-page.ts';
import { decodeToken, encodeToken, type ListingToken } from './listing-token.ts';
import { type Refusal, refusal, refused } from './refusal.ts';

export interface ListingsOptions {
  readonly sid: Sid;
  readonly incarnation: number;
  readonly limits: { readonly listingsMax: number; readonly listingBytesMax: number };
}

export interface ListingsHost {
  readonly nowMs: () => number;
  /** Another turn is to come at once: there is more to put in order than one may. */
  wantTurn(): void;
}

/** A listing that is not gone on with for so long is given up, ms. */
export const LISTING_IDLE_MS = 30_000;

/** The same when another one wants its place: the one that was left alone longest goes. */
export const LISTING_CROWDED_MS = 5_000;

/** Children that are put in order in one turn: some ms. */
const ORDER_STEPS = 2_000;

/** How long a page waits for children to be put in order; then it is answered with what there is, which may be nothing. */
const ORDER_WAIT_MS = 1_000;

/** An order that nobody asks for is given up after this time, or twice it. */
const ORDER_UNUSED_MS = 60_000;

/** Whoever waits. Told exactly once, one or the other. */
export interface OrderWaiter {
  reached(): void;
  failed(reason: Refusal): void;
}

type WaitingOp = ReadOp | ListingOp;

export class Listings {
  readonly #options: ListingsOptions;
  readonly #state: CurrentTree;
  readonly #deadlines: Deadlines;
  readonly #host: ListingsHost;
  /** By number; in the order in which they were last asked for a page. */
  readonly #open = new Map<number, Listing>();
  readonly #waiting = new Map<Expirable, { readonly op: WaitingOp; readonly waiter: OrderWaiter }>();
  #last = 0;
  #releasedMs = 0;

  constructor(options: ListingsOptions, state: CurrentTree, deadlines: Deadlines, host: ListingsHost) {
    this.#options = options;
    this.#state = state;
    this.#deadlines = deadlines;
    this.#host = host;
  }

  /** Listings that go on. */
  get count(): number {
    return this.#open.size;
  }

  /** True when children have to be put in order before `op` can be answered as it should be: see `wait`. */
  mustWait(op: WaitingOp): boolean {
    return this.#unordered(op) !== undefined;
  }

  /** Waits until `op` can be answered without a pause. A listing waits for a while; then it is answered with a short page. */
  wait(op: WaitingOp, deadlineMs: number, waiter: OrderWaiter): void {
    if (!this.mustWait(op)) return waiter.reached();
    const isListing = op.kind === 'listChildren' || op.kind === 'getSubtree';
    const waiting: Expirable = {
      deadlineMs: isListing ? Math.min(deadlineMs, this.#host.nowMs() + ORDER_WAIT_MS) : deadlineMs,
      expire: () => {
        this.#waiting.delete(waiting);
        if (isListing) return waiter.reached();
        const path = this.#unordered(op);
        waiter.failed(refusal('UNAVAILABLE', `Cannot list ${path} in time: its children are not in order yet`, path));
      },
    };
    this.#waiting.set(waiting, { op, waiter });
    this.#deadlines.add(waiting);
    this.#host.wantTurn();
  }

  /** The next page, or the first. */
  page(op: ListingOp, identities: readonly Identity[]): Answer {
    const zxid = this.#state.tree.lastZxid;
    const answer = op.token === undefined ? this.#first(op, identities) : this.#next(op, op.token, identities);
    return 'result' in answer ? answer : refused(answer, zxid);
  }

  /** A snapshot replaced the tree: what the listings show is gone with the old one. */
  treeReplaced(): void {
    this.#open.clear();
  }

  /** End of a turn: puts children in order for those who wait, and holds the images to their bound. */
  turnEnded(): void {
    if (this.#open.size > 0) this.#holdToBound();
    let left = ORDER_STEPS;
    for (const [waiting, { op, waiter }] of this.#waiting) {
      for (let parent = this.#unordered(op); parent !== undefined && left > 0; parent = this.#unordered(op)) {
        left -= this.#state.tree.putInOrder(parent, left);
      }
      if (this.mustWait(op)) break;
      this.#waiting.delete(waiting);
      this.#deadlines.remove(waiting);
      waiter.reached();
    }
    if (this.#waiting.size > 0) this.#host.wantTurn();
  }

  /** Time has passed. */
  tick(): void {
    const nowMs = this.#host.nowMs();
    for (const [number, listing] of this.#open) {
      if (nowMs - listing.askedMs <= LISTING_IDLE_MS) break;
      this.#end(number, listing);
    }
    if (nowMs - this.#releasedMs < ORDER_UNUSED_MS) return;
    this.#releasedMs = nowMs;
    this.#state.tree.releaseOrders();
  }

  #first(op: ListingOp, identities: readonly Identity[]): Answer | Refusal {
    const { tree } = this.#state;
    const { path } = op;
    const znode = tree.znode(path);
    if (znode === undefined) return refusal('NO_NODE', `Cannot list ${path}: it does not exist`, path);
    if (!mayAccess(znode, PERMS.READ, identities)) return noAuth(op);
    const listing = new Listing(tree, op, znode, this.#host.nowMs());
    const { limits } = this.#options;
    if (this.#open.size >= limits.listingsMax) this.#makeRoom();
    if (this.#open.size >= limits.listingsMax && !makePage(listing, op, identities).isLast) {
      tree.endPast(listing.past);
      const what = `Cannot list ${path} in pages: ${this.#open.size} listings are open at this member already`;
      return refusal('THROTTLED', what, path);
    }
    const number = ++this.#last;
    this.#open.set(number, listing);
    return this.#answer(number, listing, op, identities);
  }

  #next(op: ListingOp, bytes: Uint8Array, identities: readonly Identity[]): Answer | Refusal {
    const token = decodeToken(bytes);
    const listing = token === undefined ? undefined : this.#find(token);
    if (token === undefined || listing === undefined) return gap(op);
    if (listing.kind !== op.kind || listing.path !== op.path) {
      const message = `Cannot go on with the listing of ${op.path}: the token is that of another one`;
      return refusal('INVALID_ARGUMENT', message, op.path);
    }
    if (!mayAccess(listing.top, PERMS.READ, identities)) return noAuth(op);
    if (!listing.turnTo(token.page)) return gap(op);
    if (op.isEnd) {
      this.#end(token.number, listing);
      return this.#emptyPage(listing);
    }
    // Last in the order of those that were asked for.
    this.#open.delete(token.number);
    this.#open.set(token.number, listing);
    listing.askedMs = this.#host.nowMs();
    return this.#answer(token.number, listing, op, identities);
  }

  #answer(number: number, listing: Listing, op: ListingOp, identities: readonly Identity[]): Answer {
    const { sid, incarnation } = this.#options;
    const { page, isLast } = makePage(listing, op, identities);
    if (isLast) this.#end(number, listing);
    const next = isLast ? undefined : encodeToken({ sid, incarnation, number, page: listing.page + 1 });
    return { zxid: this.#state.tree.lastZxid, result: { ...page, next } };
  }

  #emptyPage({ kind, past }: Listing): Answer {
    const result = { kind, at: past.zxid, top: undefined, entries: [], next: undefined };
    return { zxid: this.#state.tree.lastZxid, result };
  }

  #find({ sid, incarnation, number }: ListingToken): Listing | undefined {
    const isOurs = sid === this.#options.sid && incarnation === this.#options.incarnation;
    return isOurs ? this.#open.get(number) : undefined;
  }

  /** The znode whose children have to be put in order first. */
  #unordered(op: WaitingOp): string | undefined {
    const { tree } = this.#state;
    switch (op.kind) {
      case 'getChildren':
        return tree.isOrdered(op.path) ? undefined : op.path;
      case 'multiRead':
        return op.parts.find((part) => part.kind === 'getChildren' && !tree.isOrdered(part.path))?.path;
      case 'listChildren':
      case 'getSubtree': {
        const token = op.token === undefined ? undefined : decodeToken(op.token);
        if (op.token === undefined) return op.kind === 'getSubtree' && op.depth === 0 ? undefined : this.#own(op.path);
        const listing = token === undefined ? undefined : this.#find(token);
        if (token === undefined || listing === undefined || op.isEnd) return undefined;
        return unorderedAt(tree, listing.path, listing.placeOf(token.page));
      }
      default:
        return undefined;
    }
  }

  #own(path: string): string | undefined {
    return this.#state.tree.isOrdered(path) ? undefined : path;
  }

  #makeRoom(): void {
    const [oldest] = this.#open;
    if (oldest === undefined || this.#host.nowMs() - oldest[1].askedMs <= LISTING_CROWDED_MS) return;
    this.#end(...oldest);
  }

  #holdToBound(): void {
    let bytes = 0;
    for (const { past } of this.#open.values()) bytes += past.bytes;
    while (bytes > this.#options.limits.listingBytesMax) {
      const [number, most] = [...this.#open].reduce((a, b) => (b[1].past.bytes > a[1].past.bytes ? b : a));
      bytes -= most.past.bytes;
      this.#end(number, most);
    }
  }

  #end(number: number, { past }: Listing): void {
    this.#open.delete(number);
    this.#state.tree.endPast(past);
  }
}

function noAuth({ path }: ListingOp): Refusal {
  return refusal('NO_AUTH', `Cannot list ${path}: the caller does not have the right READ`, path);
}

function gap({ path }: ListingOp): Refusal {
  const message = `Cannot go on with the listing of ${path}: this member does not keep it any more, or never did; begin anew`;
  return refusal('GAP', message, path);
}
