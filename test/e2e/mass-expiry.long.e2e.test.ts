/**
 * Thousands of sessions that end at one moment, as when the host of their clients goes down, beside a client that lives.
 * `TEST_SESSIONS=20000 npx vitest run --project long test/e2e/mass-expiry` for the size of the case; the default is a tenth of it.
 * On a busy machine give the many more time to be opened: TEST_SESSION_TIMEOUT_MS.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Client, connect, memberStatus } from '@quorate/client';
import { expect, it } from 'vitest';
import { digestsAtOneZxid } from './checks.ts';
import { EnsembleProcess, momentAfter, until } from './ensemble-process.ts';
import { told } from './member-log.ts';

const SESSIONS = Number(process.env['TEST_SESSIONS'] ?? 2_000);
const EPHEMERALS = 5;
/** Of the many: they must not end while they are still being opened. */
const TIMEOUT_MS = Number(process.env['TEST_SESSION_TIMEOUT_MS'] ?? 10_000 + 5 * SESSIONS);
const MANY = fileURLToPath(new URL('./many-sessions.mjs', import.meta.url));

/** Reads and writes every 50 ms, and keeps when each began and how long it took. */
class Healthy {
  readonly calls: { readonly at: number; readonly tookMs: number }[] = [];
  readonly faults: string[] = [];
  readonly #client: Client;
  #isOver = false;
  #running: Promise<void>;

  constructor(client: Client) {
    this.#client = client;
    client.session.onChange((state) => {
      if (!this.#isOver) this.faults.push(JSON.stringify(state));
    });
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const at = performance.now();
      try {
        await this.#client.set('/healthy', String(at));
        await this.#client.get('/healthy');
      } catch (error) {
        this.faults.push(String(error));
      }
      this.calls.push({ at, tookMs: performance.now() - at });
      await momentAfter(at, 50);
    }
  }
}

it(`C020: ${SESSIONS} sessions with ${EPHEMERALS} ephemerals each end at one moment, and nobody else notices`, async () => {
  const environment = { QUORATE_SESSION_TIMEOUT_MAX_MS: String(TIMEOUT_MS) };
  await using ensemble = await EnsembleProcess.start({ members: 3, environment });
  const leader = await ensemble.leader();
  const follower = ensemble.sids.find((sid) => sid !== leader) ?? 0;
  await using client = await connect(ensemble.address(follower), { sessionTimeoutMs: 4_000 });
  await client.create('/e');
  await client.create('/healthy');
  await client.create('/healthy/lock', '', { mode: 'ephemeral' });
  const { id } = client.session;
  expect(client.session.timeoutMs).toBe(4_000);
  const before = await memberStatus(ensemble.address(leader));

  const args = [MANY, SESSIONS, EPHEMERALS, TIMEOUT_MS, ...ensemble.addresses].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const counts = async (): Promise<number> => (await memberStatus(ensemble.address(leader))).ephemerals;
  expect(await counts()).toBe(SESSIONS * EPHEMERALS + 1);
  const healthy = new Healthy(client);
  await until('the first ephemeral to go', async () => (await counts()) <= SESSIONS * EPHEMERALS, TIMEOUT_MS + 60_000);
  const from = performance.now();
  await until('all of them to be gone', async () => (await counts()) === 1, 120_000);
  const tookMs = performance.now() - from;
  await healthy.stop();

  const during = healthy.calls.filter(({ at, tookMs: ms }) => at + ms >= from - 100).map(({ tookMs: ms }) => ms);
  const sorted = during.toSorted((a, b) => a - b);
  const share = (part: number): number => Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN);
  console.log(
    `C020: last signs of life within ${stdout.trim()} ms; ${SESSIONS * EPHEMERALS} ephemerals gone in ${Math.round(tookMs)} ms; ` +
      `set + get meanwhile: median ${share(0.5)}, p99 ${share(0.99)}, max ${share(1)} ms over ${during.length}`,
  );
  expect(healthy.faults).toEqual([]);
  expect(client.session.id).toBe(id);
  expect(await client.stat('/healthy/lock')).toMatchObject({ ephemeralOwner: id });
  expect(await client.children('/e', { consistency: 'linearizable' })).toEqual([]);
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  for (const sid of ensemble.sids) {
    const status = await memberStatus(ensemble.address(sid));
    expect([status.epoch, status.ephemerals, status.sessions]).toEqual([before.epoch, 1, 1]);
    expect(told(ensemble.data, sid).filter((name) => name === 'learnerDropped')).toEqual([]);
  }
});
