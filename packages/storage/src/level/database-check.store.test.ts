/** What LevelDB does not say of its files: each rule of database-check.ts on a database that LevelDB itself would open. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crc32c } from './crc32c.ts';
import { openDatabase } from './database.ts';
import { checkDatabase } from './database-check.ts';
import { mask, readRecordLog } from './record-log.ts';

const OPTIONS = { compression: true, writeBufferSize: 64 * 1024, cacheSize: 64 * 1024, create: true };
const HEADER_BYTES = 7;

let parent: string;
let path: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quorate-check-'));
  path = join(parent, 'db');
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

async function write(keys: readonly string[], valueOf: (key: string) => Uint8Array): Promise<void> {
  const level = await openDatabase(path, OPTIONS);
  for (const key of keys) await level.put(Buffer.from(key), valueOf(key), { sync: true });
  await level.close();
}

/** What LevelDB itself reads. */
async function read(at: string): Promise<string[]> {
  const level = await openDatabase(at, { ...OPTIONS, create: false });
  const keys = await level.keys().all();
  await level.close();
  return keys.map((key) => Buffer.from(key).toString());
}

async function named(suffix: RegExp): Promise<string> {
  return (await readdir(path))
    .filter((name) => suffix.test(name))
    .sort()
    .at(-1)!;
}

/** The journal with four writes as LevelDB leaves it when it has begun another one: `a` and `b` in it, `c` and `d` in the next. */
async function twoJournals(): Promise<{ readonly older: string; readonly newer: string; readonly bytes: Buffer }> {
  await write(['a', 'b', 'c', 'd'], (key) => Buffer.from(key));
  const name = await named(/\.log$/);
  const bytes = await readFile(join(path, name));
  const { records } = readRecordLog(bytes);
  const half = records.slice(0, 2).reduce((sum, { length }) => sum + HEADER_BYTES + length, 0);
  const older = join(path, name);
  const newer = join(path, `${String(Number.parseInt(name, 10) + 1).padStart(6, '0')}.log`);
  await writeFile(older, bytes.subarray(0, half));
  await writeFile(newer, bytes.subarray(half));
  return { older, newer, bytes: bytes.subarray(0, half) };
}

