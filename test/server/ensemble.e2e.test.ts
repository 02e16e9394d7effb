/** A whole ensemble in one process, used over gRPC through the client: every member, a lost leader, a stopped member. */
import { type Client, connect, isCode } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { describe, expect, it, vi } from 'vitest';

async function withClients<T>(ensemble: TestEnsemble, use: (clients: readonly Client[]) => Promise<T>): Promise<T> {
  const clients = await Promise.all(ensemble.servers.map((server) => connect(server)));
  try {
    return await use(clients);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

/** Creates /n/00000… one after another until told to stop; returns how many were acknowledged. */
function writer(client: Client): { readonly stop: () => Promise<Set<string>> } {
  const acknowledged = new Set<string>();
  let isOver = false;
  const finished = (async () => {
    for (let i = 0; !isOver; i++) {
      const path = `/n/${String(i).padStart(6, '0')}`;
      try {
        await client.create(path, String(i));
        acknowledged.add(path);
      } catch (error) {
        // A write whose answer was lost may have taken effect: it is only not counted.
        if (isCode(error, 'NODE_EXISTS')) acknowledged.add(path);
      }
    }
  })();
  return {
    async stop() {
      isOver = true;
      await finished;
      return acknowledged;
    },
  };
}

describe('an ensemble of three', () => {
  it('serves at every member, observers too, and all hold the same tree', async () => {
    await using ensemble = await TestEnsemble.start({ size: 3, observers: 1 });
    await withClients(ensemble, async (clients) => {
      await clients[0]?.create('/a', 'one');
      for (const [index, client] of clients.entries()) {
        await client.create(`/a/m${index}`, `by ${index}`);
        await client.sync();
        expect((await client.get('/a')).text()).toBe('one');
        expect((await client.children('/a')).length).toBe(index + 1);
      }
    });
    await ensemble.converged();
    expect(ensemble.failures).toEqual([]);
  });

  it('goes on when its leader is gone, loses no acknowledged write, and takes the member back', async () => {
    await using ensemble = await TestEnsemble.start({ size: 3 });
    for (let round = 0; round < 3; round++) {
      const leader = await ensemble.leader();
      const follower = ensemble.running().find((index) => index !== leader) ?? 0;
      const client = await connect(ensemble.servers[follower] ?? '');
      if (round === 0) await client.create('/n');
      await Promise.all((await client.children('/n')).map((name) => client.delete(`/n/${name}`)));
      const writing = writer(client);
      await vi.waitFor(async () => expect((await client.children('/n')).length).toBeGreaterThan(20), {
        timeout: 10_000,
      });
      await ensemble.kill(leader);
      await ensemble.leader();
      const before = (await client.children('/n')).length;
      await vi.waitFor(async () => expect((await client.children('/n')).length).toBeGreaterThan(before), {
        timeout: 10_000,
      });
      const acknowledged = await writing.stop();
      await ensemble.restart(leader);
      await ensemble.serving();
      await ensemble.converged();
      const names = new Set((await client.children('/n')).map((name) => `/n/${name}`));
      expect([...acknowledged].filter((path) => !names.has(path))).toEqual([]);
      await client.close();
    }
    expect(ensemble.failures).toEqual([]);
  });

  it('keeps everything over a restart of all members', async () => {
    await using ensemble = await TestEnsemble.start({ size: 3 });
    const paths = Array.from({ length: 50 }, (_, index) => `/k${index}`);
    await withClients(ensemble, async ([client]) => {
      if (client !== undefined) await Promise.all(paths.map((path) => client.create(path, path)));
    });
    const digest = await ensemble.converged();
    const all = ensemble.running();
    await Promise.all(all.map((index) => ensemble.kill(index)));
    await Promise.all(all.map((index) => ensemble.restart(index)));
    await ensemble.serving();
    await withClients(ensemble, async ([client]) => {
      for (const path of paths) expect((await client?.get(path))?.text()).toBe(path);
    });
    expect(digest).not.toBe(0n);
    expect(ensemble.failures).toEqual([]);
  });

  it.each(['that was away too long', 'with an empty disk'])(
    'brings a member %s back by a snapshot, in pieces',
    async (which) => {
      const config = { historyBytesMax: 0, checkpointBytes: 65_536, checkpointTxns: 100 };
      const lines: string[] = [];
      await using ensemble = await TestEnsemble.start({ size: 3, config, writeLog: (line) => lines.push(line) });
      const leader = await ensemble.leader();
      const away = ensemble.running().find((index) => index !== leader) ?? 0;
      await ensemble.kill(away);
      if (which === 'with an empty disk') await ensemble.wipe(away);
      const client = await connect(ensemble.servers[leader] ?? '');
      const value = new Uint8Array(20_000).fill(7);
      for (let i = 0; i < 400; i += 20) {
        await Promise.all(Array.from({ length: 20 }, (_, k) => client.create(`/big${i + k}`, value)));
      }
      await ensemble.restart(away);
      await ensemble.serving();
      await ensemble.converged();
      expect(ensemble.member(away).status()?.znodes).toBe(ensemble.member(leader).status()?.znodes);
      expect(lines.some((line) => line.includes('"syncSnapshot"'))).toBe(true);
      await client.close();
      expect(ensemble.failures).toEqual([]);
    },
  );

  it('moves sessions away from a member that stops, without losing one (C110, C145)', async () => {
    await using ensemble = await TestEnsemble.start({ size: 3 });
    const leader = await ensemble.leader();
    const clients = await Promise.all(
      Array.from({ length: 20 }, () => connect([ensemble.servers[leader] ?? '', ...ensemble.servers])),
    );
    const ids = clients.map((client) => client.session.id);
    await Promise.all(clients.map((client, index) => client.create(`/e${index}`, '', { mode: 'ephemeral' })));
    await ensemble.stopMember(leader);
    await Promise.all(clients.map((client, index) => client.set(`/e${index}`, 'still here')));
    expect(clients.map((client) => client.session.id)).toEqual(ids);
    await Promise.all(clients.map((client) => client.close()));
    expect(ensemble.failures).toEqual([]);
  });
});

/** Makes `call` until told to stop, several at a time; returns how many succeeded. */
function repeated(call: () => Promise<unknown>): {
  readonly count: () => number;
  readonly stop: () => Promise<number>;
} {
  let isOver = false;
  let count = 0;
  const loop = async (): Promise<void> => {
    for (; !isOver; count++) await call();
  };
  const loops = Promise.all(Array.from({ length: 8 }, loop));
  // A failure is reported by `stop`.
  loops.catch(() => undefined);
  return {
    count: () => count,
    async stop() {
      isOver = true;
      await loops;
      return count;
    },
  };
}

describe('a member that stops under load', () => {
  it.each(['leads', 'follows'])('and %s is not noticed by calls: each is carried out once (C110)', async (what) => {
    await using ensemble = await TestEnsemble.start({ size: 3 });
    const leader = await ensemble.leader();
    const victim = what === 'leads' ? leader : (leader + 1) % 3;
    const clients: Client[] = [];
    const isAtVictim = ({ session: { current } }: Client): boolean =>
      'server' in current && current.server === ensemble.servers[victim];
    while (clients.filter(isAtVictim).length < 4) clients.push(await connect(ensemble.servers));
    const moving = clients.filter(isAtVictim);
    const moves: string[] = [];
    for (const client of clients) client.session.onChange(({ state }) => moves.push(state));
    await Promise.all(clients.map((client, index) => client.create(`/s${index}`, '')));
    // Those at the member write and read in turn, so that calls of some come while those of others are in flight.
    const isReader = (client: Client): boolean => moving.indexOf(client) % 2 === 1;
    const loops = clients.map((client, index) =>
      repeated(() => (isReader(client) ? client.get(`/s${index}`) : client.set(`/s${index}`, ''))),
    );
    await vi.waitFor(() => expect(Math.min(...loops.map((one) => one.count()))).toBeGreaterThan(20));
    await ensemble.stopMember(victim);
    await vi.waitFor(() => expect(moving.some(isAtVictim)).toBe(false));
    const acknowledged = await Promise.all(loops.map((one) => one.stop()));
    for (const [index, client] of clients.entries()) {
      const { stat } = await client.get(`/s${index}`);
      expect(stat.version).toBe(isReader(client) ? 0 : acknowledged[index]);
    }
    expect([...moves].sort()).toEqual([...moving.map(() => 'connected'), ...moving.map(() => 'suspended')]);
    await Promise.all(clients.map((client) => client.close()));
    expect(ensemble.failures).toEqual([]);
  });
});

describe('without a quorum', () => {
  it('a write waits for its deadline and is then refused with the reason, and reads go on', async () => {
    await using ensemble = await TestEnsemble.start({ size: 3 });
    const leader = await ensemble.leader();
    // Without a leader a session is held for a third of its timeout.
    const client = await connect(ensemble.servers[leader] ?? '', { sessionTimeoutMs: 40_000 });
    await client.create('/before', 'x');
    for (const index of ensemble.running()) if (index !== leader) await ensemble.kill(index);
    await ensemble.until(() => ensemble.member(leader).status()?.role === 'looking', 'the leader to step down');
    await expect(client.create('/during', '', { timeoutMs: 400 })).rejects.toMatchObject({
      code: expect.stringMatching(/UNAVAILABLE|TIMEOUT|OUTCOME_UNKNOWN/) as string,
    });
    expect((await client.get('/before')).text()).toBe('x');
    await client.close();
  });
});
