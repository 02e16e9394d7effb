/**
 * The end of a large subtree on three processes: while others create in it and read beside it, and while the member that its client is
 * attached to is killed. `TEST_KILLS=100 TEST_ZNODES=20000 npx vitest run --project long test/e2e/subtree` for more.
 */
import { type Client, connect, isCode } from '@quorate/client';
import { expect, it } from 'vitest';
import { digestsAtOneZxid } from './checks.ts';
import { EnsembleProcess, momentAfter } from './ensemble-process.ts';

const COUNT = Number(process.env['TEST_ZNODES'] ?? 10_000);
const ROUNDS = Number(process.env['TEST_KILLS'] ?? 7);
const PARENTS = 50;
const HALF_HOUR_MS = 1_800_000;
const PATIENCE = { timeoutMs: 120_000 };
const SESSION = { sessionTimeoutMs: 40_000, retry: { maxMs: 200 }, ...PATIENCE };

/** `COUNT` znodes under `/tree`, which is not counted. */
async function plant(client: Client): Promise<void> {
  await client.create('/tree', '', PATIENCE);
  for (let from = 0; from < COUNT; from += 5_000) {
    const transaction = client.transaction();
    for (let number = from; number < Math.min(COUNT, from + 5_000); number++) {
      // The first ones are the parents of the others.
      const parent = number < PARENTS ? '/tree' : `/tree/${number % PARENTS}`;
      transaction.create(`${parent}/${number}`, 'x'.repeat(50));
    }
    await transaction.commit(PATIENCE);
  }
}

/** Creates in the tree until there is nothing to create in any more; how many. */
async function growing(client: Client): Promise<number> {
  for (let made = 0; ; made++) {
    try {
      await client.create(`/tree/grown-${made}`, '', PATIENCE);
    } catch (error) {
      if (!isCode(error, 'NO_NODE')) throw error;
      return made;
    }
  }
}

/** The longest time that a read beside took, ms, until `work` is over. */
async function longestRead(client: Client, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  let longestMs = 0;
  while (!isOver) {
    const begun = performance.now();
    await client.get('/', PATIENCE);
    longestMs = Math.max(longestMs, performance.now() - begun);
  }
  await end;
  return longestMs;
}

it(`C077: in each of ${ROUNDS} rounds all znodes of a subtree are deleted once, also those that come meanwhile, though the client's member is killed`, {
  timeout: HALF_HOUR_MS,
}, async () => {
  await using ensemble = await EnsembleProcess.start({ members: 3 });
  await using client = await connect(ensemble.addresses, SESSION);
  await using other = await connect(ensemble.addresses, SESSION);
  const { id } = client.session;
  const told: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await plant(client);
    let steps = 0;
    let victim: number | undefined;
    const kill = (): void => {
      const { current } = client.session;
      if (current.state !== 'connected') return;
      victim = ensemble.sids.find((sid) => ensemble.address(sid) === current.server);
      if (victim !== undefined) ensemble.kill(victim);
    };
    let killing = Promise.resolve();
    const grown = growing(other);
    const deleted = await client.deleteSubtree('/tree', {
      ...PATIENCE,
      onProgress: () => {
        // In the midst of the next step, sooner or later.
        if (steps++ === round % 7) killing = momentAfter(performance.now(), (round * 13) % 60).then(kill);
      },
    });
    expect(deleted).toBe(COUNT + 1 + (await grown));
    expect(client.session.id).toBe(id);
    await killing;
    if (victim === undefined) throw new Error('Nobody was killed');
    await ensemble.gone(victim);
    await ensemble.restart(victim);
    expect(await client.stat('/tree', { consistency: 'linearizable', ...PATIENCE })).toBeUndefined();
    told.push(`${deleted} in ${steps + 1} steps, ${await grown} grown, ${victim} killed`);
  }
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  console.log(told.join('\n'));
});

it('C141: whoever reads at the leader meanwhile keeps his session', { timeout: HALF_HOUR_MS }, async () => {
  await using ensemble = await EnsembleProcess.start({ members: 3 });
  const leader = await ensemble.leader();
  const [follower] = ensemble.sids.filter((sid) => sid !== leader) as [number];
  await using client = await connect(ensemble.address(follower), SESSION);
  await using reader = await connect(ensemble.address(leader), SESSION);
  const { id } = reader.session;
  await plant(client);
  const longestMs = await longestRead(reader, client.deleteSubtree('/tree', PATIENCE));
  expect(reader.session.id).toBe(id);
  expect(await ensemble.leader()).toBe(leader);
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  console.log(`${COUNT + 1} znodes deleted; the longest read at the leader beside it took ${longestMs.toFixed(0)} ms`);
});
