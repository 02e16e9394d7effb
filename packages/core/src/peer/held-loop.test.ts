/** C141: a member whose event loop is held for a while, by a large request or a garbage collection, keeps its place. */
import { describe, expect, it } from 'vitest';
import { type Member, TestEnsemble } from './ensemble.fixture.ts';
import { create } from './words.fixture.ts';

/** The shortest timeout that is handed out by default, ms. */
const SESSION_MS = 4_000;

describe('C141: an event loop that is held', () => {
  it.each(['leader', 'follower'] as const)(
    'for 200 ms, again and again, at the %s costs neither the lead nor a session',
    (role) => {
      const ensemble = new TestEnsemble();
      const { leader } = ensemble;
      const follower = ensemble.followers[0] as Member;
      const held = role === 'leader' ? leader : follower;
      const { epoch } = leader.peer!.status;
      const attached = [leader, follower].map((member, i) => ({ member, attachment: i + 1 }));
      for (const { member, attachment } of attached) ensemble.open(member, attachment, SESSION_MS);
      for (let round = 0; round < 30; round++) {
        held.isFrozen = true;
        const id = ensemble.submit(follower, create(`/n${round}`));
        for (const { member, attachment } of attached) ensemble.give(member, { kind: 'heard', attachment });
        ensemble.advance(200);
        held.isFrozen = false;
        ensemble.advance(100);
        expect(follower.answers.get(id)?.result.kind).toBe('create');
      }
      expect(ensemble.leader).toBe(leader);
      expect(leader.peer!.status).toMatchObject({ epoch, sessions: 2, hasQuorum: true });
      expect(leader.closed.concat(follower.closed)).toEqual([]);
    },
  );
});
