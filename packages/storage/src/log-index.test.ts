import { toZxid, ZERO_ZXID } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EntrySpan, LogIndex } from './log-index.ts';

function span(first: number, last: number): EntrySpan {
  return { first: toZxid(BigInt(first)), last: toZxid(BigInt(last)), bytes: last - first + 10 };
}

describe('the index of the log', () => {
  it('answers as a plain list does, whatever is pushed and dropped at both ends', () => {
    const moves = fc.array(
      fc.record({ push: fc.nat(900), oldest: fc.nat(700), newest: fc.nat(90), at: fc.nat(3000) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(moves, (list) => {
        const index = new LogIndex();
        let model: EntrySpan[] = [];
        let next = 1;
        for (const { push, oldest, newest, at } of list) {
          for (let i = 0; i < push; i++) {
            const one = span(next, next + (i % 3));
            next += (i % 3) + 1;
            index.push(one);
            model.push(one);
          }
          const zxid = toZxid(BigInt(at));
          expect(index.after(zxid)).toEqual(model.filter(({ last }) => last > zxid));
          expect(index.oldest(zxid, oldest)).toEqual(model.filter(({ last }) => last <= zxid).slice(0, oldest));
          const [front, back] = [Math.min(oldest, model.length), Math.min(newest, Math.max(0, model.length - oldest))];
          index.dropOldest(front);
          index.dropNewest(back);
          model = model.slice(front, model.length - back);
          expect(index.all()).toEqual(model);
          expect([index.count, index.newest, index.oldestSpan]).toEqual([model.length, model.at(-1), model[0]]);
          expect(index.bytes).toBe(model.reduce((sum, { bytes }) => sum + bytes, 0));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('S1: refuses an entry that is not after the newest one', () => {
    const index = new LogIndex();
    index.push(span(1, 5));
    expect(() => {
      index.push(span(5, 6));
    }).toThrow(/S1/);
    index.clear();
    expect([index.count, index.bytes, index.after(ZERO_ZXID)]).toEqual([0, 0, []]);
  });
});
