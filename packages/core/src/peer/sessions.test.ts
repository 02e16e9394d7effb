import { NO_SESSION, type OpFailure, type SessionId, type Zxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { answerOf, type Member, TestEnsemble, TOKEN } from './ensemble.fixture.ts';
import { create, digests, get, shown } from './words.fixture.ts';

const EPHEMERAL = { mode: 'ephemeral' } as const;

function codeOf(member: Member, callId: number): string {
  return (answerOf(member, callId).result as OpFailure).code;
}

function exists(ensemble: TestEnsemble, member: Member, path: string): boolean {
  return ensemble.call(member, { kind: 'exists', path }).result.kind === 'exists';
}

describe('a session that nobody hears from', () => {
  it('C022: ends between its timeout and one tick after it, and its ephemerals are gone everywhere, in one txn', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    const { session } = ensemble.open(follower, 1, 6_000);
    const by = { session, attachment: 1 };
    for (const name of ['a', 'b', 'c']) ensemble.submit(follower, create(`/${name}`, '', EPHEMERAL), by);
    ensemble.run();
    ensemble.give(follower, { kind: 'detached', attachment: 1 });
    // Told to the leader within a heartbeat, which is when the timeout begins.
    ensemble.advance(6_000);
    expect(exists(ensemble, follower, '/a')).toBe(true);
    const before = ensemble.leader.peer!.status.lastZxid;
    ensemble.advance(2_300);
    const after = ensemble.leader.peer!.status;
    expect(after.lastZxid).toBe(before + 1n);
    expect([after.sessions, after.ephemerals]).toEqual([0, 0]);
    for (const member of ensemble.members) expect(exists(ensemble, member, '/a')).toBe(false);
    expect(digests(ensemble).size).toBe(1);
  });

  it('C014: lives on while its client only reads, at a follower and at an observer', () => {
    const ensemble = new TestEnsemble({ observers: 1 });
    const places = [ensemble.followers[0]!, ensemble.member(4)];
    const sessions = places.map((member, i) => ensemble.open(member, i + 1, 4_000).session);
    for (let ms = 0; ms < 20_000; ms += 300) {
      places.forEach((member, i) => {
        ensemble.submit(member, get('/zookeeper'), { session: sessions[i]!, attachment: i + 1 });
      });
      ensemble.advance(300);
    }
    expect(ensemble.leader.peer!.status.sessions).toBe(2);
    expect(places.flatMap((member) => member.closed)).toEqual([]);
  });

  it('C014: lives on while something is heard from its connection', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    ensemble.open(follower, 1, 4_000);
    for (let ms = 0; ms < 20_000; ms += 1_000) {
      ensemble.give(follower, { kind: 'heard', attachment: 1 });
      ensemble.advance(1_000);
    }
    expect(ensemble.leader.peer!.status.sessions).toBe(1);
  });

  it('C017: has its full timeout again from a new leader, and then ends', () => {
    const ensemble = new TestEnsemble();
    const [follower, other] = ensemble.followers;
    const { session } = ensemble.open(follower!, 1, 6_000);
    ensemble.call(follower!, create('/a', '', EPHEMERAL), { session, attachment: 1 });
    ensemble.give(follower!, { kind: 'detached', attachment: 1 });
    ensemble.advance(5_500);
    ensemble.kill(ensemble.leader);
    ensemble.advance(6_000);
    expect(exists(ensemble, other!, '/a')).toBe(true);
    ensemble.advance(3_000);
    expect(exists(ensemble, other!, '/a')).toBe(false);
  });

  it('C019: does not care what the wall clock does', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    ensemble.open(leader, 1, 6_000);
    ensemble.now.wallMs += 3_600_000;
    ensemble.advance(3_000);
    ensemble.now.wallMs -= 7_200_000;
    ensemble.advance(2_900);
    expect(leader.peer!.status.sessions).toBe(1);
    ensemble.advance(2_500);
    expect(leader.peer!.status.sessions).toBe(0);
  });
});

