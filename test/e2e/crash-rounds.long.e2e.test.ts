/**
 * Members killed again and again at bad moments, under load. `TEST_CRASHES=20 npx vitest run --project long test/e2e/crash-rounds`
 * for more rounds than the default.
 */
import { connect, memberStatus } from '@quorate/client';
import { expect, it } from 'vitest';
import { digestsAtOneZxid, missing } from './checks.ts';
import { EnsembleProcess, momentAfter, until } from './ensemble-process.ts';
import { MixedLoad } from './loads.ts';
import { told } from './member-log.ts';
import { Writer } from './writer.ts';

const CRASHES = Number(process.env['TEST_CRASHES'] ?? 4);

/** True once the leader counts the member: it has acknowledged the history and the epoch. */
async function isSynced(ensemble: EnsembleProcess, leader: number, sid: number): Promise<boolean> {
  const { learners } = await memberStatus(ensemble.address(leader));
  return learners.some((learner) => learner.sid === sid && learner.synced);
}

it(`C040: all are killed just after one that lagged was counted again, ${CRASHES} times: nothing acknowledged is missing`, async () => {
  await using ensemble = await EnsembleProcess.start({ members: 3 });
  const acknowledged: string[] = [];
  for (let round = 0; round < CRASHES; round++) {
    const leader = await ensemble.leader();
    const [lagging = 0, other = 0] = ensemble.sids.filter((sid) => sid !== leader);
    await using client = await connect([ensemble.address(leader), ensemble.address(other)]);
    if (round === 0) await client.create('/w');
    ensemble.kill(lagging);
    await ensemble.gone(lagging);
    const writers = Array.from({ length: 16 }, (_, i) => new Writer(client, `/w/${round}-${i}-`));
    for (const writer of writers) writer.start();
    const written = (): number => writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0);
    await until('1,000 writes that it misses', () => written() >= 1_000);
    const back = ensemble.restart(lagging).catch(() => undefined);
    await until('it to be counted again', () => isSynced(ensemble, leader, lagging));
    await momentAfter(performance.now(), (40 * round) / Math.max(1, CRASHES - 1));
    ensemble.kill(...ensemble.sids);
    const stopping = Promise.all(writers.map((writer) => writer.stop()));
    await Promise.all(ensemble.sids.map((sid) => ensemble.gone(sid)));
    await ensemble.restart(...ensemble.sids);
    await back;
    await stopping;
    acknowledged.push(...writers.flatMap((writer) => writer.acknowledged.map(({ path }) => path)));
    expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
    for (const address of ensemble.addresses) {
      const { epoch, acceptedEpoch } = await memberStatus(address);
      expect(epoch).toBeLessThanOrEqual(acceptedEpoch);
    }
  }
  console.log(`C040: ${CRASHES} crashes of all members, ${acknowledged.length} acknowledged writes, none missing`);
});

it(`C060: killed ${2 * CRASHES} times while checkpoints are made without pause: each time equal to one that never was`, async () => {
  const environment = { QUORATE_CHECKPOINT_TXNS: '40' };
  await using ensemble = await EnsembleProcess.start({ members: 3, environment });
  const steady = 3;
  let acknowledged = 0;
  await using client = await connect(ensemble.address(steady), { sessionTimeoutMs: 30_000 });
  await client.create('/m');
  for (let crash = 0; crash < 2 * CRASHES; crash++) {
    const victim = (crash % 2) + 1;
    const load = new MixedLoad(client, '/m');
    await until('200 writes', () => load.acknowledged >= 200);
    await momentAfter(performance.now(), (crash * 37) % 100);
    ensemble.kill(victim);
    await ensemble.gone(victim);
    await ensemble.restart(victim);
    await load.stop();
    acknowledged += load.acknowledged;
    // The digest is over data, ACLs and every field of every stat, sessions among them.
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
    expect((await memberStatus(ensemble.address(victim))).divergences).toBe(0);
  }
  const checkpoints = ensemble.sids.map((sid) =>
    told(ensemble.data, sid).filter((name) => name === 'checkpointWritten'),
  );
  console.log(`C060: ${acknowledged} writes, ${checkpoints.map(({ length }) => length).join(', ')} checkpoints`);
  for (const { length } of checkpoints) expect(length).toBeGreaterThan(4 * CRASHES);
});
