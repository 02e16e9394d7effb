/** The client against real members, in this process: every operation, and what becomes of sessions when members go. */
import { type Client, connect, isCode, memberStatus } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let ensemble: TestEnsemble;

beforeAll(async () => {
  ensemble = await TestEnsemble.start({ size: 3, observers: 1 });
});

afterAll(async () => {
  await ensemble.stop();
});

const failure = async (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error);

/** A client that knows only the members at these indexes. */
const clientOf = (...indexes: readonly number[]): Promise<Client> =>
  connect(
    indexes.map((index) => ensemble.servers[index] ?? ''),
    { timeoutMs: 20_000, sessionTimeoutMs: 8_000 },
  );

describe('a client of real members', () => {
  it.each([0, 1, 2, 3])('does everything at member index %i', async (index) => {
    await using client = await clientOf(index);
    const path = `/at-${index}`;
    const created = await client.create(path, 'one');
    expect(created).toMatchObject({ path, stat: { version: 0, dataLength: 3, ephemeralOwner: 0n } });
    expect((await client.get(path)).text()).toBe('one');
    expect(await client.set(path, 'two', { version: 0 })).toMatchObject({ version: 1 });
    expect(await failure(client.set(path, 'x', { version: 0 }))).toMatchObject({ code: 'BAD_VERSION', path });
    expect((await client.get(path, { consistency: 'linearizable' })).text()).toBe('two');
    await client.create(`${path}/p/q/r`, '', { parents: true });
    expect(await failure(client.delete(path))).toMatchObject({ code: 'NOT_EMPTY', path });
    expect((await client.create(`${path}/n-`, '', { sequential: true })).path).toBe(`${path}/n-0000000001`);
    expect(await client.children(path)).toEqual(['n-0000000001', 'p']);
    expect(await client.stat(`${path}/none`)).toBeUndefined();
    expect(await client.find(`${path}/none`)).toBeUndefined();
    await client.delete(`${path}/n-0000000001`);
    await client.delete(`${path}/n-0000000001`, { ifExists: true });
    expect(await client.sync()).toBeGreaterThanOrEqual(created.stat.czxid);
    expect((await client.create(`${path}/null`)).isNull).toBe(true);
    expect(await client.get(`${path}/null`)).toMatchObject({ isNull: true });
    expect(await client.set(`${path}/up`, 'x', { upsert: true })).toMatchObject({ version: 0 });
  });

  it('C013: owns its ephemerals with exactly its session id, on every member', async () => {
    const client = await clientOf(2);
    const { id } = client.session;
    expect(id >> 56n).toBe(3n);
    await client.create('/owned', '', { mode: 'ephemeral' });
    for (const index of [0, 1, 3]) {
      await using other = await clientOf(index);
      await other.sync();
      expect((await other.get('/owned')).stat.ephemeralOwner).toBe(id);
    }
    await client.close();
    await using after = await clientOf(0);
    expect(await after.stat('/owned', { consistency: 'linearizable' })).toBeUndefined();
  });

  it('refuses bad calls and stays usable on the same stream', async () => {
    await using client = await clientOf(1);
    const { id } = client.session;
    expect(await failure(client.create('/none/x'))).toMatchObject({ code: 'NO_NODE' });
    expect(await failure(client.create('/big', new Uint8Array(1_048_576)))).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await failure(client.create('/', ''))).toMatchObject({ code: 'NODE_EXISTS' });
    expect(await client.children('/')).not.toContain('big');
    expect(client.session.id).toBe(id);
  });

  it('carries thousands of calls at once, in order', async () => {
    await using client = await clientOf(0, 1, 2);
    await client.create('/many', '');
    const indexes = Array.from({ length: 2_000 }, (_, index) => index);
    const patient = { timeoutMs: 60_000 };
    const writes = indexes.map((index) => client.set('/many', String(index), patient));
    const [read, ...stats] = await Promise.all([client.get('/many', patient), ...writes]);
    expect(stats.map(({ version }) => version)).toEqual(indexes.map((index) => index + 1));
    expect(read.text()).toBe('1999');
  });

  it('is told how members stand', async () => {
    const all = await Promise.all(ensemble.servers.map((server) => memberStatus(server)));
    expect(all.map(({ sid }) => sid)).toEqual([1, 2, 3, 4]);
    expect(all.filter(({ role }) => role === 'leading').length).toBe(1);
    expect(all.map(({ members }) => members.length)).toEqual([4, 4, 4, 4]);
    expect(new Set(all.map(({ leader }) => leader)).size).toBe(1);
  });
});

describe('a session when its member is killed', () => {
  it('goes on at another with its ephemerals; a write under way is answered or of unknown outcome', async () => {
    await using client = await clientOf(0, 1, 2);
    const { id, signal } = client.session;
    await client.create('/kept', '', { mode: 'ephemeral' });
    const current = client.session.current;
    const index = ensemble.servers.findIndex((server) => current.state === 'connected' && server === current.server);
    expect(index).toBeGreaterThanOrEqual(0);
    const acknowledged: string[] = [];
    const unknown: string[] = [];
    const writes = Array.from({ length: 200 }, async (_, number) => {
      try {
        acknowledged.push((await client.create(`/kept-${number}`, '', { timeoutMs: 20_000 })).path);
      } catch (error) {
        if (!isCode(error, 'CONNECTION_LOST')) throw error;
        expect(error.outcome).toBe('unknown');
        unknown.push(`kept-${number}`);
      }
    });
    await ensemble.kill(index);
    await Promise.all(writes);
    expect((await client.get('/kept', { timeoutMs: 20_000 })).stat.ephemeralOwner).toBe(id);
    expect(client.session.id).toBe(id);
    expect(signal.aborted).toBe(false);
    await client.sync();
    const children = new Set(await client.children('/'));
    for (const path of acknowledged) expect(children).toContain(path.slice(1));
    await ensemble.restart(index);
    await ensemble.serving();
  });

  it('C080: is taken for ended when all members are gone, and a new one is opened when they are back', async () => {
    const client = await connect([...ensemble.servers], { sessionTimeoutMs: 4_000 });
    const { id, signal } = client.session;
    const states: string[] = [];
    client.session.onChange(({ state }) => states.push(state));
    await client.create('/gone', '', { mode: 'ephemeral' });
    const running = ensemble.running();
    await Promise.all(running.map((index) => ensemble.kill(index)));
    await vi.waitFor(() => expect(signal.aborted).toBe(true), { timeout: 30_000 });
    await Promise.all(running.map((index) => ensemble.restart(index)));
    await vi.waitFor(() => expect(client.session.current.state).toBe('connected'), { timeout: 30_000 });
    expect(client.session.id).not.toBe(id);
    expect(states).toEqual(['suspended', 'expired', 'connecting', 'connected']);
    await vi.waitFor(async () => expect(await client.stat('/gone')).toBeUndefined(), { timeout: 30_000 });
    await client.close();
  });
});
