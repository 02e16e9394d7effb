/** A member's disk over several runs of a core: what fails while it is opened anew is tried again. */
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreEvents } from '@quorate/storage';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { configOf } from './config/index.ts';
import { createLog } from './logging.ts';
import { MemberDisk } from './member-disk.ts';
import type { Opened } from './opening.ts';

let folder: string;
let disk: MemberDisk;
const lines: string[] = [];
const fatal: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quorate-member-disk-'));
  disk = new MemberDisk({
    config: configOf({ dataDir: join(folder, 'data') }),
    log: createLog({ level: 'info', sid: 1, place: () => undefined, write: (line) => lines.push(line) }),
    newRun: () => new Proxy({}, { get: () => () => undefined }) as StoreEvents,
    onFatal: (reason) => fatal.push(reason),
  });
});

afterEach(async () => {
  await disk.close();
  await rm(folder, { recursive: true, force: true });
  lines.length = 0;
  fatal.length = 0;
});

it('C056: a disk that fails just when data is to be set aside is waited for, and then it is', async () => {
  await disk.open();
  const [data, away] = [join(folder, 'data'), join(folder, 'away')];
  await rename(data, away);
  const entered: Opened[] = [];
  disk.openAnew((opened) => entered.push(opened), 'its tree was wrong');
  await vi.waitFor(() => expect(lines.join()).toContain('diskStillFails'), 10_000);
  expect([entered, fatal]).toEqual([[], []]);
  await rename(away, data);
  await vi.waitFor(() => expect(entered).toHaveLength(1), 20_000);
  expect((await readdir(data)).filter((name) => name.startsWith('damaged-'))).toHaveLength(1);
  expect(entered[0]?.summary.voteRight).toBe('recovering');
  expect(entered[0]?.setAside).toMatch(/^damaged-20.*-1: 20\d\d-.*Z: its tree was wrong$/);
  expect(fatal).toEqual([]);
});
