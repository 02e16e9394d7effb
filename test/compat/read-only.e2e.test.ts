/** C164: a member that is cut off from its quorum serves reads to clients that allow it, and says so. Source: reference §10.1. */
import { OP_CODE } from '@quorate/protocol/jute';
import { TestEnsemble } from '@quorate/server/testing';
import { expect, it } from 'vitest';
import { bytes, createBody, pathBody, setDataBody, textsOf, watchBody } from './bodies.ts';
import { connectFrame, RawClient, sessionOf } from './raw-client.ts';

async function answer(port: number, word: string): Promise<string> {
  const client = await RawClient.open(port);
  client.send(bytes(word));
  return (await client.rest()).toString('utf8');
}

/** Asks until a connection is given; undefined when this one was closed without a word. */
async function attempt(
  port: number,
  readOnly: boolean,
): Promise<{ client: RawClient; readOnly: boolean | undefined } | undefined> {
  const client = await RawClient.open(port);
  client.send(connectFrame({ readOnly, timeoutMs: 20_000 }));
  const frame = await client.frame();
  return frame === undefined ? undefined : { client, readOnly: sessionOf(frame).readOnly };
}

it('C164: without a quorum, clients that allow it are let go and served anew, read-only; others are not served', {
  timeout: 60_000,
}, async () => {
  await using ensemble = await TestEnsemble.start({ config: { fourLetterWords: '*' } });
  const port = ensemble.member(0).ports.zookeeper;
  const { client: allows } = await RawClient.session(port, { readOnly: true, timeoutMs: 20_000 });
  await allows.ask(1, OP_CODE.create, createBody('/a', bytes('x')));
  expect(await answer(port, 'isro')).toBe('rw');
  await ensemble.kill(1);
  await ensemble.kill(2);
  expect(await allows.rest()).toHaveLength(0);
  expect(await answer(port, 'isro')).toBe('ro');
  expect(await answer(port, 'srvr')).toContain('\nREAD-ONLY mode; serving only read-only clients\n');
  expect(await attempt(port, false)).toBeUndefined();
  const served = await attempt(port, true);
  expect(served?.readOnly).toBe(true);
  const client = served?.client as RawClient;
  expect(textsOf((await client.ask(1, OP_CODE.getChildren, watchBody('/', true))).body)).toContain('a');
  for (const [type, body] of [
    [OP_CODE.create, createBody('/b')],
    [OP_CODE.setData, setDataBody('/a', bytes(''))],
    [OP_CODE.sync, pathBody('/')],
  ] as const) {
    expect(await client.ask(2, type, body)).toMatchObject({ xid: 2, error: -119 });
  }
  expect(await client.ask(3, OP_CODE.ping)).toMatchObject({ xid: -2, error: 0 });
  await ensemble.restart(1);
  expect(await client.rest()).toHaveLength(0);
  await expect.poll(() => answer(port, 'isro'), { timeout: 20_000 }).toBe('rw');
  const again = await attempt(port, true);
  expect(again?.readOnly).toBe(false);
  const back = again?.client as RawClient;
  expect((await back.ask(1, OP_CODE.create, createBody('/b'))).error).toBe(0);
  back[Symbol.dispose]();
});
