/** What operations on watches are answered, and what a read that asks for one leaves. Source: reference §3.4 and §8.5. */
import {
  type Answer,
  type Identity,
  NO_ZXID,
  type Notification,
  type NotificationKind,
  type OpResult,
  type SingleReadOp,
  unreachable,
  type WatcherKind,
  type WatchLists,
  type WatchOp,
} from '@quorate/protocol';
import type { DataTree } from '../tree/data-tree.ts';
import { type Refusal, refusal, refused } from './refusal.ts';
import { ANY_MODE, PERSISTENT, RECURSIVE, STANDARD } from './watch-table.ts';
import type { Watches } from './watches.ts';

/** Whose watches: a connection, and what it has shown for itself. */
export interface Watcher {
  readonly attachment: number;
  readonly identities: readonly Identity[];
}

/** Why a call that did not come by a connection cannot watch anything. */
export function watcherFault(attachment: number): Refusal | undefined {
  if (attachment !== 0) return undefined;
  return refusal('INVALID_ARGUMENT', 'Cannot watch: a call without a session stream has nobody to tell');
}

/** The watch that a read leaves: with what it read, or, of an exists, where there is nothing. The answer, or why not. */
export function withWatch(watches: Watches, watcher: Watcher, op: SingleReadOp, answer: Answer): Answer {
  const { result, zxid } = answer;
  const isAbsence = result.kind === 'error' && result.code === 'NO_NODE' && op.kind === 'exists';
  if (result.kind === 'error' && !isAbsence) return answer;
  const where = op.kind === 'getChildren' ? 'child' : 'data';
  const isThere = watches.add(watcher.attachment, watcher.identities, where, op.path, STANDARD);
  return isThere ? answer : refused(full(op.path), zxid);
}

/** Carries out an operation on watches. */
export function watchAnswer(watches: Watches, tree: DataTree, watcher: Watcher, op: WatchOp): Answer {
  const zxid = tree.lastZxid;
  const fault = watcherFault(watcher.attachment) ?? carryOut(watches, tree, watcher, op);
  const done: OpResult = { kind: op.kind };
  return fault === undefined ? { zxid, result: done } : refused(fault, zxid);
}

function carryOut(watches: Watches, tree: DataTree, watcher: Watcher, op: WatchOp): Refusal | undefined {
  switch (op.kind) {
    case 'addWatch':
      return addLasting(watches, watcher, op.path, op.mode === 'persistent' ? PERSISTENT : RECURSIVE);
    case 'checkWatches':
    case 'removeWatches':
      return findOrRemove(watches, watcher, op);
    case 'setWatches':
      return setWatches(watches, tree, watcher, op.lists);
    default:
      return unreachable(op);
  }
}

function addLasting(
  watches: Watches,
  { attachment, identities }: Watcher,
  path: string,
  mode: number,
): Refusal | undefined {
  const isThere =
    watches.add(attachment, identities, 'data', path, mode) &&
    (mode === RECURSIVE || watches.add(attachment, identities, 'child', path, mode));
  return isThere ? undefined : full(path);
}

/** Which modes in which table each kind means. */
const MEANT: Readonly<Record<WatcherKind, { readonly data: number; readonly child: number }>> = {
  children: { data: 0, child: STANDARD },
  data: { data: STANDARD, child: 0 },
  any: { data: ANY_MODE, child: ANY_MODE },
  persistent: { data: PERSISTENT, child: PERSISTENT },
  persistentRecursive: { data: RECURSIVE, child: 0 },
};

function findOrRemove(
  watches: Watches,
  { attachment }: Watcher,
  { kind, path, watcher }: Extract<WatchOp, { readonly path: string; readonly watcher: WatcherKind }>,
): Refusal | undefined {
  const { data, child } = MEANT[watcher];
  const found =
    (watches.modesOf(attachment, 'data', path) & data) | (watches.modesOf(attachment, 'child', path) & child);
  if (found === 0)
    return refusal('NO_WATCHER', `There is no watch of kind ${watcher} of ${path} on this connection`, path);
  if (kind === 'checkWatches') return undefined;
  if (data !== 0) watches.remove(attachment, 'data', path, data);
  if (child !== 0) watches.remove(attachment, 'child', path, child);
  return undefined;
}

/** What happened since the client saw the tree last is told at once, in the order of the lists; the rest is watched on. */
function setWatches(watches: Watches, tree: DataTree, watcher: Watcher, lists: WatchLists): Refusal | undefined {
  const { attachment, identities } = watcher;
  const { relativeZxid } = lists;
  let isFull: string | undefined;
  const one = (path: string, where: 'data' | 'child', news: NotificationKind | undefined): void => {
    if (news !== undefined) watches.tell(attachment, caughtUp(news, path));
    else if (!watches.add(attachment, identities, where, path, STANDARD)) isFull = path;
  };
  for (const path of lists.data) {
    const znode = tree.znode(path);
    const isNewer = znode !== undefined && znode.stat().mzxid > relativeZxid;
    one(path, 'data', znode === undefined ? 'nodeDeleted' : isNewer ? 'nodeDataChanged' : undefined);
  }
  for (const path of lists.exist) one(path, 'data', tree.znode(path) === undefined ? undefined : 'nodeCreated');
  for (const path of lists.child) {
    const znode = tree.znode(path);
    const isNewer = znode !== undefined && znode.stat().pzxid > relativeZxid;
    one(path, 'child', znode === undefined ? 'nodeDeleted' : isNewer ? 'nodeChildrenChanged' : undefined);
  }
  // Those that last are told nothing of what was missed: clients read again when they come back.
  for (const path of lists.persistent) if (addLasting(watches, watcher, path, PERSISTENT)) isFull = path;
  for (const path of lists.persistentRecursive) if (addLasting(watches, watcher, path, RECURSIVE)) isFull = path;
  return isFull === undefined ? undefined : full(isFull);
}

function caughtUp(kind: NotificationKind, path: string): Notification {
  return { kind, path, zxid: NO_ZXID };
}

function full(path: string): Refusal {
  return refusal('THROTTLED', `Cannot watch ${path}: the watches at this member take as much memory as they may`, path);
}
