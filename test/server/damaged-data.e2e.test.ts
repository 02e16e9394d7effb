/** A member whose data is damaged: set aside where others have it, refused where nobody has. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@quorate/client';
import { configOf, startMember } from '@quorate/server';
import { TestEnsemble } from '@quorate/server/testing';
import { afterEach, expect, it } from 'vitest';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Flips a byte in the middle of what the log database's newest journal holds. */
async function damage(directory: string): Promise<void> {
  const journals = (await readdir(join(directory, 'log'))).filter((name) => name.endsWith('.log')).sort();
  const path = join(directory, 'log', journals.at(-1)!);
  const bytes = await readFile(path);
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  await writeFile(path, bytes);
}

async function setAsides(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith('damaged-')).sort();
}

it('C058: a member with damaged data sets it aside, says so, and copies that of the others; each time anew', async () => {
  const lines: string[] = [];
  await using ensemble = await TestEnsemble.start({ writeLog: (line) => lines.push(line) });
  const client = await connect(ensemble.servers);
  cleanups.push(() => client.close());
  for (let i = 0; i < 50; i++) await client.create(`/n${i}`, `value ${i}`);
  await ensemble.converged();
  const leader = await ensemble.leader();
  const index = ensemble.running().find((one) => one !== leader)!;
  const directory = ensemble.directory(index);
  for (let round = 1; round <= 2; round++) {
    await ensemble.kill(index);
    await damage(directory);
    await ensemble.restart(index);
    const said = ensemble.member(index).status();
    await ensemble.serving();
    await ensemble.converged();
    expect(ensemble.member(index).status()?.znodes).toBe(ensemble.member(leader).status()?.znodes);
    const aside = await setAsides(directory);
    expect(aside).toHaveLength(round);
    const told = lines.filter((line) => line.includes('damagedDataSetAside'));
    expect(told).toHaveLength(round);
    expect(said).toMatchObject({ voteRight: 'recovering', setAside: expect.stringContaining(aside.at(-1)!) as string });
    expect(said?.setAside).toMatch(/record at byte \d+ is bad/);
    await ensemble.until(() => ensemble.member(index).status()?.voteRight === 'held', 'its vote');
    expect(ensemble.member(index).status()?.setAside).toBeUndefined();
    expect(told.at(-1)).toContain(join(directory, aside.at(-1)!));
    expect(told.at(-1)).toMatch(/record at byte \d+ is bad/);
    // So that the next journal has a middle.
    for (let i = 0; i < 20; i++) await client.set(`/n${i}`, `round ${round}`);
    await ensemble.converged();
  }
});

it('C058: the only voter refuses to start with damaged data, and leaves it where it is', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quorate-single-'));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const config = configOf({
    bind: '127.0.0.1',
    adminPort: 0,
    zookeeperPort: 0,
    grpcPort: 0,
    logLevel: 'silent',
    dataDir: directory,
  });
  const member = await startMember(config);
  await member.ready;
  const client = await connect([`127.0.0.1:${member.ports.grpc}`]);
  for (let i = 0; i < 20; i++) await client.create(`/n${i}`, '');
  await client.close();
  await member.kill();
  await damage(directory);
  const before = (await readdir(directory)).sort();
  for (let round = 0; round < 2; round++) {
    await expect(startMember(config)).rejects.toThrow(/is bad, .*only voter, so nothing was set aside: restore/);
  }
  expect((await readdir(directory)).sort()).toEqual(before);
});
