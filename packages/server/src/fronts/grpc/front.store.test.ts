/** The gRPC front of a member on its own, used as clients in other languages use it. */
import { Metadata, status } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call, callWith, detailOf, Standalone } from './front.fixture.ts';

const ZNODES = 'quorate.v1.ZnodeService';
const SESSIONS = 'quorate.v1.SessionService';

interface Stat {
  readonly version: number;
  readonly czxid: bigint;
  readonly ephemeralOwner: bigint;
}
interface Opened {
  readonly session: { readonly id: bigint; readonly token: Buffer };
  readonly sessionTimeoutMs: number;
}

let standalone: Standalone;

beforeAll(async () => {
  // A sid whose session ids are negative as signed numbers.
  standalone = await Standalone.start({ sid: 254 });
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

function znodes<R>(method: string, request: object, deadlineMs?: number): Promise<R> {
  return call<R>(standalone.client(), ZNODES, method, request, deadlineMs);
}

function sessions<R>(method: string, request: object): Promise<R> {
  return call<R>(standalone.client(), SESSIONS, method, request);
}

describe('several changes in one call', () => {
  interface Made {
    readonly results: readonly { readonly create?: { readonly path: string; readonly stat: Stat } }[];
    readonly zxid: bigint;
  }

  it('take effect at one zxid, with a result for each part; a failure names its part and leaves nothing', async () => {
    const parts = [
      { create: { path: '/multi', data: Buffer.from('x') } },
      { create: { path: '/multi/s-', mode: 'CREATE_MODE_PERSISTENT', sequential: true } },
      { check: { path: '/multi', expectedVersion: 0 } },
      { setData: { path: '/multi', data: Buffer.from('y'), expectedVersion: 0 } },
    ];
    const { results, zxid } = await znodes<Made>('Multi', { parts });
    expect(results).toMatchObject([
      { create: { path: '/multi', stat: { version: 0, czxid: zxid } } },
      { create: { path: '/multi/s-0000000000', stat: { czxid: zxid } } },
      { check: {} },
      { setData: { stat: { version: 1, mzxid: zxid } } },
    ]);
    const failing = [{ create: { path: '/multi/x' } }, { delete: { path: '/multi/none' } }];
    const error = await znodes('Multi', { parts: failing }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: status.NOT_FOUND });
    expect(detailOf(error).failure).toMatchObject({ code: 'NO_NODE', path: '/multi/none', part: 1 });
    await expect(znodes('Exists', { path: '/multi/x' })).resolves.toMatchObject({ stat: null });
  });

  it('with a part that is nothing known are UNIMPLEMENTED', async () => {
    await expect(znodes('Multi', { parts: [{}] })).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });
});

describe('unary calls of several znodes', () => {
  it('make ancestors, set or create, read several at one moment, and delete a subtree step by step', async () => {
    const made = await znodes<{ readonly stat: Stat }>('Create', { path: '/all/a/b', createParents: true });
    expect(made.stat.version).toBe(0);
    const put = { path: '/all/a/b', data: Buffer.from('x') };
    await expect(znodes('CreateOrSet', put)).resolves.toMatchObject({ created: false, stat: { version: 1 } });
    await expect(znodes('CreateOrSet', { path: '/all/c' })).resolves.toMatchObject({ created: true });
    const parts = [{ getData: { path: '/all/a/b' } }, { exists: { path: '/none' } }, { getChildren: { path: '/all' } }];
    const read = await znodes<{ readonly results: readonly object[] }>('MultiRead', { parts, linearizable: true });
    expect(read.results).toMatchObject([
      { getData: { data: Buffer.from('x'), stat: { version: 1 } } },
      { error: { code: 'ERROR_CODE_NO_NODE', path: '/none', outcome: 'OUTCOME_NOT_APPLIED' } },
      { getChildren: { children: ['a', 'c'] } },
    ]);
    const checked = [{ check: { path: '/none', absent: true } }, { getData: { path: '/all/a/b' } }];
    await expect(znodes('Multi', { parts: checked })).resolves.toMatchObject({
      results: [{ check: {} }, { getData: { data: Buffer.from('x') } }],
    });
    const step = { path: '/all', limit: 3 };
    await expect(znodes('DeleteSubtree', step)).resolves.toMatchObject({ deleted: 3, more: true });
    await expect(znodes('DeleteSubtree', step)).resolves.toMatchObject({ deleted: 1, more: false });
    await expect(znodes('DeleteSubtree', step)).rejects.toMatchObject({ code: status.NOT_FOUND });
  });
});

describe('a guard on a unary write', () => {
  it('lets it pass while that very znode exists, and has it refused afterwards', async () => {
    const { stat } = await znodes<{ readonly stat: Stat }>('Create', { path: '/guard' });
    const guards = [{ path: '/guard', czxid: stat.czxid }];
    await expect(znodes('Create', { path: '/guarded', guards })).resolves.toMatchObject({ path: '/guarded' });
    await expect(znodes('SetData', { path: '/guarded', guards })).resolves.toMatchObject({ stat: { version: 1 } });
    await znodes('Delete', { path: '/guard' });
    for (const method of ['SetData', 'Delete']) {
      const error = await znodes(method, { path: '/guarded', guards }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: status.FAILED_PRECONDITION });
      expect(detailOf(error).failure).toMatchObject({ code: 'GUARD_FAILED', path: '/guard' });
    }
    const negative = [{ path: '/guard', czxid: -1n }];
    await expect(znodes('Delete', { path: '/guarded', guards: negative })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
  });
});

describe('ACLs', () => {
  const acl = [{ perms: 31, scheme: 'auth', id: '' }];
  const as = (user: string, method: string, request: object) => {
    const metadata = new Metadata();
    metadata.set('quorate-auth-bin', Buffer.from(`digest ${user}`));
    return callWith<{ readonly acl: readonly { readonly id: string }[] }>(
      standalone.client(),
      ZNODES,
      method,
      request,
      metadata,
    );
  };

  it('keep those out who have not proved who they are; hashes are for those who may change them (C115)', async () => {
    await as('alice:secret', 'Create', { path: '/hers', data: Buffer.from('x'), acl });
    for (const method of ['GetData', 'Exists', 'GetChildren', 'GetAcl', 'SetData']) {
      const error = await znodes(method, { path: '/hers' }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: status.PERMISSION_DENIED });
      expect(detailOf(error).failure).toMatchObject({ code: 'NO_AUTH', path: '/hers' });
    }
    await expect(as('bob:secret', 'GetData', { path: '/hers' })).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
    });
    await expect(as('alice:secret', 'GetData', { path: '/hers' })).resolves.toMatchObject({ data: Buffer.from('x') });
    const whole = await as('alice:secret', 'GetAcl', { path: '/hers' });
    expect(whole.acl).toMatchObject([{ perms: 31, scheme: 'digest', id: 'alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E=' }]);
    const shared = [...whole.acl, { perms: 1, scheme: 'world', id: 'anyone' }];
    await expect(as('alice:secret', 'SetAcl', { path: '/hers', acl: shared })).resolves.toMatchObject({
      stat: { aversion: 1 },
    });
    const seen = await as('bob:secret', 'GetAcl', { path: '/hers' });
    expect(seen.acl.map(({ id }) => id)).toEqual(['alice:x', 'anyone']);
    // The address is an identity without being proved.
    await znodes('Create', { path: '/here', acl: [{ perms: 31, scheme: 'ip', id: '127.0.0.0/8' }] });
    await expect(znodes('GetData', { path: '/here' })).resolves.toMatchObject({ stat: { version: 0 } });
  });

  it('C171: a call with credentials that prove nothing is not made', async () => {
    await expect(as('nonsense', 'Exists', { path: '/' })).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
    const metadata = new Metadata();
    metadata.set('quorate-auth-bin', Buffer.from('kerberos x'));
    const other = callWith(standalone.client(), ZNODES, 'Create', { path: '/not-made' }, metadata);
    await expect(other).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
    await expect(znodes('Exists', { path: '/not-made' })).resolves.toMatchObject({ stat: null });
  });
});

