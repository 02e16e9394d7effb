/**
 * What a client can ask for, and what it gets: the operations of the data model, independent of any wire.
 * Fronts turn their wire's requests into these; `core` answers with these. Source: reference §3.
 */

import type { Acl } from './acl.ts';
import type { ErrorCode } from './errors.ts';
import type { ListingOp, ListingResult } from './listing.ts';
import type { SessionId } from './session-id.ts';
import type { Stat } from './stat.ts';
import type { WatchOp } from './watch-ops.ts';
import type { Zxid } from './zxid.ts';

/**
 * How long a znode lives. Every one can be deleted at any time; besides, an ephemeral goes with its session, a container some
 * time after its last child has gone, and one with a TTL when it has no children and its data has not been set for that long.
 */
export type CreateMode = 'persistent' | 'ephemeral' | 'container' | 'ttl';

/** Operations that change one znode. */
export type SingleWriteOp =
  | {
      readonly kind: 'create';
      readonly path: string;
      /** Undefined is ZooKeeper's null, which is told apart from empty. */
      readonly data: Uint8Array | undefined;
      readonly mode: CreateMode;
      /** Of mode `ttl` only: ms from 1 to TTL_MAX_MS. */
      readonly ttlMs?: number;
      /** Appends the parent's ten-digit counter to the path. Not with `container`. */
      readonly sequential: boolean;
      /** Undefined: everybody may do everything. */
      readonly acl?: Acl;
      /** Creates the ancestors that are missing too: persistent, without data, with the same ACL. Not in a multi. */
      readonly parents?: true;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly expectedVersion: number | undefined }
  | {
      readonly kind: 'setData';
      readonly path: string;
      readonly data: Uint8Array | undefined;
      readonly expectedVersion: number | undefined;
    };

/** Holds when the znode exists and, if one is named, has that version. Only inside a multi. */
export interface CheckOp {
  readonly kind: 'check';
  readonly path: string;
  readonly expectedVersion: number | undefined;
  /** Holds when the znode does not exist. Without a version. */
  readonly absent?: true;
}

/** A read inside a multi: of what the parts before it leave. `getData` of a znode that is not there fails the whole, `exists` does not. */
export type LookOp = Extract<SingleReadOp, { readonly kind: 'exists' | 'getData' }>;

export type MultiPart = SingleWriteOp | CheckOp | LookOp;

/** All parts take effect at one zxid, or none does. Each is checked against what the parts before it leave. */
export interface MultiOp {
  readonly kind: 'multi';
  readonly parts: readonly MultiPart[];
}

/** Replaces the ACL of a znode. The version is that of the ACL. Not in a multi, as in ZooKeeper. */
export interface SetAclOp {
  readonly kind: 'setAcl';
  readonly path: string;
  readonly acl: Acl;
  readonly expectedVersion: number | undefined;
}

/** Sets the data of a znode, or creates it, persistent, when it is not there. */
export interface CreateOrSetOp {
  readonly kind: 'createOrSet';
  readonly path: string;
  readonly data: Uint8Array | undefined;
  /** Of a znode that is created. */
  readonly acl?: Acl;
  /** As for a create. */
  readonly parents?: true;
}

/**
 * Deletes a znode with what is below it, in steps: each operation is one, and deletes at most `limit` (SUBTREE_STEP_MAX) znodes, none
 * before those below it. The top goes last.
 */
export interface DeleteSubtreeOp {
  readonly kind: 'deleteSubtree';
  readonly path: string;
  readonly limit?: number;
}

/** Operations that change the tree: ordered by the leader, one txn each. */
export type WriteOp = SingleWriteOp | SetAclOp | CreateOrSetOp | DeleteSubtreeOp | MultiOp;

/** A condition that any write may carry: that very znode exists still. Otherwise the write is refused with GUARD_FAILED. */
export interface Guard {
  readonly path: string;
  /** zxid of its create, which no other znode of that path has. */
  readonly czxid: Zxid;
}

/** Reads of one thing. */
export type SingleReadOp =
  /** `watch`: leaves a watch of the path, also where there is nothing. */
  | { readonly kind: 'exists'; readonly path: string; readonly watch?: boolean }
  /** `watch`: leaves a watch of the znode's data, when it is answered. */
  | { readonly kind: 'getData'; readonly path: string; readonly watch?: boolean }
  /** `watch`: leaves a watch of the znode's children, when it is answered. */
  | { readonly kind: 'getChildren'; readonly path: string; readonly watch?: boolean }
  /** The caller's own ephemerals whose path begins with `path`, as characters: `/a` names `/ab` too. Empty or `/` for all. */
  | { readonly kind: 'getEphemerals'; readonly path: string }
  /** How many znodes there are below `path`, at any depth. */
  | { readonly kind: 'getAllChildrenNumber'; readonly path: string }
  /** Ids of scheme digest are masked for those without ADMIN. */
  | { readonly kind: 'getAcl'; readonly path: string };

