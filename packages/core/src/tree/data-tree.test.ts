import { AssertionError, NO_SESSION, sequenceSuffix, toSessionId, toZxid, ZERO_ZXID } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { DataTree } from './data-tree.ts';
import { PACKED_BYTES_MAX } from './packed.ts';
import { TreeScript, utf8 } from './tree-script.fixture.ts';
import type { Txn, TxnBody } from './txn.ts';

const A = toSessionId(0x0100_0000_0000_0001n);
const B = toSessionId(0xfe00_0000_0000_0003n);

/** As Node's Buffer does: a slice is a view. */
class SharingBytes extends Uint8Array {
  override slice(start?: number, end?: number): Uint8Array<ArrayBuffer> {
    return this.subarray(start, end) as Uint8Array<ArrayBuffer>;
  }
}

describe('a fresh tree', () => {
  it('has the built-in znodes with empty data and the visible cversions of ZooKeeper', () => {
    const tree = DataTree.empty();
    const zero = {
      czxid: 0n,
      mzxid: 0n,
      pzxid: 0n,
      ctimeMs: 0,
      mtimeMs: 0,
      version: 0,
      cversion: 0,
      aversion: 0,
      ephemeralOwner: 0n,
      dataLength: 0,
      numChildren: 0,
    };
    expect(tree.stat('/')).toEqual({ ...zero, cversion: -1, numChildren: 1 });
    expect(tree.stat('/zookeeper')).toEqual({ ...zero, cversion: -2, numChildren: 2 });
    expect(tree.stat('/zookeeper/quota')).toEqual(zero);
    expect(tree.stat('/zookeeper/config')).toEqual(zero);
    expect(tree.children('/')).toEqual(['zookeeper']);
    expect(tree.children('/zookeeper')).toEqual(['config', 'quota']);
    expect(tree.data('/')).toEqual(new Uint8Array(0));
    expect([tree.znodeCount, tree.dataBytes, tree.ephemeralCount, tree.sessions.size]).toEqual([4, 0, 0, 0]);
    expect(tree.lastZxid).toBe(ZERO_ZXID);
  });

  it('has nothing under what is not a path', () => {
    const tree = DataTree.empty();
    for (const path of ['', 'zookeeper', '/zookeeper/', '//', '/none', '__proto__']) {
      expect([tree.znode(path), tree.stat(path), tree.data(path), tree.children(path)]).toEqual(
        Array(4).fill(undefined),
      );
    }
  });
});

describe('stat', () => {
  it('C001: direct creates and deletes of children alone move cversion and pzxid of the parent', () => {
    const script = new TreeScript();
    const start = script.create('/p', utf8('x'));
    const fixed = { czxid: start, mzxid: start, ctimeMs: 1000, mtimeMs: 1000, version: 0, aversion: 0, dataLength: 1 };
    const seen = () => script.tree.stat('/p');
    expect(seen()).toMatchObject({ ...fixed, cversion: 0, pzxid: start, numChildren: 0 });
    const made = script.create('/p/c');
    expect(seen()).toMatchObject({ ...fixed, cversion: 1, pzxid: made, numChildren: 1 });
    script.setData('/p/c', utf8('new'));
    expect(seen()).toMatchObject({ ...fixed, cversion: 1, pzxid: made, numChildren: 1 });
    script.create('/p/c/d');
    expect(seen()).toMatchObject({ ...fixed, cversion: 1, pzxid: made, numChildren: 1 });
    script.delete('/p/c/d');
    expect(seen()).toMatchObject({ ...fixed, cversion: 1, pzxid: made, numChildren: 1 });
    const gone = script.delete('/p/c');
    expect(seen()).toMatchObject({ ...fixed, cversion: 2, pzxid: gone, numChildren: 0 });
  });

  it('gives a new znode its own zxid three times and the time of the txn twice', () => {
    const script = new TreeScript();
    script.error();
    const zxid = script.create('/n', utf8('abc'));
    expect(script.tree.stat('/n')).toEqual({
      czxid: zxid,
      mzxid: zxid,
      pzxid: zxid,
      ctimeMs: 1001,
      mtimeMs: 1001,
      version: 0,
      cversion: 0,
      aversion: 0,
      ephemeralOwner: NO_SESSION,
      dataLength: 3,
      numChildren: 0,
    });
  });

  it('moves only mzxid, mtime, version and dataLength when the data is set', () => {
    const script = new TreeScript();
    script.create('/n', utf8('abc'));
    script.create('/n/child');
    const before = script.tree.stat('/n');
    const zxid = script.setData('/n', utf8('de'));
    expect(script.tree.stat('/n')).toEqual({ ...before, mzxid: zxid, mtimeMs: 1002, version: 1, dataLength: 2 });
  });

  it('starts anew when a znode is deleted and created again', () => {
    const script = new TreeScript();
    script.create('/n', utf8('abc'));
    script.create('/n/child');
    script.setData('/n', utf8('de'));
    script.delete('/n/child');
    script.delete('/n');
    const zxid = script.create('/n');
    expect(script.tree.stat('/n')).toMatchObject({ czxid: zxid, mzxid: zxid, version: 0, cversion: 0, dataLength: 0 });
  });

  it('C013: keeps zxids above 2^53 and owners that are negative as signed numbers exact', () => {
    const tree = DataTree.empty();
    const at = (counter: bigint) => toZxid(0x0030_0000_0000_0000n + counter);
    const origin = { sid: 1, incarnation: 1, seq: 1 };
    const apply = (counter: bigint, body: TxnBody) =>
      tree.apply(at(counter), { origin, session: B, timeMs: 9_007_199_254_740_990, body });
    apply(1n, { kind: 'createSession', timeoutMs: 4000, token: new Uint8Array(16) });
    apply(2n, { kind: 'create', path: '/e', data: undefined, ephemeralOwner: B, parentCreates: 1 });
    apply(3n, { kind: 'setData', path: '/e', data: undefined, version: 1 });
    expect(tree.stat('/e')).toMatchObject({
      czxid: 0x0030_0000_0000_0002n,
      mzxid: 0x0030_0000_0000_0003n,
      mtimeMs: 9_007_199_254_740_990,
      ephemeralOwner: 0xfe00_0000_0000_0003n,
    });
    expect(tree.lastZxid).toBe(0x0030_0000_0000_0003n);
  });
});