describe('unary calls', () => {
  it('a request that is no message is INVALID_ARGUMENT with MARSHALLING_ERROR, and the connection stays usable', async () => {
    const client = standalone.client();
    for (const path of [`/${ZNODES}/Create`, `/${SESSIONS}/Open`, '/quorate.v1.ClusterService/Status']) {
      const answered = new Promise((resolve) => {
        const garbage = Buffer.alloc(7, 0xff);
        client.makeUnaryRequest(
          path,
          (bytes: Buffer) => bytes,
          (bytes) => bytes,
          garbage,
          resolve,
        );
      });
      const error = await answered;
      expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
      expect(detailOf(error).failure).toMatchObject({
        code: 'MARSHALLING_ERROR',
        message: expect.stringMatching(/^Cannot decode the request: /) as string,
      });
    }
    await expect(call(client, ZNODES, 'Exists', { path: '/' })).resolves.toMatchObject({ stat: { version: 0 } });
  });

  it('create, read, set on a condition, list, sync and delete', async () => {
    const created = await znodes<{ path: string; stat: Stat; zxid: bigint }>('Create', {
      path: '/u',
      data: Buffer.from('1'),
    });
    expect(created).toMatchObject({ path: '/u', stat: { version: 0, czxid: created.zxid } });
    await expect(znodes('GetData', { path: '/u' })).resolves.toMatchObject({ data: Buffer.from('1') });
    await expect(znodes('SetData', { path: '/u', data: Buffer.from('2'), expectedVersion: 0 })).resolves.toMatchObject({
      stat: { version: 1 },
    });
    await expect(znodes('SetData', { path: '/u', expectedVersion: 0 })).rejects.toMatchObject({ code: status.ABORTED });
    await znodes('Create', { path: '/u/c-', sequential: true });
    await expect(znodes('GetChildren', { path: '/u', linearizable: true })).resolves.toMatchObject({
      children: ['c-0000000000'],
    });
    await expect(znodes('Exists', { path: '/u/none' })).resolves.toMatchObject({ stat: null });
    await expect(znodes('Sync', { path: '/u' })).resolves.toMatchObject({ path: '/u' });
    await expect(znodes('Delete', { path: '/u' })).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
    await znodes('Delete', { path: '/u/c-0000000000' });
    await znodes('Delete', { path: '/u' });
  });

  it('fail with a gRPC status and our detail beside it', async () => {
    const error: unknown = await znodes('GetData', { path: '/none' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: status.NOT_FOUND });
    expect(detailOf(error).failure).toMatchObject({ code: 'NO_NODE', path: '/none' });
  });

  it.each([
    ['Create', { path: 'no-slash' }],
    ['Create', { path: '/a//b' }],
    ['Create', { path: '/e', mode: 'CREATE_MODE_EPHEMERAL' }],
    ['Create', { path: '/m', mode: 7 }],
    ['Create', { path: '/big', data: Buffer.alloc(1_048_576) }],
    ['GetData', { path: '' }],
  ])('%s of something that is not legal is INVALID_ARGUMENT, and the connection goes on', async (method, request) => {
    const client = standalone.client();
    await expect(call(client, ZNODES, method, request)).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    await expect(call(client, ZNODES, 'Exists', { path: '/' })).resolves.toBeDefined();
  });

  it('an unknown method is UNIMPLEMENTED', async () => {
    const client = standalone.client();
    const path = `/${ZNODES}/Nothing`;
    const unknown = new Promise((_, reject) => {
      const bytes = (value: Buffer): Buffer => value;
      client.makeUnaryRequest(path, bytes, bytes, Buffer.alloc(0), (error) =>
        reject(error ?? new Error('It was answered')),
      );
    });
    await expect(unknown).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });
});

