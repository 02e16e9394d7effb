import { expect, test } from 'vitest';
import { append, applied, at, check, durable, issued, logged, refusal } from './history.fixture.ts';
import { QuorumDurabilityChecker } from './quorum-durability.ts';

const one = refusal(at(1));

test('what a quorum of disks holds may be applied', () => {
  check(new QuorumDurabilityChecker(), [logged([1, 3], one), issued(2, append(one)), applied(3, at(1))]);
});

test('what is only handed over does not count', () => {
  const history = [logged([1], one), issued(2, append(one)), applied(1, at(1))];
  expect(() => check(new QuorumDurabilityChecker(), history)).toThrow('only the disks of [1] hold, of 3 voters');
});

test('an observer does not count', () => {
  expect(() => check(new QuorumDurabilityChecker(), [logged([1, 4], one), applied(1, at(1))])).toThrow(
    'only the disks of [1]',
  );
});

test('a member that applies what its own disk does not hold is a violation', () => {
  const history = [logged([1, 2], one), issued(3, append(one)), applied(3, at(1))];
  expect(() => check(new QuorumDurabilityChecker(), history)).toThrow(
    'member 3 has applied 0x100000001, which its disk does not hold',
  );
});

test('what was cut off again does not count', () => {
  const history = [logged([1, 2], one), durable(2, { kind: 'truncate', after: at(0) }), applied(1, at(1))];
  expect(() => check(new QuorumDurabilityChecker(), history)).toThrow('only the disks of [1]');
});

test('a disk that was lost since counts, until its member holds the right to vote again', () => {
  const gone = { kind: 'diskReplaced', sid: 2, how: 'it is new' } as const;
  const history = [logged([1, 2], one), gone];
  check(new QuorumDurabilityChecker(), [...history, applied(1, at(1))]);
  const regained = durable(2, { kind: 'saveEpochs', acceptedEpoch: 1, currentEpoch: 1, voteRight: 'held' });
  expect(() => check(new QuorumDurabilityChecker(), [...history, regained, applied(1, at(1))])).toThrow(
    'only the disks of [1]',
  );
});

test('a snapshot that was installed holds everything up to its zxid', () => {
  check(new QuorumDurabilityChecker(), [
    logged([1], one),
    durable(2, { kind: 'installCommit', zxid: at(1) }),
    applied(1, at(1)),
  ]);
});
