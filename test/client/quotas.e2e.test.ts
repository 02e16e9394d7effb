/** Quotas on real members: set by the command, held in a transaction and by every member, exact after expiry and a start from the disk. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect, deleteQuota, endSession, getQuota, listQuotas, setQuota } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { expect, it } from 'vitest';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));

it('C011: a quota is held at every member, in a transaction, over the end of sessions and a start from the disk', async () => {
  const warnings: string[] = [];
  const writeLog = (line: string): void => void (line.includes('soft limit') && warnings.push(line));
  await using ensemble = await TestEnsemble.start({ size: 3, writeLog });
  const servers = ensemble.servers.join();
  const env = { PATH: process.env['PATH'], QUORATE_SERVERS: servers, QUORATE_TIMEOUT: '30s' };
  const quorate = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [BIN, ...args], { env })).stdout;
  await using client = await connect(servers);
  await client.create('/q', '12345');
  const said = await quorate('quota', 'set', '/q', '--hard-count', '3', '--hard-bytes', '100', '--count', '2');
  expect(said).toBe('/q  znodes 1 (warns past 2, at most 3)  bytes 5 (at most 100)\n');

  const other = await connect(servers);
  for (const path of ['/q/a', '/q/b']) await other.create(path, '', { mode: 'ephemeral' });
  await expect(client.create('/q/c')).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', path: '/q/c' });
  await expect(client.set('/q', 'x'.repeat(101))).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  const full = client.transaction().create('/elsewhere').create('/q/c');
  await expect(full.commit()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  expect(await client.stat('/elsewhere')).toBeUndefined();
  await endSession(servers, other.session.id);
  await client.create('/q/c', 'y');
  await expect(setQuota(client, '/q/c', { countHard: 5 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await setQuota(client, '/r', { count: 1 });
  for (const path of ['/r', '/r/a']) await client.create(path);
  expect(warnings).toHaveLength(1);

  const wanted = { limits: { count: 2, bytes: -1, countHard: 3, bytesHard: 100 }, usage: { count: 2, bytes: 6 } };
  expect(await getQuota(client, '/q')).toEqual({ path: '/q', ...wanted });
  for (const index of [0, 1, 2]) await ensemble.kill(index);
  await Promise.all([0, 1, 2].map((index) => ensemble.restart(index)));
  await ensemble.serving();
  expect((await listQuotas(client)).map(({ path, usage }) => [path, usage])).toEqual([
    ['/q', { count: 2, bytes: 6 }],
    ['/r', { count: 2, bytes: 0 }],
  ]);
  await client.create('/q/d');
  await expect(client.create('/q/e')).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  await ensemble.converged();
  await quorate('quota', 'delete', '/q');
  await client.create('/q/e');
  expect(await deleteQuota(client, '/r')).toBe(true);
  expect(await client.children('/zookeeper/quota')).toEqual([]);
  expect(await quorate('quota')).toBe('');
  await other.close();
});
