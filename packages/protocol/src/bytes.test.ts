/** What the oracle tests of the frames do not reach: long parts, and growth while a part is open. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from './bytes.ts';

describe('a part with its length before it', () => {
  it.each([0, 1, 127, 128, 16_383, 16_384, 2_097_152])('of %i bytes reads back, nested in another', (length) => {
    const body = new Uint8Array(length).map((_, index) => index);
    const writer = new ByteWriter(1);
    writer.u8(7);
    const outer = writer.beginPart();
    const inner = writer.beginPart();
    writer.raw(body);
    writer.endPart(inner).endPart(outer).u8(9);
    const reader = new ByteReader(writer.finish());
    expect(reader.u8()).toBe(7);
    expect(reader.varint()).toBe(reader.remaining - 1);
    expect(reader.varint()).toBe(length);
    expect(Buffer.compare(reader.raw(length), body)).toBe(0);
    expect(reader.u8()).toBe(9);
    reader.end();
  });
});

describe('a 64-bit varint', () => {
  it('C013: reads back every value', () => {
    const value = fc.oneof(
      fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
      fc
        .nat({ max: 64 })
        .chain((bits) => fc.constantFrom(0n, -1n, 1n).map((by) => BigInt.asUintN(64, (1n << BigInt(bits)) + by))),
    );
    fc.assert(
      fc.property(value, (one) => {
        const reader = new ByteReader(new ByteWriter(1).varint64(one).finish());
        expect(reader.varint64()).toBe(one);
        reader.end();
      }),
    );
  });
});
