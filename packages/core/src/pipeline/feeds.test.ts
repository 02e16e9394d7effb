import { type Acl, NO_SESSION, OPEN_ACL, PERMS, toSessionId, ZERO_ZXID } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { StateDisk, TreeScript, utf8 } from '../tree/tree-script.fixture.ts';
import { PIECE_BYTES } from './feed-piece.ts';
import { FeedStage, zxidOf } from './feeds.fixture.ts';
import { UNTAKEN_BYTES_MAX } from './feeds.ts';
import { refusal } from './refusal.ts';

const SESSION = toSessionId(0x0100_0000_0000_0001n);

describe('what a watch is told', () => {
  it('C029: the state in the order of a walk, then ready, then every change once, by its own path, with stat and data', () => {
    const stage = new FeedStage();
    const { script } = stage;
    for (const path of ['/a', '/a/y', '/a/x', '/a/x/1', '/ab']) script.create(path, utf8(path));
    const reader = stage.open({ path: '/a' });
    stage.settle();
    expect(reader.words).toEqual(['current /a', 'current /a/x', 'current /a/x/1', 'current /a/y', 'ready']);
    expect(reader.told).toBe(zxidOf(5));
    script.setData('/a/x', utf8('new'));
    script.create('/abc');
    script.create('/a/z');
    script.delete('/a/y');
    script.setData('/a', utf8('root'));
    script.setData('/ab', utf8('sibling'));
    stage.settle();
    const changes = ['dataChanged /a/x', 'created /a/z', 'deleted /a/y', 'dataChanged /a'];
    expect(reader.words.slice(5)).toEqual(changes);
    expect(reader.events[5]).toMatchObject({ zxid: zxidOf(6), stat: { version: 1, mzxid: zxidOf(6), dataLength: 3 } });
    expect(reader.events[5]?.data).toEqual(utf8('new'));
    expect(reader.events[7]?.stat).toBeUndefined();
    expect(reader.told).toBe(zxidOf(11));
  });

  it('C123: nothing of what its reader had no right to read when it happened, not even that it is there', () => {
    const stage = new FeedStage();
    const { script } = stage;
    const alice = { scheme: 'digest', id: 'alice:hash' };
    const hers = [{ perms: PERMS.ALL, ...alice }];
    const made = (path: string, acl?: Acl) =>
      ({ kind: 'create', path, data: utf8(path), ephemeralOwner: NO_SESSION, ...(acl && { acl }) }) as const;
    script.create('/a');
    script.apply({ ...made('/a/secret', hers), parentCreates: 1 });
    script.create('/a/secret/open');
    const states = [stage.open({ path: '/a' }), stage.open({ path: '/a' }, [alice])];
    stage.settle();
    expect(states[0]?.words).toEqual(['current /a', 'current /a/secret/open', 'ready']);
    expect(states[1]?.words).toEqual(['current /a', 'current /a/secret', 'current /a/secret/open', 'ready']);
    for (const reader of states) stage.close(reader);
    const only = { path: '/a', initial: false };
    const readers = [stage.open(only), stage.open(only, [alice])];
    stage.settle();
    script.setData('/a/secret', utf8('x'));
    script.apply({ kind: 'setAcl', path: '/a/secret', acl: OPEN_ACL, version: 1 });
    script.setData('/a/secret', utf8('y'));
    script.apply({ kind: 'setAcl', path: '/a/secret', acl: hers, version: 2 });
    script.delete('/a/secret/open');
    script.delete('/a/secret');
    stage.settle();
    const between = ['aclChanged /a/secret', 'dataChanged /a/secret'];
    // Whoever may not read it any more is told so at once, and not of its end.
    expect(readers[0]?.words.slice(1)).toEqual([...between, 'deleted /a/secret', 'deleted /a/secret/open']);
    expect(readers[0]?.events[3]).toMatchObject({ zxid: zxidOf(7), stat: undefined, data: undefined });
    expect(readers[1]?.words.slice(1)).toEqual([
      'dataChanged /a/secret',
      ...between,
      'aclChanged /a/secret',
      'deleted /a/secret/open',
      'deleted /a/secret',
    ]);
  });

  it('one znode alone, which need not exist', () => {
    const stage = new FeedStage();
    const reader = stage.open({ path: '/a', recursive: false, withValues: false });
    stage.settle();
    expect(reader.words).toEqual(['ready']);
    stage.script.create('/a', utf8('x'));
    stage.script.create('/a/b');
    stage.settle();
    stage.script.delete('/a/b');
    stage.script.delete('/a');
    stage.settle();
    expect(reader.words.slice(1)).toEqual(['created /a', 'deleted /a']);
    expect(reader.events[1]?.data).toBeUndefined();
  });

  it('only changes, when the state is not wanted', () => {
    const stage = new FeedStage();
    stage.script.create('/a');
    const reader = stage.open({ initial: false });
    stage.settle();
    stage.script.create('/b');
    stage.settle();
    expect(reader.words).toEqual(['ready', 'created /b']);
  });

  it('a value as it was right after the change, though it changed again before it was told', () => {
    const stage = new FeedStage();
    const reader = stage.open({ initial: false });
    stage.script.create('/a', utf8('1'));
    stage.script.setData('/a', utf8('2'));
    stage.settle();
    stage.script.delete('/a');
    expect(reader.events.slice(1).map(({ data, stat }) => [data, stat?.version])).toEqual([
      [utf8('1'), 0],
      [utf8('2'), 1],
    ]);
  });

  it('C032: every part of a txn, as the znode was right after that part', () => {
    const stage = new FeedStage();
    stage.script.create('/a', utf8('0'));
    const reader = stage.open({ path: '/a' });
    stage.settle();
    const creates = stage.tree.znode('/')?.creates ?? 0;
    const zxid = stage.script.apply({
      kind: 'multi',
      parts: [
        { kind: 'setData', path: '/a', data: utf8('1'), version: 1 },
        { kind: 'check', path: '/a' },
        { kind: 'setData', path: '/a', data: utf8('2'), version: 2 },
        { kind: 'delete', path: '/a' },
        {
          kind: 'create',
          path: '/a',
          data: utf8('3'),
          ephemeralOwner: NO_SESSION,
          parentCreates: creates + 1,
        },
      ],
    });
    stage.script.error();
    stage.settle();
    const told = reader.events.slice(2).map((event) => [event.kind, event.zxid, event.stat?.version, event.data]);
    expect(told).toEqual([
      ['dataChanged', zxid, 1, utf8('1')],
      ['dataChanged', zxid, 2, utf8('2')],
      ['deleted', zxid, undefined, undefined],
      ['created', zxid, 0, utf8('3')],
    ]);
    expect(reader.state).toEqual(stage.expected(reader.spec));
  });

  it('nothing about a znode where the walk has yet to come, and no change twice', () => {
    const stage = new FeedStage({ isEager: false });
    const { script } = stage;
    const value = new Uint8Array(PIECE_BYTES / 2);
    for (const path of ['/a', '/b', '/c', '/d']) script.create(path, value);
    const reader = stage.open();
    stage.settle();
    expect(reader.words).toEqual(['current /', 'current /a', 'current /b']);
    expect(reader.told).toBe(ZERO_ZXID);
    script.delete('/d');
    script.setData('/c', utf8('c'));
    script.setData('/a', utf8('a'));
    script.create('/bb');
    stage.taken(reader);
    stage.settle();
    const rest = ['dataChanged /a', 'current /bb', 'current /c'];
    expect(reader.words.slice(3, 6)).toEqual(rest);
    expect(reader.state).toEqual(stage.expected(reader.spec));
  });
});

