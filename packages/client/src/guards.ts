/** A guard as the caller gives it, checked and put into the words of the protocol. */
import { type Guard as ProtocolGuard, toZxid } from '@quorate/protocol';
import type { Guard } from './api.ts';

/** Throws TypeError for what is no guard, RangeError for a czxid that is no zxid. */
export function checkGuard(guard: Guard, inward: (path: string) => string): ProtocolGuard {
  const { path, czxid } = (guard ?? {}) as { readonly path?: unknown; readonly czxid?: unknown };
  if (typeof path !== 'string' || typeof czxid !== 'bigint') {
    throw new TypeError('a guard must be { path, czxid } with a string and a bigint');
  }
  return { path: inward(path), czxid: toZxid(czxid) };
}
