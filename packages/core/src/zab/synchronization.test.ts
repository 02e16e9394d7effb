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
