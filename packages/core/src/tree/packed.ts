/**
 * Values as they cost least while nobody looks at them. A million znodes are collected as garbage as fast as there are few
 * objects: an array of bytes is three with memory of its own, a string of as many characters is one without pointers; a
 * 64-bit number is one, its halves are none.
 */

import { LATIN1_MAX, readLatin1 } from '@quorate/protocol';

/** Data up to here is kept as a string of one character a byte, which V8 stores in a byte each. Longer data costs little beside itself. */
export const PACKED_BYTES_MAX: number = LATIN1_MAX;

/** Data in memory of its own. */
export type PackedData = string | Uint8Array | undefined;

/** A copy. Undefined stays undefined. */
export function pack(data: Uint8Array | undefined): PackedData {
  if (data === undefined) return undefined;
  if (data.length > PACKED_BYTES_MAX) return ownBytes(data);
  return readLatin1(data, 0, data.length);
}

/** The bytes: a copy when they were packed, else those that are kept. */
export function unpack(packed: PackedData): Uint8Array | undefined {
  if (typeof packed !== 'string') return packed;
  const { length } = packed;
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes;
}

/** A copy in memory of its own, whatever buffer `bytes` is a view of. (`slice` on a Node Buffer would be a view.) */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}

const scratch = new DataView(new ArrayBuffer(8));
const TWO_32 = 2 ** 32;

/** The upper half of a 64-bit value, signed. */
export function highOf(value: bigint): number {
  scratch.setBigInt64(0, value);
  return scratch.getInt32(0);
}

/** The lower half of a 64-bit value, signed. */
export function lowOf(value: bigint): number {
  scratch.setBigInt64(0, value);
  return scratch.getInt32(4);
}

/** The value, unsigned, whose halves they are. */
export function joined(high: number, low: number): bigint {
  scratch.setInt32(0, high);
  scratch.setInt32(4, low);
  return scratch.getBigUint64(0);
}

/** What is above the lower 32 bits of a whole number of up to 53 bits; those are `value | 0`. */
export function upperOf(value: number): number {
  return Math.floor(value / TWO_32);
}

/** The number that was cut into `upperOf(value)` and `value | 0`. */
export function joinedNumber(upper: number, low: number): number {
  return upper * TWO_32 + (low >>> 0);
}
