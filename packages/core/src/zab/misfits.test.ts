/** Messages of a member that is known but not right: each ends its conversation, is counted, and changes nothing. */
import { makeZxid, type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Alone, adopted, elected, leading, record } from './alone.fixture.ts';
import type { StorageCommand } from './host.ts';
import type { ZabMessage } from './messages.ts';

const z = (epoch: number, counter: number): Zxid => makeZxid(epoch, counter);
const diff = (...zxids: Zxid[]): ZabMessage => ({ kind: 'diff', records: zxids.map(record) });
const propose = (committed: Zxid, ...zxids: Zxid[]): ZabMessage => ({
  kind: 'propose',
  records: zxids.map(record),
  committed,
});
const commit = (zxid: Zxid): ZabMessage => ({ kind: 'commit', zxid });
const snapshot = (zxid: Zxid): ZabMessage => ({ kind: 'snapshot', zxid });
const stateEnd = (zxid: Zxid): ZabMessage => ({ kind: 'stateEnd', zxid });
const truncate = (after: Zxid): ZabMessage => ({ kind: 'truncate', after });
const newLeader = (epoch: number, lastZxid: Zxid): ZabMessage => ({ kind: 'newLeader', epoch, lastZxid });
const upToDate = (committed: Zxid): ZabMessage => ({ kind: 'upToDate', committed });
const chunk: ZabMessage = { kind: 'stateChunk', records: [{ key: Uint8Array.of(1), value: Uint8Array.of(1) }] };

/** Has txns 1 to 3 of epoch 1, of which 2 are committed; member 3 leads epoch 2 and synchronizes it. */
function synchronizing(): Alone {
  const records = [record(z(1, 1)), record(z(1, 2)), record(z(1, 3))];
  const member = new Alone(1, { acceptedEpoch: 1, currentEpoch: 1, records, committed: z(1, 2) });
  member.hear(3, leading(3));
  member.hear(3, { kind: 'leaderInfo', epoch: 2 });
  member.done();
  return member;
}

/** Follows member 3 in epoch 6 with two txns of epoch 5, all committed. */
function following(): Alone {
  const member = adopted([z(5, 1), z(5, 2)]);
  member.hear(3, upToDate(z(5, 2)));
  expect(member.standings).toHaveLength(1);
  return member;
}

/** Expects that `last` is refused after `before` were taken. */
function refuses(make: () => Alone, before: readonly ZabMessage[], last: ZabMessage, why: string): void {
  const member = make();
  for (const message of before) member.hear(3, message);
  expect(member.faults, `${why}: what came before`).toEqual([]);
  const at = { committed: member.zab.committed, last: member.zab.lastLogged };
  const disk = member.disk.length;
  member.hear(3, last);
  member.zab.turnEnded(member.nowMs);
  expect(member.zab.status.state, why).toBe('looking');
  expect(member.closed, why).toEqual([3]);
  expect(member.faults, why).toHaveLength(1);
  expect(member.zab.committed, why).toBe(at.committed);
  expect(member.zab.lastLogged, why).toBe(at.last);
  const done = (member.disk as StorageCommand[]).slice(disk).map(({ kind }) => kind);
  // What was taken before may go to the disk yet; a snapshot that was begun is thrown away.
  expect(
    done.filter((kind) => kind !== 'append' && kind !== 'installAbort'),
    why,
  ).toEqual([]);
}