describe('counters', () => {
  it('C002: the count of creates, which names sequential children, takes plain creates in and never goes back', () => {
    const script = new TreeScript();
    const sequential = (prefix: string) => {
      const parent = prefix.slice(0, prefix.lastIndexOf('/'));
      const path = prefix + sequenceSuffix(script.tree.znode(parent)!.creates);
      script.create(path);
      return path;
    };
    script.create('/s');
    expect(sequential('/s/a-')).toBe('/s/a-0000000000');
    expect(sequential('/s/b-')).toBe('/s/b-0000000001');
    script.delete('/s/a-0000000000');
    script.delete('/s/b-0000000001');
    script.create('/s/x');
    expect(sequential('/s/a-')).toBe('/s/a-0000000003');
    script.delete('/s/x');
    script.delete('/s/a-0000000003');
    script.delete('/s');
    script.create('/s');
    expect(sequential('/s/a-')).toBe('/s/a-0000000000');
  });

  it('C002: takes the count of creates from the txn and wraps with it, but never lets it stand or go back', () => {
    const script = new TreeScript();
    script.create('/s');
    const create = (path: string, parentCreates: number) =>
      script.apply({ kind: 'create', path, data: undefined, ephemeralOwner: NO_SESSION, parentCreates });
    create('/s/a', 2_147_483_647);
    expect(script.tree.stat('/s')).toMatchObject({ cversion: -3, numChildren: 1 });
    expect(() => create('/s/b', 2_147_483_647)).toThrow(AssertionError);
    expect(() => create('/s/b', 2_147_483_646)).toThrow(AssertionError);
    script.create('/s/b');
    expect(script.tree.znode('/s')?.creates).toBe(-2_147_483_648);
    expect(script.tree.stat('/s')).toMatchObject({ cversion: -2, numChildren: 2 });
  });

  it('C004: the version wraps past the largest 32-bit number and steps over -1', () => {
    const script = new TreeScript();
    script.create('/v');
    script.setData('/v', undefined, 2_147_483_647);
    script.setData('/v', undefined);
    expect(script.tree.stat('/v')?.version).toBe(-2_147_483_648);
    script.setData('/v', undefined);
    expect(script.tree.stat('/v')?.version).toBe(-2_147_483_647);
    script.setData('/v', undefined, -2);
    script.setData('/v', undefined);
    expect(script.tree.stat('/v')?.version).toBe(0);
    expect(() => script.setData('/v', undefined, -1)).toThrow(AssertionError);
    expect(() => script.setData('/v', undefined, 2_147_483_648)).toThrow(AssertionError);
  });
});

