import { makeZxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { bytes, FixtureEnsemble, type FixtureMember } from './ensemble.fixture.ts';

function established(voters = [1, 2, 3], observers: number[] = [], historyBytesMax?: number): FixtureEnsemble {
  const ensemble = new FixtureEnsemble(voters, observers, historyBytesMax);
  ensemble.start();
  return ensemble;
}

/** Closes the link that the first ackEpoch goes over. */
class LosesPromise extends FixtureEnsemble {
  isLost = false;

  override send(...[from, to, link, message]: Parameters<FixtureEnsemble['send']>): void {
    if (this.isLost || message.kind !== 'ackEpoch') return super.send(from, to, link, message);
    this.isLost = true;
    this.close(from, to, link);
  }
}

describe('protocol conversations', () => {
  it('three members elect and establish', async () => {
    const ensemble = established();
    expect(ensemble.leader?.sid).toBe(3);
    await expect(ensemble.transcript()).toMatchFileSnapshot('transcripts/three-members-elect.txt');
  });

  it('a write is proposed, acknowledged, committed', async () => {
    const ensemble = established();
    ensemble.transcript();
    ensemble.write('a');
    for (const sid of [1, 2, 3]) expect(ensemble.texts(sid)).toEqual(['a']);
    await expect(ensemble.transcript()).toMatchFileSnapshot('transcripts/a-write.txt');
  });

  it('a member that was away gets what it missed (DIFF)', async () => {
    const ensemble = established();
    ensemble.write('a');
    ensemble.member(1).crash();
    ensemble.write('b');
    ensemble.transcript();
    ensemble.member(1).restart();
    ensemble.settle();
    expect(ensemble.texts(1)).toEqual(['a', 'b']);
    await expect(ensemble.transcript()).toMatchFileSnapshot('transcripts/diff.txt');
  });

  it('a member with a tail that nobody else has loses exactly that (TRUNC), ZOOKEEPER-1154', async () => {
    const ensemble = established();
    ensemble.write('a');
    const old = ensemble.leader as FixtureMember;
    ensemble.cut(3, 1);
    ensemble.cut(3, 2);
    old.zab.propose(bytes('lost-1'));
    old.zab.propose(bytes('lost-2'));
    ensemble.settle();
    expect(old.log).toHaveLength(3);
    ensemble.advance(400);
    old.crash();
    ensemble.write('b');
    ensemble.transcript();
    old.restart();
    ensemble.settle();
    expect(ensemble.texts(3)).toEqual(['a', 'b']);
    expect(old.log.map(({ zxid }) => zxid)).toEqual([makeZxid(1, 1), makeZxid(2, 1)]);
    await expect(ensemble.transcript()).toMatchFileSnapshot('transcripts/trunc.txt');
  });

  it('a member whose past is gone from memory gets a snapshot and what follows it (SNAP)', async () => {
    const ensemble = established([1, 2, 3], [], 300);
    ensemble.member(1).crash();
    for (const text of ['a', 'b', 'c', 'd', 'e']) ensemble.write(text);
    ensemble.leader?.checkpoint();
    ensemble.write('f');
    ensemble.transcript();
    ensemble.member(1).restart();
    ensemble.settle();
    expect(ensemble.texts(1)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    await expect(ensemble.transcript()).toMatchFileSnapshot('transcripts/snap.txt');
  });

  it('a leader resigns and the ensemble goes on with everything it had', async () => {
    const ensemble = established();
    ensemble.write('a');
    ensemble.transcript();
    ensemble.member(3).zab.resign('asked to', ensemble.nowMs);
    ensemble.settle();
    ensemble.advance(100);
    ensemble.write('b');
    for (const sid of [1, 2, 3]) expect(ensemble.texts(sid)).toEqual(['a', 'b']);
    await expect(ensemble.transcript()).toMatchFileSnapshot('transcripts/resign.txt');
  });
});

describe('election', () => {
  it('prefers the most recent history over the larger sid', () => {
    const ensemble = new FixtureEnsemble([1, 2, 3]);
    const ahead = ensemble.member(1);
    for (const member of ensemble.members.values()) member.isUp = false;
    ahead.acceptedEpoch = 1;
    ahead.currentEpoch = 1;
    ahead.log = [{ zxid: makeZxid(1, 1), payload: bytes('a') }];
    for (const sid of [1, 2, 3]) ensemble.member(sid).restart();
    ensemble.settle();
    ensemble.advance(100);
    expect(ensemble.leader?.sid).toBe(1);
    for (const sid of [1, 2, 3]) expect(ensemble.texts(sid)).toEqual(['a']);
  });

  it('C044: a member that comes back does not unseat a live leader', () => {
    const ensemble = established();
    const before = ensemble.leader?.zab.status.epoch;
    for (let i = 0; i < 5; i++) {
      ensemble.cut(1, 3);
      ensemble.cut(1, 2);
      ensemble.advance(4_000);
      ensemble.heal(1, 3);
      ensemble.heal(1, 2);
      ensemble.advance(300);
      expect(ensemble.member(1).current.kind).toBe('following');
    }
    expect(ensemble.leader?.sid).toBe(3);
    expect(ensemble.leader?.zab.status.epoch).toBe(before);
  });

  it('C043: goes on at once when the leader is gone, whoever it was', () => {
    const ensemble = established([1, 2, 3, 4, 5]);
    for (let i = 0; i < 20; i++) {
      const old = ensemble.leader as FixtureMember;
      old.crash();
      ensemble.advance(50);
      expect(ensemble.leader, `round ${i}`).toBeDefined();
      ensemble.write(`after ${i}`);
      old.restart();
      ensemble.advance(300);
    }
    const expected = Array.from({ length: 20 }, (_, i) => `after ${i}`);
    for (const sid of [1, 2, 3, 4, 5]) expect(ensemble.texts(sid)).toEqual(expected);
  });

  it('an observer follows but is never counted', () => {
    const ensemble = established([1, 2], [3]);
    ensemble.write('a');
    ensemble.advance(300);
    expect(ensemble.texts(3)).toEqual(['a']);
    expect(ensemble.member(3).zab.status.state).toBe('observing');
    const leader = ensemble.leader as FixtureMember;
    ensemble.member(leader.sid === 1 ? 2 : 1).crash();
    leader.zab.propose(bytes('b'));
    ensemble.settle();
    expect(ensemble.texts(leader.sid)).toEqual(['a']);
  });

  it('does not wait for a promise that was lost on its way: it begins another epoch at once', () => {
    const ensemble = new LosesPromise([1, 2, 3]);
    ensemble.start(2, 3);
    ensemble.advance(500);
    expect(ensemble.isLost).toBe(true);
    expect(ensemble.leader?.zab.status).toMatchObject({ state: 'leading', phase: 'broadcast', epoch: 2 });
  });

  it('gives a member that promised a later epoch a yet later one', () => {
    const ensemble = new FixtureEnsemble([1, 2, 3]);
    ensemble.member(1).acceptedEpoch = 7;
    const ahead = ensemble.member(1);
    ensemble.start(2, 3);
    expect(ensemble.leader?.zab.status.epoch).toBe(1);
    ahead.restart();
    ensemble.settle();
    ensemble.advance(1_000);
    expect(ensemble.leader?.zab.status.epoch).toBeGreaterThan(7);
    for (const member of ensemble.members.values()) expect(member.current.kind).not.toBe('looking');
  });
});

describe('Z2: nothing is said before the disk has it', () => {
  it('C040: log, then currentEpoch, then the acknowledgement of the new leader', () => {
    const ensemble = established();
    ensemble.write('a');
    ensemble.member(1).crash();
    ensemble.write('b');
    const member = ensemble.member(1);
    member.isDiskHeld = true;
    member.restart();
    ensemble.settle();
    ensemble.transcript();
    const said: string[] = [];
    member.diskOrder = [];
    for (let i = 0; i < 10; i++) {
      member.isDiskHeld = false;
      const moved = member.doWork();
      member.isDiskHeld = true;
      if (!moved) break;
      ensemble.settle();
      said.push(
        `${member.diskOrder.at(-1)}: ${ensemble
          .transcript()
          .split('\n')
          .filter((line) => line.startsWith('1 →'))
          .map((line) => line.split(' ')[3])
          .join(',')}`,
      );
    }
    expect(said.slice(0, 3)).toEqual(['saveEpochs: ackEpoch', 'append: ', 'saveEpochs: ackNewLeader']);
  });

  it('a proposal is acknowledged only when it is on disk, and not committed by fewer than a quorum', () => {
    const ensemble = established();
    ensemble.member(1).isDiskHeld = true;
    ensemble.member(2).isDiskHeld = true;
    const zxid = ensemble.write('a');
    expect(ensemble.leader?.zab.status.committed).toBeLessThan(zxid);
    ensemble.member(1).isDiskHeld = false;
    ensemble.settle();
    expect(ensemble.texts(3)).toEqual(['a']);
    expect(ensemble.texts(1)).toEqual(['a']);
    expect(ensemble.texts(2)).toEqual([]);
  });

  it('a leader does not count itself before its own disk has answered', () => {
    const ensemble = established();
    ensemble.member(3).isDiskHeld = true;
    ensemble.member(2).isDiskHeld = true;
    const zxid = ensemble.write('a');
    expect(ensemble.member(3).zab.status.committed).toBeLessThan(zxid);
  });
});

describe('Z7: what an earlier epoch left behind', () => {
  it('commits an uncommitted tail with the epoch of the leader that holds it', () => {
    const ensemble = established();
    ensemble.cut(3, 1);
    ensemble.member(2).isDiskHeld = true;
    ensemble.member(3).zab.propose(bytes('tail'));
    ensemble.settle();
    ensemble.member(2).isDiskHeld = false;
    ensemble.cut(3, 2);
    ensemble.settle();
    ensemble.member(3).crash();
    ensemble.advance(500);
    expect(ensemble.leader?.sid).toBe(2);
    expect(ensemble.texts(1)).toEqual(['tail']);
  });
});

describe('leadership', () => {
  it('is over at once when a leader of a later epoch is heard', () => {
    const ensemble = established();
    ensemble.cut(3, 1);
    ensemble.cut(3, 2);
    ensemble.advance(100);
    expect(ensemble.member(2).current).toMatchObject({ kind: 'leading', epoch: 2 });
    expect(ensemble.member(3).current).toMatchObject({ kind: 'leading', epoch: 1 });
    ensemble.heal(3, 2);
    ensemble.settle();
    expect(ensemble.member(3).current).toMatchObject({ kind: 'following', leader: 2, epoch: 2 });
  });

  it('that was never established is not held on to while another one is', () => {
    const ensemble = new LosesPromise([1, 2, 3]);
    ensemble.start(2, 3);
    ensemble.cut(2, 3);
    ensemble.member(1).isUp = true;
    ensemble.member(1).zab.start(ensemble.nowMs);
    ensemble.heal(1, 2);
    ensemble.advance(100);
    expect(ensemble.member(2).current).toMatchObject({ kind: 'leading' });
    ensemble.heal(2, 3);
    ensemble.settle();
    expect(ensemble.member(3).current).toMatchObject({ kind: 'following', leader: 2 });
  });

  it('C050: a leader that hears no quorum gives up within the sync timeout', () => {
    const ensemble = established();
    ensemble.cut(3, 1);
    ensemble.cut(3, 2);
    ensemble.advance(3_600);
    expect(ensemble.member(3).current.kind).toBe('looking');
    expect(ensemble.leader?.sid).toBe(2);
  });

  it('confirms leadership by a quorum, and not without one', () => {
    const ensemble = established();
    const leader = ensemble.leader as FixtureMember;
    const seq = leader.zab.confirmLeadership();
    ensemble.settle();
    expect(leader.confirmed).toBeGreaterThanOrEqual(seq);
    ensemble.cut(3, 1);
    ensemble.cut(3, 2);
    const later = leader.zab.confirmLeadership();
    ensemble.settle();
    expect(leader.confirmed).toBeLessThan(later);
  });

  it('a member about to stop hands over and takes no part in the election', () => {
    const ensemble = established([1, 2]);
    ensemble.member(2).zab.resign('stopping', ensemble.nowMs, true);
    ensemble.settle();
    ensemble.advance(1_000);
    expect(ensemble.leader).toBeUndefined();
    const three = established();
    three.member(3).zab.resign('stopping', three.nowMs, true);
    three.settle();
    three.advance(100);
    expect(three.leader?.sid).toBe(2);
    expect(three.member(3).current.kind).toBe('following');
  });

  it('serves alone when it is the only voter', () => {
    const ensemble = established([7]);
    ensemble.write('a');
    expect(ensemble.texts(7)).toEqual(['a']);
    ensemble.member(7).crash();
    ensemble.member(7).restart();
    ensemble.settle();
    ensemble.write('b');
    expect(ensemble.texts(7)).toEqual(['a', 'b']);
    expect(ensemble.leader?.zab.status.epoch).toBe(2);
  });
});

describe('Z9: a snapshot that does not complete changes nothing', () => {
  it('ZOOKEEPER-3642: drops a half-received snapshot and starts from the old state', () => {
    const ensemble = established([1, 2, 3], [], 300);
    ensemble.write('a');
    ensemble.member(1).crash();
    for (const text of ['b', 'c', 'd', 'e']) ensemble.write(text);
    ensemble.leader?.checkpoint();
    const member = ensemble.member(1);
    member.isDiskHeld = true;
    member.restart();
    ensemble.settle();
    member.crash();
    expect(member.log.map(({ zxid }) => zxid)).toEqual([makeZxid(1, 1)]);
    member.isDiskHeld = false;
    member.restart();
    ensemble.settle();
    ensemble.advance(100);
    expect(ensemble.texts(1)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('keeps what follows a snapshot in memory while the snapshot is on its way, and no longer', () => {
    const ensemble = established([1, 2, 3], [], 300);
    ensemble.member(1).crash();
    for (const text of ['a', 'b', 'c', 'd', 'e']) ensemble.write(text);
    const leader = ensemble.leader as FixtureMember;
    leader.checkpoint();
    leader.isStreamHeld = true;
    ensemble.member(1).restart();
    ensemble.settle();
    for (const text of ['f', 'g', 'h', 'i', 'j']) ensemble.write(text);
    leader.zab.checkpointed(leader.zab.status.delivered);
    ensemble.advance(100);
    leader.isStreamHeld = false;
    ensemble.settle();
    expect(ensemble.texts(1)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']);
  });

  it('closes the stream of a learner that goes away', () => {
    const ensemble = established([1, 2, 3], [], 300);
    ensemble.member(1).crash();
    for (const text of ['a', 'b', 'c', 'd', 'e']) ensemble.write(text);
    const leader = ensemble.leader as FixtureMember;
    leader.checkpoint();
    leader.isStreamHeld = true;
    ensemble.member(1).restart();
    ensemble.settle();
    expect(leader.closedStreams).toEqual([]);
    ensemble.member(1).crash();
    expect(leader.closedStreams).toEqual([1]);
  });
});
