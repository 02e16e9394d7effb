import { type Answer, NO_SESSION, type SessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { answerOf, type Member, TestEnsemble } from './ensemble.fixture.ts';
import { create, digests } from './words.fixture.ts';

const EPHEMERAL = { mode: 'ephemeral' } as const;

function end(ensemble: TestEnsemble, member: Member, session: SessionId): Answer {
  const callId = 900_000 + member.answers.size;
  const deadlineMs = ensemble.now.monotonicMs + 5_000;
  ensemble.give(member, { kind: 'endSession', callId, session, deadlineMs });
  ensemble.run();
  return answerOf(member, callId);
}

describe('the sessions of the ensemble', () => {
  it('are listed by id in pages at any member, with where they are and when they end at the leader alone', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const ids = [first, second, first].map((member, i) => ensemble.open(member!, i + 1, 4_000 + i * 1_000).session);
    ensemble.call(first!, create('/a', '', EPHEMERAL), { session: ids[0]!, attachment: 1 });
    const wanted = [...ids].sort((a, b) => (a < b ? -1 : 1));
    for (const { peer } of ensemble.members) {
      const page = peer!.sessions.page(NO_SESSION, 2);
      expect([page.sessions.map(({ id }) => id), page.more]).toEqual([wanted.slice(0, 2), true]);
      const rest = peer!.sessions.page(wanted[1]!, 2);
      expect([rest.sessions.map(({ id }) => id), rest.more]).toEqual([wanted.slice(2), false]);
      expect(peer!.sessions.ownerOf('/a')).toBe(ids[0]);
      expect(peer!.sessions.ephemeralsOf(ids[0]!, 10)).toEqual(['/a']);
      for (const path of ['/', '/none']) expect(peer!.sessions.ownerOf(path)).toBeUndefined();
    }
    const told = ensemble.leader.peer!.sessions.get(ids[0]!);
    expect(told).toMatchObject({ timeoutMs: 4_000, ephemeralCount: 1, member: first!.sid });
    expect(told!.expiresInMs).toBeGreaterThan(0);
    expect(told!.expiresInMs).toBeLessThanOrEqual(6_000);
    expect(first!.peer!.sessions.get(ids[0]!)).toMatchObject({ ephemeralCount: 1, expiresInMs: undefined });
    expect(ensemble.leader.peer!.sessions.get(77n as SessionId)).toBeUndefined();
  });

  it('have their time run down while nobody hears from them, and anew when somebody does', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    const { session } = ensemble.open(follower, 0, 10_000);
    const left = (): number => ensemble.leader.peer!.sessions.get(session)!.expiresInMs!;
    const before = left();
    ensemble.advance(4_000);
    expect(left()).toBeLessThanOrEqual(before - 3_900);
    ensemble.keepAlive(follower, session);
    ensemble.advance(100);
    expect(left()).toBeGreaterThanOrEqual(before - 2_000);
  });

  it('are ended by an operator at any member: the ephemerals go at that position, the client is told, once', () => {
    const ensemble = new TestEnsemble();
    const [first, second] = ensemble.followers;
    const { session } = ensemble.open(first!, 1, 10_000);
    for (const path of ['/a', '/b']) ensemble.call(first!, create(path, '', EPHEMERAL), { session, attachment: 1 });
    const ended = end(ensemble, second!, session);
    expect(ended.result).toEqual({ kind: 'closeSession' });
    expect(first!.closed).toMatchObject([{ attachment: 1, code: 'SESSION_EXPIRED' }]);
    for (const { peer } of ensemble.members) {
      expect([peer!.status.sessions, peer!.status.ephemerals]).toEqual([0, 0]);
      expect(peer!.tree.stat('/')?.pzxid).toBe(ended.zxid);
    }
    expect(end(ensemble, second!, session).result).toMatchObject({ code: 'SESSION_EXPIRED' });
    expect(digests(ensemble).size).toBe(1);
  });
});
