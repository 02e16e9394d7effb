/**
 * Reads what LevelDB's log format holds: its journals (the `.log` files) and its manifest. Tells a torn end from damage,
 * which LevelDB does not: it skips what it cannot read.
 *
 * A file is a row of blocks of 32 KiB. Little-endian; a piece of a record does not leave its block, the parts of a record go
 * on in the next:
 *
 * | offset | size | meaning |
 * | ------ | ---- | ------- |
 * | 0 | 4 | CRC-32C of type and data, rotated and shifted ("masked") |
 * | 4 | 2 | length of the data |
 * | 6 | 1 | type: 1 whole, 2 first part, 3 middle part, 4 last part |
 *
 * Source: LevelDB's doc/log_format.md.
 */
import { crc32c } from './crc32c.ts';

const BLOCK_BYTES = 32 * 1024;
const HEADER_BYTES = 7;
const WHOLE = 1;
const FIRST = 2;
const LAST = 4;

export interface RecordLog {
  /** The records in front of the first bad byte. */
  readonly records: readonly Uint8Array[];
  /** Where the file stops being readable; undefined: it is whole. */
  readonly badAt: number | undefined;
  /** Where another record begins behind that. */
  readonly nextAt: number | undefined;
}

interface Piece {
  readonly type: number;
  readonly data: Uint8Array;
}

/**
 * Whether what looks like (the first part of) a record, found behind a bad one that began `gap` bytes before it, can be one that was
 * written after `before`, the last good record. A record's own data may hold what looks like records, if somebody stored such.
 */
export type CanFollow = (found: Uint8Array, before: Uint8Array | undefined, gap: number) => boolean;

/** Reads a file up to its first bad byte. */
export function readRecordLog(bytes: Uint8Array, canFollow: CanFollow = () => true): RecordLog {
  const records: Uint8Array[] = [];
  let parts: Uint8Array[] = [];
  let beganAt = 0;
  let at = 0;
  while (at < bytes.length) {
    if (blockEnd(at) - at < HEADER_BYTES) {
      at = blockEnd(at);
      continue;
    }
    const piece = pieceAt(bytes, at);
    const begins = piece?.type === WHOLE || piece?.type === FIRST;
    if (piece === undefined || begins !== (parts.length === 0)) {
      const badAt = begins ? beganAt : at;
      const recordAt = parts.length === 0 ? at : beganAt;
      const isNext = (data: Uint8Array, found: number): boolean => canFollow(data, records.at(-1), found - recordAt);
      return { records, badAt, nextAt: nextBeginning(bytes, begins ? at : at + 1, isNext) };
    }
    if (begins) beganAt = at;
    parts.push(piece.data);
    if (piece.type === WHOLE || piece.type === LAST) {
      records.push(parts.length === 1 ? piece.data : Buffer.concat(parts));
      parts = [];
    }
    at += HEADER_BYTES + piece.data.length;
  }
  return { records, badAt: parts.length === 0 ? undefined : beganAt, nextAt: undefined };
}

/** Where the first record begins at or after `from`, whatever lies between. Lengths there cannot be trusted. */
function nextBeginning(
  bytes: Uint8Array,
  from: number,
  isNext: (data: Uint8Array, at: number) => boolean,
): number | undefined {
  for (let at = from; at + HEADER_BYTES <= bytes.length; at++) {
    const type = bytes[at + 6];
    if (type !== WHOLE && type !== FIRST) continue;
    const piece = pieceAt(bytes, at);
    if (piece !== undefined && isNext(piece.data, at)) return at;
  }
  return undefined;
}

/** The piece at an offset, if there is a good one. */
function pieceAt(bytes: Uint8Array, at: number): Piece | undefined {
  const end = Math.min(blockEnd(at), bytes.length);
  if (end - at < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES);
  const length = view.getUint16(4, true);
  const type = view.getUint8(6);
  const dataAt = at + HEADER_BYTES;
  if (type < WHOLE || type > LAST || dataAt + length > end) return undefined;
  if (mask(crc32c(bytes, at + 6, dataAt + length)) !== view.getUint32(0, true)) return undefined;
  return { type, data: bytes.subarray(dataAt, dataAt + length) };
}

function blockEnd(at: number): number {
  return (Math.floor(at / BLOCK_BYTES) + 1) * BLOCK_BYTES;
}

/** As LevelDB stores a CRC, so that a CRC over data that holds CRCs is no weaker. */
export function mask(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0;
}
