import { expect, test } from 'vitest';
import { describeKnobs, drawKnobs, isCalm } from './knobs.ts';

const many = Array.from({ length: 300 }, (_, seed) => drawKnobs(seed));

test('the same seed draws the same knobs, and each is printed', () => {
  expect(drawKnobs(77)).toEqual(drawKnobs(77));
  expect(describeKnobs(drawKnobs(77))).toContain('voters=');
  expect(describeKnobs(drawKnobs(77))).toContain('crashUs=');
});

test('ensembles are of three or five voters with up to two observers, all different', () => {
  expect(new Set(many.map(({ voters }) => voters.length))).toEqual(new Set([3, 5]));
  expect(new Set(many.map(({ observers }) => observers.length))).toEqual(new Set([0, 1, 2]));
  for (const { voters, observers } of many)
    expect(new Set([...voters, ...observers]).size).toBe(voters.length + observers.length);
});

test('timings keep the order that a configuration must keep', () => {
  for (const { timing, member } of many) {
    expect(member.tickUs).toBeLessThanOrEqual(Math.min(50_000, (timing.heartbeatMs * 1_000) / 2));
    expect(timing.syncTimeoutMs).toBeGreaterThanOrEqual(2 * timing.heartbeatMs);
    expect(timing.initTimeoutMs).toBeGreaterThan(timing.syncTimeoutMs);
    expect(timing.sessionTimeoutMinMs).toBeGreaterThanOrEqual(5 * timing.heartbeatMs);
  }
});

test('every kind of fault is on in some runs and off in others', () => {
  const { lastsUs, outlastsUs, downUs, ...kinds } = drawKnobs(0).faults;
  expect(Math.min(lastsUs, outlastsUs, downUs)).toBeGreaterThan(0);
  for (const name of Object.keys(kinds)) {
    const rates = many.map(({ faults }) => faults[name as keyof typeof faults]);
    expect([name, rates.some((us) => us > 0), rates.some((us) => us === 0)]).toEqual([name, true, true]);
  }
});

test('some runs are without faults, most are not', () => {
  const calm = many.filter(({ faults }) => isCalm(faults)).length;
  expect(calm).toBeGreaterThan(0);
  expect(calm).toBeLessThan(many.length / 10);
});
