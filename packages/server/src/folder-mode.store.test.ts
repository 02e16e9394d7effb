/** Who may get at the data folder from outside. */
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { configOf } from './config/index.ts';
import { startMember } from './member.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quorate-mode-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs a member until it serves, and returns what it warned of. */
async function warningsWith(dataDir: string): Promise<readonly object[]> {
  const lines: string[] = [];
  const ports = { zookeeperPort: 0, grpcPort: 0, peerPort: 0, adminPort: 0 };
  const member = await startMember(configOf({ dataDir, ...ports }), { writeLog: (line) => lines.push(line) });
  await member.ready;
  await member.stop();
  return lines.map((line) => JSON.parse(line) as { level: string }).filter(({ level }) => level === 'warn');
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

it('C125: a new folder, and every one in it, is for its user alone, whatever the umask', async () => {
  const before = process.umask(0);
  try {
    const dataDir = join(folder, 'new');
    expect(await warningsWith(dataDir)).toEqual([]);
    const all = await readdir(dataDir, { withFileTypes: true, recursive: true });
    const folders = [dataDir, ...all.filter((one) => one.isDirectory()).map((one) => join(one.parentPath, one.name))];
    expect(folders.length).toBeGreaterThan(1);
    for (const path of folders) expect([path, await modeOf(path)]).toEqual([path, '700']);
  } finally {
    process.umask(before);
  }
});

it('C125: a folder that others may read is used, and warned of at every start', async () => {
  const dataDir = join(folder, 'open');
  await mkdir(dataDir);
  await chmod(dataDir, 0o755);
  const warned = { msg: 'dataFolderOpenToOthers', directory: dataDir, mode: '755' };
  expect(await warningsWith(dataDir)).toMatchObject([warned]);
  expect(await warningsWith(dataDir)).toMatchObject([warned]);
  await chmod(dataDir, 0o700);
  expect(await warningsWith(dataDir)).toEqual([]);
});
