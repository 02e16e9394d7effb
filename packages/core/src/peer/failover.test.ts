import { describe, expect, it } from 'vitest';
import { answerOf, type Member, TestEnsemble } from './ensemble.fixture.ts';
import { create, digests, get, list, set, shown } from './words.fixture.ts';

/** Leader, the follower at which clients call, and the other one. */
function cast(ensemble: TestEnsemble): { leader: Member; entry: Member; other: Member } {
  const { leader, followers } = ensemble;
  return { leader, entry: followers[0]!, other: followers[1]! };
}

const SEQUENTIAL = { sequential: true };

function childrenOf(ensemble: TestEnsemble, member: Member, path: string): readonly string[] {
  const { result } = ensemble.call(member, list(path));
  return result.kind === 'getChildren' ? result.children : [];
}

describe('a leader that dies', () => {
  it('before a write reached it: the write is forwarded again and answered once', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry } = cast(ensemble);
    leader.isFrozen = true;
    const ids = [1, 2, 3].map((n) => ensemble.submit(entry, create('/n-', `${n}`, SEQUENTIAL)));
    ensemble.run();
    ensemble.kill(leader);
    ensemble.advance(1_500);
    expect(ids.map((id) => answerOf(entry, id).result)).toMatchObject(
      [0, 1, 2].map((n) => ({ kind: 'create', path: `/n-000000000${n}` })),
    );
    expect(digests(ensemble).size).toBe(1);
  });

  it('after it proposed the write: the write is found in the history, not made twice', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry, other } = cast(ensemble);
    const id = ensemble.submit(entry, create('/n-', '', SEQUENTIAL));
    ensemble.turn(entry);
    ensemble.turn(leader);
    leader.isFrozen = true;
    // Both followers log the proposal; nobody hears that it is committed.
    ensemble.run();
    expect(answerOrNone(entry, id)).toBeUndefined();
    ensemble.kill(leader);
    ensemble.advance(1_500);
    expect(shown(entry, id)).toBe('create');
    expect(childrenOf(ensemble, other, '/')).toEqual(['n-0000000000', 'zookeeper']);
  });

  it('with its own clients waiting: their writes are resolved when it is back as a follower', () => {
    const ensemble = new TestEnsemble();
    const { leader } = cast(ensemble);
    const deadlineMs = ensemble.now.monotonicMs + 60_000;
    ensemble.isolate(leader);
    const lost = ensemble.submit(leader, create('/lost-', '', SEQUENTIAL), { deadlineMs });
    ensemble.advance(6_000);
    expect(answerOrNone(leader, lost)).toBeUndefined();
    expect(ensemble.call(ensemble.leader, create('/meanwhile')).result.kind).toBe('create');
    ensemble.heal();
    ensemble.advance(3_000);
    expect(shown(leader, lost)).toBe('create');
    expect(childrenOf(ensemble, leader, '/').filter((name) => name.startsWith('lost'))).toHaveLength(1);
    expect(digests(ensemble).size).toBe(1);
  });
});

describe('C014: an idle session at a member that stays', () => {
  it('is held when the leader dies right before the next heartbeat of its client is due', () => {
    const timeoutMs = 6_000;
    for (let age = 0; age <= timeoutMs / 3; age += 500) {
      const ensemble = new TestEnsemble();
      const { leader, entry, other } = cast(ensemble);
      ensemble.open(entry, 7, timeoutMs);
      ensemble.give(entry, { kind: 'heard', attachment: 7 });
      ensemble.run();
      ensemble.advance(age);
      // Finding a new one takes a moment.
      other.isFrozen = true;
      ensemble.kill(leader);
      ensemble.advance(500);
      other.isFrozen = false;
      ensemble.advance(700);
      expect(ensemble.leader).not.toBe(leader);
      expect(entry.closed, `heard ${age} ms before`).toEqual([]);
    }
  });
});

describe('a link that breaks while the leader stays', () => {
  it('loses no write and doubles none', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry, other } = cast(ensemble);
    // The leader cannot commit: the other follower stands still, and this one is cut off after it has forwarded.
    other.isFrozen = true;
    const ids = [1, 2].map(() => ensemble.submit(entry, create('/n-', '', SEQUENTIAL)));
    ensemble.turn(entry);
    ensemble.turn(leader);
    ensemble.isolate(entry, [leader]);
    const late = ensemble.submit(entry, create('/n-', '', SEQUENTIAL));
    ensemble.run();
    ensemble.heal();
    other.isFrozen = false;
    ensemble.advance(1_500);
    expect([...ids, late].map((id) => answerOf(entry, id).result)).toMatchObject(
      [0, 1, 2].map((n) => ({ kind: 'create', path: `/n-000000000${n}` })),
    );
    expect(childrenOf(ensemble, other, '/')).toHaveLength(4);
  });
});

