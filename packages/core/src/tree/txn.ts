/**
 * The txn: what the leader decided, in a form that applies the same way on every member and any number of times it
 * is replayed from the log. Nothing is judged again when it is applied. (Codec: txn-codec.ts.)
 */
import type { Acl, ErrorCode, Numbered, SessionId, Sid } from '@quorate/protocol';
import type { Lifetime } from './lifetime.ts';

/** Which request of which run of which member a txn answers. Client xids can repeat and prove nothing; this cannot. */
export interface Origin {
  /** 0 for txns that the leader made by itself (expiry). */
  readonly sid: Sid;
  readonly incarnation: number;
  /** Rises by one with every write that the member took in, in that run; below 2^48. */
  readonly seq: number;
  /** It came by an attachment of its session: whoever else has the session attached since before is not its owner. */
  readonly attached?: true;
}

export interface Txn {
  readonly origin: Origin;
  readonly session: SessionId;
  /** Wall clock of the leader when it made the txn, ms since 1970. */
  readonly timeMs: number;
  /** A numbered write: what it comes to is kept in the session, and what is acknowledged forgotten. Absent where nothing is kept. */
  readonly numbered?: Numbered;
  readonly body: TxnBody;
}

/** What a txn does to one znode. */
export type TreeChange =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: Uint8Array | undefined;
      /** The owning session of an ephemeral, else NO_SESSION. */
      readonly ephemeralOwner: SessionId;
      /** Of a container or one with a TTL; never together with an owner. */
      readonly lifetime?: Lifetime;
      /** Undefined: open to everybody. */
      readonly acl?: Acl;
      /** The parent's count of creates after this one: explicit, so that replay cannot count twice. */
      readonly parentCreates: number;
    }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'setData';
      readonly path: string;
      readonly data: Uint8Array | undefined;
      readonly version: number;
    };

/** A part of a multi that changes nothing: a check that held, or a read. It stands here so that parts and results have the same numbers. */
export type TxnLook =
  | { readonly kind: 'check'; readonly path: string; readonly absent?: true }
  | { readonly kind: 'exists'; readonly path: string }
  /** `length`: the data that it finds is no longer. */
  | { readonly kind: 'getData'; readonly path: string; readonly length: number };

export type TxnPart = TreeChange | TxnLook;

export function isChange(part: TxnPart): part is TreeChange {
  return part.kind === 'create' || part.kind === 'delete' || part.kind === 'setData';
}

export type TxnBody =
  | TreeChange
  /** `version` is that of the ACL after it. */
  | { readonly kind: 'setAcl'; readonly path: string; readonly acl: Acl; readonly version: number }
  /** Applied in this order, at one zxid. */
  | { readonly kind: 'multi'; readonly parts: readonly TxnPart[] }
  /** The changes of one operation, applied in this order, at one zxid. The last is the one that it is answered with. */
  | {
      readonly kind: 'compound';
      /** The operation. */
      readonly answers: 'create' | 'createOrSet' | 'deleteSubtree';
      /** Of a deleteSubtree, which may have none: deletes. */
      readonly parts: readonly TreeChange[];
      /** Of a deleteSubtree: its top is still there. */
      readonly more?: true;
    }
  | { readonly kind: 'createSession'; readonly timeoutMs: number; readonly token: Uint8Array }
  /** Ends `session`; `paths` are its ephemerals at this point of the history, exactly. */
  | { readonly kind: 'closeSession'; readonly paths: readonly string[] }
  /** A numbered write that was asked for again: changes nothing, and is answered with what is kept of the first time. */
  | { readonly kind: 'repeat'; readonly request: number }
  /** A request that was refused: ordered like any other so that it is answered in its place. */
  | {
      readonly kind: 'error';
      readonly code: ErrorCode;
      readonly path: string | undefined;
      readonly message: string;
      /** The part of a multi that failed. */
      readonly part?: number;
    };
