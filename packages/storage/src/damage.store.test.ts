/** Damage on the real LevelDB: what was acknowledged and is not there any more must be told by name, and nothing else. */
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZERO_ZXID } from '@quorate/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from './level/database.ts';
import { HEAD_KEY } from './log-meta.ts';
import { LOG_RANGE } from './record-codec.ts';
import { CHECKPOINT_KEY, STATE_RANGE } from './state-format.ts';
import { StorageError } from './storage-error.ts';
import { Rig, records, state, z } from './testing/bench-rig.ts';
import { type LevelHarness, levelHarness, levelHarnessAt } from './testing/level-harness.ts';

/** Entries of the log that `filled` writes: five records each, txns 1.1 to 1.40. */
const ENTRIES = 8;
/** The first of them that lies after the checkpoint, txn 1.8, in part. */
const CHECKPOINT = 8;

let parent: string;
let original: LevelHarness;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quorate-damage-'));
  original = await levelHarness();
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
  await original.dispose();
});

/**
 * A folder with a log and a checkpoint. Killed, so that the lower bound is the checkpoint's and the watermark exact; cut off from
 * power, so that the watermark is as old as the lower bound; or closed, so that both are exact.
 */
async function filled(end: 'killed' | 'power' | 'closed'): Promise<void> {
  const rig = await Rig.open(original);
  const watermark = join(original.directory, 'WATERMARK');
  let older: Buffer | undefined;
  await rig.epochs(2);
  for (let i = 0; i < ENTRIES; i++) {
    if (i === 2) {
      await rig.checkpoint(z(1, CHECKPOINT), state({ nA: '1', nB: '2', sC: '3' }));
      older = await readFile(watermark);
    }
    await rig.done({ kind: 'append', records: records(1, i * 5 + 1, i * 5 + 5), committed: z(1, 1) });
  }
  if (end === 'closed') await rig.close();
  else await rig.kill();
  if (end === 'power') await writeFile(watermark, older!);
}

let copies = 0;

/** A copy of the folder, changed. */
async function changed(change: (directory: string) => Promise<void>): Promise<LevelHarness> {
  const directory = join(parent, String(++copies));
  await cp(original.directory, directory, { recursive: true });
  await change(directory);
  return levelHarnessAt(directory);
}

type Pairs = [Uint8Array, Uint8Array][];

/** Rewrites a database's pairs of a range through LevelDB. */
function rewritten(
  db: string,
  range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined },
  edit: (pairs: Pairs) => Pairs,
): (directory: string) => Promise<void> {
  return async (directory) => {
    const level = await openDatabase(join(directory, db), {
      compression: false,
      writeBufferSize: 1 << 20,
      cacheSize: 1 << 20,
      create: false,
    });
    const bounds = { gte: range.from, ...(range.to === undefined ? {} : { lt: range.to }) };
    const before = await level.iterator<Uint8Array, Uint8Array>(bounds).all();
    const batch = level.batch();
    for (const [key] of before) batch.del(key);
    for (const [key, value] of edit(before.map(([key, value]) => [key, value]))) batch.put(key, value);
    await batch.write({ sync: true });
    await level.close();
  };
}

function flipped(value: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(value);
  copy[at]! ^= 0x40;
  return copy;
}

async function expectDamage(harness: LevelHarness, message: RegExp): Promise<void> {
  const error = await Rig.open(harness).then(
    async (rig) => {
      await rig.close();
      return new Error(`it started at ${rig.recovered.summary.lastZxid}`);
    },
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StorageError);
  expect((error as StorageError).message).toMatch(message);
  expect((error as StorageError).code).toBe('DAMAGED');
  expect((error as StorageError).message).toContain(harness.directory);
}

async function expectStart(harness: LevelHarness): Promise<Rig['recovered']> {
  const rig = await Rig.open(harness);
  await rig.close();
  return rig.recovered;
}

