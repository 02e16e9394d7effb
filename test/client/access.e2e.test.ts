/** ACLs, guards and transactions by the client, against three real members in this process. */
import { connect, isCode } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let ensemble: TestEnsemble;

beforeAll(async () => {
  ensemble = await TestEnsemble.start({
    size: 3,
    config: { superDigest: 'super:xQJmxLMiHGwaqBvst5y6rkB6HQs=' },
  });
});

afterAll(async () => {
  await ensemble.stop();
});

const clientOf = (index: number, credential?: string) => {
  const auth = credential === undefined ? [] : [{ scheme: 'digest', credential }];
  return connect(ensemble.servers[index] ?? '', { auth, timeoutMs: 20_000 });
};

const codeOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => (error as { code?: string }).code);

describe('ACLs', () => {
  it('hold at every member, by whatever proves the caller there; super passes', async () => {
    await using alice = await clientOf(0, 'alice:secret');
    await using bob = await clientOf(1, 'bob:secret');
    await using root = await clientOf(2, 'super:admin');
    await alice.create('/hers', 'x', { acl: 'creator' });
    await Promise.all([bob.sync(), root.sync()]);
    expect(await codeOf(bob.get('/hers'))).toBe('NO_AUTH');
    expect(await codeOf(bob.create('/hers/b'))).toBe('NO_AUTH');
    expect(await codeOf(bob.transaction().check('/hers').create('/b').commit())).toBe('NO_AUTH');
    await root.set('/hers', 'y');
    expect((await alice.get('/hers')).text()).toBe('y');
    const { acl } = await alice.getAcl('/hers');
    expect(acl).toEqual([{ scheme: 'digest', id: 'alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E=', perms: 'cdrwa' }]);
    const shared = [...acl, { scheme: 'world', id: 'anyone', perms: 'r' }];
    expect((await alice.setAcl('/hers', shared, { version: 0 })).aversion).toBe(1);
    expect(await codeOf(alice.setAcl('/hers', shared, { version: 0 }))).toBe('BAD_VERSION');
    await bob.sync();
    expect((await bob.get('/hers')).text()).toBe('y');
    expect((await bob.getAcl('/hers')).acl[0]).toMatchObject({ id: 'alice:x' });
    expect((await bob.whoAmI()).map(({ scheme }) => scheme)).toEqual(['ip', 'digest']);
    expect((await root.whoAmI()).map(({ scheme }) => scheme)).toEqual(['ip', 'digest', 'super']);
  });

  it('know what a client shows on the way, here and at the next member, from the next call on', async () => {
    await using owner = await clientOf(0, 'carol:secret');
    await owner.create('/carols', 'x', { acl: 'creator' });
    await using client = await connect(ensemble.servers, { timeoutMs: 20_000 });
    await client.sync();
    expect(await codeOf(client.get('/carols'))).toBe('NO_AUTH');
    const shown = client.addAuth({ scheme: 'digest', credential: 'carol:secret' });
    // Sent before the answer is there.
    const seen = client.get('/carols');
    expect((await shown).map(({ scheme }) => scheme)).toEqual(['ip', 'digest']);
    expect((await seen).text()).toBe('x');
    expect(await codeOf(client.addAuth({ scheme: 'x509', credential: 'hush' }))).toBe('AUTH_FAILED');
    expect((await client.get('/carols')).text()).toBe('x');
    const { current } = client.session;
    const at = ensemble.servers.indexOf(current.state === 'connected' ? current.server : '');
    await ensemble.kill(at);
    expect((await client.get('/carols')).text()).toBe('x');
    expect((await client.whoAmI()).map(({ scheme }) => scheme)).toEqual(['ip', 'digest']);
    await ensemble.restart(at);
  });

  it('C127, C171: what is no ACL is refused, and credentials that prove nothing open no session', async () => {
    await using client = await clientOf(0);
    expect(await codeOf(client.create('/a', '', { acl: 'creator' }))).toBe('INVALID_ACL');
    const nobody = [{ scheme: 'kerberos', id: 'me', perms: 'r' }];
    expect(await codeOf(client.create('/a', '', { acl: nobody }))).toBe('INVALID_ACL');
    const auth = [{ scheme: 'kerberos', credential: 'hush' }];
    const refused = await connect(ensemble.servers, { auth, timeoutMs: 2_000 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining('kerberos') as string });
  });
});

describe('a transaction', () => {
  it('takes effect as a whole at one zxid, or fails by its part and leaves nothing', async () => {
    await using client = await clientOf(1);
    const results = await client
      .transaction()
      .create('/t')
      .create('/t/q-', 'x', { sequential: true })
      .check('/t', 0)
      .set('/t', 'y', { version: 0 })
      .commit();
    expect(results).toMatchObject([
      { op: 'create', path: '/t', stat: { version: 0 } },
      { op: 'create', path: '/t/q-0000000000' },
      { op: 'check' },
      { op: 'set', stat: { version: 1 } },
    ]);
    const failed = await client
      .transaction()
      .delete('/t/q-0000000000')
      .check('/t', 7)
      .commit()
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'BAD_VERSION', path: '/t', part: 1, outcome: 'not-applied' });
    expect(await client.children('/t')).toEqual(['q-0000000000']);
    const again = client.transaction().check('/t');
    await again.commit();
    await expect(again.commit()).rejects.toThrow(TypeError);
  });
});

describe('a guard', () => {
  it('binds writes of every kind to one very znode', async () => {
    await using client = await clientOf(2);
    const lock = await client.create('/lock', '', { mode: 'ephemeral' });
    const guard = { path: '/lock', czxid: lock.stat.czxid };
    await client.create('/guarded', '', { guard });
    await client.set('/guarded', 'one', { guard: [guard] });
    await client.delete('/lock');
    await client.create('/lock');
    const failures = await Promise.all([
      codeOf(client.set('/guarded', 'two', { guard })),
      codeOf(client.delete('/guarded', { guard })),
      codeOf(client.transaction().guard(guard).set('/guarded', 'two').commit()),
    ]);
    expect(failures).toEqual(['GUARD_FAILED', 'GUARD_FAILED', 'GUARD_FAILED']);
    expect((await client.get('/guarded')).text()).toBe('one');
    const error = await client.set('/guarded', 'two', { guard }).catch((thrown: unknown) => thrown);
    expect(isCode(error, 'GUARD_FAILED') && error.path).toBe('/lock');
  });
});
