/** Watches on the ZooKeeper port: what comes, when, and with which bytes. Source: reference §1.7, §8. */
import { ByteReader, ByteWriter } from '@quorate/protocol';
import { OP_CODE } from '@quorate/protocol/jute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  authBody,
  bytes,
  createBody,
  multiBody,
  setAclBody,
  setDataBody,
  textOf,
  versionBody,
  watchBody,
} from './bodies.ts';
import { RawClient, type RawReply, requestFrame } from './raw-client.ts';
import { Standalone } from './standalone.ts';

let standalone: Standalone;
let other: RawClient;
let count = 0;

beforeAll(async () => {
  standalone = await Standalone.start();
  ({ client: other } = await RawClient.session(standalone.port));
});

afterAll(async () => {
  other[Symbol.dispose]();
  await standalone[Symbol.asyncDispose]();
});

const CREATED = 1;
const DELETED = 2;
const DATA_CHANGED = 3;
const CHILDREN_CHANGED = 4;

function eventOf({ xid, error, body }: RawReply): [number, string] {
  expect([xid, error]).toEqual([-1, 0]);
  const reader = new ByteReader(body);
  const [type, state, path] = [reader.i32(), reader.i32(), reader.string()];
  expect([state, reader.remaining]).toEqual([3, 0]);
  return [type, path];
}

async function ownPath(): Promise<string> {
  const path = `/w${count++}`;
  await other.ask(1, OP_CODE.create, createBody(path));
  return path;
}

const setWatchesBody = (relativeZxid: bigint, ...lists: readonly (readonly string[])[]): Uint8Array => {
  const writer = new ByteWriter().u64(relativeZxid);
  for (const list of lists) {
    writer.i32(list.length);
    for (const path of list) writer.string(path);
  }
  return writer.finish();
};

