/** Requests on the ZooKeeper port: what each is answered, and in which order. Source: reference §1.7, §3, §4.3. */
import { type Acl, ByteReader } from '@quorate/protocol';
import { OP_CODE } from '@quorate/protocol/jute';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  authBody,
  bytes,
  createBody,
  createTtlBody,
  multiBody,
  pathBody,
  setAclBody,
  setDataBody,
  textOf,
  textsOf,
  versionBody,
  watchBody,
} from './bodies.ts';
import { RawClient, requestFrame } from './raw-client.ts';
import { Standalone } from './standalone.ts';

let standalone: Standalone;
let client: RawClient;
let own: string;
let count = 0;

beforeAll(async () => {
  standalone = await Standalone.start();
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

beforeEach(async () => {
  ({ client } = await RawClient.session(standalone.port));
  own = `/t${count++}`;
  await client.ask(1, OP_CODE.create, createBody(own));
});

afterEach(() => {
  client[Symbol.dispose]();
});

const STAT_BYTES = 68;

describe('each request', () => {
  it('C155: is known, and answered with the record that is its own', async () => {
    const at = `${own}/x`;
    expect(textOf((await client.ask(1, OP_CODE.create, createBody(at, bytes('hi')))).body)).toBe(at);
    expect((await client.ask(2, OP_CODE.exists, watchBody(at))).body).toHaveLength(STAT_BYTES);
    expect((await client.ask(3, OP_CODE.getData, watchBody(at))).body).toHaveLength(4 + 2 + STAT_BYTES);
    expect((await client.ask(4, OP_CODE.setData, setDataBody(at, undefined, 0))).body).toHaveLength(STAT_BYTES);
    expect((await client.ask(5, OP_CODE.getData, watchBody(at))).body.readInt32BE(0)).toBe(-1);
    expect(textsOf((await client.ask(6, OP_CODE.getChildren, watchBody(own))).body)).toEqual(['x']);
    const children2 = await client.ask(7, OP_CODE.getChildren2, watchBody(own));
    expect(children2.body).toHaveLength(4 + 5 + STAT_BYTES);
    expect(textOf((await client.ask(8, OP_CODE.sync, pathBody('anything'))).body)).toBe('anything');
    const { body } = await client.ask(9, OP_CODE.create2, createBody(`${own}/y-`, bytes(''), 2));
    expect(textOf(body)).toBe(`${own}/y-0000000001`);
    expect(body).toHaveLength(4 + own.length + 13 + STAT_BYTES);
    const container = await client.ask(10, OP_CODE.createContainer, createBody(`${own}/c`, undefined, 4));
    expect(container.body).toHaveLength(4 + own.length + 2 + STAT_BYTES);
    const ttl = await client.ask(11, OP_CODE.createTtl, createTtlBody(`${own}/t`, 5, 1000n));
    expect(ttl).toMatchObject({ xid: 11, error: 0 });
    expect((await client.ask(12, OP_CODE.getAcl, pathBody(at))).body).toHaveLength(4 + 12 + 5 + 6 + STAT_BYTES);
    const acl: Acl = [{ perms: 31, scheme: 'world', id: 'anyone' }];
    expect((await client.ask(13, OP_CODE.setAcl, setAclBody(at, acl, 0))).body).toHaveLength(STAT_BYTES);
    expect((await client.ask(14, OP_CODE.getAllChildrenNumber, pathBody(own))).body.readInt32BE(0)).toBe(4);
    await client.ask(15, OP_CODE.create, createBody(`${own}/e`, undefined, 1));
    for (const prefix of [own, '', '  ', '/']) {
      expect(textsOf((await client.ask(16, OP_CODE.getEphemerals, pathBody(prefix))).body)).toEqual([`${own}/e`]);
    }
    expect((await client.ask(17, OP_CODE.delete, versionBody(at, 1))).body).toHaveLength(0);
    expect(await client.ask(18, OP_CODE.ping)).toMatchObject({ xid: -2, error: 0, body: Buffer.alloc(0) });
    expect((await client.ask(19, OP_CODE.reconfig)).error).toBe(-123);
    const who = new ByteReader((await client.ask(20, OP_CODE.whoAmI)).body);
    expect([who.i32(), who.string(), who.string(), who.remaining]).toEqual([1, 'ip', '127.0.0.1', 0]);
  });

  it.each([
    ['a znode that is there', OP_CODE.create, () => createBody(own), -110],
    ['the root', OP_CODE.create, () => createBody('/'), -110],
    ['a child of nothing', OP_CODE.create, () => createBody('/no/child'), -101],
    ['an ephemeral’s child', OP_CODE.create, () => createBody('/ephemeral/child'), -108],
    ['an ACL of nobody', OP_CODE.create, () => createBody(`${own}/a`, bytes(''), 0, []), -114],
    ['flags that are not known', OP_CODE.create, () => createBody(`${own}/f`, bytes(''), 9), -8],
    ['a TTL of nothing', OP_CODE.createTtl, () => createTtlBody(`${own}/t`, 5, 0n), -8],
    ['a path that is none', OP_CODE.setData, () => setDataBody('/a//b', bytes('')), -8],
    ['the root to be deleted', OP_CODE.delete, () => versionBody('/'), -8],
    ['another version', OP_CODE.setData, () => setDataBody(own, bytes(''), 7), -103],
    ['a znode with children', OP_CODE.delete, () => versionBody('/'.concat('zookeeper')), -8],
    ['nothing to read', OP_CODE.getData, () => watchBody('/nothing'), -101],
    ['a body cut short', OP_CODE.setData, () => pathBody(own), -5],
  ])('is refused with its number: %s', async (_what, type, body, error) => {
    await client.ask(1, OP_CODE.create, createBody('/ephemeral', undefined, 1));
    expect(await client.ask(2, type, body())).toMatchObject({ xid: 2, error, body: Buffer.alloc(0) });
    expect((await client.ask(3, OP_CODE.exists, watchBody('/'))).error).toBe(0);
  });

  it('C162: a sequential znode under the root, and under a path that ends with a slash, has its number for a name', async () => {
    const root = textOf((await client.ask(1, OP_CODE.create, createBody('/', bytes(''), 2))).body);
    expect(root).toMatch(/^\/\d{10}$/);
    const below = textOf((await client.ask(2, OP_CODE.create, createBody(`${own}/`, bytes(''), 2))).body);
    expect(below).toBe(`${own}/0000000000`);
  });

  it('C156: that is not known is answered, and the connection ended; those before it are answered first', async () => {
    client.send(
      Buffer.concat([requestFrame(1, OP_CODE.create, createBody(`${own}/w`)), requestFrame(2, 999, bytes('x'))]),
    );
    expect(await client.reply()).toMatchObject({ xid: 1, error: 0 });
    expect(await client.reply()).toMatchObject({ xid: 2, zxid: -1n, error: -6 });
    expect(await client.rest()).toHaveLength(0);
  });

  it.each([OP_CODE.check, -10, 20, -1, 0])('of type %i is not for clients', async (type) => {
    expect(await client.ask(3, type, versionBody(own))).toMatchObject({ xid: 3, error: -6 });
    expect(await client.rest()).toHaveLength(0);
  });

  it('C169: has its number sent back, whatever it is', async () => {
    for (const xid of [0, 7, 7, 3, -5, 1]) {
      expect(await client.ask(xid, OP_CODE.exists, watchBody('/'))).toMatchObject({ xid, error: 0 });
    }
  });

  it('may be a frame of 1048575 bytes, and not one byte longer', async () => {
    const overhead = 8 + 4 + own.length + 4 + 4;
    const most = new Uint8Array(1_048_575 - overhead);
    const reply = await client.ask(1, OP_CODE.setData, setDataBody(own, most));
    expect(reply).toMatchObject({ xid: 1, error: 0 });
    client.send(requestFrame(2, OP_CODE.setData, setDataBody(own, new Uint8Array(most.length + 1))));
    expect(await client.rest()).toHaveLength(0);
  });
});

describe('a multi', () => {
  const part = (type: number, body: Uint8Array) => ({ type, body });

  it('C158: of five whose third fails changes nothing, and says which it was', async () => {
    const { zxid: before } = await client.ask(1, OP_CODE.exists, watchBody(own));
    const body = multiBody([
      part(OP_CODE.create, createBody(`${own}/a`)),
      part(OP_CODE.create, createBody(`${own}/b`)),
      part(OP_CODE.check, versionBody(own, 5)),
      part(OP_CODE.delete, versionBody(`${own}/a`)),
      part(OP_CODE.delete, versionBody(`${own}/b`)),
    ]);
    const reply = await client.ask(2, OP_CODE.multi, body);
    expect(reply.error).toBe(0);
    expect(reply.zxid).toBeGreaterThan(before);
    expect(errorsOf(reply.body)).toEqual([0, 0, -103, -2, -2]);
    expect(textsOf((await client.ask(3, OP_CODE.getChildren, watchBody(own))).body)).toEqual([]);
  });

  it('C158: that is carried out has one result a part, each with its own type', async () => {
    const body = multiBody([
      part(OP_CODE.create, createBody(`${own}/a`)),
      part(OP_CODE.create2, createBody(`${own}/b`)),
      part(OP_CODE.createContainer, createBody(`${own}/c`, undefined, 4)),
      part(OP_CODE.setData, setDataBody(`${own}/a`, bytes('1'))),
      part(OP_CODE.check, versionBody(`${own}/a`, 1)),
      part(OP_CODE.delete, versionBody(`${own}/a`, 1)),
    ]);
    const reply = await client.ask(1, OP_CODE.multi, body);
    const reader = new ByteReader(reply.body);
    const types: number[] = [];
    for (;;) {
      const type = reader.i32();
      const isDone = reader.u8() === 1;
      const error = reader.i32();
      if (isDone) break;
      expect(error).toBe(0);
      types.push(type);
      if (type === 1 || type === 15) reader.string();
      if (type === 15 || type === 5) reader.raw(STAT_BYTES);
    }
    expect(types).toEqual([1, 15, 15, 5, 13, 2]);
    expect(reader.remaining).toBe(0);
  });

  it('C157: of nothing succeeds', async () => {
    const reply = await client.ask(1, OP_CODE.multi, multiBody([]));
    expect(reply.error).toBe(0);
    expect(reply.body.toString('hex')).toBe('ffffffff01ffffffff');
  });

  it.each([3, 4, 9, 14, 16, 20, 999, -10, -11])(
    'C157: with a part of type %i is refused as a whole, and the next is read',
    async (type) => {
      const body = multiBody([part(OP_CODE.create, createBody(`${own}/a`)), part(type, watchBody(own))]);
      expect(await client.ask(1, OP_CODE.multi, body)).toMatchObject({ xid: 1, error: -5, body: Buffer.alloc(0) });
      expect((await client.ask(2, OP_CODE.exists, watchBody(`${own}/a`))).error).toBe(-101);
    },
  );
});

function errorsOf(body: Buffer): number[] {
  const reader = new ByteReader(body);
  const errors: number[] = [];
  for (;;) {
    const [type, done, error] = [reader.i32(), reader.u8(), reader.i32()];
    if (done === 1) return errors;
    if (type !== -1 || reader.i32() !== error) throw new Error('A part that is not an error');
    errors.push(error);
  }
}

describe('replies', () => {
  it('C166: come in the order of the requests, and reads see the writes before them', async () => {
    const frames: Uint8Array[] = [];
    const expected: { xid: number; error: number }[] = [];
    const add = (type: number, body: Uint8Array, error = 0): void => {
      const xid = frames.length + 1;
      frames.push(requestFrame(xid, type, body));
      expected.push({ xid: type === OP_CODE.ping ? -2 : xid, error });
    };
    for (let i = 0; i < 300; i++) {
      add(OP_CODE.setData, setDataBody(own, bytes(String(i))));
      add(OP_CODE.getData, watchBody(own));
      add(OP_CODE.getData, watchBody('/nothing'), -101);
      add(OP_CODE.ping, bytes(''));
      add(OP_CODE.setData, setDataBody(own, bytes('no'), 100_000), -103);
      add(OP_CODE.sync, pathBody(own));
    }
    client.send(Buffer.concat(frames));
    let last = 0n;
    for (const [index, { xid, error }] of expected.entries()) {
      const reply = await client.reply();
      expect([index, reply.xid, reply.error]).toEqual([index, xid, error]);
      expect(reply.zxid).toBeGreaterThanOrEqual(last);
      last = reply.zxid;
      if (index % 6 === 1) expect(textOf(reply.body)).toBe(String((index - 1) / 6));
    }
  });
});

describe('identities', () => {
  it('C171: add up, are not doubled, and let in whom an ACL names', async () => {
    const alice: Acl = [{ perms: 31, scheme: 'auth', id: '' }];
    expect((await client.ask(1, OP_CODE.create, createBody(`${own}/s`, bytes(''), 0, alice))).error).toBe(-114);
    for (const proof of ['alice:secret', 'alice:secret', 'bob:x', 'nocolon']) {
      expect(await client.ask(-4, OP_CODE.auth, authBody('digest', proof))).toMatchObject({
        xid: -4,
        zxid: 0n,
        error: 0,
      });
    }
    // Users, without their hashes.
    const who = new ByteReader((await client.ask(2, OP_CODE.whoAmI)).body);
    const users = Array.from({ length: who.i32() }, () => [who.string(), who.string()]);
    expect(users).toEqual([
      ['ip', '127.0.0.1'],
      ['digest', 'alice'],
      ['digest', 'bob'],
      ['digest', 'nocolon'],
    ]);
    expect((await client.ask(3, OP_CODE.create, createBody(`${own}/s`, bytes('1'), 0, alice))).error).toBe(0);
    const { client: other } = await RawClient.session(standalone.port);
    expect((await other.ask(1, OP_CODE.getData, watchBody(`${own}/s`))).error).toBe(-102);
    await other.ask(-4, OP_CODE.auth, authBody('digest', 'bob:x'));
    expect((await other.ask(2, OP_CODE.getData, watchBody(`${own}/s`))).error).toBe(0);
    other[Symbol.dispose]();
  });

  it.each(['nobody', 'x509', 'sasl', 'world', ''])(
    'C171: of scheme %j prove nothing: refused, the connection ended, what was sent behind not carried out',
    async (scheme) => {
      const behind = requestFrame(9, OP_CODE.create, createBody(`${own}/behind`));
      client.send(Buffer.concat([requestFrame(-4, OP_CODE.auth, authBody(scheme, 'a:b')), behind]));
      expect(await client.reply()).toMatchObject({ xid: -4, error: -115 });
      expect(await client.rest()).toHaveLength(0);
      const { client: other } = await RawClient.session(standalone.port);
      expect((await other.ask(1, OP_CODE.exists, watchBody(`${own}/behind`))).error).toBe(-101);
      other[Symbol.dispose]();
    },
  );
});
