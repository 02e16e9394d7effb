/** The client when members die, fall silent or refuse, over real sockets. Nothing here measures time. */
import { createServer, type Socket, type Server as TcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from './api.ts';
import { connect } from './connect.ts';
import type { CoordinationError } from './errors.ts';
import type { ConnectOptions } from './options.ts';
import type { SessionState } from './session-state.ts';
import { TinyEnsemble, type TinyMember } from './testing/index.ts';

let ensemble: TinyEnsemble;
const clients: Client[] = [];
const unhandled: unknown[] = [];
const collect = (error: unknown) => void unhandled.push(error);

beforeEach(async () => {
  ensemble = await TinyEnsemble.start(3);
  process.on('unhandledRejection', collect);
  process.on('uncaughtException', collect);
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await ensemble[Symbol.asyncDispose]();
  process.off('unhandledRejection', collect);
  process.off('uncaughtException', collect);
  expect(unhandled.splice(0)).toEqual([]);
});

async function connected(options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(ensemble.servers, { retry: { baseMs: 5, maxMs: 20 }, ...options });
  clients.push(client);
  return client;
}

/** Every state from now on. */
function statesOf(client: Client): SessionState['state'][] {
  const states: SessionState['state'][] = [];
  client.session.onChange(({ state }) => states.push(state));
  return states;
}

const memberOf = (client: Client): TinyMember => {
  const member = ensemble.memberOf(client.session.id);
  if (member === undefined) throw new Error('The client is attached nowhere');
  return member;
};

const failure = async (promise: Promise<unknown>) =>
  promise.then(() => undefined).catch((error: unknown) => error as CoordinationError);

describe('a member that dies', () => {
  it('costs the client neither its session nor its ephemerals', async () => {
    const client = await connected();
    const states = statesOf(client);
    const { id, signal } = client.session;
    await client.create('/e', '', { mode: 'ephemeral' });
    const first = memberOf(client);
    await first.kill();
    expect((await client.get('/e')).stat.ephemeralOwner).toBe(id);
    expect(client.session.id).toBe(id);
    expect(memberOf(client)).not.toBe(first);
    expect(states).toEqual(['suspended', 'connected']);
    expect(signal.aborted).toBe(false);
  });

  it('is shown again what was shown on the way, once, and not what proved nothing', async () => {
    const client = await connected({ auth: [{ scheme: 'digest', credential: 'alice:secret' }] });
    expect(await client.addAuth({ scheme: 'digest', credential: 'bob:secret' })).toEqual([
      { scheme: 'digest', id: 'bob' },
    ]);
    await client.addAuth({ scheme: 'digest', credential: 'bob:secret' });
    const refused = await failure(client.addAuth({ scheme: 'kerberos', credential: 'hush' }));
    expect(refused).toMatchObject({ code: 'AUTH_FAILED', outcome: 'not-applied' });
    let isFirst = true;
    ensemble.judge = ({ kind }) => {
      if (kind !== 'addAuth' || !isFirst) return 'answer';
      isFirst = false;
      return 'breakAfter';
    };
    await client.addAuth({ scheme: 'digest', credential: 'carol:secret' });
    await memberOf(client).kill();
    await client.create('/a');
    const who = ensemble.shown.map((proofs) => proofs.map((proof) => proof.replace(/:.*/, '')));
    expect(who).toEqual([['alice'], ['alice', 'bob'], ['alice', 'bob', 'carol']]);
    await expect(client.addAuth({ scheme: 'digest' } as never)).rejects.toThrow(TypeError);
  });

  it('is not opened with what proves nothing, and says so without waiting for another member', async () => {
    for (const member of ensemble.members) member.manner = 'AUTH_FAILED';
    const refused = await failure(connected({ auth: [{ scheme: 'kerberos', credential: 'hush' }] }));
    expect(refused).toMatchObject({ code: 'AUTH_FAILED', outcome: 'not-applied' });
    expect(ensemble.members.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(1);
  });

  it('C077: has a write whose answer was lost happen once, and answered as the first time', async () => {
    const client = await connected();
    let asked = 0;
    ensemble.judge = (op) => {
      if (op.kind === 'getChildren') return 'answer';
      asked += 1;
      return asked % 3 === 1 ? 'breakAfter' : asked % 3 === 2 ? 'breakBefore' : 'answer';
    };
    const made = [
      await client.create('/once', '', { sequential: true }),
      await client.create('/once', '', { sequential: true }),
    ];
    expect(made.map(({ path }) => path)).toEqual(['/once0000000000', '/once0000000001']);
    expect(await client.children('/')).toEqual(['once0000000000', 'once0000000001']);
    await client.set('/once0000000000', 'x', { version: 0 });
    await client.delete('/once0000000001');
    expect(await failure(client.delete('/once0000000001'))).toMatchObject({ code: 'NO_NODE', outcome: 'not-applied' });
    expect([asked, ensemble.tree.creates.length]).toEqual([15, 2]);
  });

  it('C077: has a read whose answer was lost sent again', async () => {
    const client = await connected();
    await client.create('/a', 'x');
    let reads = 0;
    ensemble.judge = (op) => (op.kind === 'getData' && reads++ < 2 ? 'breakAfter' : 'answer');
    expect((await client.get('/a')).text()).toBe('x');
    expect(reads).toBe(3);
  });

  it('has calls that were not sent yet sent later, in order', async () => {
    const client = await connected();
    await Promise.all(ensemble.members.map((member) => member.kill()));
    await vi.waitFor(() => expect(client.session.current.state).toBe('suspended'));
    const calls = [client.create('/a', '1'), client.set('/a', '2'), client.get('/a')] as const;
    await Promise.all(ensemble.members.map((member) => member.start()));
    expect((await calls[2]).text()).toBe('2');
    await Promise.all(calls);
  });
});

describe('a member that leaves, and says that it carried out nothing more', () => {
  it('is not noticed by calls: they go on elsewhere, each carried out once and in order, in the same session', async () => {
    const client = await connected();
    const states = statesOf(client);
    const { id } = client.session;
    const first = memberOf(client);
    const asked: string[] = [];
    ensemble.judge = (op) => {
      if ('path' in op) asked.push(`${op.kind} ${op.path}`);
      return op.kind === 'setData' && ensemble.memberOf(id) === first ? 'leave' : 'answer';
    };
    const created = client.create('/a', '1');
    const set = client.set('/a', '2', { version: 0 });
    const read = client.get('/a');
    const again = client.set('/a', '3', { version: 1 });
    await created;
    expect([(await set).version, (await read).text(), (await again).version]).toEqual([1, '2', 2]);
    expect(asked).toEqual(['create /a', 'setData /a', 'setData /a', 'getData /a', 'setData /a']);
    expect(memberOf(client)).not.toBe(first);
    expect([client.session.id, states]).toEqual([id, ['suspended', 'connected']]);
  });

  it('costs a call no more than its own time when there is no other', async () => {
    const client = await connected();
    ensemble.judge = () => {
      // Nobody takes the session any more: where one did, the call could be on its way just when its time is up.
      for (const member of ensemble.members) member.manner = 'UNAVAILABLE';
      return 'leave';
    };
    const error = await failure(client.create('/a', '', { timeoutMs: 300 }));
    expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'not-applied', retryable: true });
  });

  it('does not keep a client that closes from ending its session: another member ends it', async () => {
    const client = await connected();
    const { id } = client.session;
    const first = memberOf(client);
    ensemble.judge = (op) => (op.kind === 'closeSession' && ensemble.memberOf(id) === first ? 'leave' : 'answer');
    await client.close();
    expect([...ensemble.tree.sessions.keys()]).not.toContain(id);
  });
});

