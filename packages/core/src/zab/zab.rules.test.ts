/** Single rules: one member in a given state, one event, the exact consequence. */
import { makeZxid, type Sid, ZERO_ZXID } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Alone, adopted, elected, HELD, leading, record } from './alone.fixture.ts';
import { isBetterVote } from './election.ts';
import type { Vote, ZabMessage } from './messages.ts';

describe('votes', () => {
  it('are compared by epoch, then zxid, then sid (ZOOKEEPER-335)', () => {
    const vote = (peerEpoch: number, counter: number, leader: Sid): Vote => ({
      peerEpoch,
      zxid: makeZxid(1, counter),
      leader,
    });
    const ascending = [vote(1, 1, 1), vote(1, 1, 2), vote(1, 2, 1), vote(2, 1, 1), vote(2, 1, 3), vote(2, 9, 1)];
    ascending.forEach((a, i) => {
      ascending.forEach((b, j) => {
        expect(isBetterVote(a, b), `${i} against ${j}`).toBe(i > j);
      });
    });
  });

  it('of a quorum decide at once when every connected voter was heard, else after a moment', () => {
    const vote = { leader: 3, peerEpoch: 9, zxid: ZERO_ZXID };
    const all = new Alone(1);
    all.vote(2, vote);
    expect(all.zab.status.state).toBe('looking');
    all.vote(3, vote);
    expect(all.zab.status.state).toBe('following');
    const some = new Alone(1);
    some.vote(2, vote);
    some.zab.tick(29);
    expect(some.zab.status.state).toBe('looking');
    some.zab.tick(30);
    expect(some.zab.status.state).toBe('following');
  });

  it('for a candidate whose link is gone are given up in a new round', () => {
    const other = new Alone(1, { acceptedEpoch: 1, currentEpoch: 1 });
    other.vote(3, { leader: 3, peerEpoch: 9, zxid: ZERO_ZXID }, 4);
    expect(other.zab.status.round).toBe(4);
    other.take();
    other.zab.linkDown(3, 3, 0);
    expect(other.take('notification')).toContainEqual({
      kind: 'notification',
      state: 'looking',
      round: expect.any(Number) as number,
      vote: { leader: 1, peerEpoch: 1, zxid: ZERO_ZXID },
      ...HELD,
    });
    expect(other.zab.status.round).toBeGreaterThan(4);
  });
});

