/** What the oracle tests of the frames do not reach: fixed widths, long parts, growth while a part is open, hostile bytes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter, DecodeError } from './bytes.ts';

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
    expect(reader.raw(length).every((byte, i) => byte === body[i])).toBe(true);
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

/** One write, the same read, and the bytes that it must make, from the platform's DataView. */
interface Field {
  readonly write: (writer: ByteWriter) => unknown;
  readonly read: (reader: ByteReader) => unknown;
  readonly value: unknown;
  readonly bytes: readonly number[];
}

function fixed(width: number, set: (view: DataView) => void): number[] {
  const view = new DataView(new ArrayBuffer(width));
  set(view);
  return [...new Uint8Array(view.buffer)];
}

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const uint64 = { min: 0n, max: 2n ** 64n - 1n };

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.nat(255).map((value) => ({
    write: (w: ByteWriter) => w.u8(value),
    read: (r: ByteReader) => r.u8(),
    value,
    bytes: [value],
  })),
  fc.nat(0xffff_ffff).map((value) => ({
    write: (w: ByteWriter) => w.u32(value),
    read: (r: ByteReader) => r.u32(),
    value,
    bytes: fixed(4, (view) => view.setUint32(0, value)),
  })),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map((value) => ({
    write: (w: ByteWriter) => w.i32(value),
    read: (r: ByteReader) => r.i32(),
    value,
    bytes: fixed(4, (view) => view.setInt32(0, value)),
  })),
  fc.bigInt(uint64).map((value) => ({
    write: (w: ByteWriter) => w.u64(value),
    read: (r: ByteReader) => r.u64(),
    value,
    bytes: fixed(8, (view) => view.setBigUint64(0, value)),
  })),
  fc.bigInt(int64).map((value) => ({
    write: (w: ByteWriter) => w.u64(value),
    read: (r: ByteReader) => r.i64(),
    value,
    bytes: fixed(8, (view) => view.setBigInt64(0, value)),
  })),
  fc.bigInt(uint64).map((value) => ({
    write: (w: ByteWriter) => w.fixed64(value),
    read: (r: ByteReader) => r.fixed64(),
    value,
    bytes: fixed(8, (view) => view.setBigUint64(0, value, true)),
  })),
  fc.double().map((value) => ({
    write: (w: ByteWriter) => w.f64(value),
    read: (r: ByteReader) => r.f64(),
    value,
    bytes: fixed(8, (view) => view.setFloat64(0, value)),
  })),
  fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }).map((value) => ({
    write: (w: ByteWriter) => w.bytes(value),
    read: (r: ByteReader) => r.bytes(),
    value,
    bytes: [...fixed(4, (view) => view.setUint32(0, value?.length ?? 0xffff_ffff)), ...(value ?? [])],
  })),
  fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => {
    const utf8 = new TextEncoder().encode(value);
    return {
      write: (w: ByteWriter) => w.string(value),
      read: (r: ByteReader) => r.string(),
      value,
      bytes: [...fixed(4, (view) => view.setUint32(0, utf8.length)), ...utf8],
    };
  }),
);

describe('fields', () => {
  it('C013: have the bytes that DataView gives, and read back exactly, in any sequence and from any offset', () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 20 }), fc.nat(9), fc.nat(9), (fields, before, after) => {
        const writer = new ByteWriter(1);
        for (const one of fields) one.write(writer);
        const written = writer.finish();
        expect([...written]).toEqual(fields.flatMap(({ bytes }) => bytes));
        const room = new Uint8Array(before + written.length + after).fill(0xee);
        room.set(written, before);
        const reader = new ByteReader(room.subarray(before), 0, written.length);
        for (const one of fields) expect(one.read(reader)).toEqual(one.value);
        reader.end();
      }),
    );
  });

  it('that are cut short fail with DecodeError', () => {
    fc.assert(
      fc.property(field, fc.nat(), (one, cut) => {
        const writer = new ByteWriter();
        one.write(writer);
        const whole = writer.finish();
        expect(() => one.read(new ByteReader(whole, 0, cut % whole.length))).toThrow(DecodeError);
      }),
    );
  });

  it('that are left over fail with DecodeError', () => {
    expect(() => new ByteReader(Uint8Array.of(1, 2)).end()).toThrow(DecodeError);
  });

  it('with a length that no buffer has fail before anything is made for it', () => {
    const hostile = Uint8Array.of(0xff, 0xff, 0xff, 0xfe, 0x41);
    expect(() => new ByteReader(hostile).bytes()).toThrow(DecodeError);
    expect(() => new ByteReader(hostile).string()).toThrow(DecodeError);
  });

  it('that are no UTF-8 fail with DecodeError', () => {
    expect(() => new ByteReader(Uint8Array.of(0, 0, 0, 1, 0xff)).string()).toThrow(DecodeError);
  });
});

describe('a varint of up to 53 bits', () => {
  it('reads back every value', () => {
    const value = fc.oneof(
      fc.maxSafeNat(),
      fc.nat(300),
      fc.nat(53).map((bits) => Math.min(2 ** bits, Number.MAX_SAFE_INTEGER)),
    );
    fc.assert(
      fc.property(value, (one) => {
        const written = new ByteWriter(1).varint(one).finish();
        expect(new ByteReader(written).varint53()).toBe(one);
        expect(new ByteReader(written).varint64()).toBe(BigInt(one));
        if (one <= 0xffff_ffff) expect(new ByteReader(written).varint()).toBe(one);
      }),
    );
  });

  it.each([
    ['above 2^53', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['of ten bytes', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
    ['that does not end', [0x80, 0x80]],
  ])('fails with DecodeError on one %s', (_what, bytes) => {
    expect(() => new ByteReader(Uint8Array.from(bytes)).varint53()).toThrow(DecodeError);
  });

  it('of 32 bits takes the low ones of a longer varint, as protobuf does, and none of more than ten bytes', () => {
    const minusOne = new ByteWriter().varint64(-1n).finish();
    expect(new ByteReader(minusOne).varint()).toBe(0xffff_ffff);
    expect(() => new ByteReader(new Uint8Array(11).fill(0x80)).varint()).toThrow(DecodeError);
    expect(() => new ByteReader(new Uint8Array(11).fill(0x80)).varint64()).toThrow(DecodeError);
  });
});

it('a reader that begins anew knows nothing of the bytes before', () => {
  const first = new ByteWriter().u64(7n).u32(0xffff_fffe).finish();
  const reader = new ByteReader(first);
  expect([reader.u64(), reader.i32()]).toEqual([7n, -2]);
  const wider = Uint8Array.of(9, ...new ByteWriter().u64(0xffff_ffff_0000_0001n).u32(0xffff_fffe).finish());
  reader.reset(wider.subarray(1));
  expect([reader.u64(), reader.u32(), reader.remaining]).toEqual([0xffff_ffff_0000_0001n, 0xffff_fffe, 0]);
  expect(() => reader.u8()).toThrow(DecodeError);
  expect(reader.reset(Uint8Array.of(0xe9, 0x41)).latin1(2)).toBe('éA');
});
