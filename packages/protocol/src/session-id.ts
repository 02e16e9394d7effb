/**
 * The session id and the member id (sid).
 *
 * A session id is 64 bits: the sid of the member that made it in the top byte, then 40 bits of that member's
 * start time, then a counter. It is held unsigned; as a signed number it may be negative (sid >= 128).
 * Source: ZooKeeper `SessionTrackerImpl.initializeNextSessionId`.
 */
declare const sessionIdBrand: unique symbol;

/** A session's id, unsigned, `0 <= id < 2^64`; 0 means "no session". */
export type SessionId = bigint & { readonly [sessionIdBrand]: true };

/** A member's id, 1..254. (255 in the top byte of a session id is what marks a TTL znode.) */
export type Sid = number;

export const NO_SESSION = 0n as SessionId;
export const SID_MIN = 1;
export const SID_MAX = 254;

/** Persisted owner of container znodes in ZooKeeper's encoding: no session may ever have this id. */
export const CONTAINER_OWNER = 0x8000_0000_0000_0000n;

/** Takes a bigint from a boundary as a session id; a negative (signed) value is folded to its unsigned form. */
export function toSessionId(value: bigint): SessionId {
  return BigInt.asUintN(64, value) as SessionId;
}

/** The first session id of a member's run. `startMs` is the wall clock at its start. */
export function firstSessionId(sid: Sid, startMs: number): SessionId {
  const clock = BigInt.asUintN(40, BigInt(Math.trunc(startMs)));
  return ((BigInt(sid) << 56n) | (clock << 16n) | 1n) as SessionId;
}

/** The id after `id`; steps over the one that marks containers and never leaves the member's own byte. */
export function nextSessionId(id: SessionId): SessionId {
  const sidByte = id & 0xff00_0000_0000_0000n;
  const next = sidByte | ((id + 1n) & 0x00ff_ffff_ffff_ffffn);
  return (next === CONTAINER_OWNER || next === 0n ? next + 1n : next) as SessionId;
}

/** As ZooKeeper prints it: `0x` and lower-case hex of the unsigned value without padding. */
export function formatSessionId(id: bigint): string {
  return `0x${BigInt.asUintN(64, id).toString(16)}`;
}