describe('C058: a byte flipped in an entry of the log', () => {
  it('is damage in every entry but the last, and names the entry', async () => {
    await filled('killed');
    for (let entry = 0; entry < ENTRIES - 1; entry++) {
      for (const at of entry % 2 === 0 ? [0, 30] : [3]) {
        const harness = await changed(
          rewritten('log', LOG_RANGE, (pairs) =>
            pairs.map(([key, value], i) => [key, i === entry ? flipped(value, at) : value]),
          ),
        );
        const first = `0x1${(entry * 5 + 1).toString(16).padStart(8, '0')}`;
        await expectDamage(harness, new RegExp(`/log: entry ${first} is bad: .*, and it is not the last one`));
        await expectDamage(harness, /is bad/);
      }
    }
  });

  it('is a torn tail in the last one when nothing says that it was acknowledged: it is cut, and said', async () => {
    await filled('power');
    const harness = await changed(
      rewritten('log', LOG_RANGE, (pairs) =>
        pairs.map(([key, value], i) => [key, i === ENTRIES - 1 ? flipped(value, 40) : value]),
      ),
    );
    const { summary, log } = await expectStart(harness);
    expect(summary.lastZxid).toBe(z(1, 35));
    expect(summary.tornTail).toMatch(
      /Cut the end of the log after 0x100000023: entry 0x100000024 is bad: its checksum/,
    );
    expect([...log.keys()].at(-1)).toBe(z(1, 35));
    const again = await expectStart(harness);
    expect([again.summary.lastZxid, again.summary.tornTail]).toEqual([z(1, 35), undefined]);
  });

  it('is damage in the last one when it was acknowledged', async () => {
    await filled('killed');
    const harness = await changed(
      rewritten('log', LOG_RANGE, (pairs) =>
        pairs.map(([key, value], i) => [key, i === ENTRIES - 1 ? flipped(value, 40) : value]),
      ),
    );
    await expectDamage(
      harness,
      /entry 0x100000024 is bad: its checksum is 0x[0-9a-f]{8}, expected 0x[0-9a-f]{8}, and it was acknowledged/,
    );
  });
});

describe('C058: entries that are missing or exchanged', () => {
  const edits: readonly (readonly [string, (pairs: Pairs) => Pairs, RegExp])[] = [
    [
      'a middle one',
      (pairs) => pairs.filter((_, i) => i !== 4),
      /after 0x100000014 comes 0x10000001a, which follows 0x100000019/,
    ],
    [
      'the last one',
      (pairs) => pairs.slice(0, -1),
      /acknowledged records are lost: it ends at 0x100000023, expected 0x100000028/,
    ],
    ['all after the checkpoint', (pairs) => pairs.slice(0, 2), /acknowledged records are lost/],
    ['all', () => [], /acknowledged records are lost: it ends at 0x100000008/],
    ['those up to the checkpoint', (pairs) => pairs.slice(2), /it begins with 0x10000000b, .*checkpoint 0x100000008/],
    ['the one with the checkpoint', (pairs) => pairs.filter((_, i) => i !== 1), /records are missing/],
    [
      'values exchanged',
      (pairs) => pairs.map(([key], i) => [key, pairs[i === 3 ? 4 : i === 4 ? 3 : i]![1]]),
      /is bad: its checksum/,
    ],
    ['a key that is none', (pairs) => [...pairs, [Buffer.from('l1'), Buffer.from('x')]], /its key has 2 bytes/],
  ];

  it.each(edits)('%s', async (_what, edit, message) => {
    await filled('closed');
    await expectDamage(await changed(rewritten('log', LOG_RANGE, edit)), message);
  });

  it('those wholly before the checkpoint are not missed', async () => {
    await filled('closed');
    const { summary } = await expectStart(await changed(rewritten('log', LOG_RANGE, (pairs) => pairs.slice(1))));
    expect(summary.lastZxid).toBe(z(1, 40));
  });
});

