import { mkdtemp, readdir, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Io, IoResult } from '../io.ts';
import { openLevelStore } from '../level-store.ts';
import { IDENTITY, Rig, records, state, z } from '../testing/bench-rig.ts';
import { levelHarnessAt } from '../testing/level-harness.ts';
import { openDatabase } from './database.ts';
import { LevelEngine } from './level-engine.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quorate-engine-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

function run(engine: LevelEngine, io: Io): Promise<IoResult> {
  return new Promise((resolve, reject) => {
    engine.start('log', io, resolve, reject);
  });
}

describe('the LevelDB engine', () => {
  it('C062: gives LevelDB sync: true with every write, of one operation or many, gathered or not', async () => {
    const options: unknown[] = [];
    const engine = new LevelEngine(directory, undefined, async (path, wanted) => {
      const level = await openDatabase(path, wanted);
      const put = level.put.bind(level) as (...args: unknown[]) => Promise<void>;
      const batch = level.batch.bind(level) as () => ReturnType<typeof level.batch>;
      Object.assign(level, {
        put: (...args: unknown[]) => {
          options.push(args[2]);
          return put(...args);
        },
        del: () => {
          throw new Error('a delete by itself is not synced here');
        },
        batch: (...args: unknown[]) => {
          expect(args).toEqual([]);
          const chained = batch();
          const write = chained.write.bind(chained) as (given: unknown) => Promise<void>;
          return Object.assign(chained, {
            write: (given: unknown) => {
              options.push(given);
              return write(given);
            },
          });
        },
      });
      return level;
    });
    await run(engine, { kind: 'open', db: 'log', create: true });
    const [a, b] = [Buffer.from('a'), Buffer.from('b')];
    await run(engine, { kind: 'write', db: 'log', gathered: false, ops: [{ key: a, value: a }] });
    await run(engine, { kind: 'write', db: 'log', gathered: false, ops: [{ key: a, value: undefined }] });
    await run(engine, {
      kind: 'write',
      db: 'log',
      gathered: false,
      ops: [
        { key: a, value: a },
        { key: b, value: b },
      ],
    });
    await run(engine, { kind: 'gather', db: 'log', ops: [{ key: b, value: a }] });
    await run(engine, { kind: 'write', db: 'log', gathered: true, ops: [{ key: a, value: b }] });
    expect(options).toEqual(Array.from({ length: 4 }, () => ({ sync: true })));
    expect(engine.syncs).toBe(4);
    const read = async (key: Uint8Array): Promise<unknown> => {
      const result = await run(engine, { kind: 'read', db: 'log', key });
      return result.kind === 'value' && result.value !== undefined ? Buffer.from(result.value).toString() : undefined;
    };
    expect([await read(a), await read(b)]).toEqual(['b', 'a']);
    await engine.close();
  });

  it('C056: of two writes to a database at a time the second is not begun when the first fails', async () => {
    const begun: string[] = [];
    let fail: (reason: Error) => void = () => undefined;
    const full = new Promise<void>((_, reject) => {
      fail = reject;
    });
    const engine = new LevelEngine(directory, undefined, async (path, wanted) =>
      Object.assign(await openDatabase(path, wanted), {
        put: (key: Uint8Array) => {
          begun.push(Buffer.from(key).toString());
          return full;
        },
      }),
    );
    await run(engine, { kind: 'open', db: 'state-1', create: true });
    const put = (key: string): Promise<IoResult> =>
      run(engine, {
        kind: 'write',
        db: 'state-1',
        gathered: false,
        ops: [{ key: Buffer.from(key), value: Buffer.from(key) }],
      });
    const outcomes = Promise.allSettled([put('checkpoint'), put('bound')]);
    await run(engine, { kind: 'nothing' });
    fail(new Error('No space left on device'));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(put('later')).rejects.toThrow('No space left on device');
    expect(begun).toEqual(['checkpoint']);
    await engine.close();
  });

  it('C072: databases that were replaced and streams that were dropped keep no file open', async () => {
    const rig = await Rig.open(levelHarnessAt(join(directory, 'member')));
    await rig.epochs(2);
    for (let round = 1; round <= 5; round++) {
      rig.store.openState(round * 2);
      rig.store.openState(round * 2 + 1);
      await rig.until(() => rig.opened.length === round * 2);
      await rig.store.readState(round * 2, 10);
      rig.store.closeState(round * 2);
      const values = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`n${i}`, 'x'.repeat(1000)]));
      await rig.install(z(1, round * 10), state(values));
    }
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    const ours = links.filter((link) => link.startsWith(directory));
    expect(ours.length).toBeGreaterThan(0);
    expect(ours.filter((link) => link.endsWith('(deleted)'))).toEqual([]);
    expect((await readdir(join(directory, 'member'))).sort()).toEqual([
      'VERSION',
      'WATERMARK',
      'lock',
      'log',
      'state-6',
    ]);
    await rig.close();
  });

  it('a store that is closed while it recovers says so, and can be opened again', async () => {
    const harness = levelHarnessAt(join(directory, 'member'));
    const rig = await Rig.open(harness);
    await rig.epochs(2);
    await rig.close();
    const store = await openLevelStore({ directory: harness.directory, identity: IDENTITY, events: rig });
    const recovering = store.recover({ state() {}, log() {} });
    const closing = store.close();
    await expect(recovering).rejects.toMatchObject({ code: 'CLOSED' });
    await closing;
    const again = await Rig.open(harness);
    expect(again.recovered.summary.currentEpoch).toBe(2);
    await again.close();
  });

  it('C063: purged log gives its space back', async () => {
    const rig = await Rig.open(levelHarnessAt(join(directory, 'member')));
    await rig.epochs(2);
    const size = 1024 * 1024;
    let written = 0;
    for (let i = 1; i <= 56; i++) {
      await rig.done({ kind: 'append', records: records(1, i, i, size), committed: z(1, i) });
      written += size;
      if (i % 8 !== 0) continue;
      await rig.checkpoint(z(1, i), state({ nA: String(i) }));
      await rig.done({ kind: 'purgeLog', through: z(1, i) });
    }
    await rig.until(() => rig.store.stats.logEntries === 0);
    expect(rig.gate.started.filter(({ kind }) => kind === 'compact')).toHaveLength(1);
    await rig.close();
    const again = await Rig.open(levelHarnessAt(join(directory, 'member')));
    await again.close();
    expect(written).toBe(56 * size);
    expect(await sizeOf(join(directory, 'member'))).toBeLessThan(40 * size);
  });
});

async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, one) => sum + one, 0);
}
