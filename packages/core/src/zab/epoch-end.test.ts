import { counterOf } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { FixtureEnsemble } from './ensemble.fixture.ts';

describe('the end of an epoch', () => {
  it('C049: begins a new epoch before the counter can flow into it', () => {
    const ensemble = new FixtureEnsemble([1, 2, 3]);
    ensemble.config.limits.epochTxnsMax = 10;
    for (const member of ensemble.members.values()) member.crash();
    for (const member of ensemble.members.values()) member.restart();
    ensemble.settle();
    for (let i = 0; i < 100; i++) {
      ensemble.write(`${i}`);
      ensemble.advance(50);
    }
    const zxids = ensemble.member(1).delivered.map(({ zxid }) => zxid);
    expect(zxids).toHaveLength(100);
    expect(Math.max(...zxids.map(counterOf))).toBe(10);
    expect([...zxids].sort((a, b) => (a < b ? -1 : 1))).toEqual(zxids);
    for (const sid of [2, 3]) expect(ensemble.texts(sid)).toEqual(ensemble.texts(1));
  });

  it('C049: says once when a tenth of the epoch is left, and at any time how much', () => {
    const ensemble = new FixtureEnsemble([1, 2, 3]);
    ensemble.config.limits.epochTxnsMax = 20;
    for (const member of ensemble.members.values()) member.crash();
    for (const member of ensemble.members.values()) member.restart();
    ensemble.settle();
    const { leader } = ensemble;
    const told = () => leader?.traces.filter((name) => name === 'epochNearlyUsedUp').length;
    for (let i = 1; i <= 19; i++) {
      ensemble.write(`${i}`);
      expect(told()).toBe(i < 18 ? 0 : 1);
      for (const { zab } of ensemble.members.values()) expect(zab.status.epochTxnsLeft).toBe(20 - i);
    }
    ensemble.write('20');
    ensemble.advance(1_000);
    for (const { zab } of ensemble.members.values()) expect(zab.status.epochTxnsLeft).toBe(20);
  });
});
