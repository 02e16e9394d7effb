import type { Answer, SessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { answerOf, type Member, TestEnsemble, TOKEN } from './ensemble.fixture.ts';
import { create, digests, list } from './words.fixture.ts';

const WRITE = create('/n-', '', { sequential: true });

/** By no attachment, so that nothing but its number tells a copy from a new write. */
function unfenced(session: SessionId, request: number) {
  return { session, attachment: 0, token: TOKEN, numbered: { request, acknowledged: 0 } };
}

function namesAt(ensemble: TestEnsemble, member: Member): readonly string[] {
  const { result } = ensemble.call(member, list('/'));
  return result.kind === 'getChildren' ? result.children.filter((name) => name !== 'zookeeper') : [];
}

describe('C077: a numbered write over whole members', () => {
  it('that a member still holds when its client has asked again elsewhere is done once, whoever comes first', () => {
    const ensemble = new TestEnsemble();
    const [old, next] = ensemble.followers as [Member, Member];
    const { session } = ensemble.open(old, 1, 60_000);
    ensemble.isolate(old);
    const held = ensemble.submit(old, WRITE, { ...unfenced(session, 1), deadlineMs: 1e9 });
    ensemble.advance(500);
    const done = ensemble.call(next, WRITE, unfenced(session, 1));
    ensemble.heal();
    ensemble.advance(3_000);
    expect(done.result).toMatchObject({ kind: 'create', path: '/n-0000000000' });
    expect(answerOf(old, held)).toEqual(done);
    expect(namesAt(ensemble, next)).toEqual(['n-0000000000']);
    expect(digests(ensemble).size).toBe(1);
  });

  it('is known to every later leader, also when all that they have is their disks', () => {
    const ensemble = new TestEnsemble();
    const { session } = ensemble.open(ensemble.followers[0]!, 1, 60_000);
    const first: Answer[] = [];
    for (const request of [1, 2]) first.push(ensemble.call(ensemble.leader, WRITE, unfenced(session, request)));
    ensemble.advance(1_000);
    for (const member of ensemble.members) ensemble.kill(member);
    for (const member of ensemble.members) ensemble.start(member);
    ensemble.advance(3_000);
    const again = [1, 2].map((request) => ensemble.call(ensemble.followers[0]!, WRITE, unfenced(session, request)));
    expect(again).toEqual(first);
    expect(namesAt(ensemble, ensemble.leader)).toEqual(['n-0000000000', 'n-0000000001']);
  });

  it('whose first copy dies with its leader is done by the next, and the member that held it learns that', () => {
    const ensemble = new TestEnsemble();
    const { leader, followers } = ensemble;
    const [entry, other] = followers as [Member, Member];
    const { session } = ensemble.open(entry, 1, 60_000);
    leader.isFrozen = true;
    const ids = [entry, other].map((member) =>
      ensemble.submit(member, WRITE, { ...unfenced(session, 1), deadlineMs: 1e9 }),
    );
    ensemble.run();
    ensemble.kill(leader);
    ensemble.advance(3_000);
    const [a, b] = [answerOf(entry, ids[0]!), answerOf(other, ids[1]!)];
    expect(a).toEqual(b);
    expect(a.result).toMatchObject({ kind: 'create', path: '/n-0000000000' });
    expect(namesAt(ensemble, ensemble.leader)).toEqual(['n-0000000000']);
  });
});