describe('going on', () => {
  it('from a position gives exactly what came after it, without the state', () => {
    const stage = new FeedStage();
    const { script } = stage;
    for (const path of ['/a', '/b', '/c']) script.create(path);
    script.error();
    const reader = stage.open({ from: zxidOf(1) });
    stage.settle();
    expect(reader.words).toEqual(['ready', 'created /b', 'created /c']);
    expect(reader.events[0]?.zxid).toBe(zxidOf(1));
    expect(reader.told).toBe(zxidOf(4));
    const current = stage.open({ from: zxidOf(4) });
    stage.settle();
    expect(current.words).toEqual(['ready']);
  });

  it('does not pass a txn whose changes were not all told', () => {
    const stage = new FeedStage({ isEager: false });
    const { script } = stage;
    script.createSession(SESSION);
    const paths = Array.from({ length: 1_500 }, (_, i) => `/${String(i).padStart(60, '0')}`);
    for (const path of paths) script.create(path, undefined, SESSION);
    const before = stage.tree.lastZxid;
    const reader = stage.open({ initial: false });
    stage.settle();
    script.closeSession(SESSION);
    const told: bigint[] = [];
    for (let i = 0; i < 10; i++) {
      stage.taken(reader);
      stage.settle();
      told.push(reader.told);
    }
    expect(told[0]).toBe(before);
    expect(told.at(-1)).toBe(stage.tree.lastZxid);
    expect(reader.events.filter(({ kind }) => kind === 'deleted').map(({ path }) => path)).toEqual(paths);
  });

  it('from before the window is a gap, with the position that it begins after, and the state', () => {
    const stage = new FeedStage({ bytesMax: 600 });
    const { script } = stage;
    for (let i = 0; i < 10; i++) script.create(`/${i}`);
    expect(stage.journal.floor).toBeGreaterThan(zxidOf(1));
    const reader = stage.open({ from: zxidOf(1), path: '/3' });
    const exact = stage.open({ from: stage.journal.floor });
    stage.settle();
    expect(reader.words).toEqual(['gap', 'current /3', 'ready']);
    expect(reader.events[0]?.zxid).toBe(stage.journal.floor);
    expect(exact.words.includes('gap')).toBe(false);
    expect(stage.journal.bytes).toBeLessThanOrEqual(600);
  });

  it('from a position that this member has not reached is refused', () => {
    const stage = new FeedStage();
    const reader = stage.open({ from: zxidOf(1) });
    expect(reader.end).toMatchObject({ code: 'SERVER_BEHIND' });
    expect(stage.feeds.count).toBe(0);
  });

  it('over a snapshot that replaces the tree is a gap and the state anew, in the same stream', () => {
    const stage = new FeedStage();
    stage.script.create('/a');
    const reader = stage.open();
    stage.settle();
    const ahead = new TreeScript();
    for (const path of ['/a', '/b', '/c']) ahead.create(path);
    ahead.delete('/a');
    const disk = new StateDisk();
    disk.save(ahead.tree);
    stage.replace(disk.load());
    stage.settle();
    expect(reader.words.slice(-8)).toContain('gap');
    expect(reader.state).toEqual(stage.expected(reader.spec));
    expect(reader.told).toBe(ahead.tree.lastZxid);
    const late = stage.open({ from: zxidOf(1) });
    stage.settle();
    expect(late.words[0]).toBe('gap');
  });
});