describe('C079: a member that falls silent', () => {
  it('is left for another, with the same session', async () => {
    const client = await connected({ sessionTimeoutMs: 600 });
    const { id } = client.session;
    const states = statesOf(client);
    const silent = memberOf(client);
    silent.isFrozen = true;
    expect(await client.children('/')).toEqual([]);
    expect(memberOf(client)).not.toBe(silent);
    expect(client.session.id).toBe(id);
    expect(states).toEqual(['suspended', 'connected']);
  });
});

describe('C076: a slow answer', () => {
  it('fails its own call only: the session and the calls after it go on', async () => {
    const client = await connected({ sessionTimeoutMs: 1_000 });
    const states = statesOf(client);
    await client.create('/slow', 'slow');
    await client.create('/fast', 'fast');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    ensemble.judge = (op) => (op.kind === 'getData' && op.path === '/slow' ? held : 'answer');
    const slow = client.get('/slow', { timeoutMs: 2_000 });
    const fast = client.get('/fast');
    expect(await failure(slow)).toMatchObject({ code: 'TIMEOUT', outcome: 'not-applied' });
    release();
    expect((await fast).text()).toBe('fast');
    expect((await client.get('/fast')).text()).toBe('fast');
    expect(states).toEqual([]);
  });
});

describe('C075: the end of a session', () => {
  it('is said once; pending calls fail once, and a new session follows', async () => {
    const client = await connected();
    const states = statesOf(client);
    const { id, signal } = client.session;
    ensemble.judge = (op) => (op.kind === 'create' ? new Promise(() => {}) : 'answer');
    const pending = [failure(client.create('/x')), failure(client.get('/'))];
    await vi.waitFor(() => expect(ensemble.tree.znodes.has('/x')).toBe(true));
    ensemble.judge = () => 'answer';
    ensemble.expire(id);
    expect(await Promise.all(pending)).toMatchObject([
      { code: 'SESSION_EXPIRED', outcome: 'unknown' },
      { code: 'SESSION_EXPIRED', outcome: 'not-applied' },
    ]);
    expect(signal.aborted).toBe(true);
    await vi.waitFor(() => expect(client.session.current.state).toBe('connected'));
    expect(states).toEqual(['expired', 'connecting', 'connected']);
    expect(client.session.id).not.toBe(id);
    expect(client.session.signal.aborted).toBe(false);
    await client.create('/y', '', { mode: 'ephemeral' });
  });

  it('closes the client that does not want another', async () => {
    const client = await connected({ onSessionLost: 'close' });
    const states = statesOf(client);
    ensemble.expire(client.session.id);
    await vi.waitFor(() => expect(client.session.current.state).toBe('closed'));
    expect(states).toEqual(['expired', 'closed']);
    expect(await failure(client.get('/'))).toMatchObject({ code: 'CLOSED' });
  });

  it('C080: is seen by the local clock when every member is cut off', async () => {
    const client = await connected({ sessionTimeoutMs: 400 });
    const states = statesOf(client);
    const { signal } = client.session;
    await client.create('/e', '', { mode: 'ephemeral' });
    for (const member of ensemble.members) member.isFrozen = true;
    const read = failure(client.get('/e', { timeoutMs: 60_000 }));
    await vi.waitFor(() => expect(signal.aborted).toBe(true), { timeout: 10_000 });
    expect(await read).toMatchObject({ code: 'SESSION_EXPIRED' });
    expect(states.slice(0, 3)).toEqual(['suspended', 'expired', 'connecting']);
    expect(states.filter((state) => state === 'expired').length).toBe(1);
  });

  it('harms nothing when a listener throws or closes the client', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on('warning', listen);
    const client = await connected();
    client.session.onChange(() => {
      throw new Error('a bad listener');
    });
    const states = statesOf(client);
    client.session.onChange(({ state }) => {
      if (state === 'expired') void client.close();
    });
    ensemble.expire(client.session.id);
    await vi.waitFor(() => expect(client.session.current.state).toBe('closed'));
    expect(states).toEqual(['expired', 'connecting', 'closed']);
    await vi.waitFor(() => expect(warnings.length).toBe(3));
    process.off('warning', listen);
  });
});