describe('C068: the state database', () => {
  it('a byte flipped in any record is damage, and names the record', async () => {
    await filled('closed');
    for (const [i, key] of ['nA', 'nB', 'sC'].entries()) {
      const harness = await changed(
        rewritten('state-1', STATE_RANGE, (pairs) =>
          pairs.map(([name, value], at) => [name, at === i ? flipped(value, value.length - 1) : value]),
        ),
      );
      await expectDamage(harness, new RegExp(`/state-1: record ${key} is bad`));
    }
  });

  it('is damage when its own records are missing or bad', async () => {
    await filled('closed');
    const meta = { from: Uint8Array.of(0), to: Uint8Array.of(1) };
    for (const [i, name] of ['checkpoint', 'lower bound', 'identity'].entries()) {
      const missing = await changed(rewritten('state-1', meta, (pairs) => pairs.filter((_, at) => at !== i)));
      await expectDamage(missing, new RegExp(`/state-1: the ${name} record is missing`));
      const bad = await changed(
        rewritten('state-1', meta, (pairs) =>
          pairs.map(([key, value], at) => [key, at === i ? flipped(value, 7) : value]),
        ),
      );
      await expectDamage(bad, new RegExp(`/state-1: the ${name} record is bad`));
    }
    expect(CHECKPOINT_KEY[0]).toBe(0);
  });
});

describe('the log database', () => {
  it('is damage when its own records are missing or bad', async () => {
    await filled('closed');
    const meta = { from: Uint8Array.of(0x61), to: Uint8Array.of(0x6b) };
    for (const [i, name] of ['epochs', 'head', 'identity'].entries()) {
      const missing = await changed(rewritten('log', meta, (pairs) => pairs.filter((_, at) => at !== i)));
      await expectDamage(missing, new RegExp(`/log: the ${name} record is missing`));
      const bad = await changed(
        rewritten('log', meta, (pairs) => pairs.map(([key, value], at) => [key, at === i ? flipped(value, 7) : value])),
      );
      await expectDamage(bad, new RegExp(`/log: the ${name} record is bad`));
    }
    expect(HEAD_KEY).toHaveLength(1);
  });

  it('is damage when it is older than what the state says of it', async () => {
    await filled('closed');
    const harness = await changed(async () => {});
    const rig = await Rig.open(harness);
    await rig.done({ kind: 'truncate', after: z(1, 33) });
    await rig.close();
    await rm(join(harness.directory, 'log'), { recursive: true });
    await cp(join(original.directory, 'log'), join(harness.directory, 'log'), { recursive: true });
    await expectDamage(harness, /it is of generation 0, its lower bound of 1: it is older than what was acknowledged/);
  });

  it('is damage when it loses what a cut has left, though nothing else was noted since (sim seed 2001862)', async () => {
    await filled('closed');
    const harness = await changed(async () => {});
    const rig = await Rig.open(harness);
    await rig.done({ kind: 'truncate', after: z(1, 33) });
    await rig.close();
    // As if power had been lost right behind the cut: bound and watermark are those of before.
    for (const name of ['state-1', 'WATERMARK']) {
      await rm(join(harness.directory, name), { recursive: true });
      await cp(join(original.directory, name), join(harness.directory, name), { recursive: true });
    }
    const shorter = levelHarnessAt(join(parent, 'shorter'));
    await cp(harness.directory, shorter.directory, { recursive: true });
    expect((await expectStart(harness)).summary.lastZxid).toBe(z(1, 33));
    await rewritten('log', LOG_RANGE, (pairs) => pairs.slice(0, -1))(shorter.directory);
    await expectDamage(shorter, /acknowledged records are lost: it ends at .*, expected 0x100000021 or later/);
  });

  it('is damage when the epochs are older than what was acknowledged', async () => {
    await filled('closed');
    const harness = await changed(async () => {});
    const rig = await Rig.open(harness);
    await rig.epochs(5);
    await rig.done({ kind: 'append', records: records(5, 1, 1), committed: ZERO_ZXID });
    await rig.close();
    const older: Pairs = [];
    await rewritten('log', { from: Uint8Array.of(0x65), to: Uint8Array.of(0x66) }, (pairs) => {
      older.push(...pairs);
      return pairs;
    })(original.directory);
    await rewritten('log', { from: Uint8Array.of(0x65), to: Uint8Array.of(0x66) }, () => older)(harness.directory);
    await expectDamage(harness, /older than what was acknowledged: epochs 2 and 2, held; expected 5 and 5/);
  });
});

