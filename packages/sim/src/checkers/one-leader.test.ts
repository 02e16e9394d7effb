import { expect, test } from 'vitest';
import { at, check, refusal, sent, status } from './history.fixture.ts';
import { OneLeaderChecker } from './one-leader.ts';

const leads = (sid: number, epoch: number, run = 1) => status(sid, { role: 'leading', epoch, leader: sid }, run);

test('a leader an epoch is right, also when another leads the next', () => {
  check(new OneLeaderChecker(), [leads(1, 1), leads(1, 1), leads(2, 2), leads(1, 3)]);
});

test('two members that lead one epoch are a violation', () => {
  expect(() => check(new OneLeaderChecker(), [leads(1, 1), leads(2, 1)])).toThrow(
    'epoch 1 is led by member 1 (run 1) and by member 2',
  );
});

test('two runs of one member that lead one epoch are a violation', () => {
  expect(() => check(new OneLeaderChecker(), [leads(1, 1), leads(1, 1, 2)])).toThrow('member 1 (run 2)');
});

test('a leader that is not established yet does not count, but one that declares a history does', () => {
  check(new OneLeaderChecker(), [leads(1, 1), status(2, { role: 'leading', phase: 'discovery', epoch: 1 })]);
  const declares = sent(2, 3, { kind: 'newLeader', epoch: 1, lastZxid: at(0) });
  expect(() => check(new OneLeaderChecker(), [leads(1, 1), declares])).toThrow('epoch 1');
});

test('proposals of an epoch come from its leader alone', () => {
  const proposes = sent(2, 3, { kind: 'propose', records: [refusal(at(1))], committed: at(0) });
  expect(() => check(new OneLeaderChecker(), [leads(1, 1), proposes])).toThrow('epoch 1');
});
