/** Sessions on real processes: who lives through what, whose ephemerals go, and what a session that moves may see. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Client, connect, memberStatus } from '@quorate/client';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../e2e/ensemble-process.ts';
import { Ensemble } from './ensemble.ts';
import { runEpisode } from './episode.ts';
import { NETWORK_FAULTS } from './network-faults.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { CALM, folderFor, rounds } from './rounds.ts';

const DEPARTING = fileURLToPath(new URL('departing-clients.mjs', import.meta.url));
const TIMEOUT_MS = 3_000;
const folder = folderFor('sessions');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Sessions with one ephemeral each, kept alive by this process. */
async function openLive(addresses: readonly string[], count: number): Promise<Client[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const client = await connect(addresses, { sessionTimeoutMs: TIMEOUT_MS, retry: { baseMs: 20, maxMs: 200 } });
      await client.create(`/e/live-${i}`, '', { mode: 'ephemeral' });
      return client;
    }),
  );
}

/** Three sessions with three ephemerals each, whose process is killed. */
async function leaveDead(addresses: readonly string[]): Promise<void> {
  const args = ['--pdeathsig', 'KILL', process.execPath, DEPARTING, 'dead', ...addresses];
  const child = spawn('setpriv', args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let open = 0;
  child.stdout.on('data', (chunk: Buffer) => (open += chunk.toString().split('\n').length - 1));
  await until('three sessions', () => open === 3);
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function ephemerals(client: Client, prefix: string): Promise<string[]> {
  await client.sync({ timeoutMs: 20_000 });
  return (await client.children('/e', { timeoutMs: 20_000 })).filter((name) => name.startsWith(prefix));
}

/** Waits until the ephemerals of the dead are gone. Returns how long it took, ms. */
async function deadAreGone(client: Client): Promise<number> {
  const since = performance.now();
  await until('the dead sessions have ended', async () => (await ephemerals(client, 'dead')).length === 0);
  return performance.now() - since;
}

const idsOf = (clients: readonly Client[]): string[] => clients.map(({ session }) => session.id.toString(16));

describe('sessions', () => {
  it('C014: a session that only reads, at a follower, sends no heartbeats and lives on', async () => {
    await using ensemble = await Ensemble.start(3, folder, CALM);
    const leader = await ensemble.whole();
    const follower = ensemble.sids.find((sid) => sid !== leader)!;
    await using client = await connect(ensemble.member(follower).address, { sessionTimeoutMs: 1_000 });
    await client.create('/mine', '', { mode: 'ephemeral' });
    const { id } = client.session;
    const states: string[] = [];
    using _ = client.session.onChange(({ state }) => states.push(state));
    await using other = await connect(ensemble.member(leader).address);
    let readAt = performance.now();
    const end = performance.now() + 8_000;
    await until('eight timeouts', async () => {
      if (performance.now() - readAt < 300) return false;
      readAt = performance.now();
      await client.get('/mine');
      expect(await other.stat('/mine')).toMatchObject({ ephemeralOwner: id });
      return performance.now() > end;
    });
    expect({ id: client.session.id, states }).toEqual({ id, states: [] });
  });

  it('C017: leaders change again and again: no live session is lost, and the dead end when it is over', async () => {
    await using ensemble = await Ensemble.start(3, folder, CALM);
    await using watcher = await connect(ensemble.addresses, { sessionTimeoutMs: 20_000 });
    await watcher.create('/e');
    const live = await openLive(ensemble.addresses, 20);
    const ids = idsOf(live);
    await leaveDead(ensemble.addresses);
    for (const _ of rounds(4)) {
      const leader = await ensemble.whole();
      await ensemble.member(leader).kill();
      ensemble.member(leader).start();
      await until('another leader', () => ensemble.leader !== undefined && ensemble.leader !== leader);
    }
    const tookMs = await deadAreGone(watcher);
    console.log(
      `C017: dead sessions gone ${Math.round(tookMs)} ms after the last change (timeout ${TIMEOUT_MS}, tick 500)`,
    );
    expect(idsOf(live)).toEqual(ids);
    expect(await ephemerals(watcher, 'live')).toHaveLength(20);
    expect(tookMs).toBeLessThan(TIMEOUT_MS + 10_000);
    await Promise.all(live.map((client) => client.close()));
  });

  it('C019: the wall clock of the leader jumps by +1 h and -2 h: live sessions live, dead ones end on time', async () => {
    await using ensemble = await Ensemble.start(3, folder, CALM);
    const leader = await ensemble.whole();
    await using watcher = await connect(ensemble.addresses);
    await watcher.create('/e');
    const live = await openLive(ensemble.addresses, 10);
    const ids = idsOf(live);
    for (const hours of [1, -2]) {
      await leaveDead(ensemble.addresses);
      ensemble.member(leader).stepClock(hours * 3_600);
      await until('the step is felt', async () => {
        const { mtimeMs } = await watcher.set('/e', String(hours));
        return Math.abs(mtimeMs - Date.now() - hours * 3_600_000) < 60_000;
      });
      const tookMs = await deadAreGone(watcher);
      console.log(
        `C019: ${hours} h: dead sessions gone after ${Math.round(tookMs)} ms (timeout ${TIMEOUT_MS}, tick 500)`,
      );
      expect(tookMs).toBeLessThan(TIMEOUT_MS + 10_000);
      expect(idsOf(live)).toEqual(ids);
    }
    expect(await ephemerals(watcher, 'live')).toHaveLength(10);
    const { role } = await memberStatus(ensemble.member(leader).address);
    expect(role).toBe('leading');
    await Promise.all(live.map((client) => client.close()));
  });

  it('C022: members killed and cut off while sessions end: no ephemeral is left, none is missing, all members agree', async () => {
    const kinds = ['kill', 'kill leader', 'partition', 'isolated leader', 'leader in minority', 'clients cut'];
    const faults = [...NETWORK_FAULTS, ...PROCESS_FAULTS].filter(({ kind }) => kinds.includes(kind));
    const seconds = 30 * rounds(1).length;
    const result = await runEpisode({ seed: 22, members: 3, seconds, folder, faults, print: () => undefined });
    console.log(`C022: ${result.departedSessions} sessions of killed clients, faults ${JSON.stringify(result.faults)}`);
    expect(result.violations).toEqual([]);
    expect(result.departedSessions).toBeGreaterThan(0);
  });

  it('C055: a session that moves to a member that is behind never unsees what it saw', async () => {
    await using ensemble = await Ensemble.start(3, folder, CALM);
    await using writer = await connect(ensemble.addresses);
    await writer.create('/v', '0');
    for (const i of rounds(2)) {
      const leader = await ensemble.whole();
      const behind = ensemble.sids.find((sid) => sid !== leader)!;
      const notToClients = (sid: number): Promise<() => Promise<void>> =>
        ensemble.network.drop([
          { from: 'clients', to: sid, percent: 100 },
          { from: sid, to: 'clients', percent: 100 },
        ]);
      // The reader finds only the leader at first.
      const back = await notToClients(behind);
      const servers = [leader, behind].map((sid) => ensemble.member(sid).address);
      await using reader = await connect(servers, { sessionTimeoutMs: 15_000, timeoutMs: 30_000 });
      await using pinned = await connect(ensemble.member(leader).address);
      await back();
      const others = ensemble.sids.filter((sid) => sid !== behind);
      const heldBack = await ensemble.network.drop(others.map((sid) => ({ from: sid, to: behind, percent: 100 })));
      await pinned.set('/v', String(i + 1));
      expect((await reader.get('/v')).text()).toBe(String(i + 1));
      const again = await notToClients(leader);
      await until('the session has left the leader', () => reader.session.current.state === 'suspended');
      // Only the member that is behind can be reached: it serves what it has, but not to this session.
      await expect(reader.get('/v', { timeoutMs: 1_500 })).rejects.toMatchObject({ name: 'CoordinationError' });
      await heldBack();
      expect((await reader.get('/v', { timeoutMs: 30_000 })).text()).toBe(String(i + 1));
      expect(reader.session.current).toMatchObject({ state: 'connected', server: ensemble.member(behind).address });
      await again();
    }
  });
});
