import { NO_SESSION, type Op } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { encodeWriteRequest } from '../pipeline/write-request.ts';
import { answerOf, TestEnsemble } from './ensemble.fixture.ts';
import { create, digests, get, list, set, shown } from './words.fixture.ts';

describe('an ensemble of three', () => {
  it('answers a write at any member, and every member has it', () => {
    const ensemble = new TestEnsemble();
    for (const member of ensemble.members) {
      const answer = ensemble.call(member, create(`/m${member.sid}`, 'x'));
      expect(answer.result).toMatchObject({ kind: 'create', path: `/m${member.sid}` });
      expect(answer.zxid).toBe(member.peer!.status.lastZxid);
    }
    ensemble.advance(100);
    for (const member of ensemble.members) {
      expect(ensemble.call(member, list('/')).result).toMatchObject({ children: ['m1', 'm2', 'm3', 'zookeeper'] });
    }
    expect(digests(ensemble).size).toBe(1);
  });

  it('orders a refused write as an error txn with a zxid of its own', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    const before = ensemble.call(follower, create('/a')).zxid;
    const answer = ensemble.call(follower, create('/b/c'));
    expect(answer.result).toMatchObject({ kind: 'error', code: 'NO_NODE', path: '/b/c' });
    expect(answer.zxid).toBe(before + 1n);
  });

  it('answers a read from its own tree at once, without a word to anybody', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    ensemble.call(follower, create('/a', 'one'));
    const sent = follower.sent.length;
    const id = ensemble.submit(follower, get('/a'));
    ensemble.turn(follower);
    expect(shown(follower, id)).toBe('one');
    expect(follower.sent.length).toBe(sent);
  });

  it('C166: answers every call of a session in the order in which it came, and a read sees just the writes before it', () => {
    for (const memberAt of [0, 1, 2]) {
      const ensemble = new TestEnsemble();
      const member = ensemble.members[memberAt]!;
      const { session } = ensemble.open(member, 5);
      const by = { session, attachment: 5 };
      const calls: [Op, string][] = [
        [get('/a'), 'NO_NODE'],
        [create('/a', 'one'), 'create'],
        [get('/a'), 'one'],
        [set('/a', 'two'), 'setData'],
        [create('/a'), 'NODE_EXISTS'],
        [get('/a'), 'two'],
        [create('a', 'bad path'), 'INVALID_ARGUMENT'],
        [{ kind: 'sync', path: '/' }, 'sync'],
        [set('/a', 'three'), 'setData'],
        [get('/a'), 'three'],
        [{ kind: 'delete', path: '/a', expectedVersion: 99 }, 'BAD_VERSION'],
        [set('/a', 'four'), 'setData'],
      ];
      const ids = calls.map(([op]) => ensemble.submit(member, op, by));
      const linearizable = ensemble.submit(member, get('/a'), { ...by, linearizable: true });
      const after = ensemble.submit(member, set('/a', 'five'), by);
      ensemble.advance(50);
      expect(member.answered).toEqual([...ids, linearizable, after]);
      expect(ids.map((id) => shown(member, id))).toEqual(calls.map(([, expected]) => expected));
      expect(shown(member, linearizable)).toBe('four');
      const zxids = [...ids, linearizable, after].map((id) => answerOf(member, id).zxid);
      expect([...zxids].sort((a, b) => Number(a - b))).toEqual(zxids);
    }
  });

  it('P12: tells nobody of a write before it is committed and on the own disk', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    for (const follower of ensemble.followers) follower.isFrozen = true;
    const write = ensemble.submit(leader, create('/a'));
    ensemble.run();
    expect(ensemble.call(leader, { kind: 'exists', path: '/a' }).result).toMatchObject({ code: 'NO_NODE' });
    expect(leader.peer!.status.lastLogged).toBeGreaterThan(leader.peer!.status.lastZxid);
    expect(shown(leader, write)).toBeUndefined();
    for (const follower of ensemble.followers) follower.isFrozen = false;
    ensemble.run();
    expect(shown(leader, write)).toBe('create');
    expect(answerOf(leader, write).zxid).toBe(leader.peer!.status.lastZxid);
  });

  it('lets calls without a session pass each other', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    const write = ensemble.submit(follower, create('/a'));
    const read = ensemble.submit(follower, list('/'));
    ensemble.run();
    expect(follower.answered).toEqual([read, write]);
  });

  it('C002: numbers sequential znodes without gaps or repeats, whoever creates them', () => {
    const ensemble = new TestEnsemble();
    ensemble.call(ensemble.leader, create('/s'));
    const sequential = { sequential: true };
    const ids = ensemble.members.flatMap((member) =>
      Array.from({ length: 5 }, () => ({ member, id: ensemble.submit(member, create('/s/n-', '', sequential)) })),
    );
    ensemble.advance(50);
    const paths = ids
      .map(({ member, id }) => answerOf(member, id).result)
      .map((r) => (r.kind === 'create' ? r.path : ''));
    const expected = Array.from({ length: 15 }, (_, i) => `/s/n-${String(i).padStart(10, '0')}`);
    expect([...paths].sort()).toEqual(expected);
  });

  it('serves an observer like a follower', () => {
    const ensemble = new TestEnsemble({ observers: 1 });
    const observer = ensemble.member(4);
    const { session } = ensemble.open(observer, 1);
    const by = { session, attachment: 1 };
    ensemble.submit(observer, create('/a', 'x', { mode: 'ephemeral' }), by);
    const read = ensemble.submit(observer, get('/a'), by);
    ensemble.run();
    expect(shown(observer, read)).toBe('x');
    expect(observer.peer?.status).toMatchObject({ role: 'observing', serving: true, hasQuorum: true });
  });

  it('closes the link of a member whose forwarded writes cannot be read, and orders none of them', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const follower = ensemble.followers[0]!;
    const before = leader.peer!.status.lastLogged;
    const link = leader.links.get(follower.sid)!;
    const message = { kind: 'forward', requests: [Uint8Array.of(1, 2, 3)] } as const;
    ensemble.give(leader, { kind: 'peerMessage', sid: follower.sid, link, message });
    ensemble.run();
    expect(leader.links.has(follower.sid)).toBe(false);
    expect(leader.peer!.status.lastLogged).toBe(before);
    ensemble.advance(1_000);
    expect(ensemble.call(follower, create('/later')).result.kind).toBe('create');
  });
});

