import { DecodeError, sequenceSuffix, toSessionId, toZxid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataTree } from './data-tree.ts';
import { Rows } from './rows.ts';
import { RecordReader, type StateRecord, sessionKey, summaryRecord, znodeKey } from './state-record.ts';
import { TreeLoader } from './tree-loader.ts';
import { checkpointOf, hex, keyText, loadTree, StateDisk, TreeScript } from './tree-script.fixture.ts';

const A = toSessionId(0x0100_0000_0000_0001n);
const B = toSessionId(0xfe00_0000_0000_0003n);

function grown(): { script: TreeScript; records: StateRecord[]; zxid: Zxid } {
  const script = new TreeScript();
  script.createSession(B, 30_000, Uint8Array.of(1, 2, 3));
  script.create('/a', Uint8Array.of(1));
  script.create('/a/b', undefined);
  script.create('/a/b/e', new Uint8Array(0), B);
  script.create('/gone');
  script.delete('/gone');
  script.setData('/a', Uint8Array.of(2, 3));
  return { script, records: checkpointOf(script.tree), zxid: script.tree.lastZxid };
}

function keyIs(name: Uint8Array): (record: StateRecord) => boolean {
  return ({ key }) => hex(key) === hex(name);
}

describe('the loader', () => {
  it('makes the tree that was written, whatever the order and the parts in which its records come', () => {
    const { script, records, zxid } = grown();
    const whole = records.filter(({ value }) => value !== undefined);
    fc.assert(
      fc.property(fc.shuffledSubarray(whole, { minLength: whole.length }), fc.nat(whole.length), (shuffled, cut) => {
        const loader = new TreeLoader();
        loader.add(shuffled.slice(0, cut));
        loader.add(shuffled.slice(cut));
        const tree = loader.finish(zxid);
        expect(tree.digest).toBe(script.tree.digest);
        expect(tree.lastZxid).toBe(zxid);
        for (const path of ['/', '/a', '/a/b', '/a/b/e', '/zookeeper']) {
          expect(tree.stat(path)).toEqual(script.tree.stat(path));
          expect(tree.data(path)).toEqual(script.tree.data(path));
          expect(tree.children(path)).toEqual(script.tree.children(path));
        }
        const session = tree.sessions.get(B)!;
        expect([session.timeoutMs, session.token, [...session.ephemerals]]).toEqual([
          30_000,
          Uint8Array.of(1, 2, 3),
          ['/a/b/e'],
        ]);
        expect([tree.znodeCount, tree.dataBytes, tree.ephemeralCount]).toEqual([7, 2, 1]);
      }),
    );
  });

  it('C071: replaces the whole state of a member that was away: nothing is left over, and listings match numChildren', () => {
    const leader = new TreeScript();
    const disk = new StateDisk();
    leader.createSession(A);
    for (let i = 0; i < 10_000; i++) leader.create(`/d${i}`, Uint8Array.of(i), i % 10 === 1 ? A : undefined);
    disk.save(leader.tree);
    expect(disk.load().digest).toBe(leader.tree.digest);
    for (let i = 0; i < 10_000; i += 2) leader.delete(`/d${i}`);
    leader.closeSession(A);
    leader.createSession(B);
    for (let i = 3; i < 500; i += 10) leader.create(`/d${i}/s-${sequenceSuffix(0)}`, undefined, B);
    disk.save(leader.tree);
    const replaced = disk.load();
    expect(replaced.digest).toBe(leader.tree.digest);
    expect(replaced.znodeCount).toBe(leader.tree.znodeCount);
    expect(replaced.ephemeralCount).toBe(50);
    expect(replaced.sessions.ids()).toEqual([B]);
    expect(replaced.znode('/d0')).toBeUndefined();
    const paths = ['/', ...replaced.children('/')!.map((name) => `/${name}`)];
    expect(paths.length).toBe(4_002);
    const listed = paths.filter((path) => replaced.stat(path)?.numChildren === replaced.children(path)?.length);
    expect(listed).toEqual(paths);
    for (const path of ['/', '/d3', '/d5']) expect(replaced.stat(path)).toEqual(leader.tree.stat(path));
  });

  it('goes on where the written tree was: counters, sequence numbers and checkpoints', () => {
    const { script, records, zxid } = grown();
    const loaded = new TreeScript(
      loadTree(
        records.filter(({ value }) => value !== undefined),
        zxid,
      ),
    );
    expect(checkpointOf(loaded.tree).length).toBe(1);
    for (const one of [script, loaded]) {
      one.create('/next');
      one.closeSession(B);
    }
    expect(loaded.tree.stat('/')).toMatchObject({ cversion: 3, numChildren: 3 });
    expect(loaded.tree.znode('/')?.creates).toBe(3);
    expect(loaded.tree.stat('/a/b')).toMatchObject({ cversion: 2, numChildren: 0 });
  });

  it('copies what it keeps out of the buffer that the records came in', () => {
    const { records, zxid } = grown();
    const chunk = records.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value: value.slice() }]));
    const tree = loadTree(chunk, zxid);
    for (const { value } of chunk) value.fill(0);
    expect(tree.data('/a')).toEqual(Uint8Array.of(2, 3));
    expect(tree.sessions.get(B)?.token).toEqual(Uint8Array.of(1, 2, 3));
  });

  it('gives the empty tree for no records at zxid 0, with everything still to be written', () => {
    const tree = new TreeLoader().finish(ZERO_ZXID);
    expect(tree.digest).toBe(DataTree.empty().digest);
    expect(checkpointOf(tree).length).toBe(5);
    expect(() => new TreeLoader().finish(toZxid(1n))).toThrow(DecodeError);
  });

  const { records, zxid } = grown();
  const whole = records.filter(({ value }) => value !== undefined);
  const without = (key: Uint8Array) => whole.filter((record) => !keyIs(key)(record));
  const value = (key: Uint8Array) => whole.find(keyIs(key))!.value!;
  const summary = summaryRecord({ zxid, digestVersion: 1, digest: 0n, znodeCount: 7, sessionCount: 1 });
  const summaryKey = summary.key;
  const of = (key: Uint8Array, bytes: Uint8Array): StateRecord => ({ key, value: bytes });
  const longer = (key: Uint8Array, part: 'key' | 'value') => {
    const padded = (bytes: Uint8Array, is: boolean) => (is ? Uint8Array.of(...bytes, 0) : bytes);
    return [...without(key), of(padded(key, part === 'key'), padded(value(key), part === 'value'))];
  };
  const flipped = (key: Uint8Array, at: number) => {
    const broken = Uint8Array.from(value(key));
    broken[at]! ^= 1;
    return [...without(key), { key, value: broken }];
  };

  it.each<[string, RegExp, StateRecord[]]>([
    ['a missing leaf', /has 6 znodes/, without(znodeKey('/a/b/e'))],
    ['a missing parent', /without its parent/, without(znodeKey('/a/b'))],
    ['a missing root', /without its parent/, without(znodeKey('/'))],
    ['a missing built-in znode', /no znode .zookeeper.quota/, without(znodeKey('/zookeeper/quota'))],
    ['a missing session that owns an ephemeral', /or its session/, without(sessionKey(B))],
    ['no summary', /no summary/, without(summaryKey)],
    ['two summaries', /two summaries/, [...whole, summary]],
    ['a znode twice', /twice/, [...whole, whole.find(keyIs(znodeKey('/a')))!]],
    ['an ephemeral twice', /twice/, [...whole, whole.find(keyIs(znodeKey('/a/b/e')))!]],
    ['a session twice', /twice/, [...whole, whole.find(keyIs(sessionKey(B)))!]],
    ['a session that is none', /no session/, [...whole, of(sessionKey(toSessionId(0n)), value(sessionKey(B)))]],
    ['a znode more', /has 8 znodes/, [...whole, of(znodeKey('/extra'), value(znodeKey('/a')))]],
    ['a session more', /and 2 sessions/, [...whole, of(sessionKey(A), value(sessionKey(B)))]],
    ['a bad path', /bad path/, [...whole, of(znodeKey('/a//x'), value(znodeKey('/a')))]],
    ['a znode below an ephemeral', /below an ephemeral/, [...whole, of(znodeKey('/a/b/e/x'), value(znodeKey('/a')))]],
    ['a flipped bit in data', /has digest/, flipped(znodeKey('/a'), 2)],
    ['a flipped bit in a zxid', /has digest/, flipped(znodeKey('/a'), 12)],
    ['a flipped bit in a token', /has digest/, flipped(sessionKey(B), value(sessionKey(B)).length - 2)],
    ['another digest', /has digest/, [...without(summaryKey), summary]],
    ['another format of a znode', /format 99/, [...without(znodeKey('/a')), of(znodeKey('/a'), Uint8Array.of(99))]],
    ['a kind of record that is not known', /unknown kind/, [...whole, of(Uint8Array.of(0x71, 1), Uint8Array.of(1))]],
    ['a name that is not known', /unknown name/, [...whole, of(Uint8Array.of(0x6d, 0x78), Uint8Array.of(1))]],
    ['a record without a key', /Needs 1 bytes/, [...whole, of(new Uint8Array(0), Uint8Array.of(1))]],
    ['a record without a value', /no value/, [...whole, { key: znodeKey('/x'), value: undefined }]],
    ['a key with a byte too many', /1 bytes too many/, longer(sessionKey(B), 'key')],
    ['a value with a byte too many', /1 bytes too many/, longer(sessionKey(B), 'value')],
  ])('refuses %s', (_what, reason, broken) => {
    expect(() => loadTree(broken, zxid)).toThrow(DecodeError);
    expect(() => loadTree(broken, zxid)).toThrow(reason);
  });

  it('refuses a state that is at another zxid than its checkpoint, and to be used twice', () => {
    expect(() => loadTree(whole, toZxid(zxid + 1n))).toThrow(DecodeError);
    const loader = new TreeLoader();
    loader.add(whole);
    loader.finish(zxid);
    expect(() => loader.finish(zxid)).toThrow(DecodeError);
  });

  it('does not hold a digest of another way of hashing against the state', () => {
    const other = summaryRecord({ zxid, digestVersion: 2, digest: 5n, znodeCount: 7, sessionCount: 1 });
    expect(loadTree([...without(summaryKey), other], zxid).znodeCount).toBe(7);
  });

  it('fails with DecodeError at most on records whose bytes were changed', () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.boolean(), fc.nat(), fc.nat(255), (which, inKey, at, byte) => {
        const broken = whole.map(({ key, value: bytes }) => ({ key: key.slice(), value: bytes!.slice() }));
        const { key, value: bytes } = broken[which]!;
        const target = inKey ? key : bytes;
        target[at % target.length] = byte;
        let failure: unknown;
        try {
          loadTree(broken, zxid);
        } catch (error) {
          failure = error;
        }
        if (failure !== undefined) expect(failure).toBeInstanceOf(DecodeError);
      }),
      { numRuns: 400 },
    );
  });
});

