/** The switch that lets a new ensemble form early is dangerous when it is left on: a member says so. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { configOf } from './config/index.ts';
import { startMember } from './member.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quorate-bootstrap-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** What a member with that switch warns of, from its start until it serves. */
async function warnings(bootstrap: boolean): Promise<readonly string[]> {
  const lines: string[] = [];
  const ports = { zookeeperPort: 0, grpcPort: 0, peerPort: 0, adminPort: 0 };
  const member = await startMember(configOf({ dataDir: folder, bootstrap, ...ports }), {
    writeLog: (line) => lines.push(line),
  });
  await member.ready;
  await member.stop();
  return lines.flatMap((line) => {
    const { level, msg } = JSON.parse(line) as { level: string; msg: string };
    return level === 'warn' ? [msg] : [];
  });
}

it('warns when bootstrap is still set at a member that has a past', async () => {
  expect(await warnings(true)).not.toContain('bootstrapStillSet');
  expect(await warnings(false)).not.toContain('bootstrapStillSet');
  expect(await warnings(true)).toContain('bootstrapStillSet');
});
