/** What clients show for themselves is nowhere to be seen: not in the lines of any member at its most talkative, nor in errors, nor in what is told of sessions. */
import { connect, describeSession, listSessions } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { expect, it } from 'vitest';

/** The passwords, and the hashes that ACLs hold of them. */
const SECRETS = ['marker-one', 'marker-two', 'marker-super', 'marker-bad', 'xQJmxLMiHGwaqBvst5y6rkB6HQs='];

it('C134, C115: no password and no hash is in a log line, an error or a listing', async () => {
  const said: string[] = [];
  const told: unknown[] = [];
  const settings = { superDigest: 'super:xQJmxLMiHGwaqBvst5y6rkB6HQs=', logLevel: 'trace' } as const;
  const secrets = [...SECRETS];
  {
    await using ensemble = await TestEnsemble.start({ size: 3, config: settings, writeLog: (line) => said.push(line) });
    const logger = Object.fromEntries(
      ['debug', 'info', 'warn', 'error'].map((level) => [
        level,
        (fields: object, message?: string) => said.push(JSON.stringify({ ...fields, message })),
      ]),
    ) as never;
    const auth = [{ scheme: 'digest', credential: 'alice:marker-one' }];
    await using client = await connect(ensemble.servers, { auth, logger, timeoutMs: 20_000 });
    await client.addAuth({ scheme: 'digest', credential: 'bob:marker-two' });
    await client.create('/hers', 'x', { acl: 'creator' });
    const { acl } = await client.getAcl('/hers');
    secrets.push(...acl.map(({ id }) => id.replace(/^[^:]*:/, '')));
    const failing = [
      client.addAuth({ scheme: 'kerberos', credential: 'marker-bad' }),
      client.addAuth({ scheme: 'digest', credential: 'marker-bad' }),
      connect(ensemble.servers, { auth: [{ scheme: 'x509', credential: 'marker-bad' }], logger, timeoutMs: 500 }),
    ];
    for (const one of await Promise.allSettled(failing)) told.push(one.status === 'rejected' ? one.reason : one.value);
    await using nobody = await connect(ensemble.servers, { logger, timeoutMs: 20_000 });
    await nobody.sync();
    told.push(await nobody.getAcl('/hers').catch((error: unknown) => error));
    const reader = [
      ...acl.map((entry) => ({ ...entry, perms: 'cdrwa' })),
      { scheme: 'world', id: 'anyone', perms: 'r' },
    ];
    await client.setAcl('/hers', reader);
    await nobody.sync();
    told.push(await nobody.getAcl('/hers'));
    for await (const session of listSessions(ensemble.servers[0]!)) told.push(session);
    told.push(await describeSession(ensemble.servers[0]!, client.session.id));
    await ensemble.kill(await ensemble.leader());
    told.push(await client.whoAmI().then((identities) => identities.map(({ scheme }) => scheme)));
  }
  const errors = told.map((one) => (one instanceof Error ? `${one.message} ${one.stack} ${String(one.cause)}` : one));
  const everything = [
    ...said,
    JSON.stringify(errors, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  ];
  expect(said.length).toBeGreaterThan(20);
  expect(secrets.length).toBe(SECRETS.length + 2);
  expect(secrets.filter((secret) => everything.some((text) => text.includes(secret)))).toEqual([]);
});
