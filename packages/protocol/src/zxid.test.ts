import { describe, expect, it } from 'vitest';
import { counterOf, epochOf, follows, formatZxid, makeZxid, toZxid } from './zxid.ts';

describe('zxid', () => {
  it('C013: keeps neighbours apart above 2^53', () => {
    const zxid = makeZxid(0x00300000, 1);
    expect(zxid).toBe(0x0030000000000001n);
    expect(formatZxid(zxid + 1n)).toBe('0x30000000000002');
    expect([epochOf(zxid), counterOf(zxid)]).toEqual([0x00300000, 1]);
  });

  it('refuses halves and values that do not fit', () => {
    expect(() => makeZxid(0x8000_0000, 0)).toThrow(RangeError);
    expect(() => makeZxid(1, 0x1_0000_0000)).toThrow(RangeError);
    expect(() => toZxid(-1n)).toThrow(RangeError);
    expect(() => toZxid(1n << 63n)).toThrow(RangeError);
  });

  it('says what may follow what', () => {
    expect(follows(makeZxid(1, 5), makeZxid(1, 4))).toBe(true);
    expect(follows(makeZxid(1, 6), makeZxid(1, 4))).toBe(false);
    expect(follows(makeZxid(3, 1), makeZxid(1, 4))).toBe(true);
    expect(follows(makeZxid(3, 2), makeZxid(1, 4))).toBe(false);
    expect(follows(makeZxid(1, 1), makeZxid(2, 4))).toBe(false);
  });
});