describe('a reader', () => {
  it('that does not take its piece gets no other, and nothing waits for it', () => {
    const stage = new FeedStage({ isEager: false });
    const reader = stage.open();
    stage.settle();
    for (let i = 0; i < 100; i++) stage.script.create(`/${i}`);
    stage.settle();
    expect(reader.pieces).toHaveLength(1);
    stage.taken(reader);
    stage.settle();
    expect(reader.pieces).toHaveLength(2);
    expect(reader.state).toEqual(stage.expected(reader.spec));
  });

  it('that is so slow that what comes next leaves the window is told and dropped', () => {
    const stage = new FeedStage({ isEager: false, bytesMax: 600 });
    const reader = stage.open({ initial: false });
    stage.settle();
    for (let i = 0; i < 10; i++) stage.script.create(`/${i}`);
    stage.feeds.tick();
    expect(reader.end).toMatchObject({ code: 'THROTTLED' });
    expect(stage.feeds.count).toBe(0);
  });

  it('that takes its piece too late gets no later one in place of what has left the window', () => {
    const stage = new FeedStage({ isEager: false, bytesMax: 600 });
    const reader = stage.open({ initial: false });
    stage.settle();
    for (let i = 0; i < 10; i++) stage.script.create(`/${i}`);
    stage.taken(reader);
    stage.settle();
    expect(reader.words).toEqual(['ready']);
    expect(reader.end).toMatchObject({ code: 'THROTTLED' });
  });

  it('that takes nothing for too long is told and dropped', () => {
    const stage = new FeedStage({ isEager: false, stallMs: 100 });
    const reader = stage.open();
    stage.settle();
    stage.nowMs = 100;
    stage.feeds.tick();
    expect(reader.end).toBeUndefined();
    stage.nowMs = 101;
    stage.feeds.tick();
    expect(reader.end).toMatchObject({ code: 'THROTTLED' });
  });

  it('is told how far the member is while nothing happens to what it watches', () => {
    const stage = new FeedStage();
    const reader = stage.open({ path: '/quiet', initial: false });
    stage.settle();
    stage.script.create('/loud');
    stage.settle();
    expect(reader.pieces).toHaveLength(1);
    stage.nowMs = 1_000;
    stage.feeds.tick();
    expect(reader.pieces.at(-1)).toEqual({ zxid: zxidOf(1), events: [] });
    stage.nowMs = 1_500;
    stage.settle();
    stage.feeds.tick();
    expect(reader.pieces).toHaveLength(2);
  });

  it('is refused past the limit, with a bad path, and while reads are not answered', () => {
    const stage = new FeedStage({ feedsMax: 1 });
    const first = stage.open();
    expect(stage.open().end).toMatchObject({ code: 'THROTTLED' });
    expect(stage.open({ path: 'a' }).end).toMatchObject({ code: 'INVALID_ARGUMENT' });
    stage.fault = refusal('UNAVAILABLE', 'no leader');
    stage.feeds.tick();
    expect(first.end).toMatchObject({ code: 'UNAVAILABLE' });
    expect(stage.open().end).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that has gone costs nothing more', () => {
    const stage = new FeedStage();
    const reader = stage.open();
    stage.feeds.closed(stage.numberOf(reader));
    stage.script.create('/a');
    stage.settle();
    expect(reader.pieces).toEqual([]);
    expect(stage.feeds.count).toBe(0);
  });
});

