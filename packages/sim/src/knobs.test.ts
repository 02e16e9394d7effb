import { expect, test } from 'vitest';
import { FAULT_KINDS, isCalm } from './faults/kinds.ts';
import { describeKnobs, drawKnobs } from './knobs.ts';

const many = Array.from({ length: 300 }, (_, seed) => drawKnobs(seed));

test('the same seed draws the same knobs, and each is printed', () => {
  expect(drawKnobs(77)).toEqual(drawKnobs(77));
  expect(describeKnobs(drawKnobs(77))).toContain('voters=');
  expect(describeKnobs(drawKnobs(77))).toContain('lastsUs=');
});

test('ensembles are of three, five or seven voters with up to two observers, all different', () => {
  expect(new Set(many.map(({ voters }) => voters.length))).toEqual(new Set([3, 5, 7]));
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
  for (const kind of FAULT_KINDS) {
    const rates = many.map(({ faults }) => faults.everyUs[kind]);
    expect([kind, rates.some((us) => us > 0), rates.some((us) => us === 0)]).toEqual([kind, true, true]);
  }
});

test('some runs are without faults, most are not', () => {
  const calm = many.filter(({ faults }) => isCalm(faults)).length;
  expect(calm).toBeGreaterThan(0);
  expect(calm).toBeLessThan(many.length / 10);
});
