/** The watermark on real files: it is exact after a kill, and one wrong byte in it costs nothing. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZERO_ZXID } from '@quorate/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageError } from './storage-error.ts';
import { type Recovered, Rig, records, z } from './testing/bench-rig.ts';
import { type LevelHarness, levelHarnessAt } from './testing/level-harness.ts';

let parent: string;
let original: LevelHarness;
let copies = 0;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quorate-watermark-'));
  original = levelHarnessAt(join(parent, 'member'));
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

/** A folder with forty txns in eight entries; then the process was killed. */
async function filled(): Promise<void> {
  const rig = await Rig.open(original);
  await rig.epochs(2);
  for (let i = 0; i < 8; i++) {
    await rig.done({ kind: 'append', records: records(1, i * 5 + 1, i * 5 + 5), committed: ZERO_ZXID });
  }
  await rig.kill();
}

async function changed(change: (directory: string) => Promise<void>): Promise<LevelHarness> {
  const directory = join(parent, String(++copies));
  await cp(original.directory, directory, { recursive: true });
  await change(directory);
  return levelHarnessAt(directory);
}

/** LevelDB's own log file of the log database. */
async function journal(directory: string): Promise<string> {
  const names = (await readdir(join(directory, 'log'))).filter((name) => name.endsWith('.log')).sort();
  return join(directory, 'log', names.at(-1)!);
}

async function expectStart(harness: LevelHarness): Promise<Recovered> {
  const rig = await Rig.open(harness);
  await rig.close();
  return rig.recovered;
}

async function expectDamage(harness: LevelHarness, message: RegExp): Promise<void> {
  const error: unknown = await Rig.open(harness).then(
    (rig) => rig.close(),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StorageError);
  expect((error as StorageError).code).toBe('DAMAGED');
  expect((error as StorageError).message).toMatch(message);
}

describe('the watermark of what was acknowledged', () => {
  const flip = (offset: number) => async (directory: string) => {
    const path = join(directory, 'WATERMARK');
    const bytes = await readFile(path);
    bytes[offset]! ^= 0x10;
    await writeFile(path, bytes);
  };

  it('with one bad slot costs nothing; with none, or without its file, the folder is damaged', async () => {
    await filled();
    for (const at of [0, 20, 4096, 4130]) {
      const { summary } = await expectStart(await changed(flip(at)));
      expect(summary.lastZxid).toBe(z(1, 40));
    }
    const both = await changed(flip(10));
    await flip(4100)(both.directory);
    await expectDamage(both, /WATERMARK: .*both of its slots are bad/);
    await expectDamage(await changed((directory) => rm(join(directory, 'WATERMARK'))), /WATERMARK: .*it is missing/);
  });

  it('of another member is none', async () => {
    await filled();
    const other = levelHarnessAt(join(parent, 'other'));
    await (await Rig.open(other, { clusterId: 'test-cluster', sid: 8 })).close();
    const harness = await changed((directory) => cp(join(other.directory, 'WATERMARK'), join(directory, 'WATERMARK')));
    await expectDamage(harness, /that of member 8/);
  });

  it('tells of a promise that is lost as a whole after a kill', async () => {
    const rig = await Rig.open(original);
    const before = await readFile(await journal(original.directory));
    await rig.epochs(3, 0);
    await rig.kill();
    const harness = await changed(async (directory) => writeFile(await journal(directory), before));
    await expectDamage(harness, /older than what was acknowledged: epochs 0 and 0, unformed; expected 3 and 0, held/);
  });
});
