import { expect, test } from 'vitest';
import { append, at, check, durable, issued, logged, refusal, started } from './history.fixture.ts';
import { RecoveryChecker } from './recovery.ts';

const [one, two] = [refusal(at(1)), refusal(at(2))];
const crashed = { kind: 'crashed', sid: 1, run: 1 } as const;

test('what was durable is there after the crash; of the rest a prefix may be', () => {
  check(new RecoveryChecker(), [logged([1], one), issued(1, append(two)), crashed, started(1, { records: [one] })]);
  check(new RecoveryChecker(), [
    logged([1], one),
    issued(1, append(two)),
    crashed,
    started(1, { records: [one, two] }),
  ]);
});

test('a durable txn that is gone is a violation', () => {
  expect(() => check(new RecoveryChecker(), [logged([1], one, two), crashed, started(1, { records: [one] })])).toThrow(
    'held 0x100000002 for sure and came back with 0x100000001',
  );
});

test('a disk that was lost and replaced promises nothing, the one in its place does', () => {
  const replaced = { kind: 'diskReplaced', sid: 1, how: 'it is new' } as const;
  const history = [logged([1], one, two), crashed, replaced, started(1, {})];
  check(new RecoveryChecker(), history);
  expect(() => check(new RecoveryChecker(), [...history, logged([1], one), crashed, started(1, {})])).toThrow(
    'held 0x100000001 for sure',
  );
});

test('a cut that was under way may have been made', () => {
  check(new RecoveryChecker(), [
    logged([1], one, two),
    issued(1, { kind: 'truncate', after: at(1) }),
    crashed,
    started(1, { records: [one] }),
  ]);
});

test('a checkpoint holds what is not in the log any more', () => {
  check(new RecoveryChecker(), [logged([1], one, two), crashed, started(1, { base: at(2) })]);
});

test('an epoch that is lower than before is a violation', () => {
  const saved = durable(1, { kind: 'saveEpochs', acceptedEpoch: 3, currentEpoch: 2, voteRight: 'held' });
  check(new RecoveryChecker(), [saved, crashed, started(1, { epochs: [3, 2] })]);
  expect(() => check(new RecoveryChecker(), [saved, crashed, started(1, { epochs: [2, 2] })])).toThrow(
    'acceptedEpoch 3',
  );
  expect(() => check(new RecoveryChecker(), [saved, crashed, started(1, { epochs: [3, 1] })])).toThrow(
    'currentEpoch 2',
  );
});
