/** A request of ZooKeeper's wire, taken apart: an operation of `op.ts`, or something that a connection does. */
import type { MultiPart, Op, ReadOp } from '../op.ts';

/** Shapes of replies that one operation can have. A create tells its path only, or its stat too; so with children. */
export type ReplyForm = 'plain' | 'withStat';

export interface MultiReadPart {
  readonly kind: 'getData' | 'getChildren';
  readonly path: string;
}

/** How long a watch that is added by itself looks: at a znode, or at all below it too. */
export type AddWatchMode = 'persistent' | 'persistentRecursive';

/** Which watches of a path are meant. */
export type WatcherKind = 'children' | 'data' | 'any' | 'persistent' | 'persistentRecursive';

/** Watches that a client had before its connection was lost. */
export interface WatchLists {
  /** Signed: the last position that it saw. */
  readonly relativeZxid: bigint;
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly child: readonly string[];
  readonly persistent: readonly string[];
  readonly persistentRecursive: readonly string[];
}

export type JuteRequest =
  /** To be answered by the core. `forms` of a multi, one a part. */
  | { readonly kind: 'op'; readonly op: Exclude<Op, ReadOp>; readonly form: ReplyForm }
  | { readonly kind: 'multi'; readonly parts: readonly MultiPart[]; readonly forms: readonly ReplyForm[] }
  | { readonly kind: 'read'; readonly op: ReadOp; readonly watch: boolean; readonly form: ReplyForm }
  | { readonly kind: 'multiRead'; readonly parts: readonly MultiReadPart[] }
  | { readonly kind: 'addWatch'; readonly path: string; readonly mode: AddWatchMode }
  | { readonly kind: 'checkWatches' | 'removeWatches'; readonly path: string; readonly watcher: WatcherKind }
  | { readonly kind: 'setWatches'; readonly lists: WatchLists }
  | { readonly kind: 'reconfig' }
  /** To be answered by the connection itself. */
  | { readonly kind: 'ping' | 'whoAmI' }
  | { readonly kind: 'auth'; readonly scheme: string; readonly proof: Uint8Array }
  | { readonly kind: 'sasl'; readonly token: Uint8Array }
  /** Well formed, and refused with that number. */
  | { readonly kind: 'refused'; readonly error: number }
  /** No request that clients may send: it is answered and the connection closed. */
  | { readonly kind: 'unknown' };