describe('going on with a session elsewhere', () => {
  it('C015: keeps the session with its ephemerals, and the former connection is let go', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const opened = ensemble.open(first!, 1);
    const { session } = opened;
    ensemble.call(first!, create('/a', '', EPHEMERAL), { session, attachment: 1 });
    const id = ensemble.attach(second!, 2, session);
    expect(second!.ready.get(id)).toMatchObject({ session, resumed: true, timeoutMs: opened.timeoutMs });
    expect(exists(ensemble, second!, '/a')).toBe(true);
    expect(first!.closed.map(({ attachment, code }) => [attachment, code])).toEqual([[1, 'SESSION_MOVED']]);
    expect(ensemble.call(first!, create('/b'), { session, attachment: 1 }).result).toMatchObject({
      code: 'SESSION_MOVED',
    });
  });

  it('C015: never gives a fresh session for one that has ended, or for a token that is not its own', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 1, 4_000);
    const wrong = ensemble.attach(second!, 2, session, 0n as Zxid, new Uint8Array(16));
    expect(codeOf(second!, wrong)).toBe('SESSION_EXPIRED');
    ensemble.give(first!, { kind: 'detached', attachment: 1 });
    ensemble.advance(8_000);
    for (const known of [session, 0x7fn as SessionId, NO_SESSION]) {
      const id = ensemble.attach(second!, 3, known);
      expect(codeOf(second!, id)).toBe('SESSION_EXPIRED');
    }
    expect(second!.ready.size).toBe(0);
    expect(ensemble.leader.peer!.status.sessions).toBe(0);
  });

  it('refuses a write of the former connection that comes late', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 1);
    const late = ensemble.submit(first!, create('/late'), { session, attachment: 1 });
    first!.isFrozen = true;
    ensemble.attach(second!, 2, session);
    ensemble.call(second!, create('/now'), { session, attachment: 2 });
    first!.isFrozen = false;
    // The call came before the word that the session has moved: it is forwarded, and refused by the leader.
    ensemble.run();
    expect(codeOf(first!, late)).toBe('SESSION_MOVED');
    expect(exists(ensemble, second!, '/late')).toBe(false);
  });

  it('lets the last of two connections at one member have it', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const { session } = ensemble.open(leader, 1);
    ensemble.attach(leader, 2, session);
    expect(leader.closed.map(({ attachment, code }) => [attachment, code])).toEqual([[1, 'SESSION_MOVED']]);
    expect(ensemble.call(leader, create('/a'), { session, attachment: 2 }).result.kind).toBe('create');
    expect(ensemble.call(leader, create('/b'), { session, attachment: 1 }).result).toMatchObject({ kind: 'error' });
  });

  it('makes a member let go that a new leader knows nothing of', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 1);
    ensemble.kill(ensemble.leader);
    ensemble.advance(1_500);
    const id = ensemble.attach(second!, 2, session);
    expect(second!.ready.get(id)?.resumed).toBe(true);
    expect(first!.closed.map(({ code }) => code)).toEqual(['SESSION_MOVED']);
  });

  it('C055: is refused by a member that has not seen what the client has, until it has', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 1);
    second!.isFrozen = true;
    const seen = ensemble.call(first!, create('/a')).zxid;
    const behind = second!.queue.splice(0);
    second!.isFrozen = false;
    expect(codeOf(second!, ensemble.attach(second!, 2, session, seen))).toBe('SERVER_BEHIND');
    second!.queue.push(...behind);
    ensemble.run();
    const id = ensemble.attach(second!, 3, session, seen);
    expect(second!.ready.get(id)?.resumed).toBe(true);
  });

  it('waits for a leader, no longer than its deadline', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 1, 20_000);
    leader.isFrozen = true;
    const id = ensemble.attach(second!, 2, session);
    expect(second!.ready.has(id)).toBe(false);
    ensemble.kill(leader);
    ensemble.advance(1_500);
    expect(second!.ready.get(id)?.resumed).toBe(true);
    const cutOff = ensemble.followers[0]!;
    ensemble.isolate(cutOff);
    const late = ensemble.attach(cutOff, 3, session);
    ensemble.advance(5_100);
    expect(codeOf(cutOff, late)).toBe('UNAVAILABLE');
  });
});

