import type { OpFailure } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { answerOf, type Member, TestEnsemble } from './ensemble.fixture.ts';
import { create, digests, shown } from './words.fixture.ts';

function refusalOf(member: Member, callId: number): Pick<OpFailure, 'code' | 'message'> {
  const { code, message } = answerOf(member, callId).result as OpFailure;
  return { code, message };
}

function smallestFollower(ensemble: TestEnsemble): Member {
  return ensemble.followers[0]!;
}

describe('a request to move the lead', () => {
  it('is answered when the member asked for leads; no attachment is closed, no write is lost, doubled or refused', () => {
    const ensemble = new TestEnsemble({ observers: 1 });
    for (let round = 0; round < 12; round++) {
      const { leader } = ensemble;
      const target = ensemble.followers[round % 2]!;
      const entries = ensemble.members;
      if (round === 0) for (const member of entries) ensemble.open(member, 1);
      const ids = entries.map((member, i) => [member, ensemble.submit(member, create(`/n-${round}-${i}`))] as const);
      const late = entries.map((member, i) => [member, ensemble.submit(member, create(`/l-${round}-${i}`))] as const);
      const move = ensemble.moveLeader(leader, target.sid);
      ensemble.advance(50);
      expect(leader.moved.get(move)).toBe(target.sid);
      expect(ensemble.leader).toBe(target);
      for (const [member, id] of [...ids, ...late]) expect(shown(member, id)).toBe('create');
      expect(digests(ensemble).size).toBe(1);
    }
    for (const member of ensemble.members) expect([member.closed, member.failed]).toEqual([[], undefined]);
  });

  it('resolves writes that were on their way to the old leader', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const target = smallestFollower(ensemble);
    const other = ensemble.followers[1]!;
    const before = ensemble.submit(other, create('/n-', '', { sequential: true }));
    ensemble.turn(other);
    ensemble.give(leader, { kind: 'moveLeader', callId: 900, to: target.sid, deadlineMs: Number.MAX_SAFE_INTEGER });
    // The forward stands before the request in the leader's queue; more comes while it waits.
    ensemble.turn(leader);
    const during = ensemble.submit(other, create('/n-', '', { sequential: true }));
    ensemble.run();
    ensemble.advance(50);
    expect(leader.moved.get(900)).toBe(target.sid);
    expect([before, during].map((id) => answerOf(other, id).result)).toMatchObject([
      { path: '/n-0000000000' },
      { path: '/n-0000000001' },
    ]);
  });

  it('takes any synced voter when none is named', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const move = ensemble.moveLeader(leader);
    ensemble.advance(50);
    expect(leader.moved.get(move)).toBe(ensemble.leader.sid);
    expect(ensemble.leader).not.toBe(leader);
  });

  it('is refused with what is wrong', () => {
    const ensemble = new TestEnsemble({ observers: 1 });
    const { leader } = ensemble;
    const away = smallestFollower(ensemble);
    const other = ensemble.followers[1]!;
    const asked = (member: Member, to?: number) => refusalOf(member, ensemble.moveLeader(member, to));
    expect(asked(leader, 4)).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('observer') });
    expect(asked(leader, 99)).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('no such') });
    expect(asked(leader, leader.sid)).toMatchObject({ message: expect.stringContaining('leads already') });
    expect(asked(other)).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('does not lead') });
    ensemble.kill(away);
    expect(asked(leader, away.sid)).toMatchObject({ code: 'UNAVAILABLE', message: /not synchronized/ });
    const single = new TestEnsemble({ voters: 1 });
    expect(refusalOf(single.leader, single.moveLeader(single.leader)).message).toContain('no voter');
  });

  it('ends with the old leader going on, writes and all, when the target does not come', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const target = smallestFollower(ensemble);
    target.isFrozen = true;
    const id = ensemble.submit(leader, create('/a'));
    ensemble.run();
    const move = ensemble.moveLeader(leader, target.sid);
    const held = ensemble.submit(leader, create('/b'));
    ensemble.advance(500);
    expect([shown(leader, id), shown(leader, held)]).toEqual(['create', undefined]);
    expect(refusalOf(leader, ensemble.moveLeader(leader)).message).toContain('under way');
    ensemble.advance(700);
    expect(refusalOf(leader, move).message).toContain('did not come in time');
    expect(shown(leader, held)).toBe('create');
    expect(ensemble.leader).toBe(leader);
  });

  it('is answered at its deadline when no leader is found', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const target = smallestFollower(ensemble);
    const move = 901;
    ensemble.give(leader, {
      kind: 'moveLeader',
      callId: move,
      to: target.sid,
      deadlineMs: ensemble.now.monotonicMs + 2_000,
    });
    ensemble.turn(leader);
    ensemble.isolate(leader);
    ensemble.advance(2_100);
    expect(refusalOf(leader, move).code).toBe('DEADLINE_EXCEEDED');
  });

  it('is answered when the disk fails meanwhile: the core that is made anew knows nothing of it', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const target = smallestFollower(ensemble);
    target.isFrozen = true;
    // Held at once: the target has not acknowledged this one.
    ensemble.submit(leader, create('/a'));
    ensemble.run();
    const move = ensemble.moveLeader(leader, target.sid);
    expect(leader.peer!.status.role).toBe('leading');
    ensemble.give(leader, { kind: 'storageFailed', reason: 'ENOSPC' });
    ensemble.run();
    expect(refusalOf(leader, move)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('given its place up'),
    });
  });
});

describe('a leader that is told to stop', () => {
  it('hands the lead over at once, and answers as a follower what its clients wait for', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const [entry] = ensemble.followers as [Member, Member];
    ensemble.open(entry, 3);
    const inFlight = ensemble.submit(leader, create('/a'));
    const elsewhere = ensemble.submit(entry, create('/b'));
    ensemble.give(leader, { kind: 'stop' });
    ensemble.run();
    expect([shown(leader, inFlight), shown(entry, elsewhere)]).toEqual(['create', 'create']);
    expect(leader.hasStopped).toBe(true);
    expect(ensemble.leader).not.toBe(leader);
    expect(entry.closed).toEqual([]);
  });
});
