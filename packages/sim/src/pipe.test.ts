import { expect, test } from 'vitest';
import { Pipe } from './pipe.ts';
import { Schedule } from './schedule.ts';

function pipeWith(latencies: number[]) {
  const schedule = new Schedule();
  const arrived: [number, string][] = [];
  const latency = () => latencies.shift() ?? 1;
  const pipe = new Pipe<string>(schedule, {
    latency,
    blocked: false,
    arrive: (item) => arrived.push([schedule.nowUs, item]),
  });
  return { schedule, pipe, arrived };
}

test('items arrive in the order in which they were put in, whatever their latency', () => {
  const { schedule, pipe, arrived } = pipeWith([50, 10]);
  pipe.push('a');
  pipe.push('b');
  schedule.runUntil(100);
  expect(arrived).toEqual([
    [50, 'a'],
    [50, 'b'],
  ]);
});

test('a blocked pipe keeps everything and goes on when it is unblocked', () => {
  const { schedule, pipe, arrived } = pipeWith([10, 10]);
  pipe.push('a');
  pipe.block();
  pipe.push('b');
  schedule.runUntil(100);
  expect(arrived).toEqual([]);
  pipe.unblock();
  schedule.runUntil(200);
  expect(arrived).toEqual([
    [100, 'a'],
    [100, 'b'],
  ]);
});

test('what is lost never arrives, and what comes after it does', () => {
  const { schedule, pipe, arrived } = pipeWith([10, 10, 10]);
  pipe.push('a');
  pipe.push('b');
  pipe.lose(1);
  pipe.push('c');
  schedule.runUntil(100);
  expect(arrived.map(([, item]) => item)).toEqual(['a', 'c']);
});
