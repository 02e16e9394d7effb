/** Several changes as one, and writes bound to a znode: against a leader's preparation and a real tree. */
import {
  MULTI_DATA_BYTES_MAX,
  MULTI_PARTS_MAX,
  type MultiPart,
  NO_SESSION,
  REQUEST_BYTES_MAX,
  type SessionId,
  UNACKNOWLEDGED_BYTES_MAX,
  type Zxid,
} from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { bytes, create, set } from '../peer/words.fixture.ts';
import type { TxnBody } from '../tree/txn.ts';
import { decodeTxn, encodeTxn } from '../tree/txn-codec.ts';
import { CLOSE_SESSION_BYTES_MAX } from './ephemeral-load.ts';
import { PreparedTree } from './leader.fixture.ts';
import { writeAnswer } from './reads.ts';
import { opFault } from './validate.ts';

const S = 11n as SessionId;
const SEQUENTIAL = { sequential: true } as const;

const multi = (...parts: readonly MultiPart[]) => ({ kind: 'multi', parts }) as const;
const del = (path: string, expectedVersion?: number): MultiPart => ({ kind: 'delete', path, expectedVersion });
const check = (path: string, expectedVersion?: number): MultiPart => ({ kind: 'check', path, expectedVersion });
const setAt = (path: string, expectedVersion: number): MultiPart => ({ ...set(path, 'x'), expectedVersion });

/** What failed, as `code at part`, or the paths of the parts. */
function outcomeOf(body: TxnBody): string {
  if (body.kind === 'error') return `${body.code} at ${body.part}`;
  return body.kind === 'multi' ? body.parts.map(({ path }) => path).join() : body.kind;
}

