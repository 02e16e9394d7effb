/** Ensembles without a quorum, and coming back from it; members that were away for long, or come back with nothing. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, connect, isCode } from '@quorate/client';
import { describe, expect, it } from 'vitest';
import { digestsAtOneZxid, distribution, missing } from './checks.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';
import { Writer } from './writer.ts';

/** Creates `count` znodes below `parent`, many in flight. */
async function fill(client: Client, parent: string, count: number): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) {
      await client.create(`${parent}/${String(i).padStart(6, '0')}`, 'x'.repeat(100), { timeoutMs: 60_000 });
    }
  };
  await Promise.all(Array.from({ length: 200 }, lane));
}

function logOf(ensemble: EnsembleProcess, sid: number): string {
  return readFileSync(join(ensemble.data, `member-${sid}.log`), 'utf8');
}

describe('without a quorum', () => {
  it('writes are refused with the reason, reads go on, and nothing is lost when members return', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const leader = await ensemble.leader();
    const victims = ensemble.sids.filter((sid) => sid !== leader);
    await using client = await connect(ensemble.address(leader));
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    await until('50 writes', () => writer.acknowledged.length >= 50);
    await writer.stop();
    const written = writer.acknowledged.length;
    ensemble.kill(...victims);
    for (const sid of victims) await ensemble.gone(sid);
    const refused = await client.create('/w/late', '', { timeoutMs: 1_000 }).catch((error: unknown) => error);
    expect(isCode(refused, 'UNAVAILABLE', 'TIMEOUT', 'CONNECTION_LOST')).toBe(true);
    expect((await client.children('/w')).length).toBe(written);
    await ensemble.restart(...victims.slice(0, 1));
    await client.create('/w/after', '', { timeoutMs: 20_000 });
    await ensemble.restart(...victims.slice(1));
    const acknowledged = [...writer.acknowledged.map(({ path }) => path), '/w/after'];
    expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('SIGKILL of all members at once under load, then a start with the same data, loses no acknowledged write', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      await using client = await connect(ensemble.addresses);
      if (round === 0) await client.create('/w');
      const writers = Array.from({ length: 8 }, (_, i) => new Writer(client, `/w/${round}-${i}-`));
      for (const writer of writers) writer.start();
      await until('200 writes', () => writers.every((writer) => writer.acknowledged.length >= 200));
      ensemble.kill(...ensemble.sids);
      await client.close();
      for (const writer of writers) await writer.stop();
      acknowledged.push(...writers.flatMap((writer) => writer.acknowledged.map(({ path }) => path)));
      await ensemble.stop();
      await ensemble.launch();
    }
    expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('the last member of a quorum is killed and comes back', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const leader = await ensemble.leader();
    const [first = 0, last = 0] = ensemble.sids.filter((sid) => sid !== leader);
    ensemble.kill(first);
    await ensemble.gone(first);
    await using client = await connect(ensemble.address(leader));
    await client.create('/w');
    const acknowledged: string[] = [];
    const pauses: number[] = [];
    for (let round = 0; round < 5; round++) {
      const writer = new Writer(client, `/w/${round}-`);
      writer.start();
      await until('30 writes', () => writer.acknowledged.length >= 30);
      const killedAt = ensemble.kill(last);
      await ensemble.gone(last);
      await ensemble.restart(last);
      const next = await until('a write after the return', () => writer.firstAfter(killedAt + 50));
      await writer.stop();
      pauses.push(next.ackedAt - killedAt);
      acknowledged.push(...writer.acknowledged.map(({ path }) => path));
    }
    console.log(`last member of a quorum killed and started again: ${distribution(pauses)}`);
    await ensemble.restart(first);
    expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });
});

describe('a member that was away', () => {
  it('for 100,000 writes catches up while the others serve, and so does one with an empty disk', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const leader = await ensemble.leader();
    const [away = 0, other = 0] = ensemble.sids.filter((sid) => sid !== leader);
    await using client = await connect(ensemble.address(other));
    await client.create('/w');
    ensemble.kill(away);
    await ensemble.gone(away);
    await fill(client, '/w', 100_000);
    for (const isEmpty of [false, true]) {
      if (isEmpty) {
        ensemble.kill(away);
        await ensemble.gone(away);
        rmSync(join(ensemble.data, `member-${away}`), { recursive: true });
      }
      const prefix = isEmpty ? '/w/empty-' : '/w/away-';
      const writer = new Writer(client, prefix);
      writer.start();
      const started = performance.now();
      await ensemble.restart(away);
      const took = performance.now() - started;
      await writer.stop();
      const latencies = writer.acknowledged.map(({ sentAt, ackedAt }) => ackedAt - sentAt);
      const slowest = Math.max(...latencies);
      console.log(
        `${isEmpty ? 'empty disk' : '100,000 writes behind'}: back in ${Math.round(took)} ms; meanwhile ${latencies.length} writes, slowest ${Math.round(slowest)} ms`,
      );
      expect(writer.acknowledged.length).toBeGreaterThan(0);
      expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
    }
    await using back = await connect(ensemble.address(away));
    expect((await back.children('/w')).length).toBeGreaterThanOrEqual(100_000);
    expect(logOf(ensemble, await ensemble.leader())).toContain('syncSnapshot');
  });
});
