import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZERO_ZXID } from '@quorate/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageError, type StorageErrorCode } from '../storage-error.ts';
import { IDENTITY, Rig, records, z } from '../testing/bench-rig.ts';
import { type LevelHarness, levelHarnessAt } from '../testing/level-harness.ts';
import { setAside } from './set-aside.ts';

let parent: string;
let harness: LevelHarness;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quorate-folder-'));
  harness = levelHarnessAt(join(parent, 'deep', 'member'));
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

/** A folder with ten txns. */
async function filled(): Promise<void> {
  const rig = await Rig.open(harness);
  await rig.epochs(1);
  await rig.done({ kind: 'append', records: records(1, 1, 10), committed: ZERO_ZXID });
  await rig.close();
}

/** Opening is refused with this code, in one line that names the folder and these values. */
async function expectRefusal(
  code: StorageErrorCode,
  values: readonly string[],
  identity = IDENTITY,
  target = harness,
): Promise<void> {
  const error: unknown = await Rig.open(target, identity).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StorageError);
  const { message } = error as StorageError;
  expect((error as StorageError).code, message).toBe(code);
  for (const value of [target.directory, ...values]) expect(message).toContain(value);
  expect(message).not.toContain('\n');
}

describe('the data folder', () => {
  it('is made with its parents, for its owner alone, and marked', async () => {
    await filled();
    expect((await stat(harness.directory)).mode & 0o777).toBe(0o700);
    expect((await readdir(harness.directory)).sort()).toEqual(['VERSION', 'WATERMARK', 'lock', 'log', 'state-1']);
    const mark: unknown = JSON.parse(await readFile(join(harness.directory, 'VERSION'), 'utf8'));
    expect(mark).toMatchObject({ format: 2, clusterId: IDENTITY.clusterId, sid: IDENTITY.sid });
  });

  it('is refused for another cluster or another member, and stays as it is', async () => {
    await filled();
    await expectRefusal('WRONG_CLUSTER', ['test-cluster', 'other'], { clusterId: 'other', sid: 7 });
    await expectRefusal('WRONG_SID', ['member 7', 'of 8'], { clusterId: 'test-cluster', sid: 8 });
    const rig = await Rig.open(harness);
    expect(rig.recovered.log.size).toBe(10);
    await rig.close();
  });

  it('is refused when a database in it is that of another member', async () => {
    await filled();
    const other = levelHarnessAt(join(parent, 'other'));
    const rig = await Rig.open(other, { clusterId: 'test-cluster', sid: 8 });
    await rig.close();
    for (const db of ['log', 'state-1']) {
      const mixed = levelHarnessAt(join(parent, `mixed-${db}`));
      await cp(harness.directory, mixed.directory, { recursive: true });
      await rm(join(mixed.directory, db), { recursive: true });
      await cp(join(other.directory, db), join(mixed.directory, db), { recursive: true });
      await expectRefusal('WRONG_SID', [db, 'member 8'], IDENTITY, mixed);
    }
  });

  it('is refused when it is of a later format, or its mark cannot be read', async () => {
    await filled();
    const version = join(harness.directory, 'VERSION');
    await writeFile(version, '{"format":3,"something":"new"}');
    await expectRefusal('FORMAT_UNKNOWN', ['format 3', 'format 2']);
    for (const text of [
      '',
      '{',
      '[]',
      'null',
      '{"format":2,"sid":7}',
      '{"format":2,"clusterId":5,"sid":7}',
      '{"sid":7}',
    ]) {
      await writeFile(version, text);
      await expectRefusal('DAMAGED', ['VERSION']);
    }
  });

  it('of the format before is refused as that, and is not damage: nobody sets it aside', async () => {
    await filled();
    const { clusterId, sid } = IDENTITY;
    await writeFile(join(harness.directory, 'VERSION'), `${JSON.stringify({ format: 1, clusterId, sid })}\n`);
    await rm(join(harness.directory, 'WATERMARK'));
    await expectRefusal('FORMAT_UNKNOWN', ['format 1', 'format 2', 'use the version that wrote it']);
    const { directory } = harness;
    await expect(setAside({ directory, identity: IDENTITY, reason: 'none' })).rejects.toMatchObject({
      code: 'FORMAT_UNKNOWN',
    });
  });

  it('is refused when it cannot be made or written', async () => {
    await writeFile(join(parent, 'file'), '');
    await expectRefusal('NOT_WRITABLE', [], IDENTITY, levelHarnessAt(join(parent, 'file')));
    await expectRefusal('NOT_WRITABLE', [], IDENTITY, levelHarnessAt(join(parent, 'file', 'member')));
    // Its parent exists, and still the answer is ENOENT: Node's recursive mkdir would try for ever.
    await expectRefusal('NOT_WRITABLE', ['/proc/nope'], IDENTITY, levelHarnessAt('/proc/nope/member'));
    await filled();
    await rm(join(harness.directory, 'log', 'LOCK'));
    await mkdir(join(harness.directory, 'log', 'LOCK'));
    await expectRefusal('NOT_WRITABLE', ['LOCK']);
  });

  it('C065: is refused while another uses it, which goes on unharmed; after a kill it needs no help', async () => {
    const rig = await Rig.open(harness);
    await rig.epochs(1);
    await expectRefusal('LOCKED', ['another process uses it']);
    await rig.done({ kind: 'append', records: records(1, 1, 3), committed: ZERO_ZXID });
    const again = await rig.killAndReopen();
    expect(again.recovered.summary.lastZxid).toBe(z(1, 3));
    await again.close();
  });

  it('C065: a lock that cannot be asked for is not taken for one that nobody holds', async () => {
    await filled();
    const file = join(harness.directory, 'lock', 'LOCK');
    await rm(file);
    await mkdir(file);
    await expectRefusal('NOT_WRITABLE', ['LOCK']);
    expect(await readdir(join(harness.directory, 'lock'))).toContain('LOCK');
    // What is damaged in it was not held.
    await rm(file, { recursive: true });
    await writeFile(join(harness.directory, 'lock', 'CURRENT'), 'MANIFEST-000777\n');
    const rig = await Rig.open(harness);
    await rig.close();
  });

  it('C065: a copy made while it is in use starts with a prefix of the log, or is refused', async () => {
    const rig = await Rig.open(harness);
    await rig.epochs(1);
    for (let i = 1; i <= 40; i++) rig.append(records(1, i, i, 10_000));
    const copy = levelHarnessAt(join(parent, 'copy'));
    await cp(harness.directory, copy.directory, { recursive: true });
    await rig.settled();
    await rig.close();
    const found = await Rig.open(copy).then(
      async (opened) => {
        await opened.close();
        return opened.recovered.log.size;
      },
      (thrown: unknown) => {
        expect(thrown).toBeInstanceOf(StorageError);
        return 0;
      },
    );
    expect(found).toBeLessThanOrEqual(40);
  });

  it('a first use that was cut short is begun again', async () => {
    let cut = true;
    for (let budget = 0; cut; budget++) {
      const target = levelHarnessAt(join(parent, `cut-${budget}`));
      let left = budget;
      cut = false;
      const opening = target.open({
        identity: IDENTITY,
        events: DEAF,
        wrapEngine: (engine) => ({
          start: (lane, io, done, failed) => {
            if (left-- > 0) engine.start(lane, io, done, failed);
            else {
              cut = true;
              failed(new Error('cut short'));
            }
          },
          openCursor: (db, range) => engine.openCursor(db, range),
          close: () => engine.close(),
        }),
      });
      const store = await opening.catch(() => undefined);
      await store?.close();
      const rig = await Rig.open(target);
      expect(rig.recovered.summary.lastZxid).toBe(ZERO_ZXID);
      await rig.close();
      expect(budget).toBeLessThan(30);
    }
  });
});

const DEAF = {
  persisted() {},
  failed() {},
  checkpointReady() {},
  checkpointWritten() {},
  stateOpened() {},
  stateFailed() {},
};
