import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Hasher } from './digest.ts';
import { highOf, joined, joinedNumber, lowOf, PACKED_BYTES_MAX, pack, unpack, upperOf } from './packed.ts';

describe('packed', () => {
  it('data is what it was, every byte, null and empty told apart, short and long, and hashes as its bytes do', () => {
    const around = fc.uint8Array({ minLength: PACKED_BYTES_MAX - 2, maxLength: PACKED_BYTES_MAX + 2 });
    const every = Uint8Array.from({ length: 256 }, (_, i) => i);
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), around, fc.constant(undefined)), (data) => {
        const packed = pack(data);
        expect(unpack(packed)).toEqual(data);
        const of = (hasher: Hasher) => [hasher.finish().high, hasher.low];
        expect(of(new Hasher().start(1).packed(packed))).toEqual(of(new Hasher().start(1).bytes(data)));
      }),
      { examples: [[every], [new Uint8Array(0)], [undefined]] },
    );
  });

  it('numbers are what they were, at the edges of 32, 53 and 64 bits', () => {
    const edges = [
      0n,
      1n,
      0x7fff_ffffn,
      0x8000_0000n,
      0xffff_ffffn,
      2n ** 32n,
      2n ** 63n - 1n,
      2n ** 63n,
      2n ** 64n - 1n,
    ];
    for (const value of edges) expect(joined(highOf(value), lowOf(value))).toBe(value);
    for (const value of edges.filter((edge) => edge < 2n ** 53n).map(Number)) {
      expect(joinedNumber(upperOf(value), value | 0)).toBe(value);
    }
    const last = Number.MAX_SAFE_INTEGER;
    expect(joinedNumber(upperOf(last), last | 0)).toBe(last);
    expect(highOf(2n ** 63n - 1n)).toBe(0x7fff_ffff);
    expect(lowOf(2n ** 63n - 1n)).toBe(-1);
  });
});
