/**
 * Every byte flipped, every length cut, and files missing, exchanged, old and foreign, on real folders and through the shipping
 * recovery. `DAMAGE_TABLE=1` prints the table that stands in packages/storage/README.md.
 */
import { damageTable, tableText } from '@quorate/storage/testing';
import { expect, it } from 'vitest';

it.each(['killed', 'closed', 'in flight'] as const)(
  'C058 C068: any damage to a folder that was %s is recovered in full or refused by name',
  async (end) => {
    const table = await damageTable({ ends: [end] });
    if (process.env['DAMAGE_TABLE'] !== undefined) process.stdout.write(`${end}\n${tableText(table)}\n`);
    expect(table.forbidden.slice(0, 20)).toEqual([]);
    expect(table.cases).toBeGreaterThan(3_000);
  },
);
