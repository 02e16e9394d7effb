/** Elections on real processes: how long they take, what may not cause one, and what silence on links leads to. */
import { rmSync } from 'node:fs';
import { connect, memberStatus } from '@quorate/client';
import { afterEach, describe, expect, it } from 'vitest';
import { distribution } from '../e2e/checks.ts';
import { until } from '../e2e/ensemble-process.ts';
import { Writer } from '../e2e/writer.ts';
import { leaderFaults } from './analysis/exclusion.ts';
import { Ensemble } from './ensemble.ts';
import type { Drop } from './network.ts';
import { CALM, folderFor, rounds } from './rounds.ts';

const folder = folderFor('elections');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const between = (a: number, b: number): Drop[] => [
  { from: a, to: b, percent: 100 },
  { from: b, to: a, percent: 100 },
];

/** Lets `ms` pass on the clock: how long a fault lasts is part of what is tested. */
async function last(ms: number): Promise<void> {
  const end = performance.now() + ms;
  await until(`${ms} ms`, () => performance.now() >= end, ms + 10_000);
}

/** Restarts what runs, and waits for the first write that was sent after it and acknowledged. */
async function pauseOf(writer: Writer, fault: () => Promise<void>): Promise<number> {
  const at = performance.now();
  await fault();
  const first = await until('a write after the fault', () => writer.firstAfter(at), 60_000);
  return first.ackedAt - at;
}

describe('C043: elections', () => {
  it('C043: five members, leaders killed and started again, and all at once: writes go on within seconds, one leader an epoch', async () => {
    await using ensemble = await Ensemble.start(5, folder, CALM);
    await using client = await connect(ensemble.addresses, { retry: { baseMs: 20, maxMs: 200 } });
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    const kills: number[] = [];
    for (const _ of rounds(4)) {
      const leader = await ensemble.whole();
      kills.push(await pauseOf(writer, () => ensemble.member(leader).kill()));
      ensemble.member(leader).start();
    }
    const restarts: number[] = [];
    for (const _ of rounds(2)) {
      await ensemble.whole();
      const all = async (): Promise<void> => {
        await Promise.all(ensemble.members.map((member) => member.kill()));
        for (const member of ensemble.members) member.start();
      };
      restarts.push(await pauseOf(writer, all));
    }
    await ensemble.whole();
    await writer.stop();
    console.log(`C043: leader of five killed: ${distribution(kills)}`);
    console.log(`C043: all five started anew: ${distribution(restarts)}`);
    expect(leaderFaults(ensemble.sightings)).toEqual([]);
    expect(Math.max(...kills, ...restarts)).toBeLessThan(60_000);
    expect(ensemble.unexpected).toEqual([]);
  });
});

describe('C044: a follower that was cut off', () => {
  it('C044: comes back, also from one-way cuts and flapping, and neither leader nor epoch change', async () => {
    await using ensemble = await Ensemble.start(3, folder, CALM);
    const leader = await ensemble.whole();
    await using client = await connect(ensemble.member(leader).address);
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    const before = await memberStatus(ensemble.member(leader).address);
    const pauses: number[] = [];
    for (const i of rounds(4)) {
      const [victim = 0, other = 0] = ensemble.sids.filter((sid) => sid !== leader);
      const links = [...between(victim, leader), ...between(victim, other)];
      const ways = [links, links.filter(({ from }) => from === victim), links.filter(({ to }) => to === victim)];
      const drops = ways[i % 4];
      if (drops === undefined) {
        for (let flaps = 0; flaps < 4; flaps++) {
          const end = await ensemble.network.drop(links);
          await last(700);
          await end();
          await last(700);
        }
      } else {
        const end = await ensemble.network.drop(drops);
        // A member that does not hear the leader leaves the followers and does no harm.
        await until('the leader has dropped the follower', async () => {
          const { learners } = await memberStatus(ensemble.member(leader).address);
          return learners.every(({ sid }) => sid !== victim);
        });
        await last(2_000);
        await end();
      }
      const healedAt = performance.now();
      await ensemble.whole();
      const first = await until('a write after the heal', () => writer.firstAfter(healedAt));
      pauses.push(first.ackedAt - healedAt);
      const { sid, role, epoch } = await memberStatus(ensemble.member(leader).address);
      expect({ sid, role, epoch }).toEqual({ sid: leader, role: 'leading', epoch: before.epoch });
    }
    await writer.stop();
    console.log(`C044: first write after the heal: ${distribution(pauses)}`);
    expect(writer.refused).toEqual([]);
    expect(leaderFaults(ensemble.sightings)).toEqual([]);
  });
});

describe('C050: links that swallow everything', () => {
  it.each(['both ways', 'to the follower', 'to the leader'] as const)(
    'C050: leader and follower, %s: both notice in time, and the other follower hears nothing of it',
    async (way) => {
      await using ensemble = await Ensemble.start(3, folder, CALM);
      const leader = await ensemble.whole();
      const [victim = 0, other = 0] = ensemble.sids.filter((sid) => sid !== leader);
      await using client = await connect(ensemble.member(other).address);
      await client.create('/w');
      const writer = new Writer(client, '/w/');
      writer.start();
      await until('100 writes', () => writer.acknowledged.length >= 100);
      // Without its link to the other it cannot be elected or told of the leader by it: only the black hole is felt.
      const drops = between(leader, victim).filter(
        ({ to }) => way === 'both ways' || (way === 'to the follower') === (to === victim),
      );
      const at = performance.now();
      const end = await ensemble.network.drop(drops);
      const follower = until('the follower has noticed', () => ensemble.view(victim)?.role === 'looking');
      const dropped = until('the leader has noticed', async () =>
        (await memberStatus(ensemble.member(leader).address)).learners.every(({ sid }) => sid !== victim),
      );
      const noticed = await Promise.all([follower, dropped].map((one) => one.then(() => performance.now() - at)));
      const during = writer.acknowledged.filter(({ sentAt }) => sentAt >= at);
      await end();
      await ensemble.whole();
      await writer.stop();
      const took = (list: readonly { sentAt: number; ackedAt: number }[]): string =>
        distribution(list.map((one) => one.ackedAt - one.sentAt)).replace(/:.*/, '');
      console.log(
        `C050, ${way}: noticed after ${noticed.map(Math.round).join(' and ')} ms by follower and leader (bound 3500)`,
      );
      console.log(
        `C050, ${way}: writes through the other follower before: ${took(writer.acknowledged.filter(({ ackedAt }) => ackedAt < at))}; during: ${took(during)}`,
      );
      expect(Math.max(...noticed)).toBeLessThan(10_000);
      expect(during.length).toBeGreaterThan(0);
      expect([...writer.refused, ...writer.unknown]).toEqual([]);
    },
  );

  it('C050: a leader that no follower hears and that hears none steps down, and another one leads', async () => {
    await using ensemble = await Ensemble.start(3, folder, CALM);
    const leader = await ensemble.whole();
    const at = performance.now();
    await ensemble.network.drop(ensemble.sids.filter((sid) => sid !== leader).flatMap((sid) => between(leader, sid)));
    await until('the leader has stepped down', () => ensemble.view(leader)?.role === 'looking');
    const tookMs = performance.now() - at;
    console.log(`C050: leader cut from all stepped down after ${Math.round(tookMs)} ms (bound 3500)`);
    await until('another leader', () => ensemble.leader !== undefined && ensemble.leader !== leader);
    await ensemble.network.heal();
    await ensemble.whole();
    expect(tookMs).toBeLessThan(10_000);
    expect(leaderFaults(ensemble.sightings)).toEqual([]);
  });
});
