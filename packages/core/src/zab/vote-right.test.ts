/** Who counts as a voter: new ensembles, lost disks, and the way back. Single rules, and whole ensembles in memory. */
import { makeZxid, type Sid, ZERO_ZXID } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Alone, elected, HELD, leading } from './alone.fixture.ts';
import type { VoteRight } from './config.ts';
import { FixtureEnsemble, type FixtureMember } from './ensemble.fixture.ts';
import type { ZabMessage } from './messages.ts';

/** Members whose disks say this of their right, none of them started. */
function ensembleOf(rights: readonly VoteRight[], bootstrap = false): FixtureEnsemble {
  const ensemble = new FixtureEnsemble(rights.map((_, index) => index + 1));
  ensemble.config.bootstrap = bootstrap;
  for (const [index, right] of rights.entries()) reborn(ensemble.member(index + 1), right);
  return ensemble;
}

/** The member starts from an empty disk. */
function reborn(member: FixtureMember, right: VoteRight): void {
  member.wipe(right);
  member.reboot();
}

/** Three voters with one write that all hold, and `sid` down with its disk gone. */
function withLost(sid: Sid, right: VoteRight = 'unformed'): FixtureEnsemble {
  const ensemble = new FixtureEnsemble([1, 2, 3]);
  ensemble.start();
  ensemble.write('a');
  ensemble.member(sid).crash();
  ensemble.member(sid).wipe(right);
  ensemble.advance(5_000);
  return ensemble;
}

const waiting = (ensemble: FixtureEnsemble, sid: Sid): string | undefined => ensemble.member(sid).zab.status.waiting;
const rightOf = (ensemble: FixtureEnsemble, sid: Sid): VoteRight | undefined =>
  ensemble.member(sid).zab.status.voteRight;

describe('a new ensemble', () => {
  it('Z10: is formed when all its voters are there with new disks, and each holds its right on disk', () => {
    const ensemble = ensembleOf(['unformed', 'unformed', 'unformed']);
    ensemble.start();
    expect(ensemble.leader).toBeDefined();
    ensemble.write('a');
    for (const sid of [1, 2, 3]) {
      expect(ensemble.member(sid).voteRight).toBe('held');
      expect(waiting(ensemble, sid)).toBeUndefined();
    }
  });

  it('Z10: is not formed by two of three, which say whom they wait for; the third completes it', () => {
    const ensemble = ensembleOf(['unformed', 'unformed', 'unformed']);
    ensemble.start(1, 2);
    ensemble.advance(60_000);
    expect(ensemble.leader).toBeUndefined();
    expect(waiting(ensemble, 1)).toBe(
      'waiting for voter 3: a new ensemble is formed when all its voters are there, or with --bootstrap',
    );
    ensemble.member(3).restart();
    ensemble.advance(500);
    expect(ensemble.leader).toBeDefined();
  });

  it('Z10: with bootstrap a quorum is enough; who comes later has its right from the leader', () => {
    const ensemble = ensembleOf(['unformed', 'unformed', 'unformed'], true);
    ensemble.start(1, 2);
    ensemble.advance(500);
    ensemble.write('a');
    ensemble.member(3).restart();
    ensemble.settle();
    ensemble.advance(500);
    expect(rightOf(ensemble, 3)).toBe('held');
    expect(ensemble.texts(3)).toEqual(['a']);
    expect(ensemble.leader?.zab.status.learners.every(({ votes }) => votes)).toBe(true);
  });

  it('Z10: bootstrap left in the configuration does not let a wiped voter vote', () => {
    const ensemble = withLost(1);
    ensemble.config.bootstrap = true;
    ensemble.member(3).crash();
    ensemble.advance(100);
    ensemble.member(1).restart();
    ensemble.advance(60_000);
    expect(ensemble.leader).toBeUndefined();
    expect(rightOf(ensemble, 1)).toBe('recovering');
  });

  it('is formed by a single voter alone', () => {
    const ensemble = ensembleOf(['unformed']);
    ensemble.start();
    expect(ensemble.leader?.sid).toBe(1);
  });

  it('Z10: nobody takes part before its right is on disk, so that a crash cannot leave too few', () => {
    const ensemble = ensembleOf(['unformed', 'unformed', 'unformed']);
    for (const sid of [1, 2]) ensemble.member(sid).isDiskHeld = true;
    ensemble.start();
    ensemble.advance(1_000);
    expect(ensemble.member(3).voteRight).toBe('held');
    expect(ensemble.leader).toBeUndefined();
    expect(ensemble.member(3).acceptedEpoch).toBe(0);
    for (const sid of [1, 2]) {
      const member = ensemble.member(sid);
      member.crash();
      member.isDiskHeld = false;
      member.restart();
    }
    ensemble.advance(1_000);
    expect(ensemble.leader).toBeDefined();
  });

  it('is not formed over a voter that lost data', () => {
    const ensemble = ensembleOf(['unformed', 'unformed', 'recovering']);
    ensemble.start();
    ensemble.advance(1_000);
    expect(ensemble.leader).toBeUndefined();
    expect(waiting(ensemble, 1)).toMatch(/^no new ensemble is formed, because voter 3 lost data \(recovering\)/);
  });
});

