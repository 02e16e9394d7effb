/** Opening, resuming and ending sessions on the ZooKeeper port. Source: reference §1.2, §1.3, §14.2. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBody, watchBody } from './bodies.ts';
import { connectFrame, RawClient, replyOf, requestFrame, sessionOf } from './raw-client.ts';
import { Standalone } from './standalone.ts';

let standalone: Standalone;

beforeAll(async () => {
  standalone = await Standalone.start();
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

const ENDED = { timeoutMs: 0, id: 0n, password: Buffer.alloc(16), readOnly: false };

describe('a session', () => {
  it('C161: is opened for clients with and without the byte for read-only service', async () => {
    for (const readOnly of [undefined, false, true]) {
      const { client, session } = await RawClient.session(standalone.port, { readOnly });
      expect(session.readOnly).toBe(readOnly === undefined ? undefined : false);
      expect(session.timeoutMs).toBe(10_000);
      expect(session.id).not.toBe(0n);
      expect(session.password).toHaveLength(16);
      client[Symbol.dispose]();
    }
  });

  it.each([
    ['null', undefined],
    ['empty', new Uint8Array(0)],
    ['of 17 bytes', new Uint8Array(17)],
  ])('C161: is opened with a password that is %s, for it is not looked at', async (_what, password) => {
    const { client, session } = await RawClient.session(standalone.port, { password });
    expect(session.id).not.toBe(0n);
    client[Symbol.dispose]();
  });

  it.each([0, -1, 1, 0x7fff_ffff])('C170: has a timeout within bounds when %i ms are asked for', async (timeoutMs) => {
    const { client, session } = await RawClient.session(standalone.port, { timeoutMs });
    const { sessionTimeoutMinMs, sessionTimeoutMaxMs } = standalone.member.config.timing;
    expect([sessionTimeoutMinMs, sessionTimeoutMaxMs]).toContain(session.timeoutMs);
    client[Symbol.dispose]();
  });

  it('goes on by its id and password; the connection that it had is closed', async () => {
    const { client, session } = await RawClient.session(standalone.port);
    expect((await client.ask(1, 1, createBody(`/own-${session.id}`, undefined, 1))).error).toBe(0);
    const again = await RawClient.session(standalone.port, { id: session.id, password: session.password });
    expect(again.session).toEqual(session);
    expect(await client.rest()).toHaveLength(0);
    expect((await again.client.ask(2, 3, watchBody(`/own-${session.id}`))).error).toBe(0);
    again.client[Symbol.dispose]();
  });

  it('C170: is not to be had with another password or an id that nobody has; whose it is goes on', async () => {
    const { client, session } = await RawClient.session(standalone.port);
    for (const wish of [
      { id: session.id, password: new Uint8Array(16) },
      { id: session.id, password: undefined },
      { id: session.id ^ 1n, password: session.password },
      { id: 0xffff_ffff_ffff_ffffn, password: session.password },
    ]) {
      const other = await RawClient.open(standalone.port);
      other.send(connectFrame(wish));
      expect(sessionOf((await other.frame()) as Buffer)).toEqual(ENDED);
      expect(await other.rest()).toHaveLength(0);
    }
    expect((await client.ask(1, 3, watchBody('/'))).error).toBe(0);
    client[Symbol.dispose]();
  });

  it('is refused without a word to a client that has seen more than this member', async () => {
    const client = await RawClient.open(standalone.port);
    client.send(connectFrame({ lastZxidSeen: 0x7fff_ffff_ffff_ffffn }));
    expect(await client.frame()).toBeUndefined();
  });

  it('ends with its ephemerals when the client says so: a reply, then the end of the connection', async () => {
    const { client } = await RawClient.session(standalone.port);
    await client.ask(1, 1, createBody('/goes', undefined, 1));
    expect(await client.ask(0x7fff_ffff, -11)).toMatchObject({ xid: 0x7fff_ffff, error: 0, body: Buffer.alloc(0) });
    expect(await client.rest()).toHaveLength(0);
    const { client: other } = await RawClient.session(standalone.port);
    expect((await other.ask(1, 3, watchBody('/goes'))).error).toBe(-101);
    other[Symbol.dispose]();
  });

  it('ends by itself when nothing is heard from its client, and then cannot be resumed', async () => {
    const { client, session } = await RawClient.session(standalone.port, { timeoutMs: 1 });
    expect(await client.rest()).toHaveLength(0);
    const again = await RawClient.session(standalone.port, { id: session.id, password: session.password });
    expect(again.session).toEqual(ENDED);
  });

  it('C170: takes requests that were sent behind the first frame in one piece', async () => {
    const client = await RawClient.open(standalone.port);
    client.send(Buffer.concat([connectFrame(), requestFrame(5, 3, watchBody('/')), requestFrame(-2, 11)]));
    expect(sessionOf((await client.frame()) as Buffer).id).not.toBe(0n);
    expect(replyOf((await client.frame()) as Buffer)).toMatchObject({ xid: 5, error: 0 });
    expect(replyOf((await client.frame()) as Buffer)).toMatchObject({ xid: -2, error: 0 });
    client[Symbol.dispose]();
  });

  it('C170: is not harmed by a second first frame, which is no request that anybody may send', async () => {
    const { client, session } = await RawClient.session(standalone.port);
    client.send(connectFrame());
    const reply = replyOf((await client.frame()) as Buffer);
    expect(reply.error).not.toBe(0);
    await client.rest();
    const again = await RawClient.session(standalone.port, { id: session.id, password: session.password });
    expect(again.session.id).toBe(session.id);
    again.client[Symbol.dispose]();
  });

  it('is given by every first frame that comes in pieces of one byte', async () => {
    const client = await RawClient.open(standalone.port);
    for (const byte of connectFrame()) {
      client.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sessionOf((await client.frame()) as Buffer).id).not.toBe(0n);
    client[Symbol.dispose]();
  });
});
