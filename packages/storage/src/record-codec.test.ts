import { makeZxid, toZxid, type Zxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogRecord } from './contract.ts';
import { LOG_RANGE, logKey, packEntry, unpackEntry, zxidOfLogKey } from './record-codec.ts';
import { DamageError, seal } from './sealed.ts';

/** The layout written out the slow way, from the table. */
function slowBody(committed: bigint, previous: bigint, records: readonly LogRecord[]): Uint8Array {
  const bytes: number[] = [];
  const number = (value: bigint, size: number): void => {
    for (let i = size - 1; i >= 0; i--) bytes.push(Number((value >> BigInt(8 * i)) & 0xffn));
  };
  number(committed, 8);
  number(BigInt(records.length), 4);
  let before = previous;
  for (const { zxid, payload } of records) {
    number(zxid, 8);
    number(before, 8);
    number(BigInt(payload.length), 4);
    bytes.push(...payload);
    before = zxid;
  }
  return Uint8Array.from(bytes);
}

/** CRC-32 bit by bit. */
function slowCrc(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

const entries = fc
  .record({
    epoch: fc.integer({ min: 1, max: 0x7fff_ffff }),
    first: fc.integer({ min: 1, max: 0xffff_0000 }),
    payloads: fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 8 }),
    committed: fc.bigInt({ min: 0n, max: 0x7fff_ffff_ffff_ffffn }).map(toZxid),
    olderEpoch: fc.boolean(),
  })
  .map(({ epoch, first, payloads, committed, olderEpoch }) => {
    const start = olderEpoch ? 1 : first;
    const previous = olderEpoch ? makeZxid(epoch - 1, 77) : makeZxid(epoch, first - 1);
    const records = payloads.map((payload, i) => ({ zxid: makeZxid(epoch, start + i), payload }));
    const key = logKey(records[0]!.zxid);
    return { key, entry: { committed, previous, records } };
  });

/** The value of a body that somebody sealed, whatever is in it. */
function unpackBody(first: Zxid, body: Uint8Array): unknown {
  const key = logKey(first);
  return unpackEntry(key, seal(key, body));
}

describe('log entry', () => {
  it('is laid out as the table says, and reads back', () => {
    fc.assert(
      fc.property(entries, ({ key, entry }) => {
        const value = packEntry(entry, key);
        const body = slowBody(entry.committed, entry.previous, entry.records);
        expect(Buffer.from(value.subarray(5))).toEqual(Buffer.from(body));
        expect(value[0]).toBe(2);
        expect(new DataView(value.buffer, value.byteOffset).getUint32(1)).toBe(slowCrc(Buffer.concat([key, body])));
        const back = unpackEntry(key, value);
        expect([back.committed, back.previous]).toEqual([entry.committed, entry.previous]);
        expect(back.records.map(({ zxid, payload }) => [zxid, [...payload]])).toEqual(
          entry.records.map(({ zxid, payload }) => [zxid, [...payload]]),
        );
      }),
    );
  });

  it('C058: any flipped bit, cut or addition is damage, never another record', () => {
    fc.assert(
      fc.property(entries, fc.nat(), fc.integer({ min: 0, max: 7 }), ({ key, entry }, at, bit) => {
        const value = Buffer.from(packEntry(entry, key));
        const flipped = Buffer.from(value);
        flipped[at % value.length]! ^= 1 << bit;
        expect(() => unpackEntry(key, flipped)).toThrow(DamageError);
        expect(() => unpackEntry(key, value.subarray(0, at % value.length))).toThrow(DamageError);
        expect(() => unpackEntry(key, Buffer.concat([value, Buffer.alloc((at % 9) + 1)]))).toThrow(DamageError);
        const other = Buffer.from(key);
        other[1 + (at % 8)]! ^= 1 << bit;
        expect(() => unpackEntry(other, value)).toThrow(DamageError);
      }),
    );
  });

  it('C058: bytes with a right checksum and wrong lengths, counts or order are damage', () => {
    const records = [1, 2, 3].map((i) => ({ zxid: makeZxid(1, i), payload: Buffer.from('abc') }));
    const good = slowBody(0n, 0n, records);
    const first = makeZxid(1, 1);
    expect(unpackBody(first, good)).toBeDefined();
    const changed = (offset: number, bytes: readonly number[]): Uint8Array => {
      const body = Uint8Array.from(good);
      body.set(bytes, offset);
      return body;
    };
    const hostile: readonly (readonly [string, Uint8Array])[] = [
      ['length 2147483647', changed(28, [0x7f, 0xff, 0xff, 0xff])],
      ['length 0xffffffff', changed(28, [0xff, 0xff, 0xff, 0xff])],
      ['length of the last one too long', changed(74, [0, 0, 0, 4])],
      ['length too short', changed(28, [0, 0, 0, 2])],
      ['count 0', changed(8, [0, 0, 0, 0])],
      ['count too small', changed(8, [0, 0, 0, 2])],
      ['count 0xffffffff', changed(8, [0xff, 0xff, 0xff, 0xff])],
      ['far zxid', changed(35, [0x7f, 0xff, 0xff, 0xff])],
      ['zxid above 2^63', changed(35, [0x80])],
      ['committed above 2^63', changed(0, [0xff])],
      ['wrong previous', changed(50, [9])],
      ['first record is another', changed(19, [2])],
      ['empty', new Uint8Array()],
      ['only a head', good.subarray(0, 12)],
    ];
    for (const [name, body] of hostile) expect(() => unpackBody(first, body), name).toThrow(DamageError);
  });

  it('random bytes are damage, even under a right checksum', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const key = logKey(makeZxid(1, 1));
        for (const value of [bytes, seal(key, bytes)]) expect(() => unpackEntry(key, value)).toThrow(DamageError);
      }),
    );
  });

  it('C013: keys are in the order of zxids, and exact above 2^53', () => {
    const zxids = [0n, 1n, 0xffn, 0x100n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n].map(toZxid);
    const keys = zxids.map((zxid) => Buffer.from(logKey(zxid)));
    expect([...keys].sort((a, b) => Buffer.compare(a, b))).toEqual(keys);
    expect(keys.map(zxidOfLogKey)).toEqual(zxids);
    for (const key of keys) {
      expect(Buffer.compare(key, LOG_RANGE.from)).toBe(1);
      expect(Buffer.compare(key, LOG_RANGE.to)).toBe(-1);
    }
    expect(() => zxidOfLogKey(Buffer.from('l123'))).toThrow(DamageError);
  });
});