describe('a state record', () => {
  it('has the bytes of its table, so that old databases can be read', () => {
    const { script, records: made, zxid: at } = grown();
    const key = made.at(-1)!.key;
    const valueHex = (name: Uint8Array) => hex(made.find(keyIs(name))!.value!);
    expect(hex(znodeKey('/a/é'))).toBe('6e2f612fc3a9');
    expect(hex(sessionKey(B))).toBe('73fe00000000000003');
    expect(keyText(key)).toBe('mtree');
    expect(valueHex(znodeKey('/a/b/e'))).toBe(
      `0301${'0000000100000004'.repeat(3)}eb07eb07${'00000000'.repeat(3)}01fe0000000000000300`,
    );
    expect(valueHex(znodeKey('/a/b')).startsWith('0300')).toBe(true);
    expect(valueHex(znodeKey('/a')).startsWith('03030203')).toBe(true);
    expect(valueHex(sessionKey(B))).toBe('02b0ea010301020300');
    const digest = script.tree.digest.toString(16).padStart(16, '0');
    expect(valueHex(key)).toBe(`02${at.toString(16).padStart(16, '0')}01${digest}0701`);
  });

  it('C013: keeps 64-bit values above 2^53 and negative ones exact', () => {
    const script = new TreeScript(loadTree(checkpointOf(DataTree.empty()), ZERO_ZXID));
    script.createSession(B);
    script.tree.apply(toZxid(0x0030_0000_0000_0001n), {
      origin: { sid: 1, incarnation: 1, seq: 1 },
      session: B,
      timeMs: Number.MAX_SAFE_INTEGER - 1,
      body: { kind: 'create', path: '/e', data: undefined, ephemeralOwner: B, parentCreates: 1 },
    });
    const record = checkpointOf(script.tree).find(keyIs(znodeKey('/e')))!;
    expect(new RecordReader(new Rows()).read(record)).toMatchObject({
      znode: { czxid: 0x0030_0000_0000_0001n, mtimeMs: Number.MAX_SAFE_INTEGER - 1, owner: B },
    });
  });
});
