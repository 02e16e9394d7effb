/** Session streams, frame by frame: the rules of session_service.proto as the member keeps them. */
import { status } from '@grpc/grpc-js';
import type { SessionId, Zxid } from '@quorate/protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RawStream, Standalone } from './front.fixture.ts';

let standalone: Standalone;

beforeAll(async () => {
  standalone = await Standalone.start({ streamCallsMax: 64 });
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

const create = (path: string, data = new Uint8Array(0)) =>
  ({ kind: 'create', path, data, mode: 'persistent', sequential: false }) as const;

async function attached(client = standalone.client()): Promise<RawStream> {
  const stream = new RawStream(client).hello();
  await vi.waitFor(() => expect(stream.serverHello).toBeDefined());
  return stream;
}

describe('a session stream', () => {
  it('opens a session, carries calls and answers them in order, one frame for many', async () => {
    const stream = await attached();
    expect(stream.serverHello).toMatchObject({ resumed: false, timeoutMs: 10_000, sid: 1 });
    stream.calls(create('/s'), { kind: 'getData', path: '/s' }, create('/s'), { kind: 'exists', path: '/none' });
    await vi.waitFor(() => expect(stream.replies.length).toBe(4));
    expect(stream.replies.map(({ xid, answer }) => [xid, answer.result.kind])).toEqual([
      [1, 'create'],
      [2, 'getData'],
      [3, 'error'],
      [4, 'error'],
    ]);
    expect(stream.replies[2]?.answer.result).toMatchObject({ code: 'NODE_EXISTS' });
    const zxids = stream.replies.map(({ answer }) => answer.zxid);
    expect(zxids).toEqual([...zxids].sort((a, b) => Number(a - b)));
  });

  it('answers an operation that it does not know in its place, and goes on', async () => {
    const stream = await attached();
    stream.calls(create('/known'));
    // Call { xid: 2, field 99: {} }, then a known one.
    stream.bytes(Uint8Array.of(0x12, 5, 0x08, 2, 0x9a, 0x06, 0));
    stream.bytes(Uint8Array.of(0x12, 7, 0x08, 3, 0x62, 3, 0x0a, 1, 0x2f));
    await vi.waitFor(() => expect(stream.replies.length).toBe(3));
    expect(stream.replies.map(({ xid }) => xid)).toEqual([1, 2, 3]);
    expect(stream.replies[1]?.answer.result).toMatchObject({ kind: 'error', code: 'UNIMPLEMENTED' });
    expect(stream.replies[1]?.answer.zxid).toBe(stream.replies[0]?.answer.zxid);
    expect(stream.replies[2]?.answer.result.kind).toBe('exists');
  });

  it('C171: what is shown on the way counts from the next call on, and what proves nothing changes nothing', async () => {
    const stream = await attached();
    const show = (scheme: string, proof: string) =>
      ({ kind: 'addAuth', credential: { scheme, proof: new TextEncoder().encode(proof) } }) as const;
    const hers = { ...create('/hers'), acl: [{ perms: 31, scheme: 'auth', id: '' }] } as const;
    stream.calls(
      hers,
      show('digest', 'alice:secret'),
      { ...hers, path: '/kept' },
      show('kerberos', 'hush'),
      show('digest', 'bob:hush'),
      show('digest', 'alice:secret'),
      { kind: 'getAcl', path: '/kept' },
    );
    await vi.waitFor(() => expect(stream.replies.length).toBe(7));
    const results = stream.replies.map(({ answer }) => answer.result);
    const codes = results.map((result) => (result.kind === 'error' ? result.code : result.kind));
    expect(codes).toEqual(['INVALID_ACL', 'addAuth', 'create', 'AUTH_FAILED', 'addAuth', 'addAuth', 'getAcl']);
    expect(JSON.stringify(results[3])).not.toContain('hush');
    const who = (index: number) => {
      const result = results[index];
      return result?.kind === 'addAuth' ? result.identities.map(({ id }) => id.replace(/:.*/, '')) : [];
    };
    expect([who(1), who(4), who(5)]).toEqual([
      ['127.0.0.1', 'alice'],
      ['127.0.0.1', 'alice', 'bob'],
      ['127.0.0.1', 'alice', 'bob'],
    ]);
    const id = 'alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E=';
    expect(results[6]).toMatchObject({ acl: [{ perms: 31, scheme: 'digest', id }] });
    const { zxid: at } = stream.replies[2]!.answer;
    expect(stream.replies.slice(3, 6).map(({ answer }) => answer.zxid)).toEqual([at, at, at]);
  });

  it('C123: what is shown on the way counts for what is watched already, and for a read that still waited', async () => {
    const [stream, owner] = [await attached(), await attached()];
    const show = {
      kind: 'addAuth',
      credential: { scheme: 'digest', proof: new TextEncoder().encode('ann:p') },
    } as const;
    const persistent = { kind: 'addWatch', path: '/anns', mode: 'persistent' } as const;
    stream.calls(persistent, create('/line'), { kind: 'exists', path: '/anns-other', watch: true }, show);
    await vi.waitFor(() => expect(stream.replies.length).toBe(4));
    const acl = [{ perms: 31, scheme: 'auth', id: '' }];
    owner.calls(show, { ...create('/anns'), acl }, { ...create('/anns-other'), acl });
    await vi.waitFor(() => expect(owner.replies.map(({ answer }) => answer.result.kind)[2]).toBe('create'));
    stream.calls({ kind: 'sync', path: '/' });
    await vi.waitFor(() => expect(stream.replies.length).toBe(5));
    const told = stream.frames.flatMap(({ notifications }) => notifications.map(({ path }) => path));
    expect(told).toEqual(['/anns', '/anns-other']);
  });

  it('answers each empty frame with an empty frame', async () => {
    const stream = await attached();
    stream.bytes(new Uint8Array(0)).bytes(new Uint8Array(0));
    await vi.waitFor(() => expect(stream.frames.length).toBe(3));
    expect(stream.frames.slice(1)).toEqual(
      Array(2).fill({ hello: undefined, replies: [], closed: undefined, watches: [], notifications: [] }),
    );
  });

  it('goes on with a session on another stream, and the older one is told', async () => {
    const first = await attached();
    const { session, token } = first.serverHello ?? { session: 0n as SessionId, token: new Uint8Array(0) };
    const second = new RawStream(standalone.client()).hello({ session, token });
    await vi.waitFor(() => expect(second.serverHello).toMatchObject({ session, resumed: true }));
    await vi.waitFor(() => expect(first.closed).toMatchObject({ code: 'SESSION_MOVED' }));
    await vi.waitFor(() => expect(first.status?.code).toBe(status.OK));
  });

  it('is closed with SESSION_EXPIRED for a wrong token or an unknown session, never with a new session (C015)', async () => {
    const { serverHello } = await attached();
    const wrong = new RawStream(standalone.client()).hello({ session: serverHello?.session ?? (0n as SessionId) });
    const unknown = new RawStream(standalone.client()).hello({ session: 77n as SessionId, token: new Uint8Array(16) });
    await vi.waitFor(() =>
      expect([wrong.closed?.code, unknown.closed?.code]).toEqual(Array(2).fill('SESSION_EXPIRED')),
    );
  });

  it('is closed with SERVER_BEHIND when the client has seen more (C055)', async () => {
    const stream = new RawStream(standalone.client()).hello({ lastZxidSeen: 0x7fff_0000_0000_0000n as Zxid });
    await vi.waitFor(() => expect(stream.closed?.code).toBe('SERVER_BEHIND'));
  });

  it('ends after the reply to closeSession, and the ephemerals are gone', async () => {
    const stream = await attached();
    stream.calls({ ...create('/gone'), mode: 'ephemeral' }, { kind: 'closeSession' });
    await vi.waitFor(() => expect(stream.status?.code).toBe(status.OK));
    expect(stream.replies.map(({ answer }) => answer.result.kind)).toEqual(['create', 'closeSession']);
    const other = (await attached()).calls({ kind: 'exists', path: '/gone' });
    await vi.waitFor(() => expect(other.replies[0]?.answer.result).toMatchObject({ code: 'NO_NODE' }));
  });
});

describe('a frame that breaks the rules', () => {
  it.each([
    ['garbage', (stream: RawStream) => stream.bytes(Uint8Array.of(0xff, 0xff, 0xff))],
    ['a second hello', (stream: RawStream) => stream.hello()],
    ['one that is too long', (stream: RawStream) => stream.bytes(new Uint8Array(4 * 1024 * 1024 + 1))],
  ])('(%s) ends its own stream only, and the session lives on (C167)', async (_, send) => {
    const client = standalone.client();
    const other = await attached(client);
    const stream = await attached(client);
    const { session, token } = stream.serverHello ?? { session: 0n as SessionId, token: new Uint8Array(0) };
    send(stream);
    await vi.waitFor(() => expect(stream.status).toBeDefined());
    expect(stream.status?.code).not.toBe(status.OK);
    other.calls({ kind: 'exists', path: '/' });
    await vi.waitFor(() => expect(other.replies.length).toBe(1));
    const again = new RawStream(client).hello({ session, token });
    await vi.waitFor(() => expect(again.serverHello).toMatchObject({ session, resumed: true }));
  });

  it('such as calls without a hello ends the stream', async () => {
    const stream = new RawStream(standalone.client()).calls(create('/x'));
    await vi.waitFor(() => expect(stream.status?.code).toBe(status.INVALID_ARGUMENT));
  });
});

describe('back-pressure', () => {
  it('holds a client back that does not read, and loses nothing of what it asked for', async () => {
    const stream = await attached();
    const size = 300_000;
    stream.calls(create('/big', new Uint8Array(size).fill(9)));
    await vi.waitFor(() => expect(stream.replies.length).toBe(1));
    stream.call.pause();
    // Far more than fits between the two, by count and by bytes.
    for (let i = 0; i < 15; i++)
      stream.calls(...Array.from({ length: 10 }, () => ({ kind: 'getData', path: '/big' }) as const));
    const other = await attached();
    other.calls(create('/meanwhile'));
    await vi.waitFor(() => expect(other.replies.length).toBe(1));
    stream.call.resume();
    await vi.waitFor(() => expect(stream.replies.length).toBe(151), { timeout: 20_000 });
    expect(stream.replies.map(({ xid }) => xid)).toEqual(Array.from({ length: 151 }, (_, index) => index + 1));
    expect(stream.replies.slice(1).every(({ answer }) => answer.result.kind === 'getData')).toBe(true);
  });
});

describe('streams that come and go', () => {
  it('leave nothing behind (C081)', async () => {
    await using fresh = await Standalone.start();
    const client = fresh.client();
    for (let i = 0; i < 20; i++) {
      const stream = await attached(client);
      stream.calls({ kind: 'closeSession' });
      await vi.waitFor(() => expect(stream.status).toBeDefined());
    }
    await vi.waitFor(() => expect(fresh.member.status()?.sessions).toBe(0));
  });
});

describe('a client that has a watch, and asks for much at once', () => {
  it('gets all of it, and what it is told in its place: large replies that wait are no news of watches', async () => {
    const [other, stream] = [await attached(), await attached()];
    other.calls(create('/much', new Uint8Array(1_000_000)), create('/watched'));
    await vi.waitFor(() => expect(other.replies.length).toBe(2));
    const reads = Array.from({ length: 40 }, () => ({ kind: 'getData', path: '/much' }) as const);
    const change = { kind: 'setData', path: '/watched', data: new Uint8Array(1), expectedVersion: undefined } as const;
    stream.calls({ kind: 'getData', path: '/watched', watch: true }, ...reads, change);
    await vi.waitFor(() => expect(stream.replies.length).toBe(42), { timeout: 10_000 });
    expect(stream.closed).toBeUndefined();
    expect(stream.frames.findIndex((frame) => frame.notifications.length === 1)).toBe(
      stream.frames.findIndex((frame) => frame.replies.some(({ xid }) => xid === 42)) - 1,
    );
  }, 20_000);
});