describe('the states of a session', () => {
  it('can be iterated from the present one to the last', async () => {
    const client = await connected();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { state } of client.session) seen.push(state);
    })();
    const { id } = client.session;
    ensemble.expire(id);
    await vi.waitFor(() => expect([0n, id]).not.toContain(client.session.id));
    await client.close();
    await reading;
    expect(seen).toEqual(['connected', 'expired', 'connecting', 'connected', 'closed']);
  });
});

describe('connect', () => {
  it('passes over members that are down, silent or behind', async () => {
    await ensemble.members[0]!.kill();
    ensemble.members[1]!.manner = 'SERVER_BEHIND';
    for (let turn = 0; turn < 5; turn++) {
      const client = await connected();
      expect(memberOf(client)).toBe(ensemble.members[2]);
    }
  });

  it('gives up in its time, with the reason, and leaves nothing behind', async () => {
    for (const member of ensemble.members) member.manner = 'UNAVAILABLE';
    const error = await failure(connect(ensemble.servers, { timeoutMs: 300 }));
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'not-applied' });
    expect(error?.message).toContain('UNAVAILABLE');
    const attempts = ensemble.members.map((member) => member.attempts);
    await new Promise(setImmediate);
    expect(ensemble.members.map((member) => member.attempts)).toEqual(attempts);
  });

  it('can be aborted, before and during', async () => {
    for (const member of ensemble.members) member.manner = 'mute';
    const reason = new Error('enough');
    expect(await failure(connect(ensemble.servers, { signal: AbortSignal.abort(reason) }))).toMatchObject({
      code: 'ABORTED',
      cause: reason,
    });
    const controller = new AbortController();
    const connecting = failure(connect(ensemble.servers, { signal: controller.signal }));
    await vi.waitFor(() => expect(ensemble.members.some((member) => member.attempts > 0)).toBe(true));
    controller.abort(reason);
    expect(await connecting).toMatchObject({ code: 'ABORTED', cause: reason });
  });
});

describe('C073: a server that is none of ours', () => {
  const sockets = new Set<Socket>();
  let tcp: TcpServer | undefined;

  async function listening(onSocket: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      onSocket(socket);
    });
    tcp = server;
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return typeof address === 'object' && address !== null ? `127.0.0.1:${address.port}` : '';
  }

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    tcp?.close();
  });

  it.each([
    ['closes at once', (socket: Socket) => void socket.destroy()],
    ['stays silent', () => {}],
    ['answers garbage', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'.repeat(50))],
  ])('and %s is passed over; alone it is an error with a reason, without a tight loop', async (_, onSocket) => {
    const address = await listening(onSocket);
    const error = await failure(connect([address], { timeoutMs: 1_500 }));
    expect(error).toMatchObject({ code: 'CONNECTION_LOST' });
    // A tight loop makes hundreds.
    expect(sockets.size).toBeLessThan(25);
    const client = await connect([address, ...ensemble.servers]);
    clients.push(client);
    expect(await client.children('/')).toEqual([]);
  });
});