describe('a multi', () => {
  it('checks each part against what those before it leave', () => {
    const prepared = new PreparedTree();
    const made = multi(
      create('/a'),
      create('/a/b'),
      create('/a/s-', '', SEQUENTIAL),
      create('/a/s-', '', SEQUENTIAL),
      setAt('/a', 0),
      check('/a', 1),
      del('/a/b'),
    );
    expect(outcomeOf(prepared.order(made))).toBe('/a,/a/b,/a/s-0000000001,/a/s-0000000002,/a,/a,/a/b');
    prepared.apply();
    expect(prepared.tree.children('/a')).toEqual(['s-0000000001', 's-0000000002']);
    expect(prepared.tree.stat('/a')).toMatchObject({ version: 1, cversion: 4, numChildren: 2 });
    expect(prepared.preparation.size).toBe(0);
  });

  it('fails as a whole by its first bad part, and nothing of it is left, numbers included (ZOOKEEPER-1624)', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/s'));
    const failing = multi(create('/s/a-', '', SEQUENTIAL), check('/s', 7), create('/nowhere/x'));
    expect(outcomeOf(prepared.order(failing))).toBe('BAD_VERSION at 1');
    expect(outcomeOf(prepared.order(multi(check('/gone'))))).toBe('NO_NODE at 0');
    expect(outcomeOf(prepared.order(multi(create('/s/a-', '', SEQUENTIAL))))).toBe('/s/a-0000000000');
    prepared.apply();
    expect(prepared.tree.children('/s')).toEqual(['a-0000000000']);
  });

  it.each([
    {
      what: 'a znode made, set, checked and deleted within it leaves nothing',
      parts: [create('/t'), create('/t/a'), setAt('/t/a', 0), check('/t/a', 1), del('/t/a', 1), del('/t')],
      outcome: '/t,/t/a,/t/a,/t/a,/t/a,/t',
    },
    { what: 'one that is deleted can be made anew', parts: [del('/u'), create('/u')], outcome: '/u,/u' },
    {
      what: 'an ephemeral made within it has no children',
      parts: [create('/w'), create('/w/e', '', { mode: 'ephemeral' }), create('/w/e/x')],
      outcome: 'NO_CHILDREN_FOR_EPHEMERALS at 2',
    },
    { what: 'a version is used up', parts: [setAt('/z', 0), setAt('/z', 0)], outcome: 'BAD_VERSION at 1' },
  ])('C007: $what', ({ parts, outcome }) => {
    const prepared = new PreparedTree();
    prepared.open(S);
    for (const path of ['/u', '/z']) prepared.order(create(path));
    const before = prepared.orderAt(set('/u', 'x'));
    expect(outcomeOf(prepared.order(multi(...parts), S))).toBe(outcome);
    prepared.apply();
    const isDone = !outcome.includes(' at ');
    expect(prepared.tree.children('/')).toEqual(['u', 'z', 'zookeeper']);
    expect(prepared.tree.stat('/z')).toMatchObject({ version: 0 });
    const isNew = isDone && parts.length === 2;
    expect((prepared.tree.stat('/u')?.czxid ?? 0n) > before).toBe(isNew);
    expect(prepared.tree.stat('/u')?.version).toBe(isNew ? 0 : 1);
  });

  it('may be empty', () => {
    expect(outcomeOf(new PreparedTree().order(multi()))).toBe('');
  });

  it('is refused by form with the number of the part, and by count and size as a whole', () => {
    const prepared = new PreparedTree();
    const ephemeral = create('/e', '', { mode: 'ephemeral' });
    expect(outcomeOf(prepared.order(multi(create('/a'), ephemeral)))).toBe('INVALID_ARGUMENT at 1');
    expect(outcomeOf(prepared.order(multi(del('/none'), check('bad'))))).toBe('NO_NODE at 0');
    expect(outcomeOf(prepared.order(multi(create('/a'), del('/zookeeper'))))).toBe('INVALID_ARGUMENT at 1');
    const many = multi(...Array.from({ length: MULTI_PARTS_MAX + 1 }, () => check('/a')));
    expect(opFault(many, NO_SESSION)).toMatchObject({ code: 'INVALID_ARGUMENT', path: undefined });
    const half = create('/a', 'x'.repeat(REQUEST_BYTES_MAX / 2));
    expect(opFault(multi(half), NO_SESSION)).toBeUndefined();
    expect(opFault(multi(half, half), NO_SESSION)?.message).toMatch(/^Cannot do a multi of \d+ bytes/);
  });

  it('C022: the end of the session takes the ephemerals that it makes, and not those that it deletes again', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    const [one, two] = [create('/e1', '', { mode: 'ephemeral' }), create('/e2', '', { mode: 'ephemeral' })];
    prepared.order(multi(one, two, del('/e1')), S);
    const body = prepared.order({ kind: 'closeSession' }, S);
    expect(body).toEqual({ kind: 'closeSession', paths: ['/e2'] });
    prepared.apply();
    expect(prepared.tree.stat('/e2')).toBeUndefined();
  });

  it('counts the ephemerals of its parts as they come and go, so that the end of the session still fits one txn', () => {
    const ephemeral = (path: string) => create(path, '', { mode: 'ephemeral' });
    const name = (n: number): string => `/${'x'.repeat(60_000)}${n}`;
    const prepared = new PreparedTree();
    prepared.open(S);
    // What is made and deleted at once takes no room, however often.
    for (let n = 0; n < 300; n++) {
      expect(outcomeOf(prepared.order(multi(ephemeral(name(n)), del(name(n))), S))).toBe(`${name(n)},${name(n)}`);
    }
    // An ephemeral that goes is counted once, though its path is used and deleted again.
    let held = 0;
    for (let n = 0; n < 600; n++) {
      if (outcomeOf(prepared.order(multi(ephemeral(name(n)), ephemeral(`${name(n)}b`)), S)) === 'THROTTLED at 1') break;
      prepared.order(multi(del(`${name(n)}b`), create(`${name(n)}b`), del(`${name(n)}b`)), S);
      held++;
    }
    expect(held).toBe(Math.floor(CLOSE_SESSION_BYTES_MAX / 60_008) - 1);
    // Room that a part makes is there for the next one.
    const [gone, next] = [name(0), name(1_000)];
    prepared.order(ephemeral('/last'), S);
    expect(outcomeOf(prepared.order(multi(del(gone), ephemeral(next)), S))).toBe(`${gone},${next}`);
  });

  it('answers with the stat right after each part, all at one zxid', () => {
    const prepared = new PreparedTree();
    const txn = prepared.prepare(
      multi(create('/a', 'one'), setAt('/a', 0), setAt('/a', 1), check('/a'), create('/a/b')),
    );
    const zxid = prepared.tree.lastZxid + 1n;
    prepared.tree.apply(zxid as Zxid, txn);
    const { result } = writeAnswer(prepared.tree, zxid as Zxid, txn);
    expect(result).toMatchObject({
      kind: 'multi',
      results: [
        { kind: 'create', path: '/a', stat: { version: 0, dataLength: 3, numChildren: 0, mzxid: zxid } },
        { kind: 'setData', stat: { version: 1, dataLength: 1, numChildren: 0 } },
        { kind: 'setData', stat: { version: 2, numChildren: 0, mzxid: zxid } },
        { kind: 'check' },
        { kind: 'create', path: '/a/b', stat: { czxid: zxid } },
      ],
    });
  });
});

