import { expect, test } from 'vitest';
import { AgreementChecker } from './agreement.ts';
import {
  append,
  applied,
  at,
  check,
  create,
  durable,
  issued,
  logged,
  record,
  refusal,
  started,
} from './history.fixture.ts';

const [one, two, three] = [refusal(at(1)), refusal(at(2)), refusal(at(3))];

test('one history on every disk is agreement, however far each member has come', () => {
  check(new AgreementChecker(), [logged([1, 2], one, two), logged([3], one), applied(1, at(2)), applied(3, at(1))]);
});

test('different txns at one zxid are a violation', () => {
  const other = record(at(1), create('/a', 'x'));
  expect(() => check(new AgreementChecker(), [logged([1], one), logged([2], other)])).toThrow(
    'have logged different txns at 0x100000001',
  );
});

test('a hole in a log is a violation', () => {
  expect(() => check(new AgreementChecker(), [logged([1], one, two, three), logged([2], one, three)])).toThrow(
    'member 2 after 0x100000001',
  );
});

test('a txn on disk that the member meant to cut is a violation once another follows it', () => {
  const late = refusal(at(1, 2));
  const history = [
    logged([1, 2], one),
    logged([1], two),
    logged([2], late),
    issued(1, { kind: 'truncate', after: at(1) }),
    durable(1, { kind: 'truncate', after: at(2) }),
    issued(1, append(late)),
    durable(1, append(late)),
  ];
  expect(() => check(new AgreementChecker(), history)).toThrow('member 1 after 0x100000002');
});

test('a member that applies another history than the committed one is a violation', () => {
  const other = refusal(at(1, 2));
  const history = [
    logged([1, 2], one, two),
    logged([3], one),
    logged([3], other),
    applied(1, at(2)),
    applied(3, at(1, 2)),
  ];
  expect(() => check(new AgreementChecker(), history)).toThrow('where 0x100000002 is committed');
});

test('a member whose tree goes back is a violation, unless it was started again', () => {
  const history = [logged([1, 2], one, two), applied(1, at(2))];
  expect(() => check(new AgreementChecker(), [history, applied(1, at(1))])).toThrow('went back');
  check(new AgreementChecker(), [history, started(1, { records: [one, two] }), applied(1, at(1))]);
});

test('an applied txn that nobody logged is a violation', () => {
  expect(() => check(new AgreementChecker(), [applied(1, at(1))])).toThrow('which was never logged');
});

test('a cut below what was applied is a violation', () => {
  const history = [logged([1, 2], one, two), applied(1, at(2)), issued(1, { kind: 'truncate', after: at(1) })];
  expect(() => check(new AgreementChecker(), history)).toThrow('though it has applied 0x100000002');
});

test('a cut of what is committed is a violation, though this member has not applied it', () => {
  const history = [logged([1, 2, 3], refusal(at(1)), refusal(at(2))), issued(3, { kind: 'truncate', after: at(1) })];
  check(new AgreementChecker(), history);
  const known = [...history.slice(0, 1), applied(1, at(2)), ...history.slice(1)];
  expect(() => check(new AgreementChecker(), known)).toThrow('though 0x100000002 is committed');
});
