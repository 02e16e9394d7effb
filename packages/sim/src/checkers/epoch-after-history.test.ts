import { expect, test } from 'vitest';
import { EpochAfterHistoryChecker } from './epoch-after-history.ts';
import { at, check, durable, logged, refusal, sent, started } from './history.fixture.ts';

const declares = sent(1, 2, { kind: 'newLeader', epoch: 2, lastZxid: at(2) });
const adopts = durable(2, { kind: 'saveEpochs', acceptedEpoch: 2, currentEpoch: 2, voteRight: 'held' });
const records = [refusal(at(1)), refusal(at(2))];

test('the history first, then the epoch, is right', () => {
  check(new EpochAfterHistoryChecker(), [declares, logged([2], ...records), adopts]);
  check(new EpochAfterHistoryChecker(), [declares, durable(2, { kind: 'installCommit', zxid: at(2) }), adopts]);
});

test('the epoch first is a violation', () => {
  expect(() => check(new EpochAfterHistoryChecker(), [declares, adopts, logged([2], ...records)])).toThrow(
    'whose history ends at 0x100000002, but ends at 0x0',
  );
});

test('the promise of an epoch is not its adoption', () => {
  check(new EpochAfterHistoryChecker(), [
    declares,
    durable(2, { kind: 'saveEpochs', acceptedEpoch: 2, currentEpoch: 1, voteRight: 'held' }),
  ]);
});

test('a crash that leaves the epoch without the history is a violation', () => {
  const back = started(2, { records: records.slice(0, 1), epochs: [2, 2] });
  expect(() => check(new EpochAfterHistoryChecker(), [declares, back])).toThrow('but ends at 0x100000001');
});

test('a learner that comes back in the epoch that it has adopted need not have more at once', () => {
  const later = sent(1, 2, { kind: 'newLeader', epoch: 2, lastZxid: at(9, 2) });
  check(new EpochAfterHistoryChecker(), [declares, logged([2], ...records), adopts, later, adopts]);
});