describe('reads in a multi', () => {
  const look = (path: string): MultiPart => ({ kind: 'getData', path });
  const exists = (path: string): MultiPart => ({ kind: 'exists', path });
  const absent = (path: string): MultiPart => ({ kind: 'check', path, expectedVersion: undefined, absent: true });
  const carryOut = (prepared: PreparedTree, parts: readonly MultiPart[]) => {
    const txn = prepared.prepare(multi(...parts));
    prepared.propose(txn);
    prepared.apply();
    return writeAnswer(prepared.tree, prepared.last, decodeTxn(encodeTxn(txn)));
  };

  it('of what a subtree holds show it as it is when they are applied, however long its numbers are by then', () => {
    const prepared = new PreparedTree();
    for (const path of ['/a', '/zookeeper/quota/a', '/zookeeper/quota/a/zookeeper_limits'])
      prepared.order(create(path));
    prepared.order(create('/zookeeper/quota/a/zookeeper_stats'));
    prepared.propose(prepared.prepare(set('/a', 'x'.repeat(100_000))));
    const { result } = carryOut(prepared, [look('/zookeeper/quota/a/zookeeper_stats')]);
    expect(result).toMatchObject({ results: [{ kind: 'getData', data: bytes('count=1,bytes=100000') }] });
  });

  it('show what the parts before them leave, at the zxid of the whole', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/a', 'one'));
    const parts = [look('/a'), set('/a', 'two'), look('/a'), exists('/a/b'), create('/a/b'), exists('/a'), del('/a/b')];
    const { zxid, result } = carryOut(prepared, [...parts, exists('/a/b'), set('/a', 'three')]);
    expect(zxid).toBe(prepared.last);
    expect(result).toMatchObject({
      kind: 'multi',
      results: [
        { kind: 'getData', data: bytes('one'), stat: { version: 0 } },
        { kind: 'setData', stat: { version: 1 } },
        { kind: 'getData', data: bytes('two'), stat: { version: 1, mzxid: zxid, numChildren: 0 } },
        { kind: 'exists', stat: undefined },
        { kind: 'create', path: '/a/b' },
        { kind: 'exists', stat: { numChildren: 1 } },
        { kind: 'delete' },
        { kind: 'exists', stat: undefined },
        { kind: 'setData', stat: { version: 2 } },
      ],
    });
  });

  it('are conditions too: of what is not there, and of what is', () => {
    const prepared = new PreparedTree();
    expect(outcomeOf(prepared.order(multi(create('/x'), look('/none'))))).toBe('NO_NODE at 1');
    expect(outcomeOf(prepared.order(multi(absent('/x'), create('/x'), absent('/y'))))).toBe('/x,/x,/y');
    expect(outcomeOf(prepared.order(multi(absent('/y'), absent('/x'))))).toBe('NODE_EXISTS at 1');
    expect(outcomeOf(prepared.order(multi(del('/x'), absent('/x'), create('/x'))))).toBe('/x,/x,/x');
    const both = { ...absent('/x'), expectedVersion: 0 } as MultiPart;
    expect(outcomeOf(prepared.order(multi(both)))).toBe('INVALID_ARGUMENT at 0');
    expect(outcomeOf(prepared.order(multi(exists('x'))))).toBe('INVALID_ARGUMENT at 0');
  });

  it('ask for READ', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/secret', 'x', { acl: [{ perms: 31 - 1, scheme: 'world', id: 'anyone' }] }));
    for (const part of [look('/secret'), exists('/secret')]) {
      expect(outcomeOf(prepared.order(multi(part)))).toBe('NO_AUTH at 0');
    }
  });

  it('together return no more than can be kept, and what is kept is what they returned', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    prepared.order(create('/big', 'x'.repeat(MULTI_DATA_BYTES_MAX)));
    prepared.order(create('/a', 'y'));
    const all = [look('/big'), exists('/big')];
    expect(outcomeOf(prepared.order(multi(...all, look('/a'))))).toBe('INVALID_ARGUMENT at 2');
    const first = prepared.prepare(multi(...all, set('/big', 'z')), S, { request: 1, acknowledged: 0 });
    prepared.propose(first);
    prepared.apply();
    const said = writeAnswer(prepared.tree, prepared.last, first);
    const again = prepared.prepare(multi(...all, set('/big', 'z')), S, { request: 1, acknowledged: 0 });
    prepared.propose(again);
    prepared.apply();
    expect(again.body.kind).toBe('repeat');
    expect(writeAnswer(prepared.tree, prepared.last, again)).toEqual(said);
    expect(prepared.tree.sessions.get(S)?.results.bytes).toBeGreaterThan(MULTI_DATA_BYTES_MAX);
  });

  it('count in what a session may leave unacknowledged while they are in flight', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    prepared.order(create('/big', 'x'.repeat(MULTI_DATA_BYTES_MAX)));
    const asked = Array.from({ length: 20 }, (_, i) => {
      return prepared.order(multi(look('/big')), S, { request: i + 1, acknowledged: 0 });
    });
    const taken = asked.filter(({ kind }) => kind === 'multi').length;
    expect(taken).toBe(Math.floor((2 * UNACKNOWLEDGED_BYTES_MAX) / MULTI_DATA_BYTES_MAX));
    expect(asked[taken]).toMatchObject({ kind: 'error', code: 'THROTTLED' });
  });
});