describe('without a quorum', () => {
  it('a write waits for its deadline and says what is known of it', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry, other } = cast(ensemble);
    ensemble.kill(other);
    ensemble.kill(leader);
    ensemble.advance(100);
    const unsent = ensemble.submit(entry, create('/a'));
    ensemble.advance(4_900);
    expect(answerOrNone(entry, unsent)).toBeUndefined();
    ensemble.advance(150);
    expect(shown(entry, unsent)).toBe('UNAVAILABLE');
    expect(entry.peer!.status).toMatchObject({ hasQuorum: false, serving: true, outstanding: 0 });
  });

  it('a write that was forwarded before is not known to have failed', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry, other } = cast(ensemble);
    leader.isFrozen = true;
    const sent = ensemble.submit(entry, create('/a'));
    ensemble.run();
    ensemble.kill(other);
    ensemble.kill(leader);
    ensemble.advance(5_100);
    expect(shown(entry, sent)).toBe('OUTCOME_UNKNOWN');
  });

  it('a write that its client was told is lost does not take effect later', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry, other } = cast(ensemble);
    ensemble.kill(other);
    ensemble.kill(leader);
    const lost = ensemble.submit(entry, create('/lost'));
    ensemble.advance(5_100);
    ensemble.start(other);
    ensemble.advance(2_000);
    expect(shown(entry, lost)).toBe('UNAVAILABLE');
    expect(ensemble.call(entry, { kind: 'exists', path: '/lost' }).result).toMatchObject({ code: 'NO_NODE' });
  });

  it('reads go on for the configured time, and not beyond', () => {
    const ensemble = new TestEnsemble({ timing: { staleReadMaxMs: 8_000 } });
    const { leader, entry, other } = cast(ensemble);
    ensemble.call(entry, create('/a', 'x'));
    const { session } = ensemble.open(entry, 3, 40_000);
    ensemble.kill(other);
    ensemble.kill(leader);
    ensemble.advance(7_900);
    expect(ensemble.call(entry, get('/a')).result.kind).toBe('getData');
    expect(ensemble.call(entry, get('/a'), { session, attachment: 3 }).result.kind).toBe('getData');
    ensemble.advance(300);
    expect(ensemble.call(entry, get('/a')).result).toMatchObject({ code: 'UNAVAILABLE' });
    expect(entry.closed.map(({ code }) => code)).toEqual(['UNAVAILABLE']);
  });

  it('a member that was never synchronized answers no reads', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry, other } = cast(ensemble);
    for (const member of [leader, entry, other]) ensemble.kill(member);
    ensemble.start(entry);
    ensemble.advance(100);
    expect(ensemble.call(entry, list('/')).result).toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('a linearizable read', () => {
  it('is not answered by a leader that others have deposed', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry } = cast(ensemble);
    ensemble.call(entry, create('/a', 'old'));
    ensemble.isolate(leader);
    const deadlineMs = ensemble.now.monotonicMs + 2_000;
    const strict = ensemble.submit(leader, get('/a'), { linearizable: true, deadlineMs });
    const loose = ensemble.submit(leader, get('/a'));
    ensemble.advance(1_500);
    expect(shown(leader, loose)).toBe('old');
    const successor = ensemble.members.find((one) => one !== leader && one.peer?.status.role === 'leading');
    expect(ensemble.call(successor!, set('/a', 'new')).result.kind).toBe('setData');
    expect(answerOrNone(leader, strict)).toBeUndefined();
    ensemble.advance(600);
    expect(shown(leader, strict)).toBe('UNAVAILABLE');
  });

  it('asked before a change of leader is confirmed by the new one', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry } = cast(ensemble);
    ensemble.call(entry, create('/a', 'x'));
    leader.isFrozen = true;
    const strict = ensemble.submit(entry, get('/a'), { linearizable: true });
    const sync = ensemble.submit(entry, { kind: 'sync', path: '/' });
    ensemble.run();
    ensemble.kill(leader);
    ensemble.advance(1_500);
    expect([shown(entry, strict), shown(entry, sync)]).toEqual(['x', 'sync']);
  });

  it('sees a write that was acknowledged elsewhere, though this member lags', () => {
    const ensemble = new TestEnsemble();
    const { leader, entry } = cast(ensemble);
    ensemble.call(leader, create('/a', 'old'));
    entry.isFrozen = true;
    ensemble.call(leader, set('/a', 'new'));
    const strict = ensemble.submit(entry, get('/a'), { linearizable: true });
    const held = entry.queue.splice(0, entry.queue.length - 1);
    ensemble.turn(entry);
    expect(answerOrNone(entry, strict)).toBeUndefined();
    entry.queue.unshift(...held);
    entry.isFrozen = false;
    ensemble.run();
    expect(shown(entry, strict)).toBe('new');
  });
});

describe('too much at once', () => {
  it('is refused as THROTTLED, in its place, and nothing of it is done', () => {
    const ensemble = new TestEnsemble({ limits: { outstandingMax: 3 } });
    const { entry } = cast(ensemble);
    const ids = [1, 2, 3, 4, 5].map((n) => ensemble.submit(entry, create(`/n${n}`)));
    ensemble.run();
    expect(ids.map((id) => shown(entry, id))).toEqual(['create', 'create', 'create', 'THROTTLED', 'THROTTLED']);
    expect(childrenOf(ensemble, entry, '/')).toEqual(['n1', 'n2', 'n3', 'zookeeper']);
  });

  it('is bounded in bytes too', () => {
    const ensemble = new TestEnsemble({ limits: { outstandingBytesMax: 10_000 } });
    const { entry } = cast(ensemble);
    const ids = [1, 2, 3].map((n) => ensemble.submit(entry, create(`/n${n}`, 'x'.repeat(4_000))));
    ensemble.run();
    expect(ids.map((id) => shown(entry, id))).toEqual(['create', 'create', 'THROTTLED']);
  });

  it('ends the connection of a client that goes on regardless', () => {
    const ensemble = new TestEnsemble({ limits: { outstandingMax: 3 } });
    const { entry } = cast(ensemble);
    const { session } = ensemble.open(entry, 7);
    const by = { session, attachment: 7 };
    const ids = Array.from({ length: 8 }, (_, n) => ensemble.submit(entry, create(`/n${n}`), by));
    ensemble.run();
    expect(entry.closed.map(({ attachment, code }) => [attachment, code])).toEqual([[7, 'THROTTLED']]);
    expect(ids.every((id) => entry.answers.has(id))).toBe(true);
    expect(childrenOf(ensemble, entry, '/')).toEqual(['n0', 'n1', 'n2', 'zookeeper']);
  });
});

function answerOrNone(member: Member, callId: number): unknown {
  return member.answers.get(callId);
}
