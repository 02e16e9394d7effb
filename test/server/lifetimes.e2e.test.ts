/** Containers and znodes with a TTL on a whole ensemble: gone on every member by a replicated delete, whoever leads. */
import { connect } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { expect, it } from 'vitest';

it('C008: a container goes after its last child, a znode after its TTL, on all members, also under a leader that came later', async () => {
  const config = { reapIntervalMs: 100, containerUnusedMs: 0 };
  await using ensemble = await TestEnsemble.start({ size: 3, observers: 1, config });
  await using client = await connect(ensemble.servers);
  await client.create('/unused', '', { mode: 'container' });
  await client.create('/held', '', { mode: 'container' });
  await client.create('/held/by', '');
  await client.create('/left', '', { mode: 'container' });
  await client.create('/left/child', '');
  const { stat, path } = await client.create('/t-', 'x', { mode: { ttlMs: 1_500 }, sequential: true });
  await client.create('/forever', '', { mode: { ttlMs: 2 ** 40 - 1 } });
  expect(path).toBe('/t-0000000003');
  expect([stat.ephemeralOwner, (await client.stat('/left'))?.ephemeralOwner]).toEqual([0n, 0n]);

  const leader = await ensemble.leader();
  await ensemble.kill(leader);
  await ensemble.restart(leader);
  await client.delete('/left/child');
  const left = ['forever', 'held', 'unused', 'zookeeper'];
  const isGone = (index: number): boolean => ensemble.tree(index).children('/')?.join() === left.join();
  await ensemble.until(() => [0, 1, 2, 3].every(isGone), 'what nobody uses to be gone on every member');
  await ensemble.converged();
  expect(await client.children('/')).toEqual(left);
  expect((await client.stat('/'))?.pzxid).toBeGreaterThan((await client.stat('/unused'))?.czxid ?? 0n);

  // What is written down is the same after a start from the disk: it still goes when its time comes.
  await client.delete('/held/by');
  for (const index of [0, 1, 2, 3]) await ensemble.kill(index);
  await Promise.all([0, 1, 2, 3].map((index) => ensemble.restart(index)));
  await ensemble.serving();
  await ensemble.until(
    () => [0, 1, 2, 3].every((index) => ensemble.tree(index).znode('/held') === undefined),
    'the container to be gone after the start of all',
  );
  expect(ensemble.tree(0).znode('/unused')?.lifetime).toBe('container');
  expect(ensemble.failures).toEqual([]);
});
