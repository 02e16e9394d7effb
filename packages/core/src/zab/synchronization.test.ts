/** How history reaches a learner: in portions, so that however much there is, little of it waits on the link at a time. */
import type { Sid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { FixtureEnsemble } from './ensemble.fixture.ts';
import type { ZabMessage } from './messages.ts';

const MIB = 1024 * 1024;

/** Three members that keep much history, and payload bytes sent to member 1 as history since it was last heard. */
class Counting extends FixtureEnsemble {
  unheard = 0;
  mostUnheard = 0;
  diffs = 0;
  /** What member 1 answers to pings does not arrive. */
  isPongHeld = false;
  #held: (() => void)[] = [];

  override send(from: Sid, to: Sid, link: number, message: ZabMessage): void {
    if (from === 1 && message.kind === 'pong' && this.isPongHeld) {
      this.#held.push(() => this.send(from, to, link, message));
      return;
    }
    if (to === 1 && message.kind === 'diff') {
      this.diffs++;
      for (const { payload } of message.records) this.unheard += payload.length;
      this.mostUnheard = Math.max(this.mostUnheard, this.unheard);
    } else if (from === 1 && message.kind === 'pong') this.unheard = 0;
    super.send(from, to, link, message);
  }

  releasePongs(): void {
    this.isPongHeld = false;
    for (const send of this.#held.splice(0)) send();
    this.settle();
  }

  propose(count: number): void {
    for (let i = 0; i < count; i++) this.member(3).zab.propose(new Uint8Array(MIB));
    this.settle();
  }
}

/** Member 3 leads, member 1 is away and has missed `count` MiB. */
function behind(count: number): Counting {
  const ensemble = new Counting([1, 2, 3], [], 100 * MIB);
  ensemble.start();
  ensemble.advance(50);
  expect(ensemble.leader?.sid).toBe(3);
  ensemble.cut(1, 2);
  ensemble.cut(1, 3);
  ensemble.propose(count);
  return ensemble;
}

describe('history for a learner', () => {
  it('waits for the learner after each portion, so that no amount of it fills the link', () => {
    const ensemble = behind(50);
    ensemble.heal(1, 3);
    ensemble.settle();
    expect(ensemble.member(1).delivered).toHaveLength(50);
    expect(ensemble.diffs).toBe(50);
    expect(ensemble.mostUnheard).toBeLessThanOrEqual(8 * MIB);
    const zxid = ensemble.write('after');
    expect(ensemble.member(1).zab.status.delivered).toBe(zxid);
  });

  it('is held in memory until its last portion is sent, whatever is proposed and checkpointed meanwhile', () => {
    const ensemble = behind(30);
    ensemble.isPongHeld = true;
    ensemble.heal(1, 3);
    ensemble.settle();
    expect(ensemble.diffs).toBe(8);
    ensemble.config.limits.historyBytesMax = 0;
    ensemble.propose(1);
    ensemble.member(3).checkpoint();
    ensemble.releasePongs();
    expect(ensemble.diffs).toBe(31);
    expect(ensemble.member(1).delivered).toHaveLength(31);
    expect(ensemble.member(1).zab.status.delivered).toBe(ensemble.member(3).zab.status.delivered);
  });

  it('of a learner that goes away half-way is not held for it any longer', () => {
    const ensemble = behind(30);
    ensemble.isPongHeld = true;
    ensemble.heal(1, 3);
    ensemble.settle();
    ensemble.cut(1, 3);
    ensemble.config.limits.historyBytesMax = 0;
    ensemble.member(3).checkpoint();
    ensemble.isPongHeld = false;
    ensemble.heal(1, 3);
    ensemble.settle();
    expect(ensemble.member(1).stateZxid).toBe(ensemble.member(3).stateZxid);
    expect(ensemble.member(1).delivered).toHaveLength(30);
  });
});

/** Member 1 says that it adopted the epoch when the test lets it. */
class LateAdoption extends FixtureEnsemble {
  held: (() => void) | undefined;
  isHolding = false;

  override send(from: Sid, to: Sid, link: number, message: ZabMessage): void {
    if (this.isHolding && from === 1 && message.kind === 'ackNewLeader') {
      this.held = () => super.send(from, to, link, message);
    } else super.send(from, to, link, message);
  }
}

describe('C052: a learner that was sent a snapshot while its leader took writes', () => {
  it.each(['voter', 'observer'])(
    '(a %s) serves only with all that was committed when it was declared up to date',
    (kind) => {
      const ensemble = kind === 'voter' ? new LateAdoption([1, 2, 3], [], 1) : new LateAdoption([2, 3, 4], [1], 1);
      ensemble.start();
      ensemble.advance(50);
      const leader = ensemble.leader!;
      const learner = ensemble.member(1);
      learner.crash();
      learner.current = { kind: 'looking' };
      for (let i = 0; i < 10; i++) ensemble.write(`before ${i}`);
      for (const member of ensemble.members.values()) if (member !== learner) member.checkpoint();
      ensemble.isHolding = true;
      learner.restart();
      ensemble.advance(100);
      expect(ensemble.held).toBeDefined();
      // It is about to be declared up to date; its disk is slow with what was written during the transfer.
      learner.isDiskHeld = true;
      for (let i = 0; i < 20; i++) ensemble.write(`during ${i}`);
      const { committed } = leader.zab.status;
      ensemble.isHolding = false;
      ensemble.held?.();
      ensemble.settle();
      expect(ensemble.record.some((line) => /→ 1 snapshot/.test(line))).toBe(true);
      expect(ensemble.record.some((line) => line.includes('→ 1 upToDate'))).toBe(true);
      expect(learner.zab.status.delivered).toBeLessThan(committed);
      expect([learner.current.kind, learner.zab.status.hasQuorum]).toEqual(['looking', false]);
      learner.isDiskHeld = false;
      ensemble.settle();
      expect(learner.zab.status.delivered).toBe(committed);
      expect([learner.current.kind, learner.zab.status.hasQuorum]).toEqual(['following', true]);
      expect(ensemble.texts(1)).toEqual(ensemble.texts(leader.sid));
    },
  );
});