describe('data', () => {
  it('tells null from empty, and counts both as no bytes', () => {
    const script = new TreeScript();
    script.create('/null', undefined);
    script.create('/empty', new Uint8Array(0));
    expect(script.tree.data('/null')).toBeUndefined();
    expect(script.tree.znode('/null')).toBeDefined();
    expect(script.tree.data('/empty')).toEqual(new Uint8Array(0));
    expect([script.tree.stat('/null')?.dataLength, script.tree.stat('/empty')?.dataLength]).toEqual([0, 0]);
  });

  it('is copied out of the buffer that it came in, even when its slices are views, be it short or long', () => {
    const script = new TreeScript();
    const network = new SharingBytes(1000).fill(0x78);
    script.create('/c', network.subarray(10, 13));
    script.create('/long', network.subarray(10, 11 + PACKED_BYTES_MAX));
    script.create('/s');
    script.setData('/s', network.subarray(20, 23));
    script.createSession(A, 4000, network.subarray(30, 46));
    network.fill(0);
    const token = script.tree.sessions.get(A)!.token;
    for (const kept of [script.tree.data('/c')!, script.tree.data('/long')!, script.tree.data('/s')!, token]) {
      expect(kept[0]).toBe(0x78);
      expect(kept.buffer.byteLength).toBe(kept.length);
    }
    expect(script.tree.data('/long')).toBe(script.tree.data('/long'));
  });

  it('is summed up over creates, changes and deletes', () => {
    const script = new TreeScript();
    script.create('/a', utf8('12345'));
    script.create('/b', utf8('123'));
    script.setData('/a', utf8('1'));
    expect(script.tree.dataBytes).toBe(4);
    script.setData('/a', undefined);
    script.delete('/b');
    expect(script.tree.dataBytes).toBe(0);
  });
});

describe('children', () => {
  it('are listed by code unit whatever the order of their creation, after every change', () => {
    const script = new TreeScript();
    for (const name of ['b', 'é', 'a', 'Z', '10', '9']) script.create(`/${name}`);
    expect(script.tree.children('/')).toEqual(['10', '9', 'Z', 'a', 'b', 'zookeeper', 'é']);
    script.delete('/a');
    script.create('/aa');
    expect(script.tree.children('/')).toEqual(['10', '9', 'Z', 'aa', 'b', 'zookeeper', 'é']);
    expect(script.tree.children('/b')).toEqual([]);
  });

  it('are listed from one cached array while nothing changes, and a listing once taken stays as it was', () => {
    const script = new TreeScript();
    script.create('/a');
    const listing = script.tree.children('/');
    script.setData('/a', utf8('x'));
    script.create('/a/below');
    expect(script.tree.children('/')).toBe(listing);
    script.create('/b');
    expect(listing).toEqual(['a', 'zookeeper']);
  });
});

describe('sessions', () => {
  it('own their ephemerals until somebody deletes them', () => {
    const script = new TreeScript();
    script.createSession(A, 4000);
    script.createSession(B, 30_000, utf8('secret'));
    script.create('/e', undefined, A);
    script.create('/f', undefined, B);
    expect(script.tree.sessions.ids()).toEqual([A, B]);
    expect(script.tree.sessions.get(B)).toMatchObject({ id: B, timeoutMs: 30_000, token: utf8('secret') });
    expect([...script.tree.sessions.get(A)!.ephemerals]).toEqual(['/e']);
    expect(script.tree.stat('/e')?.ephemeralOwner).toBe(A);
    expect(script.tree.ephemeralCount).toBe(2);
    script.delete('/e');
    expect([...script.tree.sessions.get(A)!.ephemerals]).toEqual([]);
    expect(script.tree.ephemeralCount).toBe(1);
  });

  it('take exactly their ephemerals with them in one txn, with its zxid in the parents', () => {
    const script = new TreeScript();
    script.create('/p');
    script.create('/q');
    script.createSession(A);
    script.createSession(B);
    script.create('/p/a1', undefined, A);
    script.create('/q/a2', undefined, A);
    script.create('/p/b', undefined, B);
    const zxid = script.closeSession(A);
    expect(script.tree.sessions.ids()).toEqual([B]);
    expect(script.tree.children('/p')).toEqual(['b']);
    expect(script.tree.stat('/p')).toMatchObject({ pzxid: zxid, cversion: 3, numChildren: 1 });
    expect(script.tree.stat('/q')).toMatchObject({ pzxid: zxid, cversion: 2, numChildren: 0 });
    expect(script.tree.ephemeralCount).toBe(1);
  });

  it('list their ids in ascending order as unsigned numbers', () => {
    const script = new TreeScript();
    for (const id of [B, A]) script.createSession(id);
    expect(script.tree.sessions.ids()).toEqual([A, B]);
    expect(script.tree.sessions.size).toBe(2);
  });

  it('C070: writes of a session that has ended since are there after a replay', () => {
    const script = new TreeScript();
    script.createSession(A);
    for (let i = 0; i < 1000; i++) {
      const path = `/n${i}`;
      script.apply({ kind: 'create', path, data: utf8(path), ephemeralOwner: NO_SESSION, parentCreates: i + 1 }, A);
    }
    script.closeSession(A);
    const replayed = DataTree.empty();
    for (const { zxid, txn } of script.history) replayed.apply(zxid, txn);
    expect(replayed.znodeCount).toBe(1004);
    expect(replayed.stat('/n999')).toEqual(script.tree.stat('/n999'));
    expect(replayed.digest).toBe(script.tree.digest);
  });
});