/** A read that may be one of several. */
export type ReadPart = Extract<SingleReadOp, { readonly kind: 'exists' | 'getData' | 'getChildren' }>;

/** Several reads of one moment. Each is answered by itself, whatever comes of the others. */
export interface MultiReadOp {
  readonly kind: 'multiRead';
  readonly parts: readonly ReadPart[];
}

/** Operations answered from the member's own tree. */
export type ReadOp = SingleReadOp | MultiReadOp;

/** True for what is answered from the member's own tree. */
export function isReadKind(kind: string): kind is ReadOp['kind'] {
  switch (kind) {
    case 'exists':
    case 'getData':
    case 'getChildren':
    case 'getEphemerals':
    case 'getAllChildrenNumber':
    case 'getAcl':
    case 'multiRead':
      return true;
    default:
      return false;
  }
}

/** Waits until this member has applied all that was committed when the leader handled it. */
export interface SyncOp {
  readonly kind: 'sync';
  readonly path: string;
}

/** Ends the caller's own session; its ephemerals go in the same txn. */
export interface CloseSessionOp {
  readonly kind: 'closeSession';
}

export type Op = WriteOp | ReadOp | ListingOp | WatchOp | SyncOp | CloseSessionOp;

/** The successful result of an operation; `kind` is that of the operation. */
export type OpResult =
  | { readonly kind: 'create'; readonly path: string; readonly stat: Stat }
  | { readonly kind: 'delete' }
  | { readonly kind: 'setData'; readonly stat: Stat }
  | { readonly kind: 'setAcl'; readonly stat: Stat }
  | { readonly kind: 'createOrSet'; readonly created: boolean; readonly stat: Stat }
  /** `more`: the top is still there. */
  | { readonly kind: 'deleteSubtree'; readonly deleted: number; readonly more: boolean }
  | { readonly kind: 'getAcl'; readonly acl: Acl; readonly stat: Stat }
  | { readonly kind: 'exists'; readonly stat: Stat }
  | { readonly kind: 'getData'; readonly data: Uint8Array | undefined; readonly stat: Stat }
  | { readonly kind: 'getChildren'; readonly children: readonly string[]; readonly stat: Stat }
  /** Sorted by code unit. */
  | { readonly kind: 'getEphemerals'; readonly paths: readonly string[] }
  | { readonly kind: 'getAllChildrenNumber'; readonly total: number }
  | ListingResult
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'closeSession' }
  | { readonly kind: WatchOp['kind'] }
  /** As many results as parts. A stat is that right after its part, not after the whole. */
  | { readonly kind: 'multi'; readonly results: readonly PartResult[] }
  /** As many results as parts. */
  | { readonly kind: 'multiRead'; readonly results: readonly ReadPartResult[] };

/** The result of one part of a multi. */
export type PartResult =
  | Extract<OpResult, { readonly kind: 'create' | 'delete' | 'setData' | 'getData' }>
  /** `stat` undefined: the znode did not exist. */
  | { readonly kind: 'exists'; readonly stat: Stat | undefined }
  | { readonly kind: 'check' };

/** The result of one part of a multiRead. */
export type ReadPartResult = Extract<OpResult, { readonly kind: ReadPart['kind'] }> | OpFailure;

/** What became of a call that failed. */
export interface OpFailure {
  readonly kind: 'error';
  readonly code: ErrorCode;
  readonly path: string | undefined;
  readonly message: string;
  /** Index of the part of a multi that failed; the others were not carried out because of it. */
  readonly part?: number;
  /**
   * This member takes no such calls any more (it stops, or its disk failed), another one may: nothing was done, and no later
   * call of the same stream is carried out here but reads. Not on the wire: a stream ends there instead, saying so.
   */
  readonly goElsewhere?: true;
}

/** The answer to one call. `zxid` is the position in the history that the answer reflects. */
export interface Answer {
  readonly zxid: Zxid;
  readonly result: OpResult | OpFailure;
}

/**
 * What makes a write happen once, however often it is asked for: its number in its session, 1, 2, 3 … over all attachments.
 * A number that was taken is answered with its first result.
 */
export interface Numbered {
  /** From 1; below 2^32. */
  readonly request: number;
  /** The client has, or does not want any more, the results of all requests up to this number; below `request`. */
  readonly acknowledged: number;
}

/** A session as the ensemble knows it. */
export interface SessionInfo {
  readonly id: SessionId;
  readonly timeoutMs: number;
}
