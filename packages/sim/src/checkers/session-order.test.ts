import { expect, test } from 'vitest';
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
  session,
} from './history.fixture.ts';
import { SessionOrderChecker } from './session-order.ts';

const mine = { session: session(7), attachment: 3 };
const read = { kind: 'exists', path: '/a' } as const;
const shown = { kind: 'exists', stat: anyStat } as const;
const made = (path: string) => ({ kind: 'create', path, stat: anyStat }) as const;
const twoWrites = [
  logged([1, 2], record(at(1), create('/b', 'second')), record(at(2), create('/a', 'first'))),
  applied(1, at(2)),
];

test('answers in the order of the calls are right', () => {
  check(new SessionOrderChecker(), [
    called(1, read, mine),
    called(2, read, mine),
    answered(1, at(1), shown),
    answered(2, at(1), shown),
  ]);
});

test('answers of one attachment out of order are a violation, of two attachments not', () => {
  const answers = [answered(2, at(1), shown), answered(1, at(1), shown)];
  const history = [called(1, read, mine), called(2, read, mine), ...answers];
  expect(() => check(new SessionOrderChecker(), history)).toThrow('was answered after call 2');
  check(new SessionOrderChecker(), [called(1, read, mine), called(2, read, { ...mine, attachment: 4 }), ...answers]);
});

test('a session that is shown an older state than before is a violation', () => {
  const history = [called(1, read, mine), answered(1, at(5), shown), called(2, read, mine)];
  expect(() => check(new SessionOrderChecker(), [...history, answered(2, at(4), shown)])).toThrow(
    'to a session that has seen 0x100000005',
  );
  expect(() => check(new SessionOrderChecker(), [...history, answered(2, at(4), 'NO_NODE')])).toThrow('that has seen');
  check(new SessionOrderChecker(), [...history, answered(2, at(4), 'UNAVAILABLE')]);
});

test('unary calls may see an older state at another member, not at the same one', () => {
  const unary = { session: session(7) };
  const history = (sid: number) => [
    called(1, read, { ...unary, sid: 1 }),
    answered(1, at(5), shown),
    called(2, read, { ...unary, sid }),
    answered(2, at(4), shown),
  ];
  check(new SessionOrderChecker(), history(2));
  expect(() => check(new SessionOrderChecker(), history(1))).toThrow('that has seen');
});

test('writes of a session that stand in the history in another order are a violation', () => {
  const history = [
    called(1, creating('/a', 'first'), mine),
    called(2, creating('/b', 'second'), { ...mine, attachment: 4 }),
    ...twoWrites,
  ];
  expect(() =>
    check(new SessionOrderChecker(), [...history, answered(1, at(2), made('/a')), answered(2, at(1), made('/b'))]),
  ).toThrow();
});

test('a write whose answer was lost counts by its value, but not a unary one: nothing fences it', () => {
  const history = (attachment: number) => [
    called(1, creating('/a', 'first'), { session: session(7), attachment }),
    { kind: 'abandoned', callId: 1 } as const,
    called(2, creating('/b', 'second'), { ...mine, attachment: 4 }),
    ...twoWrites,
    answered(2, at(1), made('/b')),
  ];
  expect(() => check(new SessionOrderChecker(), history(3))).toThrow('stands at 0x100000001, before call 1');
  check(new SessionOrderChecker(), history(0));
});
