import { toSessionId, toZxid, ZERO_ZXID } from '@quorate/protocol';
import { expect, it } from 'vitest';
import { Journal } from './journal.ts';
import { ownerOf } from './lifetime.ts';
import { PACKED_STAT_WORDS, packStat, unpackStat } from './packed-stat.ts';
import { Rows } from './rows.ts';
import { StoredZnode, type ZnodeFields } from './znode.ts';

const ROWS = new Rows();

const FIELDS: ZnodeFields = {
  data: Uint8Array.of(1, 2, 3),
  czxid: toZxid(0x7fff_ffff_ffff_fff1n),
  mzxid: toZxid(0x0030_0000_8000_0001n),
  pzxid: toZxid(9_007_199_254_740_993n),
  ctimeMs: 1_700_000_000_123,
  mtimeMs: -5,
  version: -7,
  creates: 0x7fff_ffff,
  aversion: 12,
  owner: 0n,
};

it('a packed stat is what the znode says of itself, whatever it lives by', () => {
  const owners = [0n, toSessionId(0xfe00_0000_0000_0003n), ownerOf(toSessionId(0n), 'container')];
  owners.push(ownerOf(toSessionId(0n), { ttlMs: 5_000 }));
  for (const owner of owners) {
    const znode = StoredZnode.of('/a', { ...FIELDS, owner }, ROWS);
    znode.addChild(StoredZnode.of('/a/b', { ...FIELDS, data: undefined }, ROWS));
    const words = new Int32Array(PACKED_STAT_WORDS + 5);
    packStat(znode, words, 5);
    expect(unpackStat(words, 5)).toEqual(znode.stat());
  }
});

it('holds the last changes over many blocks, and says after which position', () => {
  const journal = new Journal(300_000, ZERO_ZXID);
  for (let i = 1; i <= 20_000; i++) {
    const path = `/${i}`;
    journal.add(
      i % 3 === 0 ? 'deleted' : 'created',
      path,
      toZxid(BigInt(i)),
      i % 3 === 0 ? undefined : StoredZnode.of(path, FIELDS, ROWS),
      undefined,
    );
    expect(journal.bytes).toBeLessThanOrEqual(300_000);
  }
  const { first, end, floor } = journal;
  expect([end, end - first]).toEqual([20_000, expect.any(Number)]);
  expect(end - first).toBeGreaterThan(2_048);
  expect(floor).toBe(BigInt(first));
  for (let number = first; number < end; number++) {
    const { kind, zxid, path, stat } = journal.at(number);
    expect([zxid, path, journal.zxidAt(number), journal.pathAt(number)]).toEqual([
      BigInt(number + 1),
      `/${number + 1}`,
      zxid,
      path,
    ]);
    expect(kind).toBe((number + 1) % 3 === 0 ? 'deleted' : 'created');
    expect(stat?.version).toBe(kind === 'deleted' ? undefined : -7);
    expect(journal.dataAt(number)).toEqual(kind === 'deleted' ? undefined : FIELDS.data);
  }
  expect(journal.after(floor)).toBe(first);
  expect(journal.after(toZxid(floor - 1n))).toBeUndefined();
  expect(journal.after(toZxid(19_999n))).toBe(19_999);
  expect(journal.after(toZxid(30_000n))).toBe(end);
});

it('begins anew after a snapshot, with numbers that go on', () => {
  const journal = new Journal(1_000, ZERO_ZXID);
  for (let i = 1; i <= 1_500; i++)
    journal.add('created', '/a', toZxid(BigInt(i)), StoredZnode.of('/a', FIELDS, ROWS), undefined);
  journal.reset(toZxid(5_000n));
  expect([journal.first, journal.end, journal.bytes, journal.floor]).toEqual([1_500, 1_500, 0, 5_000n]);
  expect(journal.after(toZxid(4_999n))).toBeUndefined();
  expect(journal.after(toZxid(5_000n))).toBe(1_500);
  journal.add('aclChanged', '/b', toZxid(5_001n), StoredZnode.of('/b', FIELDS, ROWS), undefined);
  expect(journal.at(1_500)).toMatchObject({ kind: 'aclChanged', path: '/b', zxid: 5_001n });
});

it('keeps the last change however large it is', () => {
  const journal = new Journal(0, ZERO_ZXID);
  for (let i = 1; i <= 3; i++)
    journal.add('created', '/a', toZxid(BigInt(i)), StoredZnode.of('/a', FIELDS, ROWS), undefined);
  expect([journal.first, journal.end, journal.floor]).toEqual([2, 3, 2n]);
});
