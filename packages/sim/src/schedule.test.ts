import { expect, test } from 'vitest';
import { Random } from './random.ts';
import { Schedule } from './schedule.ts';

test('things happen by time, and at one time in the order in which they were scheduled', () => {
  const schedule = new Schedule();
  const seen: string[] = [];
  schedule.after(20, () => seen.push('c'));
  schedule.after(10, () => seen.push('a'));
  schedule.after(10, () => seen.push('b'));
  schedule.runUntil(20);
  expect(seen).toEqual(['a', 'b', 'c']);
});

test('what is scheduled meanwhile takes its place in time', () => {
  const schedule = new Schedule();
  const seen: number[] = [];
  schedule.after(10, () => {
    seen.push(schedule.nowUs);
    schedule.after(5, () => seen.push(schedule.nowUs));
  });
  schedule.after(20, () => seen.push(schedule.nowUs));
  schedule.runUntil(100);
  expect(seen).toEqual([10, 15, 20]);
  expect(schedule.nowUs).toBe(100);
  expect(schedule.happened).toBe(3);
});

test('many entries come out sorted', () => {
  const schedule = new Schedule();
  const random = new Random(9);
  const seen: number[] = [];
  for (let i = 0; i < 2_000; i += 1) {
    schedule.after(random.between(0, 500), () => seen.push(schedule.nowUs));
  }
  schedule.runUntil(500);
  expect(seen).toHaveLength(2_000);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});

test('the past cannot be scheduled', () => {
  const schedule = new Schedule();
  schedule.runUntil(10);
  expect(() => schedule.at(9, () => {})).toThrow('it is 10 µs already');
});
