import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CZXID, integer, long, MTIME, NO_ROW, type RowOwner, Rows, setInteger, setLong, word } from './rows.ts';

function owner(rows: Rows): RowOwner {
  const made = { words: NO_ROW, at: 0 };
  rows.take(made);
  return made;
}

/** Writes over all of a row. */
function fill({ words, at }: RowOwner, value: number): void {
  words.fill(value, at, at + NO_ROW.length);
}

function isFilledWith(value: number, { words, at }: RowOwner): boolean {
  return words.subarray(at, at + NO_ROW.length).every((found) => found === value);
}

describe('rows', () => {
  it('no two owners ever have the same one, however they are taken and given back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -400, max: 400 }), { maxLength: 20 }), (steps) => {
        const rows = new Rows();
        const owners: { readonly row: RowOwner; readonly value: number }[] = [];
        let next = 1;
        for (const step of steps) {
          // That many are taken, or given back from somewhere in the middle.
          for (let i = 0; i < step; i++) {
            owners.push({ row: owner(rows), value: ++next });
            fill((owners.at(-1) as (typeof owners)[0]).row, next);
          }
          const gone = step < 0 ? owners.splice(Math.floor(owners.length / 3), -step) : [];
          for (const { row } of gone) rows.giveBack(row);
          if (step % 3 === 0) for (const { row } of owners) rows.thin(row);
          expect(owners.every(({ row, value }) => isFilledWith(value, row))).toBe(true);
          expect(gone.every(({ row }) => isFilledWith(0, row))).toBe(true);
          expect(rows.used).toBe(owners.length);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('are used again, and let go when a whole array of them is free', () => {
    const rows = new Rows();
    const owners = Array.from({ length: 20_000 }, () => owner(rows));
    const most = rows.size;
    expect(most).toBeLessThan(22_100);
    for (const one of owners.splice(5_000, 10_000)) rows.giveBack(one);
    expect(rows.size).toBeLessThan(15_000);
    for (let i = 0; i < 10_000; i++) owners.push(owner(rows));
    expect(rows.size).toBeLessThanOrEqual(most);
    for (const one of owners) rows.giveBack(one);
    expect([rows.used, rows.size]).toEqual([0, 0]);
    fill(owner(rows), 1);
  });

  it('are moved together when few are left here and there, and keep what stands in them', () => {
    const rows = new Rows();
    const owners = Array.from({ length: 60_000 }, () => owner(rows));
    const left = owners.filter((row, i) => {
      if (i % 97 === 0) fill(row, i + 1);
      else rows.giveBack(row);
      return i % 97 === 0;
    });
    expect(rows.size).toBeGreaterThan(50_000);
    for (const row of left) rows.thin(row);
    expect(rows.size).toBeLessThan(4 * left.length + 2_048);
    expect(rows.used).toBe(left.length);
    expect(left.every((row, i) => isFilledWith(i * 97 + 1, row))).toBe(true);
    const { size } = rows;
    const places = left.map(({ at }) => at);
    for (const row of left) rows.thin(row);
    expect([rows.size, left.map(({ at }) => at)]).toEqual([size, places]);
  });

  it('give back what was put into them, signed and unsigned, up to 64 bits', () => {
    const rows = new Rows();
    owner(rows);
    const row = owner(rows);
    for (const value of [0n, 1n, 0x7fff_ffff_ffff_ffffn, 0xffff_ffff_ffff_ffffn, 0x8000_0000_8000_0000n]) {
      setLong(row, CZXID, value);
      expect(long(row, CZXID)).toBe(value);
    }
    for (const value of [0, 1, 2 ** 32 - 1, 2 ** 53 - 1]) {
      setInteger(row, MTIME, value);
      expect(integer(row, MTIME)).toBe(value);
    }
    expect(word(row, CZXID)).toBe(-2_147_483_648);
  });

  it('can be given back once only', () => {
    const rows = new Rows();
    const [a, b] = [owner(rows), owner(rows)];
    rows.giveBack(a);
    rows.giveBack(a);
    const [c, d] = [owner(rows), owner(rows)];
    fill(b, 1);
    fill(c, 2);
    fill(d, 3);
    expect([b, c, d].map((row, i) => isFilledWith(i + 1, row))).toEqual([true, true, true]);
    expect(rows.used).toBe(3);
  });
});