describe('files that are missing', () => {
  const gone: readonly (readonly [string, RegExp])[] = [
    ['log', /\/log: the database is missing/],
    ['state-1', /\/state-1: the database is missing/],
    ['VERSION', /there is data \(.*\), but the file VERSION is missing/],
  ];

  it.each(gone)('without %s the folder is damaged, and stays as it is', async (name, message) => {
    await filled('closed');
    const harness = await changed(async (directory) => rm(join(directory, name), { recursive: true }));
    await expectDamage(harness, message);
    await cp(join(original.directory, name), join(harness.directory, name), { recursive: true });
    expect((await expectStart(harness)).summary.lastZxid).toBe(z(1, 40));
  });

  it('C058: a table of LevelDB that is gone or cut is damage', async () => {
    await filled('closed');
    // Opening once moves everything from LevelDB's own log into tables.
    const harness = await changed(async () => {});
    await expectStart(harness);
    const tables = join(harness.directory, 'log');
    const [table] = (await readdir(tables)).filter((name) => name.endsWith('.ldb'));
    expect(table).toBeDefined();
    const size = (await stat(join(tables, table!))).size;
    await truncate(join(tables, table!), size - 60);
    await expectDamage(harness, new RegExp(`${table}: it has ${size - 60} bytes, expected ${size}`));
    await rename(join(tables, table!), join(parent, 'gone'));
    await expectDamage(harness, new RegExp(`${table}: it is missing`));
  });
});

/** LevelDB's newest own log file of a database. */
async function newestLog(directory: string, db = 'log'): Promise<string> {
  const names = (await readdir(join(directory, db))).filter((name) => name.endsWith('.log')).sort();
  return join(directory, db, names.at(-1)!);
}

describe("C058: LevelDB's newest log file", () => {
  it('cut anywhere in its end gives a shorter log, never one with a hole or a wrong record', async () => {
    await filled('power');
    const lasts: bigint[] = [];
    for (const cut of [0, 1, 7, 40, 100, 130, 200, 300]) {
      const harness = await changed(async (directory) => {
        const path = await newestLog(directory);
        await truncate(path, (await stat(path)).size - cut);
      });
      const { summary, log } = await expectStart(harness);
      lasts.push(summary.lastZxid);
      const count = Number(summary.lastZxid - z(1, CHECKPOINT));
      expect([...log.keys()]).toEqual(Array.from({ length: count }, (_, i) => z(1, CHECKPOINT + 1 + i)));
      expect(summary.lastZxid % 5n).toBe(z(1, 40) % 5n);
    }
    expect(lasts[0]).toBe(z(1, 40));
    expect(lasts[1]).toBe(z(1, 35));
    expect([...lasts].sort((a, b) => (a > b ? -1 : 1))).toEqual(lasts);
    expect(lasts.at(-1)).toBeLessThan(z(1, 35));
  });

  it.each(['closed', 'killed'] as const)('cut below what was acknowledged is damage (%s)', async (end) => {
    await filled(end);
    for (const cut of [1, 200]) {
      const harness = await changed(async (directory) => {
        const path = await newestLog(directory);
        await truncate(path, (await stat(path)).size - cut);
      });
      await expectDamage(harness, /acknowledged records are lost/);
    }
  });

  it('with zeros behind its end is read as before; empty, it is damage', async () => {
    await filled('killed');
    const padded = await changed(async (directory) => {
      const path = await newestLog(directory);
      await writeFile(path, Buffer.alloc(100), { flag: 'a' });
    });
    expect((await expectStart(padded)).summary.lastZxid).toBe(z(1, 40));
    const empty = await changed(async (directory) => truncate(await newestLog(directory), 0));
    await expectDamage(empty, /the identity record is missing/);
  });

  it.each(['log', 'state-1'])('with a byte flipped in a middle record of %s is damage, and stays so', async (db) => {
    await filled('closed');
    const harness = await changed(async (directory) => {
      const path = await newestLog(directory, db);
      const bytes = await readFile(path);
      bytes[Math.floor(bytes.length / 2)]! ^= 1;
      await writeFile(path, bytes);
    });
    const message = /Damaged data in .*\/\d+\.log: the record at byte \d+ is bad, and it was acknowledged before/;
    await expectDamage(harness, message);
    await expectDamage(harness, message);
  });
});
