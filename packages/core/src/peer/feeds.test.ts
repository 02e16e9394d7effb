/** Watches that are resumed, at whole members: what leaders, restarts, snapshots and broken disks make of them. */
import { type WatchSpec, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { expect, it } from 'vitest';
import { type Member, TestEnsemble } from './ensemble.fixture.ts';
import { create, set } from './words.fixture.ts';

const OFTEN = { limits: { checkpointTxns: 10, historyBytesMax: 2_000 } };

let lastFeed = 0;

/** Opens a feed at the member and returns its number. */
function watch(ensemble: TestEnsemble, member: Member, spec: Partial<WatchSpec> = {}): number {
  const full = { path: '/', recursive: true, withValues: false, from: undefined, initial: true, ...spec };
  ensemble.give(member, { kind: 'feedOpened', feed: ++lastFeed, spec: full });
  ensemble.run();
  return lastFeed;
}

/** What a feed was told, in short, without the built-in znodes. */
function told(member: Member, feed: number): readonly string[] {
  const pieces = member.pieces.filter((one) => one.feed === feed);
  const events = pieces.flatMap(({ piece }) => piece.events).filter(({ path }) => !/^\/($|zookeeper)/.test(path));
  return events.map(({ kind, path }) => (path === '' ? kind : `${kind} ${path}`));
}

function position(member: Member, feed: number): Zxid {
  return member.pieces.filter((one) => one.feed === feed).at(-1)?.piece.zxid ?? ZERO_ZXID;
}

it('a change is told when it is committed and applied there, and not before', () => {
  const ensemble = new TestEnsemble();
  const { leader } = ensemble;
  const follower = ensemble.followers[0] as Member;
  const feeds = [leader, follower].map((member) => watch(ensemble, member, { initial: false }));
  for (const member of ensemble.members) member.stalled = [];
  ensemble.submit(leader, create('/a'));
  ensemble.run();
  expect(told(leader, feeds[0] ?? 0)).toEqual(['ready']);
  ensemble.unstall(leader);
  expect(told(leader, feeds[0] ?? 0)).toEqual(['ready']);
  ensemble.unstall(follower);
  for (const [i, member] of [leader, follower].entries()) {
    expect(told(member, feeds[i] ?? 0)).toEqual(['ready', 'created /a']);
    expect(position(member, feeds[i] ?? 0)).toBe(member.peer?.tree.lastZxid);
  }
});

it('goes on at another member from where it was, though the first one and the leader are gone', () => {
  const ensemble = new TestEnsemble({ voters: 5 });
  const [first, second, third] = ensemble.followers as [Member, Member, Member];
  const feed = watch(ensemble, first, { initial: false });
  ensemble.call(third, create('/a'));
  ensemble.kill(first);
  ensemble.call(third, create('/b'));
  ensemble.kill(ensemble.leader);
  ensemble.advance(10_000);
  ensemble.call(third, set('/a', 'x'));
  const next = watch(ensemble, second, { from: position(first, feed) });
  expect(told(first, feed)).toEqual(['ready', 'created /a']);
  expect(told(second, next)).toEqual(['ready', 'created /b', 'dataChanged /a']);
});

it('a member that started again goes on from what its log has after the checkpoint; before that is a gap', () => {
  const ensemble = new TestEnsemble({ voters: 1, ...OFTEN });
  const [member] = ensemble.members as [Member];
  for (let i = 0; i < 25; i++) ensemble.call(member, create(`/${i}`));
  const floor = member.disk.checkpointZxid;
  expect(member.disk.log.length).toBeGreaterThan(2);
  ensemble.kill(member);
  ensemble.start(member);
  ensemble.advance(100);
  const exact = watch(ensemble, member, { from: floor });
  const tail = member.disk.log.filter(({ zxid }) => zxid > floor).length;
  expect(told(member, exact)).toEqual([
    'ready',
    ...Array.from({ length: tail }, (_, i) => `created /${25 - tail + i}`),
  ]);
  const before = watch(ensemble, member, { from: (floor - 1n) as Zxid });
  expect(told(member, before)[0]).toBe('gap');
  expect(member.pieces.find(({ feed }) => feed === before)?.piece.events[0]?.zxid).toBe(floor);
  expect(told(member, before)).toHaveLength(27);
});

it('a snapshot from the leader is a gap, then the state, then changes', () => {
  const ensemble = new TestEnsemble(OFTEN);
  const behind = ensemble.followers[0] as Member;
  const feed = watch(ensemble, behind);
  ensemble.isolate(behind);
  for (let i = 0; i < 40; i++) ensemble.call(ensemble.leader, create(`/${i}`));
  ensemble.heal();
  ensemble.advance(5_000);
  ensemble.call(ensemble.leader, create('/last'));
  const words = told(behind, feed);
  expect(words.slice(0, 2)).toEqual(['ready', 'gap']);
  expect(words.filter((word) => word.startsWith('current'))).toHaveLength(40);
  expect(words.slice(-2)).toEqual(['ready', 'created /last']);
});

it('is over when the member has been without a leader for too long, and when it stops', () => {
  const ensemble = new TestEnsemble({ timing: { staleReadMaxMs: 2_000, watchProgressMs: 500 } });
  const cut = ensemble.followers[0] as Member;
  const other = ensemble.followers[1] as Member;
  const feed = watch(ensemble, cut);
  ensemble.isolate(cut);
  ensemble.advance(1_000);
  expect(cut.feedEnds.get(feed)).toBeUndefined();
  ensemble.advance(2_000);
  expect(cut.feedEnds.get(feed)).toBe('UNAVAILABLE');
  const late = watch(ensemble, cut);
  expect(cut.feedEnds.get(late)).toBe('UNAVAILABLE');
  const stopped = watch(ensemble, other);
  ensemble.give(other, { kind: 'stop' });
  ensemble.run();
  ensemble.advance(200);
  expect(other.hasStopped).toBe(true);
  expect(other.feedEnds.get(stopped)).toBe('UNAVAILABLE');
});

it('what is told of quiet things is how far the member is, and a reader that takes nothing is dropped', () => {
  const ensemble = new TestEnsemble({ voters: 1, timing: { watchProgressMs: 500, watchStallMs: 2_000 } });
  const [member] = ensemble.members as [Member];
  const feed = watch(ensemble, member, { path: '/quiet' });
  const lazy = watch(ensemble, member);
  member.lazy.add(lazy);
  ensemble.call(member, create('/loud'));
  ensemble.advance(600);
  expect(position(member, feed)).toBe(member.peer?.tree.lastZxid);
  ensemble.advance(2_000);
  expect(member.feedEnds.get(lazy)).toBe('THROTTLED');
  expect(member.feedEnds.has(feed)).toBe(false);
});