it('pieces that are not taken come to so many bytes and no more; who takes none makes room for others', () => {
  const stage = new FeedStage({ isEager: false, bytesMax: 1e9 });
  stage.script.create('/big', new Uint8Array(1_000_000));
  const readers = Array.from({ length: 100 }, () => stage.open({ path: '/big' }));
  stage.settle();
  const served = () => readers.filter(({ pieces }) => pieces.length > 0).length;
  expect(served()).toBe(Math.ceil(UNTAKEN_BYTES_MAX / 1_000_124));
  const turns = stage.turnsWanted;
  stage.feeds.turnEnded();
  expect(stage.turnsWanted).toBe(turns);
  for (const reader of readers.slice(0, 10)) stage.taken(reader);
  stage.settle();
  expect(served()).toBe(Math.ceil(UNTAKEN_BYTES_MAX / 1_000_124) + 10);
  stage.nowMs = 1_001;
  stage.feeds.tick();
  stage.settle();
  expect(readers.filter(({ end }) => end?.code === 'THROTTLED').length).toBeGreaterThan(50);
  expect(served()).toBe(100);
});

it('many who watch quietly are told so in several ticks', () => {
  const stage = new FeedStage({ feedsMax: 1_000 });
  const readers = Array.from({ length: 500 }, () => stage.open({ path: '/quiet', initial: false }));
  stage.settle();
  const told = () => readers.filter(({ pieces }) => pieces.length > 1).length;
  stage.nowMs = 1_000;
  stage.feeds.tick();
  expect(told()).toBe(200);
  for (let i = 0; i < 2; i++) stage.feeds.tick();
  expect(told()).toBe(500);
});

it('a turn makes so many pieces and no more, and asks for another', () => {
  const stage = new FeedStage({ isEager: false });
  for (let i = 0; i < 3_000; i++) stage.script.create(`/${i}`);
  const readers = Array.from({ length: 50 }, () => stage.open({ withValues: false }));
  stage.feeds.turnEnded();
  const first = readers.filter(({ pieces }) => pieces.length > 0).length;
  expect(first).toBeLessThan(50);
  expect(stage.turnsWanted).toBe(1);
  stage.settle();
  expect(readers.every(({ pieces }) => pieces.length === 1)).toBe(true);
});