describe('a learner gives a leader up that sends', () => {
  it('history that does not continue its own (diff)', () => {
    refuses(synchronizing, [], diff(), 'nothing');
    refuses(synchronizing, [], diff(z(1, 5)), 'a hole');
    refuses(synchronizing, [], diff(z(1, 3)), 'what it has');
    refuses(synchronizing, [], diff(z(2, 2)), 'an epoch that does not begin with 1');
    refuses(synchronizing, [], diff(z(3, 1)), 'a later epoch than the leader leads');
    refuses(synchronizing, [], diff(z(1, 4), z(1, 6)), 'a hole behind what fits');
    refuses(following, [], diff(z(6, 1)), 'after the synchronization');
  });

  it('proposals that do not continue the history', () => {
    refuses(following, [], propose(z(5, 2)), 'nothing');
    refuses(following, [], propose(z(5, 2), z(6, 2)), 'a hole');
    refuses(following, [], propose(z(5, 2), z(5, 3)), 'an earlier epoch');
    refuses(following, [], propose(z(5, 2), z(7, 1)), 'a later epoch');
    refuses(following, [propose(z(5, 2), z(6, 1))], propose(z(5, 2), z(6, 1)), 'the same again');
    refuses(synchronizing, [], propose(z(1, 2), z(2, 1)), 'before newLeader');
  });

  it('a commit point that is not in the history', () => {
    refuses(following, [], commit(z(6, 1)), 'ahead');
    refuses(following, [propose(z(5, 2), z(6, 1))], commit(z(5, 9)), 'between two txns');
    refuses(following, [propose(z(5, 2), z(6, 1))], upToDate(z(6, 1)), 'a second upToDate');
    refuses(() => adopted([z(5, 1)]), [], upToDate(z(6, 1)), 'upToDate ahead');
    refuses(synchronizing, [], commit(z(1, 3)), 'before newLeader');
    const member = following();
    member.hear(3, propose(z(9, 9), z(6, 1)));
    expect([member.faults.length, member.zab.committed]).toEqual([1, z(5, 2)]);
  });

  it('Z5: a cut of what is committed, or at no place of the log, or late', () => {
    refuses(synchronizing, [], truncate(z(1, 1)), 'committed');
    refuses(synchronizing, [], truncate(ZERO_ZXID), 'everything');
    refuses(synchronizing, [], truncate(z(1, 3)), 'nothing to cut');
    refuses(synchronizing, [], truncate(z(1, 7)), 'no such place');
    refuses(synchronizing, [diff(z(2, 1))], truncate(z(1, 3)), 'after history');
    refuses(synchronizing, [truncate(z(1, 2))], truncate(z(1, 2)), 'twice');
    refuses(following, [], truncate(z(5, 2)), 'after the synchronization');
  });

  it('Z9: a snapshot that is not ahead, not whole, or not the one that was announced', () => {
    refuses(synchronizing, [], snapshot(z(1, 3)), 'not ahead');
    refuses(synchronizing, [], snapshot(z(3, 1)), 'of a later epoch');
    refuses(synchronizing, [diff(z(2, 1))], snapshot(z(2, 5)), 'after history');
    refuses(synchronizing, [], chunk, 'a chunk without a snapshot');
    refuses(synchronizing, [], stateEnd(z(2, 5)), 'an end without a snapshot');
    refuses(synchronizing, [snapshot(z(2, 5))], snapshot(z(2, 6)), 'two at once');
    refuses(synchronizing, [snapshot(z(2, 5)), chunk], stateEnd(z(2, 6)), 'another end');
    refuses(synchronizing, [snapshot(z(2, 5)), chunk], diff(z(2, 6)), 'history before its end');
    refuses(synchronizing, [snapshot(z(2, 5)), chunk], newLeader(2, z(2, 5)), 'no end');
    const damaged = (): Alone => Object.assign(synchronizing(), { snapshotFault: 'damaged' });
    refuses(damaged, [snapshot(z(2, 5))], chunk, 'records that cannot be read');
    refuses(damaged, [snapshot(z(2, 5))], stateEnd(z(2, 5)), 'records that are not whole');
  });

  it('an epoch that is not this conversation’s', () => {
    refuses(synchronizing, [], { kind: 'leaderInfo', epoch: 3 }, 'a second leaderInfo');
    refuses(synchronizing, [], newLeader(3, z(1, 3)), 'newLeader of another epoch');
    refuses(synchronizing, [], newLeader(2, z(1, 2)), 'newLeader at another place');
    refuses(following, [], newLeader(6, z(5, 2)), 'a second newLeader');
    const discovering = (): Alone => {
      const member = new Alone(1);
      member.hear(3, leading(3));
      return member;
    };
    refuses(discovering, [], { kind: 'leaderInfo', epoch: 0 }, 'no epoch');
  });

  it('what only a learner says', () => {
    const said: ZabMessage[] = [
      { kind: 'ack', zxid: ZERO_ZXID },
      { kind: 'ackEpoch', currentEpoch: 1, lastZxid: ZERO_ZXID, counted: true },
      { kind: 'ackNewLeader', epoch: 6 },
      { kind: 'pong', seq: 1 },
    ];
    for (const message of said) refuses(following, [], message, message.kind);
  });

  it('and goes on with the next leader', () => {
    const member = following();
    member.hear(3, propose(z(5, 2), z(6, 2)));
    member.zab.linkUp(3, 33, 0);
    member.take();
    member.zab.message(3, 33, { ...leading(3, 7) }, 0);
    expect(member.take('followerInfo')).toEqual([{ kind: 'followerInfo', acceptedEpoch: 6, voteRight: 'held' }]);
  });
});

describe('a leader drops a learner that sends', () => {
  /** Leads epoch 1 with members 1 and 2, established; nothing was proposed. */
  function established(): Alone {
    const member = elected();
    for (const sid of [1, 2]) {
      if (sid === 2) member.hear(sid, { kind: 'followerInfo', acceptedEpoch: 0, voteRight: 'held' });
      member.hear(sid, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true });
    }
    member.done();
    for (const sid of [1, 2]) member.hear(sid, { kind: 'ackNewLeader', epoch: 1 });
    expect(member.standings).toEqual([{ kind: 'leading', epoch: 1 }]);
    return member;
  }

  function drops(from: Sid, message: ZabMessage, why: string): void {
    const member = established();
    member.zab.propose(new Uint8Array(1));
    member.zab.turnEnded(0);
    member.hear(from, message);
    expect(member.closed, why).toEqual([from]);
    expect([member.zab.status.state, member.zab.committed], why).toEqual(['leading', ZERO_ZXID]);
  }

  it('what it cannot have, was not asked, or is not a learner’s word', () => {
    drops(1, { kind: 'ack', zxid: z(1, 2) }, 'an ack of what was not sent');
    drops(1, { kind: 'ack', zxid: z(0, 1) }, 'an ack of what is no place in the history');
    drops(1, { kind: 'pong', seq: 99 }, 'the answer to a ping that was not sent');
    drops(1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: ZERO_ZXID, counted: true }, 'a second ackEpoch');
    drops(1, { kind: 'ackNewLeader', epoch: 1 }, 'a second ackNewLeader');
    drops(1, { kind: 'voteClaim' }, 'a claim of the vote that it has');
    drops(1, { kind: 'voteTaken' }, 'a vote that was not granted');
    drops(1, { kind: 'followerInfo', acceptedEpoch: 0x7fff_ffff, voteRight: 'held' }, 'the last epoch of all');
    for (const message of [diff(z(1, 1)), commit(z(1, 1)), truncate(z(1, 1)), chunk, upToDate(z(1, 1))]) {
      drops(1, message, message.kind);
    }
  });

  it('C047: an answer to a ping that is still to come confirms nothing', () => {
    const member = established();
    member.hear(1, { kind: 'pong', seq: 50 });
    member.hear(2, { kind: 'pong', seq: 50 });
    member.zab.turnEnded(0);
    expect(member.confirmed).toBe(0);
  });
});