describe('a database of LevelDB', () => {
  it('with many blocks and levels, packed and not, is whole', async () => {
    const keys = Array.from({ length: 3_000 }, (_, i) => `key-${String(i % 1_500).padStart(5, '0')}`);
    await write(keys, (key) => Buffer.alloc(300, key));
    await write(['another'], () => Buffer.alloc(5_000, 'x'));
    expect((await readdir(path)).filter((name) => name.endsWith('.ldb')).length).toBeGreaterThan(1);
    await checkDatabase(path);
  });

  it('with a byte wrong anywhere in a packed table is found out', async () => {
    await write(
      Array.from({ length: 400 }, (_, i) => `key-${i}`),
      () => Buffer.alloc(300, 'x'),
    );
    await read(path);
    const table = join(path, await named(/\.ldb$/));
    const bytes = await readFile(table);
    for (let at = 0; at < bytes.length; at += 7) {
      bytes[at]! ^= 4;
      await writeFile(table, bytes);
      await expect(checkDatabase(path), `byte ${at}`).rejects.toThrow(table);
      bytes[at]! ^= 4;
    }
  });

  it('C058: whose older journal lost its end, its beginning or all of it has a hole, which LevelDB does not see', async () => {
    const { older, newer, bytes } = await twoJournals();
    await checkDatabase(path);
    await cp(path, join(parent, 'whole'), { recursive: true });
    expect(await read(join(parent, 'whole'))).toEqual(['a', 'b', 'c', 'd']);
    const half = bytes.length / 2;
    for (const [name, left] of [
      ['its second write', bytes.subarray(0, half)],
      ['a part of its second write', bytes.subarray(0, half + 5)],
      ['both', bytes.subarray(0, 0)],
      ['its first write', bytes.subarray(half)],
    ] as const) {
      await writeFile(older, left);
      const copy = join(parent, name);
      await cp(path, copy, { recursive: true });
      expect(await read(copy), name).toEqual(expect.arrayContaining(['c', 'd']));
      await expect(checkDatabase(path), name).rejects.toThrow(/writes before it are missing|was acknowledged before/);
    }
    await rm(older);
    await expect(checkDatabase(path)).rejects.toThrow(/it is missing, or the end of the manifest is/);
    await writeFile(older, bytes);
    // The end of the newest one is what power may have taken.
    await writeFile(newer, (await readFile(newer)).subarray(0, -1));
    await checkDatabase(path);
    await writeFile(newer, new Uint8Array());
    await checkDatabase(path);
  });

  it('C056: that counted a write which failed is whole: a compaction noted its number as it ended', async () => {
    await write(['a', 'b'], (key) => Buffer.from(key));
    const manifest = join(path, await named(/^MANIFEST/));
    // So it was found after a full disk: two writes, number 4 as the last one.
    const edit = Buffer.from([1, 4, 4]);
    const header = Buffer.from([0, 0, 0, 0, 2, 0]);
    header.writeUInt32LE(mask(crc32c(edit, 0, edit.length)));
    await writeFile(manifest, Buffer.concat([header, edit]), { flag: 'a' });
    expect(readRecordLog(await readFile(manifest)).badAt).toBeUndefined();
    await checkDatabase(path);
    expect(await read(path)).toEqual(['a', 'b']);
    await write(['c'], (key) => Buffer.from(key));
    await checkDatabase(path);
    expect(await read(path)).toEqual(['a', 'b', 'c']);
  });

  it('whose last write is torn inside data that looks like writes is whole; with a byte wrong before a write it is not', async () => {
    await write(['a', 'b', 'c'], (key) => Buffer.alloc(100, key));
    const journal = join(path, await named(/\.log$/));
    const stored = await readFile(journal);
    await write(['d', 'e'], (key) => (key === 'd' ? Buffer.concat([stored, stored, stored]) : Buffer.from(key)));
    const newest = join(path, await named(/\.log$/));
    const bytes = await readFile(newest);
    for (const length of [stored.length + 60, 2 * stored.length, 3 * stored.length]) {
      await writeFile(newest, bytes.subarray(0, length));
      await checkDatabase(path);
    }
    for (const at of [0, 4, 8, stored.length]) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1;
      await writeFile(newest, flipped);
      await expect(checkDatabase(path), `byte ${at}`).rejects.toThrow(/was acknowledged before/);
    }
  });

  it('C058: whose manifest was cut at the end of a record is found out, for it forgets a table', async () => {
    await write(['a'], () => Buffer.from('1'));
    const level = await openDatabase(path, OPTIONS);
    // Enough for a second table while it is open.
    for (let i = 0; i < 100; i++) await level.put(Buffer.from(`k${i}`), Buffer.alloc(2_000, i), { sync: true });
    await level.compactRange(Buffer.from('a'), Buffer.from('b'));
    await level.close();
    await checkDatabase(path);
    const manifest = join(path, await named(/^MANIFEST/));
    const bytes = await readFile(manifest);
    const { records } = readRecordLog(bytes);
    expect(records.length).toBeGreaterThan(2);
    const all = await read(await copied('whole'));
    let end = bytes.length;
    let found = 0;
    for (const record of [...records].reverse().slice(0, -1)) {
      end -= HEADER_BYTES + record.length;
      await writeFile(manifest, bytes.subarray(0, end));
      const refused = await checkDatabase(path).then(
        () => false,
        () => true,
      );
      if (refused) found++;
      // An edit that only moved a table between levels is none that is missed.
      else expect(await read(await copied(`cut-${end}`)), `cut to ${end}`).toEqual(all);
    }
    expect(found).toBeGreaterThan(1);
  });
});

async function copied(name: string): Promise<string> {
  await cp(path, join(parent, name), { recursive: true });
  return join(parent, name);
}
