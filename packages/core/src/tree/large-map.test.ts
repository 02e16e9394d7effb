import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LargeMap } from './large-map.ts';

type Key = string | bigint;

const key = fc.oneof(
  fc.integer({ min: 0, max: 12_000 }).map((n): Key => `/n${n}`),
  fc.integer({ min: 0, max: 300 }).map((n): Key => BigInt(n) << 40n),
);

/** As large as a map that has been divided, and one just before it is. */
function filled(count: number): { readonly map: LargeMap<Key, number>; readonly model: Map<Key, number> } {
  const map = new LargeMap<Key, number>();
  const model = new Map<Key, number>();
  for (let n = 0; n < count; n++) {
    map.set(`/n${n}`, n);
    model.set(`/n${n}`, n);
  }
  return { map, model };
}

function entries(map: LargeMap<Key, number>): ReadonlyMap<Key, number | undefined> {
  return new Map([...map.keys()].map((one) => [one, map.get(one)]));
}

function ascending(values: Iterable<number>): readonly number[] {
  return [...values].sort((a, b) => a - b);
}

describe('a large map', () => {
  it.each([0, 8_190, 10_000])('of %d entries does what a Map does', (count) => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 60 }), (steps) => {
        const { map, model } = filled(count);
        for (const [index, [one, isSet]] of steps.entries()) {
          if (isSet) {
            map.set(one, -1 - index);
            model.set(one, -1 - index);
          } else expect(map.delete(one)).toBe(model.delete(one));
          expect([map.size, map.has(one), map.get(one)]).toEqual([model.size, model.has(one), model.get(one)]);
        }
        expect(entries(map)).toEqual(model);
        expect(ascending(map.values())).toEqual(ascending(model.values()));
      }),
      { numRuns: 10 },
    );
  });

  it.each([100, 10_000])('of %d entries goes on being walked through while it changes', (count) => {
    const { map } = filled(count);
    const seen = new Set<Key>();
    for (const one of map.keys()) {
      expect(seen.has(one)).toBe(false);
      seen.add(one);
      map.delete(one);
      map.delete(`/n${count - seen.size}`);
    }
    expect(map.size).toBe(0);
    expect(seen.size).toBeLessThan(count);
  });

  it('that is divided while it is walked through leaves nothing out', () => {
    const { map } = filled(8_192);
    const seen = new Set<Key>();
    for (const one of map.keys()) {
      if (seen.size === 100) for (let n = 8_192; n < 9_000; n++) map.set(`/n${n}`, n);
      seen.add(one);
    }
    expect(seen.size).toBe(9_000);
  });
});
