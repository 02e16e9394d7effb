/**
 * Writes that happen once: the client's own member is killed in the midst of them, again and again.
 * `TEST_KILLS=1000 npx vitest run --project long test/e2e/once` for more than the default.
 */
import { type Client, connect } from '@quorate/client';
import { expect, it } from 'vitest';
import { digestsAtOneZxid } from './checks.ts';
import { EnsembleProcess, momentAfter, until } from './ensemble-process.ts';

const MEMBERS = 5;
const KILLS = Number(process.env['TEST_KILLS'] ?? 12);

/** Creates under way at once. */
const PIPELINE = 8;

/** Far above what any of these calls takes, and below nothing that is asserted. */
const TIMEOUT_MS = 120_000;

/** Keeps sequential creates under way while it is let, and one chain of conditional sets. Any failure is kept as it came. */
class Creator {
  /** The path that was answered for each create, by what it wrote. */
  readonly made = new Map<string, string>();
  readonly failures: unknown[] = [];
  /** Asked and not answered. */
  underWay = 0;
  sets = 0;
  readonly #client: Client;
  #running: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #isStopping = false;

  constructor(client: Client) {
    this.#client = client;
  }

  start(): void {
    this.#isStopping = false;
    this.#running = Promise.all([...Array.from({ length: PIPELINE }, () => this.#create()), this.#set()]);
  }

  /** Makes no new writes, and waits for the answers to those under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #create(): Promise<void> {
    while (!this.#isStopping) {
      const content = `c${this.#asked++}`;
      const create = this.#client.create('/s/n-', content, { sequential: true, timeoutMs: TIMEOUT_MS });
      const { path } = await this.#call(create);
      if (path !== undefined) this.made.set(content, path);
    }
  }

  /** Each is made on the version that the one before left: carried out twice, it would be refused. */
  async #set(): Promise<void> {
    while (!this.#isStopping) {
      const { version } = await this.#call(this.#client.set('/v', 'x', { version: this.sets, timeoutMs: TIMEOUT_MS }));
      if (version === undefined) return;
      this.sets += 1;
      if (version !== this.sets) this.failures.push(`set ${this.sets} came to version ${version}`);
    }
  }

  async #call<T extends object>(call: Promise<T>): Promise<Partial<T>> {
    this.underWay += 1;
    try {
      return await call;
    } catch (error) {
      this.failures.push(error);
      return {};
    } finally {
      this.underWay -= 1;
    }
  }
}

function memberOf(ensemble: EnsembleProcess, { session: { current } }: Client): number | undefined {
  return current.state === 'connected'
    ? ensemble.sids.find((sid) => ensemble.address(sid) === current.server)
    : undefined;
}

/** Starts killed members again in the background, and says when another one can be killed without losing the quorum. */
class Reviver {
  readonly #ensemble: EnsembleProcess;
  readonly #down = new Map<number, Promise<void>>();

  constructor(ensemble: EnsembleProcess) {
    this.#ensemble = ensemble;
  }

  revive(sid: number): void {
    const ensemble = this.#ensemble;
    const back = ensemble.gone(sid).then(() => ensemble.restart(sid));
    this.#down.set(
      sid,
      back.then(() => void this.#down.delete(sid)),
    );
  }

  /** Waits until at most `count` members are down. */
  async atMostDown(count: number): Promise<void> {
    while (this.#down.size > count) await Promise.race(this.#down.values());
  }
}

it(`C077: the client's member is killed ${KILLS} times in the midst of writes: none is lost, doubled or of unknown outcome`, async () => {
  await using ensemble = await EnsembleProcess.start({ members: MEMBERS });
  await using client = await connect(ensemble.addresses, { sessionTimeoutMs: 40_000, retry: { maxMs: 200 } });
  await client.create('/s');
  await client.create('/v');
  const { id } = client.session;
  const creator = new Creator(client);
  const reviver = new Reviver(ensemble);
  const pauses: number[] = [];
  let flying = 0;
  let leaders = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await reviver.atMostDown(1);
    creator.start();
    const { size } = creator.made;
    await until('writes to go on', () => creator.made.size >= size + 2 * PIPELINE);
    await momentAfter(performance.now(), (kill * 7) % 40);
    const victim = await until('the client to be attached', () => memberOf(ensemble, client));
    if (ensemble.file.members.find(({ sid }) => sid === victim)?.role === 'leading') leaders += 1;
    const before = creator.made.size;
    const killedAt = ensemble.kill(victim);
    flying += creator.underWay;
    reviver.revive(victim);
    await until('writes after the kill', () => creator.made.size > before + PIPELINE);
    pauses.push(performance.now() - killedAt);
    await creator.stop();
    if (kill % 50 === 49)
      console.log(`${kill + 1} kills, ${creator.made.size} creates, ${creator.failures.length} failures`);
  }
  await reviver.atMostDown(0);

  expect(creator.failures).toEqual([]);
  expect(client.session.id).toBe(id);
  const names = await client.children('/s');
  // As many as were asked for, each under the name that was answered, and no number was used up in between.
  expect(names.length).toBe(creator.made.size);
  expect(names.at(-1)).toBe(`n-${String(names.length - 1).padStart(10, '0')}`);
  const misplaced: string[] = [];
  for (const [content, path] of creator.made) if ((await client.get(path)).text() !== content) misplaced.push(path);
  expect(misplaced).toEqual([]);
  expect((await client.stat('/v'))?.version).toBe(creator.sets);
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  const sorted = [...pauses].sort((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN);
  console.log(
    `C077: ${KILLS} kills (${leaders} of the leader) with ${flying} writes under way; ${names.length} sequential creates and ` +
      `${creator.sets} conditional sets, none lost, doubled or failed; until ${PIPELINE} were answered after a kill: ` +
      `median ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} ms`,
  );
}, 7_200_000);
