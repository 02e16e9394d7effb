import type { VoteRight } from '@quorate/core';
import { expect, test } from 'vitest';
import { applied, at, check, durable, logged, refusal, sent, status } from './history.fixture.ts';
import { VoteRightChecker } from './vote-right.ts';

const rights = (voteRight: VoteRight, ...sids: number[]) =>
  sids.map((sid) => durable(sid, { kind: 'saveEpochs', acceptedEpoch: 1, currentEpoch: 1, voteRight }));
const says = (voteRight: VoteRight) => sent(1, 2, { kind: 'followerInfo', acceptedEpoch: 0, voteRight });
const one = refusal(at(1));

test('whoever holds the right on disk may say so, lead, and be counted', () => {
  check(new VoteRightChecker(), [
    rights('held', 1, 2),
    says('held'),
    status(1, { role: 'leading' }),
    logged([1, 2], one),
    applied(1, at(1)),
  ]);
});

test('to claim the right that is not on the disk is a violation, to say that it is missing is none', () => {
  check(new VoteRightChecker(), [rights('recovering', 1), says('recovering')]);
  expect(() => check(new VoteRightChecker(), [rights('recovering', 1), says('held')])).toThrow(
    'member 1 says that it holds it; on its disk the right to vote is recovering',
  );
});

test('to lead without it is a violation', () => {
  expect(() => check(new VoteRightChecker(), [status(1, { role: 'leading' })])).toThrow(
    'member 1 leads; on its disk the right to vote is unformed',
  );
});

test('to apply what only voters without the right make a quorum for is a violation', () => {
  const history = [rights('held', 1), rights('recovering', 2), logged([1, 2], one), applied(1, at(1))];
  expect(() => check(new VoteRightChecker(), history)).toThrow(
    '0x100000001 is applied; of the disks that hold it, [1,2], only [1] may be counted, of 3 voters',
  );
  check(new VoteRightChecker(), [
    rights('held', 3),
    logged([3], one),
    history.slice(0, 1),
    logged([1], one),
    applied(1, at(1)),
  ]);
});
