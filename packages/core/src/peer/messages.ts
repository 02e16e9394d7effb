/** Everything that goes over a link between two members: the agreement's messages, and those about requests and sessions. */
import type { ErrorCode, SessionId, Zxid } from '@quorate/protocol';
import type { ZabMessage } from '../zab/messages.ts';

export type RequestMessage =
  /** Learner → leader: writes to be ordered, in this order. Each is an encoded `WriteRequest` (pipeline/write-request.ts). */
  | { readonly kind: 'forward'; readonly requests: readonly Uint8Array[] }
  /** Learner → leader: tell me how far I must have applied to have seen all that is committed now. */
  | { readonly kind: 'syncRequest'; readonly seq: number }
  /** Leader → learner: answers every syncRequest up to `seq`; leadership was confirmed after they came. */
  | { readonly kind: 'syncReply'; readonly seq: number; readonly zxid: Zxid }
  /** Learner → leader: these sessions were heard from since the last touch. */
  | { readonly kind: 'touch'; readonly sessions: readonly SessionId[] }
  /** Learner → leader: a client asks to go on with this session here (`own`), or only to keep it alive. */
  | {
      readonly kind: 'revalidate';
      readonly seq: number;
      readonly session: SessionId;
      readonly token: Uint8Array;
      readonly own: boolean;
    }
  /** Leader → learner: the answer; `error` undefined means valid. */
  | {
      readonly kind: 'revalidated';
      readonly seq: number;
      readonly timeoutMs: number;
      readonly error: ErrorCode | undefined;
      /** Last position in the leader's log: every write of an earlier owner is at or before it. */
      readonly grantedAt: Zxid;
    }
  /** Leader → former owner: the session is attached elsewhere now. */
  | { readonly kind: 'sessionMoved'; readonly session: SessionId };

/** Members compare their trees: see comparison.ts. Digests are 64 bits, unsigned. */
export type DigestMessage =
  /** Leader → learner: what is the digest of your tree right after this txn? A member that hashes in another way is silent. */
  | { readonly kind: 'compareDigest'; readonly zxid: Zxid; readonly version: number }
  /** Learner → leader: this. */
  | { readonly kind: 'digestAt'; readonly zxid: Zxid; readonly digest: bigint }
  /** Leader → learner: a quorum of voters says this. */
  | { readonly kind: 'digestAgreed'; readonly zxid: Zxid; readonly digest: bigint };

export type PeerMessage = ZabMessage | RequestMessage | DigestMessage;
