import { describe, expect, it } from 'vitest';
import { HELD } from './alone.fixture.ts';
import { bytes, FixtureEnsemble, type FixtureMember } from './ensemble.fixture.ts';
import { HAND_OVER_MS } from './hand-over.ts';

function established(voters = [1, 2, 3], observers: number[] = []): FixtureEnsemble {
  const ensemble = new FixtureEnsemble(voters, observers);
  ensemble.start();
  ensemble.write('a');
  ensemble.transcript();
  return ensemble;
}

function leaderOf(ensemble: FixtureEnsemble): FixtureMember {
  const { leader } = ensemble;
  if (leader === undefined) throw new Error('There is no leader');
  return leader;
}

const closings = (transcript: string): string[] => transcript.split('\n').filter((line) => line.includes('closes'));

/** Member 2 can be made to say nothing, as if it stood still. */
class Silent extends FixtureEnsemble {
  isSilent = false;

  override send(...[from, to, link, message]: Parameters<FixtureEnsemble['send']>): void {
    if (from !== 2 || !this.isSilent) super.send(from, to, link, message);
  }
}

describe('a leader that hands over', () => {
  it('is followed by the member it names, though a larger sid has the same history; no link is closed', async () => {
    const ensemble = established([1, 2, 3], [4]);
    const old = leaderOf(ensemble);
    expect(old.sid).toBe(3);
    expect(old.zab.handOver(1, ensemble.nowMs)).toBe(1);
    ensemble.settle();
    expect(leaderOf(ensemble).sid).toBe(1);
    for (const sid of [2, 3, 4]) expect(ensemble.member(sid).current.kind).toBe('following');
    const transcript = ensemble.transcript();
    expect(closings(transcript)).toEqual([]);
    await expect(transcript).toMatchFileSnapshot('transcripts/hand-over.txt');
    ensemble.write('b');
    for (const sid of [1, 2, 3, 4]) expect(ensemble.texts(sid)).toEqual(['a', 'b']);
  });

  it('takes the voter that has most when none is named, and never an observer', () => {
    const ensemble = established([1, 2, 3], [4]);
    ensemble.member(1).isDiskHeld = true;
    ensemble.write('b');
    expect(leaderOf(ensemble).zab.handOver(undefined, ensemble.nowMs)).toBe(2);
    ensemble.settle();
    expect(leaderOf(ensemble).sid).toBe(2);
    expect(leaderOf(ensemble).zab.handOver(4, ensemble.nowMs)).toBeUndefined();
    expect(leaderOf(ensemble).zab.handOver(77, ensemble.nowMs)).toBeUndefined();
  });

  it('takes none that stands still, unless it is named', () => {
    const ensemble = new Silent([1, 2, 3]);
    ensemble.start();
    ensemble.isSilent = true;
    ensemble.advance(1_000);
    expect(leaderOf(ensemble).zab.handOver(undefined, ensemble.nowMs)).toBe(1);
  });

  it('waits until the target has everything on its disk, and everything is committed', () => {
    const ensemble = established();
    const target = ensemble.member(1);
    target.isDiskHeld = true;
    const old = leaderOf(ensemble);
    old.zab.propose(bytes('b'));
    old.zab.handOver(1, ensemble.nowMs);
    ensemble.advance(200);
    expect([leaderOf(ensemble).sid, old.zab.isHandingOver]).toEqual([3, true]);
    target.isDiskHeld = false;
    ensemble.settle();
    expect(leaderOf(ensemble).sid).toBe(1);
    for (const sid of [1, 2, 3]) expect(ensemble.texts(sid)).toEqual(['a', 'b']);
  });

  it('goes on leading when the target does not come, or goes', () => {
    const ensemble = established();
    const old = leaderOf(ensemble);
    const target = ensemble.member(1);
    target.isDiskHeld = true;
    old.zab.propose(bytes('b'));
    old.zab.handOver(1, ensemble.nowMs);
    ensemble.advance(HAND_OVER_MS + 100);
    expect([old.current.kind, old.zab.isHandingOver]).toEqual(['leading', false]);
    target.isDiskHeld = false;
    ensemble.write('c');
    target.isDiskHeld = true;
    old.zab.propose(bytes('d'));
    old.zab.handOver(1, ensemble.nowMs);
    target.crash();
    ensemble.advance(50);
    expect([old.current.kind, old.zab.isHandingOver]).toEqual(['leading', false]);
    expect(ensemble.texts(2)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('that is about to stop votes for the successor, and is no candidate afterwards', () => {
    const ensemble = established();
    ensemble.member(2).crash();
    const old = leaderOf(ensemble);
    old.zab.handOver(undefined, ensemble.nowMs, true);
    ensemble.settle();
    expect(leaderOf(ensemble).sid).toBe(1);
    expect(old.current.kind).toBe('following');
    ensemble.member(1).crash();
    ensemble.advance(2_000);
    expect(ensemble.leader).toBeUndefined();
    ensemble.member(2).restart();
    ensemble.member(1).restart();
    ensemble.advance(1_000);
    expect(leaderOf(ensemble).sid).toBe(1);
  });
});

describe('the preference for a successor', () => {
  it('does not outweigh a more recent history', () => {
    const ensemble = established([1, 2, 3, 4, 5]);
    const old = leaderOf(ensemble);
    ensemble.cut(5, 1);
    ensemble.write('b');
    ensemble.transcript();
    // Member 2 is told of a successor that is behind.
    const vote = { leader: 1, peerEpoch: 1, zxid: ensemble.member(1).zab.lastLogged };
    const named = { kind: 'notification', state: 'looking', round: 9, vote, ...HELD } as const;
    ensemble.send(5, 2, ensemble.linkBetween(5, 2), named);
    old.crash();
    ensemble.advance(2_000);
    expect(leaderOf(ensemble).sid).not.toBe(1);
    for (const sid of [1, 2, 3, 4]) expect(ensemble.texts(sid)).toEqual(['a', 'b']);
  });

  it('is forgotten when it finds no leader: a member that did not hear of it votes otherwise', () => {
    const ensemble = established();
    const old = leaderOf(ensemble);
    // Only member 1 is told that it is to lead; member 2 only sees the leader go.
    ensemble.cut(3, 2);
    ensemble.settle();
    old.zab.handOver(1, ensemble.nowMs);
    ensemble.settle();
    old.crash();
    ensemble.advance(1_000);
    ensemble.write('b');
    for (const sid of [1, 2]) expect(ensemble.texts(sid)).toEqual(['a', 'b']);
  });

  it('ends with the link to the successor', () => {
    const ensemble = established();
    const old = leaderOf(ensemble);
    ensemble.member(1).isDiskHeld = true;
    old.zab.handOver(1, ensemble.nowMs);
    old.zab.turnEnded(ensemble.nowMs);
    expect(old.current.kind).toBe('looking');
    ensemble.member(1).crash();
    ensemble.advance(300);
    expect(leaderOf(ensemble).sid).toBe(3);
    ensemble.write('b');
    expect(ensemble.texts(2)).toEqual(['a', 'b']);
  });
});
