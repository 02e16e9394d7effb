import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c } from './crc32c.ts';
import { readRecordLog } from './record-log.ts';

const BLOCK = 32 * 1024;

/** The first bad byte that has another record behind it. */
function damageInJournal(bytes: Uint8Array): { readonly badAt: number; readonly nextAt: number } | undefined {
  const { badAt, nextAt } = readRecordLog(bytes);
  return badAt === undefined || nextAt === undefined ? undefined : { badAt, nextAt };
}

/** Writes records as LevelDB does, by its doc/log_format.md. Returns the journal and where each record begins. */
function journal(sizes: readonly number[]): { readonly bytes: Buffer; readonly begins: readonly number[] } {
  const pieces: Buffer[] = [];
  const begins: number[] = [];
  let at = 0;
  const add = (bytes: Buffer): void => {
    pieces.push(bytes);
    at += bytes.length;
  };
  for (const [i, size] of sizes.entries()) {
    const data = Buffer.alloc(size, i + 1);
    for (let from = 0, first = true; first || from < size; first = false) {
      if (BLOCK - (at % BLOCK) < 7) add(Buffer.alloc(BLOCK - (at % BLOCK)));
      if (first) begins.push(at);
      const length = Math.min(size - from, BLOCK - (at % BLOCK) - 7);
      const last = from + length === size;
      const typed = Buffer.concat([
        Buffer.of(first ? (last ? 1 : 2) : last ? 4 : 3),
        data.subarray(from, from + length),
      ]);
      const header = Buffer.alloc(6);
      const crc = crc32c(typed, 0, typed.length);
      header.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, 0);
      header.writeUInt16LE(length, 4);
      add(Buffer.concat([header, typed]));
      from += length;
    }
  }
  return { bytes: Buffer.concat(pieces), begins };
}

const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(32_754, 32_761, 40_000, 100_000)), {
  minLength: 1,
  maxLength: 8,
});

describe("LevelDB's journal", () => {
  it('CRC-32C has the value of RFC 3720, at any length and offset', () => {
    expect(crc32c(Buffer.from('123456789'), 0, 9)).toBe(0xe306_9283);
    expect(crc32c(Buffer.alloc(32), 0, 32)).toBe(0x8a91_36aa);
    expect(crc32c(Buffer.from('xx123456789yyy'), 2, 11)).toBe(0xe306_9283);
  });

  it('is whole, or torn at its end: no damage', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.integer({ min: 1, max: 200 }), (list, seed, more) => {
        const { bytes, begins } = journal(list);
        expect(damageInJournal(bytes)).toBeUndefined();
        expect(readRecordLog(bytes).records.map(({ length }) => length)).toEqual(list);
        expect(damageInJournal(bytes.subarray(0, seed % (bytes.length + 1)))).toBeUndefined();
        expect(damageInJournal(Buffer.concat([bytes, Buffer.alloc(more)]))).toBeUndefined();
        const last = begins.at(-1)!;
        const torn = Buffer.from(bytes);
        torn[last + (seed % (bytes.length - last))]! ^= 0x20;
        expect(damageInJournal(torn)).toBeUndefined();
        // Pages of one write may reach the disk out of order.
        torn.fill(0, last, Math.min(bytes.length, last + 4096));
        expect(damageInJournal(torn)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it('C058: is damaged when a bit is flipped in any record but the last', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.integer({ min: 0, max: 7 }), (list, seed, bit) => {
        const { bytes, begins } = journal([...list, 5]);
        const last = begins.at(-1)!;
        const at = seed % last;
        const pad = begins.some((begin) => begin > at && begin % BLOCK === 0 && begin - at < 7);
        bytes[at]! ^= 1 << bit;
        const damage = damageInJournal(bytes);
        if (pad) return;
        expect(damage).toBeDefined();
        expect(damage!.badAt).toBeLessThanOrEqual(at);
        expect(begins).toContain(damage!.nextAt);
      }),
      { numRuns: 60 },
    );
  });
});
