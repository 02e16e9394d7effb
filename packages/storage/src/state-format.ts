/**
 * The state database: the core's records under their own keys, and three records of this package under keys that begin
 * with byte 0, which no record of the core has. All numbers big-endian.
 *
 * | key | value |
 * | --- | ----- |
 * | 0, `c` | sealed: zxid (8) of the checkpoint that the records make up |
 * | 0, `d` | sealed: zxid (8), generation (8): at least this much of the log was on disk under that generation |
 * | 0, `i` | sealed: whose data it is, as in log-meta.ts |
 * | any other | CRC-32 (4) of key and value, then the value |
 */
import { crc32 } from 'node:zlib';
import { ByteWriter, type Zxid } from '@quorate/protocol';
import type { StateRecord } from './contract.ts';
import type { KvOp } from './io.ts';
import { parse, readZxid } from './log-meta.ts';
import { DamageError, hex32, seal } from './sealed.ts';

const META = 0;
const CRC_BYTES = 4;

export const CHECKPOINT_KEY: Uint8Array = Uint8Array.of(META, 0x63);
export const BOUND_KEY: Uint8Array = Uint8Array.of(META, 0x64);
export const STATE_IDENTITY_KEY: Uint8Array = Uint8Array.of(META, 0x69);

/** The range that holds every record of the core and nothing else; undefined: to the end. */
export const STATE_RANGE: { readonly from: Uint8Array; readonly to: undefined } = {
  from: Uint8Array.of(META + 1),
  to: undefined,
};

/** A lower bound of what is on disk in the log, as long as the log is of this generation. */
export interface Bound {
  readonly zxid: Zxid;
  readonly generation: bigint;
}

export function packCheckpoint(zxid: Zxid): Uint8Array {
  return seal(CHECKPOINT_KEY, new ByteWriter(8).u64(zxid).finish());
}

export function unpackCheckpoint(value: Uint8Array): Zxid {
  return parse(CHECKPOINT_KEY, value, (reader) => readZxid(reader.u64()));
}

export function packBound(bound: Bound): Uint8Array {
  return seal(BOUND_KEY, new ByteWriter(16).u64(bound.zxid).u64(bound.generation).finish());
}

export function unpackBound(value: Uint8Array): Bound {
  return parse(BOUND_KEY, value, (reader) => ({ zxid: readZxid(reader.u64()), generation: reader.u64() }));
}

/** The write that puts or deletes a record. Throws RangeError for a key that the core must not use. */
export function stateOp(record: StateRecord): KvOp {
  const { key, value } = record;
  if (key.length === 0 || key[0] === META) throw new RangeError(`Cannot store a state record under ${keyText(key)}`);
  if (value === undefined) return { key, value: undefined };
  const stored = Buffer.allocUnsafe(CRC_BYTES + value.length);
  stored.writeUInt32BE(crc32(value, crc32(key)), 0);
  stored.set(value, CRC_BYTES);
  return { key, value: stored };
}

/** A record as it was stored. Its value is a view. Throws DamageError. */
export function readStateRecord(key: Uint8Array, stored: Uint8Array): StateRecord {
  if (stored.length < CRC_BYTES) throw new DamageError(`it has ${stored.length} bytes, too few for its checksum`);
  const value = stored.subarray(CRC_BYTES);
  const expected = crcOf(stored);
  const found = crc32(value, crc32(key));
  if (found !== expected) throw new DamageError(`its checksum is ${hex32(found)}, expected ${hex32(expected)}`);
  return { key, value };
}

/** Without a DataView, which would cost more than all the rest: at a start there are millions. */
function crcOf(stored: Uint8Array): number {
  const [at0, at1, at2, at3] = [stored[0], stored[1], stored[2], stored[3]] as [number, number, number, number];
  return ((at0 << 24) | (at1 << 16) | (at2 << 8) | at3) >>> 0;
}

/** A key for messages: printable ASCII as it is, other bytes in hex, cut after 64 bytes. */
export function keyText(key: Uint8Array): string {
  let text = '';
  for (const byte of key.subarray(0, 64)) {
    text += byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return key.length > 64 ? `${text}…` : text;
}
