import { expect, test } from 'vitest';
import { at, check, durable, issued, sent } from './history.fixture.ts';
import { PromiseDurableChecker } from './promise-durable.ts';

const saves = (acceptedEpoch: number) =>
  ({ kind: 'saveEpochs', acceptedEpoch, currentEpoch: 0, voteRight: 'held' }) as const;
const announces = (epoch: number) => sent(1, 2, { kind: 'leaderInfo', epoch });
const accepts = sent(2, 1, { kind: 'ackEpoch', currentEpoch: 0, lastZxid: at(0), counted: true });

test('the disk first, then the word, is right on both sides', () => {
  check(new PromiseDurableChecker(), [durable(1, saves(3)), announces(3), durable(2, saves(3)), accepts]);
});

test('a leader that announces an epoch which its disk does not hold is a violation', () => {
  const history = [issued(1, saves(3)), durable(1, saves(2)), announces(3)];
  expect(() => check(new PromiseDurableChecker(), history)).toThrow(
    'announces epoch 3, but its disk has acceptedEpoch 2',
  );
});

test('a learner that accepts an epoch which its disk does not hold is a violation', () => {
  const history = [durable(1, saves(3)), announces(3), issued(2, saves(3)), accepts];
  expect(() => check(new PromiseDurableChecker(), history)).toThrow(
    'member 2 accepts epoch 3, but its disk has acceptedEpoch 0',
  );
});

test('an acceptance may mean an earlier announcement than the last', () => {
  const history = [durable(1, saves(3)), announces(3), durable(1, saves(5)), announces(5), durable(2, saves(3))];
  check(new PromiseDurableChecker(), [...history, accepts]);
});