describe('sessions without a stream', () => {
  it('own ephemerals, are kept alive and closed by those who show the token, exact in 64 bits (C013)', async () => {
    const { session, sessionTimeoutMs } = await sessions<Opened>('Open', { sessionTimeoutMs: 30_000 });
    expect(session.id >> 56n).toBe(254n);
    expect(session.id).toBeGreaterThan(2n ** 63n);
    expect(sessionTimeoutMs).toBe(30_000);
    await znodes('Create', { path: '/mine', mode: 'CREATE_MODE_EPHEMERAL', session });
    const { stat } = await znodes<{ stat: Stat }>('Exists', { path: '/mine' });
    expect(stat.ephemeralOwner).toBe(session.id);
    await expect(sessions('KeepAlive', { session })).resolves.toMatchObject({ sessionTimeoutMs: 30_000 });
    const wrong = { id: session.id, token: Buffer.alloc(16) };
    for (const method of ['KeepAlive', 'Close']) {
      const error: unknown = await sessions(method, { session: wrong }).catch((thrown: unknown) => thrown);
      expect(detailOf(error).failure.code, method).toBe('SESSION_EXPIRED');
    }
    await sessions('Close', { session });
    // Whoever did not hear the answer asks again, and learns that the session is gone.
    const again: unknown = await sessions('Close', { session }).catch((thrown: unknown) => thrown);
    expect(detailOf(again).failure.code).toBe('SESSION_EXPIRED');
    await expect(znodes('Exists', { path: '/mine' })).resolves.toMatchObject({ stat: null });
    await expect(sessions('KeepAlive', { session })).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  });

  it.each([
    [1, 4_000],
    [3_999, 4_000],
    [30_000, 30_000],
    [40_001, 40_000],
    [2_147_483_647, 40_000],
    [0, 4_000],
  ])('a wish for %i ms gives %i ms (C026)', async (wanted, given) => {
    const { sessionTimeoutMs } = await sessions<Opened>('Open', { sessionTimeoutMs: wanted });
    expect(sessionTimeoutMs).toBe(given);
  });

  it('a call that names no session is INVALID_ARGUMENT', async () => {
    await expect(sessions('KeepAlive', {})).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    await expect(sessions('Close', {})).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  });
});

