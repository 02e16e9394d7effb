/**
 * The zxid: the position of a txn in the one ordered history.
 *
 * 64 bits, epoch in the high 32 and counter in the low 32, never negative; compared as an integer.
 * Kept as a bigint so that it is exact on every surface. Source: Zab paper §IV; ZooKeeper `ZxidUtils`.
 */
declare const zxidBrand: unique symbol;

/** Position of a txn in the ensemble's history, `0 <= zxid < 2^63`. */
export type Zxid = bigint & { readonly [zxidBrand]: true };

/** Number of a leadership, `0 <= epoch < 2^31`. It rises with every established leader. */
export type Epoch = number;

/** The position before the first txn. */
export const ZERO_ZXID = 0n as Zxid;

/** The largest counter an epoch can hold; a leader hands over before it would be passed. */
export const COUNTER_MAX = 0xffff_ffff;

/** The largest epoch: one bit less than 32, because a zxid is a signed 64-bit number on the wire. */
export const EPOCH_MAX = 0x7fff_ffff;

const ZXID_MAX = 0x7fff_ffff_ffff_ffffn;

/** Builds a zxid from its two halves. Throws RangeError when a half does not fit. */
export function makeZxid(epoch: Epoch, counter: number): Zxid {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > EPOCH_MAX) {
    throw new RangeError(`Cannot make a zxid: epoch ${epoch} is outside 0..${EPOCH_MAX}`);
  }
  if (!Number.isInteger(counter) || counter < 0 || counter > COUNTER_MAX) {
    throw new RangeError(`Cannot make a zxid: counter ${counter} is outside 0..${COUNTER_MAX}`);
  }
  return ((BigInt(epoch) << 32n) | BigInt(counter)) as Zxid;
}

/** Takes a bigint from a boundary (wire, disk, command line) as a zxid. Throws RangeError outside 0..2^63-1. */
export function toZxid(value: bigint): Zxid {
  if (value < 0n || value > ZXID_MAX) throw new RangeError(`${value} is not a zxid: outside 0..2^63-1`);
  return value as Zxid;
}

export function epochOf(zxid: Zxid): Epoch {
  return Number(zxid >> 32n);
}

export function counterOf(zxid: Zxid): number {
  return Number(zxid & 0xffff_ffffn);
}

/** The zxid after this one in the same epoch. The caller has checked that the counter is below COUNTER_MAX. */
export function nextZxid(zxid: Zxid): Zxid {
  return (zxid + 1n) as Zxid;
}

/** True when `zxid` may directly follow `previous` in a history: the next counter, or counter 1 of a later epoch. */
export function follows(zxid: Zxid, previous: Zxid): boolean {
  if (epochOf(zxid) === epochOf(previous)) return zxid === previous + 1n;
  return zxid > previous && counterOf(zxid) === 1;
}

/** As ZooKeeper prints it: `0x` and lower-case hex without padding. */
export function formatZxid(zxid: bigint): string {
  return `0x${zxid.toString(16)}`;
}