describe('a member without a leader', () => {
  it('holds connections for two thirds of the timeout, so that clients can still move', () => {
    const ensemble = new TestEnsemble();
    const [cutOff] = ensemble.followers;
    ensemble.open(cutOff!, 1, 9_000);
    const late = ensemble.open(cutOff!, 2, 30_000);
    ensemble.isolate(cutOff!);
    ensemble.advance(5_900);
    expect(cutOff!.closed).toEqual([]);
    ensemble.advance(300);
    expect(cutOff!.closed).toMatchObject([{ attachment: 1, code: 'UNAVAILABLE', isIdle: true }]);
    ensemble.advance(12_000);
    ensemble.submit(cutOff!, create('/a'), { session: late.session, attachment: 2 });
    ensemble.advance(2_500);
    expect(cutOff!.closed[1]).toMatchObject({ attachment: 2, isIdle: false });
  });

  it('keeps them through a change of leader', () => {
    const ensemble = new TestEnsemble();
    const [follower] = ensemble.followers;
    const { session } = ensemble.open(follower!, 1, 9_000);
    ensemble.kill(ensemble.leader);
    ensemble.advance(1_000);
    expect(follower!.closed).toEqual([]);
    expect(ensemble.call(follower!, create('/a'), { session, attachment: 1 }).result.kind).toBe('create');
  });
});

describe('calls without a stream', () => {
  it('prove the session by its token, at any member', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 0);
    const good = ensemble.call(second!, create('/a', '', EPHEMERAL), { session, token: TOKEN });
    expect(good.result).toMatchObject({ kind: 'create', stat: { ephemeralOwner: session } });
    for (const token of [undefined, new Uint8Array(16), new Uint8Array(3)]) {
      expect(ensemble.call(first!, create('/b'), { session, token }).result).toMatchObject({ code: 'SESSION_EXPIRED' });
    }
  });

  it('are taken by a member that has not yet heard of the session, in their order', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    second!.isFrozen = true;
    const { session } = ensemble.open(first!, 0);
    const missed = second!.queue.splice(0);
    const write = ensemble.submit(second!, create('/a', 'x'), { session, token: TOKEN });
    const read = ensemble.submit(second!, get('/a'), { session, token: TOKEN });
    const stranger = ensemble.submit(second!, get('/a'), { session, token: new Uint8Array(16) });
    ensemble.turn(second!);
    second!.queue.unshift(...missed);
    second!.isFrozen = false;
    ensemble.run();
    expect([shown(second!, write), shown(second!, read)]).toEqual(['create', 'x']);
    expect(shown(second!, stranger)).toBe('SESSION_EXPIRED');
    expect(second!.answered.indexOf(write)).toBeLessThan(second!.answered.indexOf(read));
  });

  it('keep the session alive; it ends when they stop', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session, timeoutMs } = ensemble.open(first!, 0, 4_000);
    for (let ms = 0; ms < 12_000; ms += 2_000) {
      expect(second!.alive.get(ensemble.keepAlive(second!, session))).toBe(timeoutMs);
      ensemble.advance(2_000);
    }
    ensemble.advance(6_500);
    const id = ensemble.keepAlive(second!, session);
    expect(codeOf(second!, id)).toBe('SESSION_EXPIRED');
  });

  it('do not take a session away from the stream that carries it', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 1);
    expect(ensemble.call(second!, create('/a'), { session, token: TOKEN }).result.kind).toBe('create');
    expect(ensemble.call(first!, create('/b'), { session, attachment: 1 }).result.kind).toBe('create');
    expect(first!.closed).toEqual([]);
  });
});

