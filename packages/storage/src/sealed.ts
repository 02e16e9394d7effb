/**
 * A value that proves itself: a format byte and a CRC-32 in front of the body, the CRC taken over the key and the body, so
 * that a value under the wrong key is found out as well. Every record of this package is sealed, save those of the state
 * (state-format.ts), which are many and small and carry the CRC alone.
 *
 * | offset | size | meaning |
 * | ------ | ---- | ------- |
 * | 0 | 1 | format, 2 |
 * | 1 | 4 | CRC-32 (zlib) of key and body, big-endian |
 * | 5 | … | body |
 */
import { crc32 } from 'node:zlib';

/**
 * Number of the format of all records on disk. A store of another format is refused: rises with every change that an older version
 * could not read, or that would make what it wrote look damaged. 1 had no right to vote, no watermark and no check of the mark.
 */
export const FORMAT = 2;

/** Bytes in front of a sealed body. */
export const SEAL_BYTES = 5;

/** Bytes on disk are not what was written. Says what is wrong; where it was found is added by whoever reads. */
export class DamageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DamageError';
  }
}

/** Fills the seal of a value whose body is already in place from SEAL_BYTES on. */
export function sealInPlace(key: Uint8Array, value: Buffer): void {
  value.writeUInt8(FORMAT, 0);
  value.writeUInt32BE(crc32(value.subarray(SEAL_BYTES), crc32(key)), 1);
}

/** A sealed copy of `body`. */
export function seal(key: Uint8Array, body: Uint8Array): Uint8Array {
  const value = Buffer.allocUnsafe(SEAL_BYTES + body.length);
  value.set(body, SEAL_BYTES);
  sealInPlace(key, value);
  return value;
}

/** The body of a sealed value, as a view. Throws DamageError. */
export function unseal(key: Uint8Array, value: Uint8Array): Uint8Array {
  if (value.length < SEAL_BYTES) throw new DamageError(`it has ${value.length} bytes, too few for its checksum`);
  if (value[0] !== FORMAT) throw new DamageError(`its format is ${value[0]}, expected ${FORMAT}`);
  const body = value.subarray(SEAL_BYTES);
  const expected = new DataView(value.buffer, value.byteOffset).getUint32(1);
  const found = crc32(body, crc32(key));
  if (found !== expected) {
    throw new DamageError(`its checksum is ${hex32(found)}, expected ${hex32(expected)}`);
  }
  return body;
}

/** A 32-bit number as eight hex digits. */
export function hex32(value: number): string {
  return `0x${value.toString(16).padStart(8, '0')}`;
}