describe('status, health, reflection, admin', () => {
  it('ClusterService tells how the member stands', async () => {
    const shown = await call<object>(standalone.client(), 'quorate.v1.ClusterService', 'Status', {});
    expect(shown).toMatchObject({ sid: 254, role: 'ROLE_LEADING', serving: true, hasQuorum: true, leaderSid: 254 });
  });

  it.each([
    ['', 1],
    [ZNODES, 1],
    ['write', 1],
  ])('health of %j is SERVING', async (service, serving) => {
    await expect(healthOf(service)).resolves.toMatchObject({ status: ['', 'SERVING'][serving] });
  });

  it('health of an unknown service is NOT_FOUND', async () => {
    await expect(healthOf('nothing')).rejects.toMatchObject({ code: status.NOT_FOUND });
  });

  it('reflection lists the public services', async () => {
    const same = (bytes: Buffer): Buffer => bytes;
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    const stream = standalone.client().makeBidiStreamRequest(path, same, same);
    stream.on('error', () => undefined);
    const answer = new Promise<string>((resolve) =>
      stream.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1'))),
    );
    // ServerReflectionRequest { list_services: "*" }
    stream.write(Buffer.of(0x3a, 1, 0x2a));
    const names = await answer;
    stream.end();
    for (const name of [ZNODES, SESSIONS, 'quorate.v1.ClusterService']) expect(names).toContain(name);
  });

  it('admin HTTP answers probes, with 64-bit values as hex', async () => {
    const base = `http://127.0.0.1:${standalone.member.ports.admin}`;
    expect((await fetch(`${base}/livez`)).status).toBe(200);
    expect(await (await fetch(`${base}/readyz`)).json()).toEqual({ ready: true, hasQuorum: true });
    expect(await (await fetch(`${base}/status`)).json()).toMatchObject({
      sid: 254,
      role: 'leading',
      zxid: expect.stringMatching(/^0x/) as string,
    });
    expect((await fetch(`${base}/nothing`)).status).toBe(404);
    expect((await fetch(`${base}/livez`, { method: 'POST' })).status).toBe(405);
  });
});

describe('limits on connections', () => {
  it('close what is over them at once, leave the others alone, and count down again (C153)', async () => {
    await using small = await Standalone.start({ connectionsPerAddressMax: 2 });
    const first = small.client();
    const second = small.client();
    for (const client of [first, second]) await call(client, ZNODES, 'Exists', { path: '/' });
    const third = small.client();
    await expect(call(third, ZNODES, 'Exists', { path: '/' }, 2_000)).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
    third.close();
    await call(first, ZNODES, 'Exists', { path: '/' });
    second.close();
    await vi.waitFor(() => call(small.client(), ZNODES, 'Exists', { path: '/' }, 500), { timeout: 5_000 });
  });
});

function healthOf(service: string): Promise<object> {
  const { Check } = healthService;
  if (Check === undefined) throw new Error('No method Check');
  return new Promise((resolve, reject) => {
    standalone
      .client()
      .makeUnaryRequest(
        Check.path,
        Check.requestSerialize,
        Check.responseDeserialize,
        { service },
        (error, response) => (error === null ? resolve(response as object) : reject(error)),
      );
  });
}