describe('a voter that lost its disk', () => {
  it.each(['unformed', 'recovering'] as const)('Z10: makes no quorum with one that holds data (%s)', (right) => {
    const ensemble = new FixtureEnsemble([1, 2, 3]);
    ensemble.start();
    // The write is on 1 and 3 only.
    ensemble.member(2).crash();
    ensemble.advance(100);
    ensemble.write('a');
    ensemble.member(1).crash();
    ensemble.member(3).crash();
    ensemble.member(1).wipe(right);
    ensemble.member(2).restart();
    ensemble.member(1).restart();
    ensemble.advance(60_000);
    expect(ensemble.leader).toBeUndefined();
    expect(waiting(ensemble, 1)).toBe(
      'this voter lost its data, and counts again once a leader has synchronized it; there is no leader',
    );
    ensemble.member(3).restart();
    ensemble.advance(1_000);
    for (const sid of [1, 2, 3]) {
      expect(ensemble.texts(sid)).toEqual(['a']);
      expect(rightOf(ensemble, sid)).toBe('held');
    }
  });

  it('Z10: is not counted until it has its right again, and is from then on', () => {
    const ensemble = withLost(1);
    const leader = ensemble.leader as FixtureMember;
    const other = leader.sid === 3 ? 2 : 3;
    ensemble.member(1).isUp = true;
    ensemble.member(1).reboot();
    ensemble.member(1).zab.start(ensemble.nowMs);
    ensemble.heal(1, leader.sid);
    ensemble.advance(1_000);
    expect(ensemble.texts(1)).toEqual(['a']);
    expect(ensemble.member(1).zab.status).toMatchObject({ state: 'observing', voteRight: 'recovering' });
    expect(waiting(ensemble, 1)).toMatch(`when voter ${other} can be reached, or 20 s after its start`);
    ensemble.member(other).isDiskHeld = true;
    ensemble.write('b');
    expect(leader.zab.status.committed).toBe(makeZxid(1, 1));
    ensemble.member(other).isDiskHeld = false;
    ensemble.advance(500);
    ensemble.heal(1, other);
    ensemble.advance(500);
    expect(ensemble.member(1)).toMatchObject({ voteRight: 'held', acceptedEpoch: 1, currentEpoch: 1 });
    ensemble.member(other).crash();
    ensemble.write('c');
    expect(ensemble.texts(1)).toEqual(['a', 'b', 'c']);
  });

  it('Z10: without links to all it waits until every leader must have dropped its former words', () => {
    const ensemble = withLost(1, 'recovering');
    const leader = (ensemble.leader as FixtureMember).sid;
    ensemble.member(1).isUp = true;
    ensemble.member(1).reboot();
    ensemble.member(1).zab.start(ensemble.nowMs);
    ensemble.heal(1, leader);
    ensemble.advance(19_900);
    expect(rightOf(ensemble, 1)).toBe('recovering');
    ensemble.advance(300);
    expect(rightOf(ensemble, 1)).toBe('held');
  });

  it('Z10: two of three that lost theirs make no quorum with the third, and all say so by name', () => {
    const ensemble = withLost(1);
    ensemble.member(2).crash();
    ensemble.member(2).wipe('recovering');
    ensemble.member(1).restart();
    ensemble.member(2).restart();
    ensemble.advance(60_000);
    expect(ensemble.leader).toBeUndefined();
    for (const sid of [1, 2, 3]) {
      expect(waiting(ensemble, sid)).toBe(
        'no quorum can be formed: voters 1, 2 lost data and may not vote (recovering), ' +
          '1 of 3 voters are left and 2 are needed; restore the disks of 1 of them as they were when last used',
      );
    }
  });

  it('keeps its right over a restart, and is an ordinary voter again', () => {
    const ensemble = withLost(1);
    ensemble.member(1).restart();
    ensemble.advance(1_000);
    ensemble.member(1).crash();
    ensemble.member(2).crash();
    ensemble.member(1).restart();
    ensemble.advance(5_000);
    ensemble.write('b');
    expect(ensemble.texts(1)).toEqual(['a', 'b']);
  });
});

