import type { TreeChange, TxnBody, TxnPart } from '@quorate/core';
import type { ErrorCode, MultiPart, Op } from '@quorate/protocol';
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
  type History,
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

test('a multi stands in the history with all its parts or with none', () => {
  const parts = [creating('/a', 'x'), creating('/b', 'y')] as MultiPart[];
  const asked = called(1, { kind: 'multi', parts });
  const results = [
    { kind: 'create', path: '/a', stat: anyStat },
    { kind: 'create', path: '/b', stat: anyStat },
  ] as const;
  const done = answered(1, at(1), { kind: 'multi', results });
  const stands = (...bodies: TxnBody[]) => [
    logged([1, 2], ...bodies.map((body, index) => record(at(index + 1), body))),
    applied(1, at(bodies.length)),
  ];
  const whole = stands({ kind: 'multi', parts: [create('/a', 'x'), create('/b', 'y')] as TxnPart[] });
  const run = (...history: History) => check(new AcknowledgedWritesChecker(), history);
  run(asked, whole, done);
  run(asked, whole);
  run(asked, stands({ kind: 'multi', parts: [] }));
  const half = stands({ kind: 'multi', parts: [create('/a', 'x')] as TxnPart[] });
  expect(() => run(asked, half)).toThrow('has taken effect in part');
  expect(() => run(asked, half, done)).toThrow('was acknowledged and is lost');
  expect(() => run(asked, stands(create('/a', 'x'), create('/b', 'y')))).toThrow('has taken effect in part');
  const swapped = stands({ kind: 'multi', parts: [create('/b', 'y'), create('/a', 'x')] as TxnPart[] });
  expect(() => run(asked, swapped, done)).toThrow('something else stands');
});

test("what the leader deletes by itself is nobody's delete", () => {
  const history = (sid: number) => [
    call,
    logged([1, 2], record(at(1), create('/a', 'x'))),
    logged([1, 2], record(at(2), { kind: 'delete', path: '/a' }, undefined, { sid, incarnation: 0, seq: 0 })),
    applied(1, at(2)),
  ];
  check(new AcknowledgedWritesChecker(), history(0));
  expect(() => check(new AcknowledgedWritesChecker(), history(1))).toThrow('was deleted 1 times');
});

test('a write with its ancestors stands as one, with what it was answered with last', () => {
  const asked = called(1, { ...creating('/a/b', 'x'), parents: true } as Op);
  const done = answered(1, at(1), { kind: 'create', path: '/a/b', stat: anyStat });
  const stands = (answers: 'create' | 'createOrSet', ...parts: TxnBody[]) => [
    logged([1, 2], record(at(1), { kind: 'compound', answers, parts: parts as TreeChange[] })),
    applied(1, at(1)),
  ];
  const run = (...history: History) => check(new AcknowledgedWritesChecker(), history);
  const above = { ...create('/a', ''), data: undefined } as TxnBody;
  run(asked, stands('create', above, create('/a/b', 'x')), done);
  expect(() => run(asked, stands('createOrSet', above, create('/a/b', 'x')), done)).toThrow('something else');
  expect(() => run(asked, stands('create', create('/a/b', 'x'), above), done)).toThrow('something else');
});

test("the end of a subtree stands as such, and its deletes are nobody else's", () => {
  const asked = called(2, { kind: 'deleteSubtree', path: '/a' });
  const done = answered(2, at(2), { kind: 'deleteSubtree', deleted: 1, more: false });
  const stands = (body: TxnBody) => [
    logged([1, 2], record(at(1), create('/a', 'x')), record(at(2), body)),
    applied(1, at(2)),
  ];
  const run = (...history: History) => check(new AcknowledgedWritesChecker(), history);
  const gone = { kind: 'delete', path: '/a' } as const;
  run(call, asked, stands({ kind: 'compound', answers: 'deleteSubtree', parts: [gone] }), made, done);
  expect(() => run(call, asked, stands(gone), made, done)).toThrow('something else stands');
});
