/**
 * How long a znode lives, and the one 64-bit number in which that is kept, hashed and written down: the owner.
 * 0: until it is deleted · a session's id: an ephemeral · 2^63: a container · 0xff in the top byte: a TTL, in ms in the
 * lower five bytes. No session has such an id, because no member has the sid 255. Clients see the owner of an ephemeral and 0
 * for all others. Source: ZooKeeper `EphemeralType`, reference §5.5.
 */
import { assert, CONTAINER_OWNER, NO_SESSION, type SessionId, TTL_MAX_MS } from '@quorate/protocol';

/** What a znode that is not ephemeral may live by; undefined for one that only goes when it is deleted. */
export type Lifetime =
  /** Goes some time after its last child has gone. */
  | 'container'
  /** Goes when it has no children and its data has not been set for that long. */
  | { readonly ttlMs: number };

const TTL_MARK = 0xff00_0000_0000_0000n;

/** The number that is kept. At most one of the two is given: an ephemeral lives by its session alone. */
export function ownerOf(session: SessionId, lifetime: Lifetime | undefined): bigint {
  if (lifetime === undefined) return session;
  assert(session === NO_SESSION, () => 'A znode of a session has no other lifetime');
  if (lifetime === 'container') return CONTAINER_OWNER;
  assert(isTtl(lifetime.ttlMs), () => `${lifetime.ttlMs} ms is not a TTL`);
  return TTL_MARK | BigInt(lifetime.ttlMs);
}

/** True when `owner` is a session's id: neither 0 nor one of the marks. */
export function isSession(owner: bigint): owner is SessionId {
  return owner !== NO_SESSION && owner !== CONTAINER_OWNER && owner < TTL_MARK;
}

/** The lifetime that `owner` says; undefined when it says none: 0, a session's id, or a mark that is not known. */
export function lifetimeOf(owner: bigint): Lifetime | undefined {
  if (owner === CONTAINER_OWNER) return 'container';
  if (owner < TTL_MARK) return undefined;
  const ttlMs = Number(owner - TTL_MARK);
  return isTtl(ttlMs) ? { ttlMs } : undefined;
}

/** True for a whole number of ms from 1 to TTL_MAX_MS. */
export function isTtl(ttlMs: number): boolean {
  return Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= TTL_MAX_MS;
}
