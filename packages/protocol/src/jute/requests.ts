/** A request of ZooKeeper's wire, taken apart: an operation of `op.ts`, or something that the connection does by itself. */
import type { Op } from '../op.ts';

/** Shapes of replies that one operation can have. A create tells its path only, or its stat too; so with children. */
export type ReplyForm = 'plain' | 'withStat';

export type JuteRequest =
  /** To be answered by the core. One form; of a multi one a part. */
  | { readonly kind: 'op'; readonly op: Op; readonly forms: readonly ReplyForm[] }
  | { readonly kind: 'reconfig' }
  /** To be answered by the connection itself. */
  | { readonly kind: 'ping' | 'whoAmI' }
  | { readonly kind: 'auth'; readonly scheme: string; readonly proof: Uint8Array }
  | { readonly kind: 'sasl'; readonly token: Uint8Array }
  /** Well formed, and refused with that number. */
  | { readonly kind: 'refused'; readonly error: number }
  /** No request that clients may send: it is answered and the connection closed. */
  | { readonly kind: 'unknown' };
