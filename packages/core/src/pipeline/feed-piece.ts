/**
 * The next piece of a feed: changes from the journal, then, once it has caught up, znodes of its walk. Everything is made in
 * one step, so that what is told of the walk is at one position of the history, that of the journal's end.
 *
 * While it walks, a change is told when it is about what was told already, and left out when the walk has yet to come there: so
 * the reader always knows the walked part as it is, and no change twice.
 */
import { assert, FRAME_ITEMS_MAX, PERMS, type WatchEvent, type WatchPiece, ZERO_ZXID } from '@quorate/protocol';
import { UNORDERED } from '../tree/children.ts';
import type { DataTree } from '../tree/data-tree.ts';
import type { Journal } from '../tree/journal.ts';
import { isWithin, nextInWalk, unorderedAt, walkOrder } from '../tree/walk.ts';
import { mayAccess } from './access.ts';
import { type Feed, NOTHING, notice } from './feed.ts';

/** A piece is closed when it is this long, bytes; one znode may be longer. */
export const PIECE_BYTES = 64 * 1024;

/** What an event costs beside path and data, bytes, about. */
const EVENT_BYTES = 120;

/** Units of work for a znode of a walk; an entry of the journal is one. */
const STEP_WORK = 4;

/** What may still be done in this turn; may end a little below 0. */
export interface PieceBudget {
  work: number;
  bytes: number;
}

/** A piece that is being made. */
interface Draft {
  readonly events: WatchEvent[];
  bytes: number;
}

/** The next piece, or undefined when there is nothing to tell, or not yet within the budget: see `feed.isIdle`. */
export function makePiece(feed: Feed, tree: DataTree, journal: Journal, budget: PieceBudget): WatchPiece | undefined {
  const draft: Draft = { events: [...feed.opening], bytes: 0 };
  feed.opening = NOTHING;
  readJournal(feed, journal, draft, budget);
  if (feed.position === journal.end) {
    if (feed.isWalking) walk(feed, tree, draft, budget);
    if (!feed.isWalking) {
      feed.told = tree.lastZxid;
      feed.reading = tree.lastZxid;
      feed.becomeIdle();
    }
  }
  budget.bytes -= draft.bytes;
  if (draft.events.length === 0) return undefined;
  return { zxid: feed.isWalking ? ZERO_ZXID : feed.told, events: draft.events };
}

/** About how many bytes it takes. */
export function bytesOf({ events }: WatchPiece): number {
  return events.reduce((sum, { path, data }) => sum + EVENT_BYTES + path.length + (data?.length ?? 0), EVENT_BYTES);
}

function readJournal(feed: Feed, journal: Journal, draft: Draft, budget: PieceBudget): void {
  for (; feed.position < journal.end && !isFull(draft) && budget.work > 0; feed.position++) {
    budget.work--;
    const zxid = journal.zxidAt(feed.position);
    assert(
      feed.position >= journal.first && zxid >= feed.reading,
      () => `P13: feed ${feed.number} is at change ${feed.position}, which is not kept or comes before what it read`,
    );
    if (zxid !== feed.reading) {
      feed.told = feed.reading;
      feed.reading = zxid;
    }
    if (!concerns(feed, journal.pathAt(feed.position))) continue;
    const event = eventAt(feed, journal);
    if (event === undefined) continue;
    draft.events.push(event);
    draft.bytes += EVENT_BYTES + event.path.length + (event.data?.length ?? 0);
  }
}

/**
 * By the right as it was then: what may not be read does not show by its path either (case C123). Whoever loses the right by a
 * change is told that the znode is gone: it is, from what he sees, and of its end he will not hear.
 */
function eventAt({ position, identities, spec }: Feed, journal: Journal): WatchEvent | undefined {
  const entry = journal.at(position);
  if (mayAccess({ acl: journal.aclAt(position) }, PERMS.READ, identities)) {
    return { ...entry, data: spec.withValues ? journal.dataAt(position) : undefined };
  }
  if (entry.kind !== 'aclChanged') return undefined;
  if (!mayAccess({ acl: journal.aclBeforeAt(position) }, PERMS.READ, identities)) return undefined;
  return { ...entry, kind: 'deleted', stat: undefined, data: undefined };
}

function concerns({ spec, isWalking, cursor }: Feed, path: string): boolean {
  if (spec.recursive ? !isWithin(path, spec.path) : path !== spec.path) return false;
  return !isWalking || (cursor !== undefined && walkOrder(path, cursor) <= 0);
}

function walk(feed: Feed, tree: DataTree, draft: Draft, budget: PieceBudget): void {
  const { spec } = feed;
  while (!isFull(draft) && budget.work > 0) {
    budget.work -= STEP_WORK;
    const path = nextOf(feed, tree);
    if (path === UNORDERED) {
      putInOrder(feed, tree, budget);
      continue;
    }
    const znode = path === undefined ? undefined : tree.znode(path);
    if (path === undefined || znode === undefined) {
      feed.isWalking = false;
      draft.events.push(notice('ready', tree.lastZxid));
      return;
    }
    feed.cursor = path;
    if (!mayAccess(znode, PERMS.READ, feed.identities)) continue;
    const stat = znode.stat();
    const data = spec.withValues ? znode.data : undefined;
    draft.events.push({ kind: 'current', zxid: tree.lastZxid, path, stat, data });
    draft.bytes += EVENT_BYTES + path.length + (data?.length ?? 0);
  }
}

/** The walk has come to a znode with many children, which are put in order as far as the budget goes. */
function putInOrder({ spec, cursor = '' }: Feed, tree: DataTree, budget: PieceBudget): void {
  const parent = unorderedAt(tree, spec.path, cursor);
  if (parent !== undefined) budget.work -= STEP_WORK * tree.putInOrder(parent, Math.ceil(budget.work / STEP_WORK));
}

function nextOf({ spec, cursor }: Feed, tree: DataTree): string | undefined {
  if (cursor === undefined) return spec.path;
  return spec.recursive ? nextInWalk(tree, spec.path, cursor) : undefined;
}

function isFull({ events, bytes }: Draft): boolean {
  return bytes >= PIECE_BYTES || events.length >= FRAME_ITEMS_MAX - 1;
}
