/**
 * A watch that can be resumed, in the words of the domain: what is asked for, and what is told piece by piece. The rules of
 * the conversation are in watch_service.proto.
 */
import type { OpFailure } from './op.ts';
import type { Stat } from './stat.ts';
import type { Zxid } from './zxid.ts';

/** What is to be watched. */
export interface WatchSpec {
  readonly path: string;
  /** The znode and everything below it; otherwise it alone. */
  readonly recursive: boolean;
  readonly withValues: boolean;
  /** Go on after this position; undefined: from now. */
  readonly from: Zxid | undefined;
  /** Without `from`: tell the state first. */
  readonly initial: boolean;
}

/** What happened to a znode in the order of the history. The change of its parent's children follows from these. */
export type ChangeKind = 'created' | 'dataChanged' | 'aclChanged' | 'deleted';

/** `current`: part of the state. `ready`: the state is complete. `gap`: changes up to `zxid` are not known any more. */
export type WatchEventKind = 'current' | 'ready' | 'gap' | ChangeKind;

export interface WatchEvent {
  readonly kind: WatchEventKind;
  readonly zxid: Zxid;
  /** Empty for `ready` and `gap`. */
  readonly path: string;
  /** Right after the change; undefined for `deleted`, `ready` and `gap`. */
  readonly stat: Stat | undefined;
  /** Undefined when values were not asked for, or it is null. Never write to it. */
  readonly data: Uint8Array | undefined;
}

/** What is told at once. */
export interface WatchPiece {
  /** Everything up to here was told; 0 until `ready`. */
  readonly zxid: Zxid;
  readonly events: readonly WatchEvent[];
}

/** A word of a client about a watch of its session stream. `taken`: the last piece; another one may come. */
export type WatchCommand =
  | { readonly kind: 'begin'; readonly watch: number; readonly spec: WatchSpec }
  | { readonly kind: 'taken' | 'end'; readonly watch: number };

/** What is told in a watch of a session stream: a piece, or why it is over. */
export type WatchNews =
  | { readonly kind: 'piece'; readonly watch: number; readonly piece: WatchPiece }
  | { readonly kind: 'ended'; readonly watch: number; readonly failure: OpFailure };