describe('closing a session', () => {
  it('is answered, then the connection is let go, and what comes later is refused', () => {
    const ensemble = new TestEnsemble();
    const [follower] = ensemble.followers;
    const { session } = ensemble.open(follower!, 1);
    const by = { session, attachment: 1 };
    const ids = [create('/a', '', EPHEMERAL), { kind: 'closeSession' } as const, create('/b'), get('/a')].map((op) =>
      ensemble.submit(follower!, op, by),
    );
    ensemble.run();
    expect(ids.map((id) => shown(follower!, id))).toEqual([
      'create',
      'closeSession',
      'SESSION_EXPIRED',
      'SESSION_EXPIRED',
    ]);
    expect(follower!.answered).toEqual(ids);
    expect(follower!.closed.map(({ attachment, code }) => [attachment, code])).toEqual([[1, 'SESSION_EXPIRED']]);
    expect(exists(ensemble, follower!, '/a')).toBe(false);
    expect(ensemble.call(follower!, get('/'), by).result).toMatchObject({ code: 'SESSION_EXPIRED' });
  });

  it('needs a session', () => {
    const ensemble = new TestEnsemble();
    const answer = ensemble.call(ensemble.leader, { kind: 'closeSession' });
    expect(answer.result).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('one connection', () => {
  it('asks for one session only', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const { session } = ensemble.open(leader, 1);
    expect(codeOf(leader, ensemble.attach(leader, 1, session))).toBe('INVALID_ARGUMENT');
  });

  it('that goes before its session is there leaves the session to expire', () => {
    const ensemble = new TestEnsemble();
    const [follower] = ensemble.followers;
    const deadlineMs = ensemble.now.monotonicMs + 5_000;
    const open = {
      kind: 'openSession',
      callId: 900,
      attachment: 4,
      timeoutMs: 4_000,
      token: TOKEN,
      deadlineMs,
    } as const;
    ensemble.give(follower!, open);
    ensemble.turn(follower!);
    ensemble.give(follower!, { kind: 'detached', attachment: 4 });
    ensemble.run();
    expect(codeOf(follower!, 900)).toBe('UNAVAILABLE');
    expect(ensemble.leader.peer!.status.sessions).toBe(1);
    ensemble.advance(6_500);
    expect(ensemble.leader.peer!.status.sessions).toBe(0);
  });
});

describe('P10: a session that moved while its old member was cut off', () => {
  it('does not write there what waited behind a sync when its client left', () => {
    const ensemble = new TestEnsemble();
    const [follower] = ensemble.followers;
    const { session } = ensemble.open(follower!, 1);
    const by = { session, attachment: 1 };
    const sync = ensemble.submit(follower!, { kind: 'sync', path: '/' }, by);
    const late = ensemble.submit(follower!, create('/late'), by);
    ensemble.turn(follower!);
    ensemble.give(follower!, { kind: 'detached', attachment: 1 });
    ensemble.run();
    expect([shown(follower!, sync), shown(follower!, late)]).toEqual(['sync', 'UNAVAILABLE']);
    expect(exists(ensemble, ensemble.leader, '/late')).toBe(false);
  });

  /** The session writes at `entry`, which is cut off, then at `other`; then the leader dies. */
  function moved() {
    const ensemble = new TestEnsemble();
    const [entry, other] = [ensemble.followers[0]!, ensemble.followers[1]!];
    const { session } = ensemble.open(entry, 1, 10_000);
    const deadlineMs = ensemble.now.monotonicMs + 60_000;
    ensemble.isolate(entry);
    const late = ensemble.submit(entry, create('/late'), { session, attachment: 1, deadlineMs });
    ensemble.run();
    ensemble.attach(other, 2, session);
    return { ensemble, entry, other, session, late, leader: ensemble.leader };
  }

  it('ZOOKEEPER-710: its old write is not ordered after its new one, though the leader that knew is gone', () => {
    const { ensemble, entry, other, session, late, leader } = moved();
    const now = ensemble.submit(other, create('/now'), { session, attachment: 2 });
    ensemble.run();
    expect(shown(other, now)).toBe('create');
    ensemble.kill(leader);
    ensemble.heal();
    ensemble.advance(2_000);
    expect(codeOf(entry, late)).toBe('UNAVAILABLE');
    expect(entry.closed.map(({ code }) => code)).toEqual(['SESSION_MOVED']);
    expect(exists(ensemble, other, '/late')).toBe(false);
    expect(ensemble.call(other, create('/next'), { session, attachment: 2 }).result.kind).toBe('create');
  });

  it('nor is it after a new one that was refused: that one has its place in the history too', () => {
    const { ensemble, entry, other, session, late, leader } = moved();
    const now = ensemble.submit(other, create('/no/parent'), { session, attachment: 2 });
    ensemble.run();
    expect(shown(other, now)).toBe('NO_NODE');
    ensemble.kill(leader);
    ensemble.heal();
    ensemble.advance(2_000);
    expect(codeOf(entry, late)).toBe('UNAVAILABLE');
    expect(exists(ensemble, other, '/late')).toBe(false);
    expect(ensemble.call(other, create('/next'), { session, attachment: 2 }).result.kind).toBe('create');
  });

  it('the member that it moved to is not taken for the old one by what the session wrote before', () => {
    const { ensemble, other, session } = moved();
    ensemble.advance(1_000);
    expect(other.closed).toEqual([]);
    const now = ensemble.submit(other, create('/now'), { session, attachment: 2 });
    ensemble.run();
    expect(shown(other, now)).toBe('create');
  });
});
