import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Deadlines, type Expirable } from './deadlines.ts';

function item(deadlineMs: number, expire: () => void): Expirable {
  return { deadlineMs, expire };
}

describe('deadlines', () => {
  it('pass exactly at their time, each once', () => {
    const times = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 40 });
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 150 }), (wanted, step) => {
        const deadlines = new Deadlines();
        const expired: { readonly at: number; readonly deadlineMs: number }[] = [];
        let now = 0;
        for (const deadlineMs of wanted) deadlines.add(item(deadlineMs, () => expired.push({ at: now, deadlineMs })));
        for (now = 0; now <= 2_000 + step; now += step) deadlines.expire(now);
        expect(expired.length).toBe(wanted.length);
        for (const { at, deadlineMs } of expired) {
          expect(at).toBeGreaterThanOrEqual(deadlineMs);
          expect(at - deadlineMs).toBeLessThan(step);
        }
        expect(deadlines.size).toBe(0);
      }),
    );
  });

  it('do not pass for what was taken out, even by one that expires at the same time', () => {
    const deadlines = new Deadlines();
    const seen: string[] = [];
    const second = item(11, () => seen.push('second'));
    const third = item(12, () => seen.push('third'));
    deadlines.add(
      item(10, () => {
        seen.push('first');
        deadlines.remove(second);
        deadlines.add(item(5, () => seen.push('late')));
      }),
    );
    deadlines.add(second);
    deadlines.add(third);
    deadlines.expire(20);
    expect(seen).toEqual(['first', 'third']);
    deadlines.expire(21);
    expect(seen).toEqual(['first', 'third', 'late']);
  });
});