describe('notifications', () => {
  it('C154: have their bytes, and so have the replies about watches', async () => {
    const path = await ownPath();
    const { client } = await RawClient.session(standalone.port);
    for (const mode of [0, 1]) {
      const added = await client.ask(5, OP_CODE.addWatch, versionBody(path, mode));
      expect([added.xid, added.error, added.body.toString('hex')]).toEqual([5, 0, '00000000']);
    }
    expect(await client.ask(6, OP_CODE.addWatch, versionBody(path, 7))).toMatchObject({ error: -5 });
    expect(await client.ask(7, OP_CODE.checkWatches, versionBody(path, 4))).toMatchObject({
      error: 0,
      body: Buffer.alloc(0),
    });
    expect(await client.ask(8, OP_CODE.removeWatches, versionBody(path, 4))).toMatchObject({
      error: 0,
      body: Buffer.alloc(0),
    });
    expect(await client.ask(9, OP_CODE.checkWatches, versionBody(path, 4))).toMatchObject({ error: -121 });
    const lists = setWatchesBody(0n, [], [], [], [path], []);
    expect(await client.ask(-8, OP_CODE.setWatches2, lists)).toMatchObject({
      xid: -8,
      error: 0,
      body: Buffer.alloc(0),
    });
    await other.ask(1, OP_CODE.setData, setDataBody(path, bytes('')));
    expect(eventOf(await client.reply())).toEqual([DATA_CHANGED, path]);
    client[Symbol.dispose]();
  });

  it('come before the reply of the write that caused them, and carry its zxid', async () => {
    const path = await ownPath();
    const { client } = await RawClient.session(standalone.port);
    expect((await client.ask(1, OP_CODE.exists, watchBody(`${path}/x`, true))).error).toBe(-101);
    await client.ask(2, OP_CODE.getChildren, watchBody(path, true));
    client.send(requestFrame(3, OP_CODE.create, createBody(`${path}/x`)));
    const [created, children, reply] = [await client.reply(), await client.reply(), await client.reply()];
    expect([eventOf(created), eventOf(children)]).toEqual([
      [CREATED, `${path}/x`],
      [CHILDREN_CHANGED, path],
    ]);
    expect(reply).toMatchObject({ xid: 3, error: 0, zxid: created.zxid });
    expect(children.zxid).toBe(created.zxid);
    client[Symbol.dispose]();
  });

  it('of a deleted znode with both kinds of watch come once', async () => {
    const path = await ownPath();
    const { client } = await RawClient.session(standalone.port);
    await client.ask(1, OP_CODE.getData, watchBody(path, true));
    await client.ask(2, OP_CODE.getChildren2, watchBody(path, true));
    await other.ask(1, OP_CODE.delete, versionBody(path));
    expect(eventOf(await client.reply())).toEqual([DELETED, path]);
    expect(await client.ask(3, OP_CODE.ping)).toMatchObject({ xid: -2 });
    client[Symbol.dispose]();
  });

  it('C123: do not come to one who may not read the znode any more, until he shows who he is', async () => {
    const path = await ownPath();
    const { client } = await RawClient.session(standalone.port);
    await client.ask(1, OP_CODE.addWatch, versionBody(path, 0));
    await other.ask(-4, OP_CODE.auth, authBody('digest', 'a:b'));
    await other.ask(1, OP_CODE.setAcl, setAclBody(path, [{ perms: 31, scheme: 'auth', id: '' }]));
    await other.ask(2, OP_CODE.setData, setDataBody(path, bytes('1')));
    expect(await client.ask(2, OP_CODE.ping)).toMatchObject({ xid: -2 });
    await client.ask(-4, OP_CODE.auth, authBody('digest', 'a:b'));
    await other.ask(3, OP_CODE.setData, setDataBody(path, bytes('2')));
    expect(eventOf(await client.reply())).toEqual([DATA_CHANGED, path]);
    client[Symbol.dispose]();
  });

  it('C027: of what happened while a connection was lost come when its watches are set again, before the reply', async () => {
    const paths = [await ownPath(), await ownPath(), await ownPath(), await ownPath()] as const;
    const [quiet, set, gone, parent] = paths;
    const { client, session } = await RawClient.session(standalone.port);
    const { zxid } = await client.ask(1, OP_CODE.exists, watchBody('/'));
    client[Symbol.dispose]();
    await other.ask(1, OP_CODE.setData, setDataBody(set, bytes('')));
    await other.ask(2, OP_CODE.delete, versionBody(gone));
    await other.ask(3, OP_CODE.create, createBody(`${parent}/x`));
    const { client: again } = await RawClient.session(standalone.port, { id: session.id, password: session.password });
    const lists = setWatchesBody(zxid, [quiet, set, gone], [`${parent}/x`, `${parent}/y`], [parent, quiet]);
    again.send(requestFrame(-8, OP_CODE.setWatches, lists));
    const caughtUp = [await again.reply(), await again.reply(), await again.reply(), await again.reply()];
    expect(caughtUp.map((one) => one.zxid)).toEqual([-1n, -1n, -1n, -1n]);
    expect(caughtUp.map(eventOf)).toEqual([
      [DATA_CHANGED, set],
      [DELETED, gone],
      [CREATED, `${parent}/x`],
      [CHILDREN_CHANGED, parent],
    ]);
    expect(await again.reply()).toMatchObject({ xid: -8, error: 0 });
    await other.ask(4, OP_CODE.setData, setDataBody(quiet, bytes('')));
    await other.ask(5, OP_CODE.create, createBody(`${parent}/y`));
    expect(eventOf(await again.reply())).toEqual([DATA_CHANGED, quiet]);
    expect(eventOf(await again.reply())).toEqual([CREATED, `${parent}/y`]);
    again[Symbol.dispose]();
  });

  it('C035: 60,000 watches of long paths are set again in pieces, and all of them work', {
    timeout: 60_000,
  }, async () => {
    const path = await ownPath();
    const names = Array.from({ length: 60_000 }, (_, i) => `${path}/${'n'.repeat(90)}${i}`);
    const { client } = await RawClient.session(standalone.port, { timeoutMs: 40_000 });
    const piece = 1_200;
    for (let at = 0; at < names.length; at += piece) {
      client.send(requestFrame(at + 1, OP_CODE.setWatches, setWatchesBody(0n, [], names.slice(at, at + piece), [])));
    }
    for (let at = 0; at < names.length; at += piece)
      expect(await client.reply()).toMatchObject({ xid: at + 1, error: 0 });
    const some = [0, 1_199, 1_200, 59_999].map((i) => names[i] as string);
    const parts = some.map((one) => ({ type: OP_CODE.create, body: createBody(one) }));
    await other.ask(1, OP_CODE.multi, multiBody(parts));
    for (const one of some) expect(eventOf(await client.reply())).toEqual([CREATED, one]);
    client[Symbol.dispose]();
  });

  it('C035: one request of more than a frame holds ends that connection alone', async () => {
    const { client } = await RawClient.session(standalone.port);
    const names = Array.from({ length: 12_000 }, (_, i) => `/${'n'.repeat(90)}${i}`);
    client.send(requestFrame(1, OP_CODE.setWatches, setWatchesBody(0n, [], names, [])));
    expect(await client.rest()).toHaveLength(0);
    expect((await other.ask(1, OP_CODE.exists, watchBody('/'))).error).toBe(0);
  });
});