describe('the dialogue by which a vote is given back', () => {
  /** Leader 3 established in epoch 1 by voter 1; voter 2, which lost its disk, follows. */
  function withLearner(): Alone {
    const leader = elected();
    leader.hear(1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    leader.done();
    leader.hear(1, { kind: 'ackNewLeader', epoch: 1 });
    expect(leader.standings).toEqual([{ kind: 'leading', epoch: 1 }]);
    leader.hear(2, { kind: 'followerInfo', acceptedEpoch: 0, voteRight: 'recovering' });
    leader.hear(2, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    leader.hear(2, { kind: 'ackNewLeader', epoch: 1 });
    leader.take();
    return leader;
  }

  it('Z10: the leader grants only after a ping begun since the claim was answered by others', () => {
    const leader = withLearner();
    leader.zab.confirmLeadership();
    leader.zab.turnEnded(0);
    leader.hear(2, { kind: 'voteClaim' });
    leader.hear(1, { kind: 'pong', seq: 1 });
    leader.hear(2, { kind: 'pong', seq: 1 });
    expect(leader.take('voteGrant')).toEqual([]);
    leader.zab.turnEnded(0);
    leader.hear(2, { kind: 'pong', seq: 2 });
    expect(leader.take('voteGrant')).toEqual([]);
    leader.hear(1, { kind: 'pong', seq: 2 });
    expect(leader.take('voteGrant')).toEqual([{ kind: 'voteGrant', zxid: ZERO_ZXID }]);
    expect(leader.zab.status.learners.find(({ sid }) => sid === 2)?.votes).toBe(false);
    leader.hear(2, { kind: 'voteTaken' });
    expect(leader.zab.status.learners.find(({ sid }) => sid === 2)?.votes).toBe(true);
  });

  it('Z10: its acks count from voteTaken on, not before', () => {
    const leader = withLearner();
    const zxid = leader.zab.propose(new Uint8Array(1));
    leader.zab.turnEnded(0);
    leader.done();
    leader.hear(2, { kind: 'ack', zxid });
    expect(leader.zab.status.committed).toBe(ZERO_ZXID);
    leader.hear(2, { kind: 'voteClaim' });
    leader.zab.turnEnded(0);
    leader.hear(1, { kind: 'pong', seq: 1 });
    expect(leader.zab.status.committed).toBe(ZERO_ZXID);
    leader.hear(2, { kind: 'voteTaken' });
    expect(leader.zab.status.committed).toBe(zxid);
  });

  it.each([
    ['voteTaken without a grant', [{ kind: 'voteTaken' }]],
    ['a claim twice', [{ kind: 'voteClaim' }, { kind: 'voteClaim' }]],
  ] as const)('ends the conversation: %s', (_, messages) => {
    const leader = withLearner();
    for (const message of messages) leader.hear(2, message);
    expect(leader.closed).toEqual([2]);
  });

  it('Z10: the learner says that it holds its vote when that, and all that was committed, is on its disk', () => {
    const member = new Alone(1, { voteRight: 'recovering' });
    for (const sid of [2, 3]) member.vote(sid, { leader: 3, peerEpoch: 5, zxid: ZERO_ZXID });
    member.hear(3, leading(3, 5));
    member.hear(3, { kind: 'leaderInfo', epoch: 6 });
    member.done();
    member.hear(3, { kind: 'newLeader', epoch: 6, lastZxid: ZERO_ZXID });
    member.done();
    member.hear(3, { kind: 'upToDate', committed: ZERO_ZXID });
    expect(member.take('voteClaim')).toHaveLength(1);
    member.hear(3, {
      kind: 'propose',
      records: [{ zxid: makeZxid(6, 1), payload: new Uint8Array() }],
      committed: makeZxid(6, 1),
    });
    member.hear(3, { kind: 'voteGrant', zxid: makeZxid(6, 1) });
    member.zab.turnEnded(0);
    const last = (): unknown => member.disk.at(-1);
    expect(last()).toMatchObject({ kind: 'append' });
    member.done();
    expect(last()).toEqual({ kind: 'saveEpochs', acceptedEpoch: 6, currentEpoch: 6, voteRight: 'held' });
    expect(member.take('voteTaken')).toEqual([]);
    expect(member.zab.status.voteRight).toBe('recovering');
    member.done();
    expect(member.take('voteTaken')).toEqual([{ kind: 'voteTaken' }]);
    expect(member.zab.status).toMatchObject({ voteRight: 'held', state: 'following' });
  });
});

describe('words of a former life', () => {
  it('Z10: a promise is not counted when the question that it answers is older than the bound', () => {
    const leader = elected();
    leader.nowMs = 10_001;
    leader.hear(1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    expect(leader.take('newLeader')).toEqual([]);
    const inTime = elected();
    inTime.nowMs = 9_999;
    inTime.hear(1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    expect(inTime.take('newLeader')).toHaveLength(1);
  });

  it('Z10: an ack is not counted when no ping of late was answered, also before any tick', () => {
    const leader = elected();
    leader.hear(1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    leader.done();
    leader.hear(1, { kind: 'ackNewLeader', epoch: 1 });
    const zxid = leader.zab.propose(new Uint8Array(1));
    leader.zab.confirmLeadership();
    leader.zab.turnEnded(100);
    leader.done();
    // This process stood still; what lay in the buffer comes first.
    leader.nowMs = 10_101;
    leader.hear(1, { kind: 'ack', zxid });
    leader.hear(1, { kind: 'pong', seq: 1 });
    expect([leader.zab.status.committed, leader.confirmed]).toEqual([ZERO_ZXID, 0]);
    // If it is there all the same, its next word counts, and what it said before with it.
    leader.zab.confirmLeadership();
    leader.zab.turnEnded(10_101);
    leader.hear(1, { kind: 'pong', seq: 2 });
    expect([leader.zab.status.committed, leader.confirmed]).toEqual([zxid, 2]);
  });

  it('Z10: a promise ends with the link over which it was given', () => {
    const leader = new Alone(5, {}, [1, 2, 3, 4, 5]);
    for (const sid of [1, 2, 3, 4]) leader.vote(sid, { leader: 5, peerEpoch: 0, zxid: ZERO_ZXID });
    const follows: ZabMessage = { kind: 'followerInfo', acceptedEpoch: 0, voteRight: 'held' };
    const promises: ZabMessage = { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true };
    for (const sid of [1, 2, 3]) leader.hear(sid, follows);
    leader.done();
    leader.hear(1, promises);
    leader.zab.linkDown(1, 1, 0);
    leader.zab.linkUp(1, 1, 0);
    leader.hear(2, promises);
    expect(leader.take('newLeader')).toEqual([]);
    leader.hear(3, promises);
    expect(leader.take('newLeader')).toHaveLength(2);
  });

  it('Z10: a voter without its right is neither a vote nor a candidate', () => {
    const member = new Alone(1);
    const vote = { leader: 1, peerEpoch: 0, zxid: ZERO_ZXID };
    const lost = { ...HELD, voteRight: 'recovering' } as const;
    member.hear(2, { kind: 'notification', state: 'looking', round: 1, vote, ...lost });
    member.hear(3, { kind: 'notification', state: 'following', round: 1, vote, ...lost });
    member.zab.tick(100);
    expect(member.zab.status.state).toBe('looking');
    const better = { leader: 2, peerEpoch: 9, zxid: makeZxid(9, 1) };
    member.hear(3, { kind: 'notification', state: 'looking', round: 1, vote: better, ...HELD });
    member.zab.tick(200);
    expect(member.zab.status.state).toBe('looking');
  });
});