describe('epochs', () => {
  it('a learner follows no epoch below the one it promised', () => {
    const member = new Alone(1, { acceptedEpoch: 5, currentEpoch: 5 });
    member.hear(3, leading(3));
    expect(member.take('followerInfo')).toEqual([{ kind: 'followerInfo', acceptedEpoch: 5, voteRight: 'held' }]);
    member.hear(3, { kind: 'leaderInfo', epoch: 4 });
    member.done();
    expect(member.take('ackEpoch')).toEqual([]);
    expect(member.closed).toEqual([3]);
  });

  it('a leader resigns before a member of its quorum that is ahead', () => {
    const member = elected();
    member.hear(1, { kind: 'ackEpoch', currentEpoch: 1, lastZxid: ZERO_ZXID, counted: true });
    expect(member.zab.status.state).toBe('looking');
    const other = elected({ acceptedEpoch: 1, currentEpoch: 1, records: [record(makeZxid(1, 1))] });
    other.hear(1, { kind: 'ackEpoch', currentEpoch: 1, lastZxid: makeZxid(1, 2), counted: true });
    expect(other.zab.status.state).toBe('looking');
  });

  it('Z2: a leader leads only when its own disk has adopted the epoch', () => {
    const member = elected();
    member.hear(1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    member.hear(2, { kind: 'followerInfo', acceptedEpoch: 0, voteRight: 'held' });
    member.hear(2, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    member.hear(1, { kind: 'ackNewLeader', epoch: 1 });
    member.hear(2, { kind: 'ackNewLeader', epoch: 1 });
    expect(member.standings).toEqual([]);
    member.done();
    expect(member.standings).toEqual([{ kind: 'leading', epoch: 1 }]);
  });

  it('of two elected without a quorum one makes way: the worse vote, or who has no follower', () => {
    const lonely = new Alone(3);
    for (const sid of [1, 2]) lonely.vote(sid, { leader: 3, peerEpoch: 0, zxid: ZERO_ZXID });
    expect(lonely.zab.status.state).toBe('leading');
    lonely.hear(2, leading(2));
    expect(lonely.zab.status.state).toBe('looking');
    const five = new Alone(4, {}, [1, 2, 3, 4, 5]);
    for (const sid of [1, 2, 3, 5]) five.vote(sid, { leader: 4, peerEpoch: 0, zxid: ZERO_ZXID });
    five.hear(1, { kind: 'followerInfo', acceptedEpoch: 0, voteRight: 'held' });
    five.hear(2, leading(2));
    expect(five.zab.status.state).toBe('leading');
    five.hear(5, leading(5));
    expect(five.zab.status.state).toBe('looking');
  });

  it('a leader that is not established looks again when the last voter that followed it is gone', () => {
    const member = elected();
    member.zab.linkDown(2, 2, 0);
    expect(member.zab.status.state).toBe('leading');
    member.zab.linkDown(1, 1, 0);
    expect(member.zab.status.state).toBe('looking');
    const other = elected();
    other.hear(1, {
      kind: 'notification',
      state: 'looking',
      round: 9,
      vote: { leader: 1, peerEpoch: 0, zxid: ZERO_ZXID },
      ...HELD,
    });
    other.hear(2, leading(2));
    expect(other.zab.status.state).toBe('looking');
  });

  it('a promise given before to another candidate is not counted again', () => {
    const member = elected();
    member.hear(1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: false });
    expect(member.take('newLeader')).toEqual([]);
  });
});

describe('a learner', () => {
  it('serves only when everything it was synchronized with is delivered', () => {
    const member = adopted([makeZxid(5, 1), makeZxid(5, 2)]);
    member.hear(3, { kind: 'upToDate', committed: makeZxid(5, 1) });
    expect(member.delivered).toEqual([makeZxid(5, 1)]);
    expect(member.standings).toEqual([]);
    member.hear(3, { kind: 'commit', zxid: makeZxid(5, 2) });
    expect(member.standings).toEqual([{ kind: 'following', leader: 3, link: 3, epoch: 6 }]);
  });

  it('leaves a leader that has said that it leads and looks again, whatever the rounds', () => {
    const looking = (round: number): ZabMessage => ({
      kind: 'notification',
      state: 'looking',
      round,
      vote: { leader: 3, peerEpoch: 0, zxid: ZERO_ZXID },
      ...HELD,
    });
    const told = new Alone(1);
    told.vote(2, { leader: 2, peerEpoch: 0, zxid: ZERO_ZXID }, 7);
    told.hear(3, leading(3));
    told.hear(3, looking(2));
    expect(told.zab.status.state).toBe('looking');
    expect(told.closed).toEqual([]);
    const early = new Alone(1);
    const vote = { leader: 3, peerEpoch: 9, zxid: ZERO_ZXID };
    early.vote(2, vote);
    early.vote(3, vote);
    early.vote(3, vote);
    expect(early.zab.status.state).toBe('following');
  });

  it('gives up a leader that commits what it does not have', () => {
    const member = adopted([makeZxid(5, 1)]);
    member.hear(3, { kind: 'upToDate', committed: makeZxid(5, 1) });
    member.hear(3, { kind: 'commit', zxid: makeZxid(6, 1) });
    expect(member.zab.status.state).toBe('looking');
    expect(member.closed).toEqual([3]);
  });

  it('takes messages only in the phase that they belong to', () => {
    const messages: ZabMessage[] = [
      { kind: 'diff', records: [] },
      { kind: 'newLeader', epoch: 1, lastZxid: ZERO_ZXID },
      { kind: 'upToDate', committed: ZERO_ZXID },
      { kind: 'propose', records: [], committed: ZERO_ZXID },
      { kind: 'stateEnd', zxid: makeZxid(1, 1) },
      { kind: 'ack', zxid: ZERO_ZXID },
    ];
    for (const message of messages) {
      const member = new Alone(1);
      member.hear(3, leading(3));
      member.hear(3, message);
      expect(member.zab.status.state, message.kind).toBe('looking');
      expect(member.closed, message.kind).toEqual([3]);
    }
  });
});