describe('a guard', () => {
  it('holds while that very znode exists, in flight or applied', () => {
    for (const isLate of [true, false]) {
      const prepared = new PreparedTree();
      const settle = (): void => {
        if (!isLate) prepared.apply();
      };
      const lock = prepared.orderAt(create('/lock'));
      settle();
      expect(prepared.order(create('/a'), NO_SESSION, undefined, [{ path: '/lock', czxid: lock }]).kind).toBe('create');
      prepared.order(del('/lock') as never);
      settle();
      const gone = prepared.order(set('/a', 'x'), NO_SESSION, undefined, [{ path: '/lock', czxid: lock }]);
      expect(gone).toMatchObject({ code: 'GUARD_FAILED', path: '/lock' });
      const again = prepared.orderAt(create('/lock'));
      settle();
      const stale = prepared.order(multi(set('/a', 'x')), NO_SESSION, undefined, [{ path: '/lock', czxid: lock }]);
      expect(stale).toMatchObject({ code: 'GUARD_FAILED' });
      const fresh = [{ path: '/lock', czxid: again }];
      expect(prepared.order(multi(set('/a', 'x')), NO_SESSION, undefined, fresh).kind).toBe('multi');
    }
  });

  it('must hold for all of several, and for the end of a session too', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    const [a, b] = [prepared.orderAt(create('/a')), prepared.orderAt(create('/b'))];
    const wrong = [
      { path: '/a', czxid: a },
      { path: '/b', czxid: a },
    ];
    expect(prepared.order({ kind: 'closeSession' }, S, undefined, wrong)).toMatchObject({
      code: 'GUARD_FAILED',
      path: '/b',
    });
    const right = [
      { path: '/a', czxid: a },
      { path: '/b', czxid: b },
    ];
    expect(prepared.order({ kind: 'closeSession' }, S, undefined, right).kind).toBe('closeSession');
  });
});
