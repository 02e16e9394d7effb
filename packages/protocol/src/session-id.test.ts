import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstSessionId,
  formatSessionId,
  nextSessionId,
  type SessionId,
  SID_MAX,
  SID_MIN,
  toSessionId,
} from './session-id.ts';

const sid = fc.integer({ min: SID_MIN, max: SID_MAX });

function sidOf(id: SessionId): number {
  return Number(id >> 56n);
}

describe('a session id', () => {
  it('has the member in the top byte, then 40 bits of its start, then a counter from 1', () => {
    const id = firstSessionId(0x7f, 0x12_3456_789a);
    expect(id).toBe(0x7f12_3456_789a_0001n);
    expect(firstSessionId(1, 2 ** 40 + 5)).toBe(0x0100_0000_0005_0001n);
    expect(nextSessionId(id)).toBe(0x7f12_3456_789a_0002n);
  });

  it('stays with its member for ever, and is never that of "no session" or of a container', () => {
    fc.assert(
      fc.property(sid, fc.bigInt({ min: 0n, max: 2n ** 56n - 1n }), (member, rest) => {
        const id = toSessionId((BigInt(member) << 56n) | rest);
        const next = nextSessionId(id);
        expect(sidOf(next)).toBe(member);
        expect(next).not.toBe(id);
        expect(next).not.toBe(0x8000_0000_0000_0000n);
      }),
    );
  });

  it('steps over the mark of containers when the counter of member 128 wraps', () => {
    expect(nextSessionId(toSessionId(0x80ff_ffff_ffff_ffffn))).toBe(0x8000_0000_0000_0001n);
    expect(nextSessionId(toSessionId(0x01ff_ffff_ffff_ffffn))).toBe(0x0100_0000_0000_0000n);
  });

  it('C013: is one value as signed and as unsigned number, exact above 2^53', () => {
    expect(toSessionId(-0x00ff_ffff_ffff_fffdn)).toBe(0xff00_0000_0000_0003n);
    expect(toSessionId(0x7f00_0000_0000_0001n)).toBe(0x7f00_0000_0000_0001n);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(toSessionId(BigInt.asIntN(64, value))).toBe(value);
      }),
    );
  });

  it('C013: is printed as unsigned hex without padding', () => {
    expect(formatSessionId(0xff00_0000_0000_0003n)).toBe('0xff00000000000003');
    expect(formatSessionId(-0x00ff_ffff_ffff_fffdn)).toBe('0xff00000000000003');
    expect(formatSessionId(0x0100_0000_0000_0001n)).toBe('0x100000000000001');
    expect(formatSessionId(2n ** 53n + 1n)).toBe('0x20000000000001');
  });
});
