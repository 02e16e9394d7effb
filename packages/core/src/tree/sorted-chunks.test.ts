import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byCodeUnit, CHUNK_MAX, SortedChunks } from './sorted-chunks.ts';

function listOf(chunks: SortedChunks<string>): string[] {
  const list: string[] = [];
  chunks.forEach((item) => list.push(item));
  return list;
}

const name = (number: number): string => `n${String(number).padStart(6, '0')}`;

describe('a sorted list in chunks', () => {
  it('has what a sorted array would, and says what comes after any key, while it grows over many chunks and shrinks', () => {
    // Runs of neighbours fill and empty whole chunks; single ones come anywhere.
    const run = fc.record({ from: fc.nat(4_000), length: fc.constantFrom(1, 1, 40, 900), isAdd: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(run, { maxLength: 30, size: 'max' }),
        fc.array(fc.nat(5_000), { maxLength: 3 }),
        (runs, probes) => {
          const chunks = new SortedChunks<string>((item) => item, byCodeUnit);
          const plain = new Set<string>();
          for (const { from, length, isAdd } of runs) {
            for (let number = from; number < from + length; number++) {
              const item = name(number);
              if (!isAdd) expect(chunks.delete(item)).toBe(plain.delete(item));
              else if (!plain.has(item)) {
                chunks.add(item);
                plain.add(item);
              }
            }
            expect(chunks.size).toBe(plain.size);
            const sorted = [...plain].sort();
            for (const key of probes.map(name)) expect(chunks.after(key)).toBe(sorted.find((item) => item > key));
          }
          expect(listOf(chunks)).toEqual([...plain].sort());
        },
      ),
      { numRuns: 25 },
    );
  });

  it('looks at no more than a few dozen items for a change or a question, however many there are', () => {
    let looks = 0;
    const chunks = new SortedChunks<string>((item) => {
      looks++;
      return item;
    }, byCodeUnit);
    const count = 50_000;
    for (let number = 0; number < count; number++) chunks.add(name((number * 7_919) % count));
    looks = 0;
    chunks.delete(name(25_000));
    chunks.add(name(25_000));
    expect(chunks.after(name(24_999))).toBe(name(25_000));
    expect(looks).toBeLessThan(4 * 20);
  });

  it('does not stay in crumbs when almost all of it was deleted', () => {
    let looks = 0;
    const chunks = new SortedChunks<string>((item) => {
      looks++;
      return item;
    }, byCodeUnit);
    const count = 64 * CHUNK_MAX;
    for (let number = 0; number < count; number++) chunks.add(name(number));
    for (let number = 0; number < count; number++) if (number % CHUNK_MAX !== 0) chunks.delete(name(number));
    expect(chunks.size).toBe(64);
    // As many items as chunks would be a search among chunks alone.
    looks = 0;
    chunks.after(name(0));
    expect(looks).toBeLessThanOrEqual(8);
    expect(listOf(chunks)).toHaveLength(64);
  });
});
