/**
 * ZooKeeper's watches: what a connection asks for, and what it is told. They belong to a connection of one member and end with it.
 * Source: ZooKeeper `WatcherMode`, `Watcher.Event`, reference §8.
 */

/** A watch that lasts, of a znode or of all below it too. The others are used up by what they tell. */
export type WatchMode = 'persistent' | 'persistentRecursive';

/** Which watches of a path are meant. `data` and `children` are those that reads leave. */
export type WatcherKind = 'children' | 'data' | 'any' | WatchMode;

/** Watches that a client had before its connection was lost, by how they were left. */
export interface WatchLists {
  /** Signed: the last position that the client saw. What happened after it is told at once. */
  readonly relativeZxid: bigint;
  readonly data: readonly string[];
  /** Of paths where there was nothing. */
  readonly exist: readonly string[];
  readonly child: readonly string[];
  readonly persistent: readonly string[];
  readonly persistentRecursive: readonly string[];
}

/** Operations on the watches of the connection that they come by; answered in their place in its session's line. */
export type WatchOp =
  /** Never fails for what the path is or is not. */
  | { readonly kind: 'addWatch'; readonly path: string; readonly mode: WatchMode }
  /** NO_WATCHER when there is none. */
  | { readonly kind: 'checkWatches' | 'removeWatches'; readonly path: string; readonly watcher: WatcherKind }
  | { readonly kind: 'setWatches'; readonly lists: WatchLists };

/** True for an operation on watches. */
export function isWatchKind(kind: string): kind is WatchOp['kind'] {
  return kind === 'addWatch' || kind === 'checkWatches' || kind === 'removeWatches' || kind === 'setWatches';
}

export type NotificationKind = 'nodeCreated' | 'nodeDeleted' | 'nodeDataChanged' | 'nodeChildrenChanged';

/** What a watch is told. It comes before any reply that could show the change. */
export interface Notification {
  readonly kind: NotificationKind;
  /** Of the znode that changed; for `nodeChildrenChanged` of the parent. */
  readonly path: string;
  /** Of the txn; -1 for what is told on `setWatches`. */
  readonly zxid: bigint;
}

/** Where there is no position to name. */
export const NO_ZXID = -1n;
