/**
 * Members of real ensembles killed while a client writes without pause: no acknowledged write may be missing afterwards on
 * any member, and all trees must be equal. Prints how long each failover was felt by the client.
 */
import { connect } from '@quorate/client';
import { describe, expect, it } from 'vitest';
import { digestsAtOneZxid, distribution, median, missing } from './checks.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';
import { Writer } from './writer.ts';

/** Kills `victims(leader)` under writes through `through(leader)`; returns the acknowledged paths and the felt pause. */
async function round(
  ensemble: EnsembleProcess,
  number: number,
  choose: (leader: number) => { readonly through: number; readonly victims: readonly number[] },
): Promise<{ readonly acknowledged: readonly string[]; readonly pauseMs: number; readonly leader: number }> {
  const leader = await ensemble.leader();
  const { through, victims } = choose(leader);
  await using client = await connect(ensemble.address(through));
  const writer = new Writer(client, `/w/${String(number).padStart(3, '0')}-`);
  writer.start();
  await until('20 writes before the kill', () => writer.acknowledged.length >= 20);
  const killedAt = ensemble.kill(...victims);
  const first = await until('a write after the kill', () => writer.firstAfter(killedAt));
  await until('20 writes after the kill', () => writer.acknowledged.length >= 40);
  for (const sid of victims) await ensemble.gone(sid);
  await ensemble.restart(...victims);
  await writer.stop();
  expect(writer.refused).toEqual([]);
  return { acknowledged: writer.acknowledged.map(({ path }) => path), pauseMs: first.ackedAt - killedAt, leader };
}

async function prepare(ensemble: EnsembleProcess): Promise<void> {
  await using client = await connect(ensemble.addresses);
  await client.create('/w');
}

async function verify(ensemble: EnsembleProcess, acknowledged: readonly string[]): Promise<void> {
  expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
}

describe('a client writes without pause', () => {
  it('C043: while the leader of three is killed 20 times in a row, through a follower', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    await prepare(ensemble);
    const acknowledged: string[] = [];
    const pauses: number[] = [];
    const leaders: number[] = [];
    for (let i = 0; i < 20; i++) {
      const result = await round(ensemble, i, (leader) => {
        const through = ensemble.sids.find((sid) => sid !== leader && sid !== leaders.at(-1)) ?? 0;
        return { through, victims: [leader] };
      });
      acknowledged.push(...result.acknowledged);
      pauses.push(result.pauseMs);
      leaders.push(result.leader);
    }
    console.log(`leader of three killed: ${distribution(pauses)}; leaders ${leaders.join(' ')}`);
    for (let i = 1; i < leaders.length; i++) expect(leaders[i], `kill ${i}`).not.toBe(leaders[i - 1]);
    await verify(ensemble, acknowledged);
    expect(median(pauses)).toBeLessThan(2_000);
    expect(Math.max(...pauses)).toBeLessThan(6_000);
  });

  it('while the leader of five and a follower are killed at once', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 5 });
    await prepare(ensemble);
    const acknowledged: string[] = [];
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      const result = await round(ensemble, i, (leader) => {
        const others = ensemble.sids.filter((sid) => sid !== leader);
        return { through: others[i % 4] ?? 0, victims: [leader, others[(i + 1) % 4] ?? 0] };
      });
      acknowledged.push(...result.acknowledged);
      pauses.push(result.pauseMs);
    }
    console.log(`leader and a follower of five killed: ${distribution(pauses)}`);
    await verify(ensemble, acknowledged);
  });

  it('through an observer, while the leader is killed', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3, observers: 1 });
    await prepare(ensemble);
    const acknowledged: string[] = [];
    const pauses: number[] = [];
    for (let i = 0; i < 6; i++) {
      const result = await round(ensemble, i, (leader) => ({ through: 4, victims: [leader] }));
      acknowledged.push(...result.acknowledged);
      pauses.push(result.pauseMs);
    }
    console.log(`leader killed, client at an observer: ${distribution(pauses)}`);
    expect(ensemble.member(4).role).toBe('observing');
    await verify(ensemble, acknowledged);
  });
});
