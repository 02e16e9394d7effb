/**
 * Looks at LevelDB's own log files (journals, here) before LevelDB does. LevelDB skips what it cannot read there, deletes
 * the file, and says nothing; so damage is told from a torn end first. Each write of this package is synced before the next
 * one begins, and is one record in the journal, in one piece or more. So what power took away lies within the last
 * record: a bad piece with the beginning of another record behind it in the file was acknowledged, and is damage.
 *
 * A journal is a row of blocks of 32 KiB. Little-endian; a record does not leave its block, its parts go on in the next:
 *
 * | offset | size | meaning |
 * | ------ | ---- | ------- |
 * | 0 | 4 | CRC-32C of type and data, rotated and shifted ("masked") |
 * | 4 | 2 | length of the data |
 * | 6 | 1 | type: 1 whole, 2 first part, 3 middle part, 4 last part |
 *
 * Source: LevelDB's doc/log_format.md.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../storage-error.ts';
import { crc32c } from './crc32c.ts';

const BLOCK_BYTES = 32 * 1024;
const HEADER_BYTES = 7;
const WHOLE = 1;
const FIRST = 2;
const LAST = 4;

/** Throws StorageError DAMAGED when a journal of this database has lost what was acknowledged. */
export async function checkJournals(path: string): Promise<void> {
  const names = (await readdir(path)).filter((name) => /^\d+\.log$/.test(name)).sort();
  for (const name of names) {
    const damage = damageInJournal(await readFile(join(path, name)));
    if (damage === undefined) continue;
    throw new StorageError(
      'DAMAGED',
      `Damaged data in ${join(path, name)}: the record at byte ${damage.badAt} is bad, and it was acknowledged before ` +
        `the one at byte ${damage.nextAt}; nothing was changed; if the other members are healthy, move the folder away ` +
        'and start this member with an empty one, so that it copies their state',
    );
  }
}

/** The first bad piece that has the beginning of a later record behind it, or undefined. */
export function damageInJournal(bytes: Uint8Array): { readonly badAt: number; readonly nextAt: number } | undefined {
  let at = 0;
  while (at < bytes.length) {
    if (blockEnd(at) - at < HEADER_BYTES) {
      at = blockEnd(at);
      continue;
    }
    const piece = pieceAt(bytes, at);
    if (piece !== undefined) {
      at += HEADER_BYTES + piece.length;
      continue;
    }
    const nextAt = nextBeginning(bytes, at + 1);
    return nextAt === undefined ? undefined : { badAt: at, nextAt };
  }
  return undefined;
}

/** Where the first record begins at or after `from`, whatever lies between. Lengths there cannot be trusted. */
function nextBeginning(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; at + HEADER_BYTES <= bytes.length; at++) {
    const type = bytes[at + 6];
    if ((type === WHOLE || type === FIRST) && pieceAt(bytes, at) !== undefined) return at;
  }
  return undefined;
}

/** The piece at an offset, if there is a good one. */
function pieceAt(bytes: Uint8Array, at: number): { readonly length: number } | undefined {
  const end = Math.min(blockEnd(at), bytes.length);
  if (end - at < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES);
  const length = view.getUint16(4, true);
  const type = view.getUint8(6);
  if (type < WHOLE || type > LAST || at + HEADER_BYTES + length > end) return undefined;
  const crc = crc32c(bytes, at + 6, at + HEADER_BYTES + length);
  return mask(crc) === view.getUint32(0, true) ? { length } : undefined;
}

function blockEnd(at: number): number {
  return (Math.floor(at / BLOCK_BYTES) + 1) * BLOCK_BYTES;
}

/** As LevelDB stores it, so that a CRC over data that holds CRCs is no weaker. */
function mask(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0;
}
