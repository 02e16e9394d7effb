import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZERO_ZXID } from '@quorate/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SimDisk } from '../memory/sim-disk.ts';
import { StorageError } from '../storage-error.ts';
import { IDENTITY, Rig, records, state, z } from '../testing/bench-rig.ts';
import { type LevelHarness, levelHarnessAt } from '../testing/level-harness.ts';
import { memoryHarness } from '../testing/memory-harness.ts';
import { finishMoving, makePlace, ownNames, SET_ASIDE_MAX, setAside } from './set-aside.ts';
import { readUnfinished, writeUnfinished } from './unfinished.ts';

let parent: string;
let harness: LevelHarness;
let directory: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quorate-aside-'));
  directory = join(parent, 'member');
  harness = levelHarnessAt(directory);
  await fill();
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

async function fill(): Promise<void> {
  const rig = await Rig.open(harness);
  await rig.epochs(1);
  await rig.done({ kind: 'append', records: records(1, 1, 10), committed: ZERO_ZXID });
  await rig.checkpoint(z(1, 4), state({ nA: '1' }));
  await rig.close();
}

async function asides(): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith('damaged-')).sort();
}

/** Starts: as a member that has to recover, with nothing on its disk; and so it is the next time. */
async function expectRecovering(): Promise<void> {
  for (let start = 0; start < 2; start++) {
    const rig = await Rig.open(harness);
    const { summary, log, state: found } = rig.recovered;
    expect([summary.voteRight, summary.lastZxid, summary.acceptedEpoch]).toEqual(['recovering', 0n, 0]);
    expect([log.size, found.size]).toEqual([0, 0]);
    await rig.close();
  }
  expect(await readUnfinished(directory)).toBeUndefined();
}

/** What was set aside is the whole of it: put back, it is as before. */
async function expectWhole(aside: string): Promise<void> {
  const copy = join(parent, 'put-back');
  await rm(copy, { recursive: true, force: true });
  await cp(join(directory, aside), copy, { recursive: true });
  await rm(join(copy, 'REASON'));
  const rig = await Rig.open(levelHarnessAt(copy));
  expect(rig.recovered.summary.lastZxid).toBe(z(1, 10));
  await rig.close();
}

describe('setting data aside', () => {
  it('is refused when that was done often and nobody has looked: the disk must not fill with copies', async () => {
    for (let n = 1; n <= SET_ASIDE_MAX; n++) await makePlace(directory, 'bad memory');
    const refused = setAside({ directory, identity: IDENTITY, reason: 'bad again' });
    await expect(refused).rejects.toMatchObject({
      code: 'DAMAGED',
      message: expect.stringContaining('8 folders damaged-'),
    });
    expect(await asides()).toHaveLength(SET_ASIDE_MAX);
    const rig = await Rig.open(harness);
    expect(rig.recovered.summary.lastZxid).toBe(z(1, 10));
    await rig.close();
  });

  it('keeps all of it beside, with the reason; what is new has to recover', async () => {
    await writeFile(join(directory, 'notes.txt'), 'of the operator');
    const place = await setAside({ directory, identity: IDENTITY, reason: 'a byte is wrong' });
    expect((await readdir(place)).sort()).toEqual(['REASON', 'VERSION', 'WATERMARK', 'log', 'state-1']);
    expect(await readFile(join(place, 'REASON'), 'utf8')).toMatch(/^20\d\d-.*Z: a byte is wrong\n$/);
    await expectRecovering();
    expect(await readFile(join(directory, 'notes.txt'), 'utf8')).toBe('of the operator');
    const [aside] = await asides();
    await expectWhole(aside!);
  });

  it('once more keeps what was set aside before', async () => {
    const first = await setAside({ directory, identity: IDENTITY, reason: 'one' });
    const rig = await Rig.open(harness);
    await rig.close();
    const second = await setAside({ directory, identity: IDENTITY, reason: 'two' });
    expect(second).not.toBe(first);
    await expectRecovering();
    expect(await asides()).toHaveLength(2);
    await expectWhole(first.slice(directory.length + 1));
  });

  it('is refused for data of another member or cluster, and while a store is open', async () => {
    const refusal = async (identity = IDENTITY): Promise<unknown> =>
      setAside({ directory, identity, reason: '' }).catch((thrown: unknown) =>
        thrown instanceof StorageError ? thrown.code : thrown,
      );
    expect(await refusal({ clusterId: 'test-cluster', sid: 8 })).toBe('WRONG_SID');
    expect(await refusal({ clusterId: 'other', sid: 7 })).toBe('WRONG_CLUSTER');
    const rig = await Rig.open(harness);
    expect(await refusal()).toBe('LOCKED');
    await rig.close();
    expect(await asides()).toEqual([]);
  });

  it('that was cut short is taken up by the next start, wherever that was', async () => {
    const names = await ownNames(directory);
    await cp(directory, join(parent, 'whole'), { recursive: true });
    for (let moved = 0; moved <= names.length; moved++) {
      await rm(directory, { recursive: true });
      await cp(join(parent, 'whole'), directory, { recursive: true });
      const movingTo = await makePlace(directory, 'cut short');
      await writeUnfinished(directory, { identity: IDENTITY, voteRight: 'recovering', movingTo });
      for (const name of names.slice(0, moved)) await rename(join(directory, name), join(directory, movingTo, name));
      await expectRecovering();
      expect(await asides()).toEqual([movingTo]);
      await expectWhole(movingTo);
    }
  });

  it('that was cut short while the new databases were made begins with them anew', async () => {
    const movingTo = await makePlace(directory, 'cut short');
    const unfinished = { identity: IDENTITY, voteRight: 'recovering' as const, movingTo };
    await finishMoving(directory, unfinished);
    await mkdir(join(directory, 'log'));
    await writeFile(join(directory, 'log', 'CURRENT'), 'half');
    await expectRecovering();
    await expectWhole(movingTo);
  });

  it('whose note cannot be read sets aside once more, and never ends as a new member', async () => {
    await writeFile(join(directory, 'UNFINISHED'), '{"half');
    await expectRecovering();
    const [aside] = await asides();
    await expectWhole(aside!);
  });

  it('has its twin in memory', async () => {
    const disk = new SimDisk();
    const rig = await Rig.open(memoryHarness(disk));
    await rig.epochs(1);
    await rig.close();
    disk.setAside('lost');
    const again = await Rig.open(memoryHarness(disk));
    expect(again.recovered.summary.voteRight).toBe('recovering');
    expect(again.recovered.summary.acceptedEpoch).toBe(0);
    await again.close();
    const once = await Rig.open(memoryHarness(disk));
    expect(once.recovered.summary.voteRight).toBe('recovering');
    await once.close();
    disk.mark = undefined;
    await expect(Rig.open(memoryHarness(disk))).rejects.toThrow(/there is data, but it bears no mark/);
    expect(disk.setAsideReasons).toEqual(['lost']);
  });
});
