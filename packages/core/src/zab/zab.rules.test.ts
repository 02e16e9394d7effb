/** Single rules: one member in a given state, one event, the exact consequence. */
import { makeZxid, type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import type { ZabRecovered } from './config.ts';
import { isBetterVote } from './election.ts';
import type { Standing, StorageCommand, ZabHost } from './host.ts';
import type { Vote, ZabMessage } from './messages.ts';
import { Zab } from './zab.ts';

/** One Zab whose surroundings are this test: what it says and asks of the disk is kept, and nothing is answered by itself. */
class Alone implements ZabHost {
  readonly said: { to: Sid; message: ZabMessage }[] = [];
  readonly disk: StorageCommand[] = [];
  readonly standings: Standing[] = [];
  readonly delivered: Zxid[] = [];
  readonly closed: Sid[] = [];
  readonly zab: Zab;
  nowMs = 0;

  constructor(sid: Sid, recovered: Partial<ZabRecovered> = {}, voters: readonly Sid[] = [1, 2, 3]) {
    const timing = {
      heartbeatMs: 250,
      syncTimeoutMs: 3_000,
      initTimeoutMs: 10_000,
      electionRetryMs: 200,
      electionSettleMs: 30,
    };
    const limits = { historyBytesMax: 1 << 20, epochTxnsMax: 2 ** 31 };
    const voteRight = 'held';
    const start: ZabRecovered = {
      voteRight,
      acceptedEpoch: 0,
      currentEpoch: 0,
      baseZxid: ZERO_ZXID,
      records: [],
      committed: ZERO_ZXID,
    };
    this.zab = new Zab({ sid, voters, observers: [], timing, limits }, this, { ...start, ...recovered });
    this.zab.start(0);
    for (const other of voters) if (other !== sid) this.zab.linkUp(other, other, 0);
    this.take();
  }

  hear(from: Sid, message: ZabMessage): void {
    this.zab.message(from, from, message, this.nowMs);
  }
  vote(from: Sid, vote: Vote, round = 1): void {
    this.hear(from, { kind: 'notification', state: 'looking', round, vote });
  }
  /** The disk has done everything so far. */
  done(): void {
    this.zab.persisted(this.disk.length, this.nowMs);
  }
  /** What was said since the last call, of one kind when given. */
  take(kind?: ZabMessage['kind']): ZabMessage[] {
    const messages = this.said.splice(0).map(({ message }) => message);
    return kind === undefined ? messages : messages.filter((message) => message.kind === kind);
  }

  send(to: Sid, _link: number, message: ZabMessage): void {
    this.said.push({ to, message });
  }
  persist(command: StorageCommand): number {
    return this.disk.push(command);
  }
  deliver({ zxid }: { zxid: Zxid }): void {
    this.delivered.push(zxid);
  }
  standing(standing: Standing): void {
    this.standings.push(standing);
  }
  closeLink(sid: Sid): void {
    this.closed.push(sid);
  }
  openState(): void {}
  sendState(): void {}
  closeState(): void {}
  installBegin(): void {}
  installRecords(): void {}
  installEnd(): void {}
  installAbort(): void {}
  leadershipConfirmed(): void {}
  fail(reason: string): void {
    throw new Error(reason);
  }
  trace(): void {}
}

const leading = (leader: Sid, peerEpoch = 0): ZabMessage => ({
  kind: 'notification',
  state: 'leading',
  round: 1,
  vote: { leader, peerEpoch, zxid: ZERO_ZXID },
});
const record = (zxid: Zxid) => ({ zxid, payload: new Uint8Array() });

/** Member 1 as a learner of 3 that was sent `records` and newLeader for epoch 6, all on disk. */
function adopted(records: readonly Zxid[]): Alone {
  const member = new Alone(1, { acceptedEpoch: 5, currentEpoch: 5 });
  member.hear(3, leading(3));
  member.hear(3, { kind: 'leaderInfo', epoch: 6 });
  member.done();
  member.hear(3, { kind: 'diff', records: records.map(record) });
  member.hear(3, { kind: 'newLeader', epoch: 6, lastZxid: records.at(-1) ?? ZERO_ZXID });
  member.done();
  return member;
}

/** Member 3 elected by itself and 1, the epoch on its disk, and 1 told of it. */
function elected(recovered: Partial<ZabRecovered> = {}): Alone {
  const member = new Alone(3, recovered);
  const vote = {
    leader: 3,
    peerEpoch: recovered.currentEpoch ?? 0,
    zxid: recovered.records?.at(-1)?.zxid ?? ZERO_ZXID,
  };
  member.vote(1, vote);
  member.vote(2, vote);
  member.hear(1, { kind: 'followerInfo', acceptedEpoch: 0 });
  member.done();
  member.take();
  return member;
}

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
    });
    expect(other.zab.status.round).toBeGreaterThan(4);
  });
});

describe('epochs', () => {
  it('a learner follows no epoch below the one it promised', () => {
    const member = new Alone(1, { acceptedEpoch: 5, currentEpoch: 5 });
    member.hear(3, leading(3));
    expect(member.take('followerInfo')).toEqual([{ kind: 'followerInfo', acceptedEpoch: 5 }]);
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
    member.hear(2, { kind: 'followerInfo', acceptedEpoch: 0 });
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
    five.hear(1, { kind: 'followerInfo', acceptedEpoch: 0 });
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

  it('Z5: refuses to cut what is committed', () => {
    const records = [record(makeZxid(1, 1)), record(makeZxid(1, 2))];
    const member = new Alone(1, { acceptedEpoch: 1, currentEpoch: 1, records, committed: makeZxid(1, 2) });
    member.hear(3, leading(3));
    member.hear(3, { kind: 'leaderInfo', epoch: 2 });
    member.done();
    expect(() => member.hear(3, { kind: 'truncate', after: makeZxid(1, 1) })).toThrow('Cannot cut the log');
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
