import type { ErrorCode } from '@quorate/protocol';
import { expect, test } from 'vitest';
import { AcknowledgedWritesChecker } from './acknowledged-writes.ts';
import {
  answered,
  anyStat,
  applied,
  at,
  called,
  check,
  create,
  creating,
  logged,
  record,
  refusal,
  session,
} from './history.fixture.ts';

const call = called(1, creating('/a', 'x'));
const made = answered(1, at(1), { kind: 'create', path: '/a', stat: anyStat });
const present = [logged([1, 2], record(at(1), create('/a', 'x'))), applied(1, at(1))];
const absent = [logged([1, 2], refusal(at(1))), applied(1, at(1))];

test('an acknowledged write in the history is right', () => {
  check(new AcknowledgedWritesChecker(), [call, present, made]);
});

test('an acknowledged write that is not in the history is lost', () => {
  expect(() => check(new AcknowledgedWritesChecker(), [call, absent, made])).toThrow('was acknowledged and is lost');
  expect(() => check(new AcknowledgedWritesChecker(), [call, made])).toThrow('was acknowledged and is lost');
});

test('a write that took effect twice is a violation, whatever was answered', () => {
  const twice = [logged([1, 2], record(at(1), create('/a', 'x')), record(at(2), create('/b', 'x'))), applied(1, at(2))];
  expect(() => check(new AcknowledgedWritesChecker(), [call, twice, made])).toThrow('took effect more than once');
  expect(() => check(new AcknowledgedWritesChecker(), [call, twice])).toThrow('took effect more than once');
});

test.each<ErrorCode>(['NODE_EXISTS', 'UNAVAILABLE', 'THROTTLED', 'SESSION_MOVED'])(
  'after %s the write may not be there',
  (code) => {
    check(new AcknowledgedWritesChecker(), [call, absent, answered(1, at(1), code)]);
    expect(() => check(new AcknowledgedWritesChecker(), [call, present, answered(1, at(1), code)])).toThrow(
      'was said not to have happened',
    );
  },
);

test.each<ErrorCode>(['OUTCOME_UNKNOWN', 'DEADLINE_EXCEEDED'])('after %s the write may be there or not', (code) => {
  check(new AcknowledgedWritesChecker(), [call, absent, answered(1, at(1), code)]);
  check(new AcknowledgedWritesChecker(), [call, present, answered(1, at(1), code)]);
});

test('a value that nobody wrote is a violation', () => {
  expect(() => check(new AcknowledgedWritesChecker(), [present])).toThrow('"x", which nobody wrote');
});

test('a write that was acknowledged at another place than it stands is a violation', () => {
  const elsewhere = [logged([1, 2], refusal(at(1)), record(at(2), create('/a', 'x'))), applied(1, at(2))];
  expect(() => check(new AcknowledgedWritesChecker(), [call, elsewhere, made])).toThrow(
    'where something else stands: error',
  );
});

test('deletes are counted by session and path', () => {
  const removal = { kind: 'delete', path: '/a', expectedVersion: undefined } as const;
  const asked = called(2, removal, { session: session(7) });
  const gone = (times: number) => [
    logged(
      [1, 2],
      ...Array.from({ length: times }, (_, i) => record(at(i + 1), { kind: 'delete', path: '/a' }, session(7))),
    ),
    applied(1, at(times)),
  ];
  check(new AcknowledgedWritesChecker(), [asked, gone(1), answered(2, at(1), { kind: 'delete' })]);
  check(new AcknowledgedWritesChecker(), [asked, gone(1), answered(2, at(1), 'OUTCOME_UNKNOWN')]);
  expect(() => check(new AcknowledgedWritesChecker(), [asked, gone(1), answered(2, at(1), 'UNAVAILABLE')])).toThrow(
    'was deleted 1 times: 0 were',
  );
  expect(() =>
    check(new AcknowledgedWritesChecker(), [asked, gone(2), answered(2, at(1), { kind: 'delete' })]),
  ).toThrow('was deleted 2 times: 1 were');
});