describe('apply', () => {
  it('changes nothing but the position when the txn is an error', () => {
    const script = new TreeScript();
    script.create('/a', utf8('x'));
    const digest = script.tree.digest;
    const zxid = script.error();
    expect(script.tree.lastZxid).toBe(zxid);
    expect(script.tree.digest).toBe(digest);
    expect(script.tree.znodeCount).toBe(5);
  });

  it('refuses a position that is not after the last one', () => {
    const script = new TreeScript();
    const zxid = script.error();
    const { txn } = script.history[0]!;
    expect(() => script.tree.apply(zxid, txn)).toThrow(AssertionError);
    expect(() => script.tree.apply(toZxid(zxid - 1n), txn)).toThrow(AssertionError);
    script.tree.apply(toZxid(zxid + 10n), txn);
  });

  const create = (path: string, parentCreates: number, ephemeralOwner = NO_SESSION): TxnBody => ({
    kind: 'create',
    path,
    data: undefined,
    ephemeralOwner,
    parentCreates,
  });

  it.each<[string, TxnBody, bigint?]>([
    ['a create of what exists', create('/p', 9)],
    ['a create without a parent', create('/none/x', 1)],
    ['a create below an ephemeral', create('/e/x', 1)],
    ['a create with a bad path', create('/p//x', 9)],
    ['a create of the root', create('/', 9)],
    ['a create that does not move the count of creates', create('/p/x', 1)],
    ['an ephemeral of an unknown session', create('/p/x', 2, B), B],
    ['a delete of what is not there', { kind: 'delete', path: '/none' }],
    ['a delete of what has children', { kind: 'delete', path: '/p' }],
    ['a delete of the root', { kind: 'delete', path: '/' }],
    ['a delete of a built-in znode', { kind: 'delete', path: '/zookeeper/quota' }],
    ['data for what is not there', { kind: 'setData', path: '/none', data: undefined, version: 1 }],
    ['a session that exists', { kind: 'createSession', timeoutMs: 1, token: new Uint8Array(0) }, A],
    ['a session without an id', { kind: 'createSession', timeoutMs: 1, token: new Uint8Array(0) }, 0n],
    ['the end of an unknown session', { kind: 'closeSession', paths: [] }, B],
    ['the end of a session without its ephemerals', { kind: 'closeSession', paths: [] }, A],
    ['the end of a session without one of its ephemerals', { kind: 'closeSession', paths: ['/e'] }, A],
    ['the end of a session with a znode more', { kind: 'closeSession', paths: ['/e', '/f', '/p/c'] }, A],
    ['the end of a session with another znode in its place', { kind: 'closeSession', paths: ['/e', '/p/c'] }, A],
    ['the end of a session with one ephemeral for another', { kind: 'closeSession', paths: ['/e', '/e'] }, A],
    ['the end of a session with an ephemeral twice', { kind: 'closeSession', paths: ['/e', '/f', '/f'] }, A],
    ['a kind that is not known', { kind: 'rename' } as unknown as TxnBody],
  ])('stops at %s, and has changed nothing', (_what, body, session = 0n) => {
    const script = new TreeScript();
    script.create('/p');
    script.create('/p/c');
    script.createSession(A);
    for (const path of ['/e', '/f']) script.create(path, undefined, A);
    const before = [script.tree.lastZxid, script.tree.digest, script.tree.znodeCount];
    expect(() => script.apply(body, toSessionId(session))).toThrow(AssertionError);
    expect([script.tree.lastZxid, script.tree.digest, script.tree.znodeCount]).toEqual(before);
  });

  it('does not judge the session of a txn that needs none', () => {
    const tree = DataTree.empty();
    const txn: Txn = { origin: { sid: 2, incarnation: 1, seq: 1 }, session: B, timeMs: 5, body: create('/x', 1) };
    tree.apply(toZxid(1n), txn);
    expect(tree.stat('/x')?.ctimeMs).toBe(5);
  });
});