describe('C036: a value that is newer than a watch', () => {
  it('is never read before the notification of it came', { timeout: 60_000 }, async () => {
    const path = await ownPath();
    await other.ask(1, OP_CODE.setData, setDataBody(path, bytes('0')));
    const { client } = await RawClient.session(standalone.port);
    const writes = 3_000;
    let armed = -1;
    let xid = 0;
    let sent = 0;
    let last = 0;
    const write = (): void => {
      if (sent < writes) other.send(requestFrame(++sent, OP_CODE.setData, setDataBody(path, bytes(String(sent)))));
    };
    // Always several reads and writes under way, each read with a watch; a value is armed when a reply with it came.
    for (let i = 0; i < 8; i++) client.send(requestFrame(++xid, OP_CODE.getData, watchBody(path, true)));
    for (let i = 0; i < 4; i++) write();
    while (last < writes) {
      const reply = await client.reply();
      if (reply.xid === -1) {
        armed = -1;
        continue;
      }
      last = Number(textOf(reply.body));
      if (armed >= 0) expect(last).toBe(armed);
      armed = last;
      write();
      client.send(requestFrame(++xid, OP_CODE.getData, watchBody(path, true)));
    }
    for (let i = 0; i < writes; i++) await other.reply();
    expect(last).toBe(writes);
    client[Symbol.dispose]();
  });
});

describe('C027: watches that cannot be set again', () => {
  it('end the connection: a client of this wire does not look at an error of it', async () => {
    await using small = await Standalone.start({ connectionWatchBytesMax: 1_000 });
    const { client } = await RawClient.session(small.port);
    using _ = client;
    const paths = Array.from({ length: 50 }, (_none, i) => `/missing${i}`);
    client.send(requestFrame(1, OP_CODE.setWatches, setWatchesBody(1n, [], paths, [])));
    expect(await client.frame()).toBeUndefined();
  });
});

describe('C123: a watch that was asked for before its connection showed who it is, and left after it', () => {
  it('goes by what was shown', async () => {
    const { client } = await RawClient.session(standalone.port);
    using _ = client;
    const path = `/w${count++}`;
    const auth = authBody('digest', 'late:comer');
    const requests = [
      requestFrame(1, OP_CODE.create, createBody(`/w${count++}`)),
      requestFrame(2, OP_CODE.exists, watchBody(path, true)),
      requestFrame(-4, OP_CODE.auth, auth),
    ];
    client.send(Buffer.concat(requests));
    const xids = [await client.reply(), await client.reply(), await client.reply()].map(({ xid }) => xid);
    expect(xids).toEqual([1, 2, -4]);
    const { client: maker } = await RawClient.session(standalone.port);
    using _maker = maker;
    await maker.ask(-4, OP_CODE.auth, auth);
    const made = await maker.ask(
      1,
      OP_CODE.create,
      createBody(path, bytes(''), 0, [{ perms: 31, scheme: 'auth', id: '' }]),
    );
    expect(made.error).toBe(0);
    expect(eventOf(await client.reply())).toEqual([CREATED, path]);
  });
});