describe('a member that is connected and not synchronized', () => {
  it('cannot have anything ordered', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const stranger = ensemble.followers[0]!;
    ensemble.kill(stranger);
    const op = create('/stray');
    const request = encodeWriteRequest({ incarnation: 1, seq: 50, session: NO_SESSION, attached: false, op });
    const from = { sid: stranger.sid, link: 900 };
    ensemble.give(leader, { kind: 'linkUp', ...from });
    ensemble.give(leader, { kind: 'peerMessage', ...from, message: { kind: 'forward', requests: [request] } });
    ensemble.run();
    expect(ensemble.call(leader, { kind: 'exists', path: '/stray' }).result).toMatchObject({ code: 'NO_NODE' });
    expect(leader.peer!.status.lastLogged).toBe(leader.peer!.status.lastZxid);
  });
});

describe('one member alone', () => {
  it('is an ensemble of one', () => {
    const ensemble = new TestEnsemble({ voters: 1 });
    const [member] = ensemble.members;
    expect(ensemble.call(member!, create('/a', 'x')).result.kind).toBe('create');
    expect(ensemble.call(member!, get('/a'), { linearizable: true }).result.kind).toBe('getData');
  });
});

describe('stopping', () => {
  it('answers what is in flight, refuses what comes, and gives the leadership up', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    ensemble.open(leader, 9);
    const inFlight = ensemble.submit(leader, create('/a'));
    ensemble.give(leader, { kind: 'stop' });
    const late = ensemble.submit(leader, create('/b'));
    ensemble.run();
    expect(shown(leader, inFlight)).toBe('create');
    expect(answerOf(leader, late).result).toMatchObject({ code: 'UNAVAILABLE', goElsewhere: true });
    expect(leader.closed).toMatchObject([{ attachment: 9, code: 'UNAVAILABLE', isIdle: true }]);
    expect(leader.hasStopped).toBe(true);
    expect(leader.peer!.status.role).not.toBe('leading');
  });

  it('waits no longer than the deadlines when there is no quorum', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    for (const follower of ensemble.followers) ensemble.kill(follower);
    const inFlight = ensemble.submit(leader, create('/a'));
    ensemble.give(leader, { kind: 'stop' });
    ensemble.run();
    expect(leader.hasStopped).toBe(false);
    ensemble.advance(5_050);
    expect(leader.hasStopped).toBe(true);
    expect(shown(leader, inFlight)).toBe('OUTCOME_UNKNOWN');
  });
});
