/**
 * One parent with so many children that no answer carries their names, on three processes: listed by every member, also by one that has
 * just come back, by the command, and deleted again, while somebody else reads. `TEST_CHILDREN=1000000 npx vitest run --project long
 * test/e2e/large-parent` for more.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, connect } from '@quorate/client';
import { expect, it } from 'vitest';
import { digestsAtOneZxid } from './checks.ts';
import { EnsembleProcess } from './ensemble-process.ts';

const COUNT = Number(process.env['TEST_CHILDREN'] ?? 200_000);
const HALF_HOUR_MS = 1_800_000;
const PATIENCE = { timeoutMs: 120_000 };
const SESSION = { sessionTimeoutMs: 40_000, ...PATIENCE };
const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));

/** 40 characters each; in the order of their numbers. */
const nameOf = (number: number): string => `${String(number).padStart(8, '0')}-${'x'.repeat(31)}`;

async function crowd(client: Client): Promise<void> {
  await client.create('/big', '', PATIENCE);
  for (let from = 0; from < COUNT; from += 8_000) {
    const transaction = client.transaction();
    for (let number = from; number < Math.min(COUNT, from + 8_000); number++) {
      // Scattered over the whole.
      transaction.create(`/big/${nameOf((number * 7_919) % COUNT)}`);
    }
    await transaction.commit(PATIENCE);
  }
}

/** Every name in its place: the number of them. */
async function listed(client: Client): Promise<number> {
  let count = 0;
  for await (const { name } of client.list('/big', { pageSize: 4_096, ...PATIENCE })) {
    if (name !== nameOf(count)) throw new Error(`${name} is listed in the place of ${nameOf(count)}`);
    count++;
  }
  return count;
}

/** Reads of something else, one after another, while the work goes on. */
async function beside<T>(
  address: string,
  work: () => Promise<T>,
): Promise<{ result: T; reads: number; longestMs: number }> {
  await using reader = await connect(address, SESSION);
  const { id } = reader.session;
  let isOver = false;
  let [reads, longestMs] = [0, 0];
  const reading = (async () => {
    for (; !isOver; reads++) {
      const begun = performance.now();
      await reader.get('/', PATIENCE);
      longestMs = Math.max(longestMs, performance.now() - begun);
    }
  })();
  const result = await work();
  isOver = true;
  await reading;
  expect(reader.session.id).toBe(id);
  return { result, reads, longestMs };
}

/** What the command prints: how many lines, and whether each is in its place. */
async function linesOfCommand(servers: string): Promise<number> {
  const args = ['ls', '/big', '--servers', servers, '--timeout', '120s'];
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) if (line === nameOf(count)) count++;
  return count;
}

/** Deletes page after page, in the memory of one. */
async function deleteAll(client: Client): Promise<void> {
  let page: string[] = [];
  const deletePage = async (): Promise<void> => {
    const transaction = client.transaction();
    for (const path of page) transaction.delete(path);
    page = [];
    await transaction.commit(PATIENCE);
  };
  for await (const { path } of client.list('/big', { pageSize: 4_096, ...PATIENCE })) {
    page.push(path);
    if (page.length === 4_096) await deletePage();
  }
  if (page.length > 0) await deletePage();
}

it(`C136: ${COUNT} children of one parent are listed by every member, counted and deleted again`, {
  timeout: HALF_HOUR_MS,
}, async () => {
  await using ensemble = await EnsembleProcess.start({ members: 3 });
  const leader = await ensemble.leader();
  const [follower, other] = ensemble.sids.filter((sid) => sid !== leader) as [number, number];
  await using client = await connect(ensemble.address(follower), SESSION);
  const made = await beside(ensemble.address(leader), () => crowd(client));
  console.log(`created beside ${made.reads} reads, the longest ${made.longestMs.toFixed(0)} ms`);
  for (const sid of [leader, follower]) {
    await using reader = await connect(ensemble.address(sid), SESSION);
    await reader.sync(PATIENCE);
    const { result, reads, longestMs } = await beside(ensemble.address(sid), () => listed(reader));
    console.log(`listed at member ${sid} beside ${reads} reads, the longest ${longestMs.toFixed(0)} ms`);
    expect(result).toBe(COUNT);
    expect(await reader.countDescendants('/big', PATIENCE)).toBe(COUNT);
  }
  expect(await linesOfCommand(ensemble.address(leader))).toBe(COUNT);
  ensemble.kill(other);
  await ensemble.restart(other);
  await using back = await connect(ensemble.address(other), SESSION);
  await back.sync(PATIENCE);
  expect(await listed(back)).toBe(COUNT);
  const gone = await beside(ensemble.address(leader), () => deleteAll(client));
  console.log(`deleted beside ${gone.reads} reads, the longest ${gone.longestMs.toFixed(0)} ms`);
  expect(await client.children('/big', PATIENCE)).toEqual([]);
  await client.delete('/big', PATIENCE);
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
});
