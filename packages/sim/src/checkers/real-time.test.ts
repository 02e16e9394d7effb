import { expect, test } from 'vitest';
import { answered, anyStat, at, called, check, creating } from './history.fixture.ts';
import { RealTimeChecker } from './real-time.ts';

const sync = { kind: 'sync', path: '/a' } as const;
const read = { kind: 'exists', path: '/a' } as const;
const made = { kind: 'create', path: '/a', stat: anyStat } as const;
const shown = { kind: 'exists', stat: anyStat } as const;
const acknowledged = [called(1, creating('/a', 'x'), { sid: 1 }), answered(1, at(5), made)];

test('a sync that shows what was acknowledged before it began is right', () => {
  check(new RealTimeChecker(), [
    ...acknowledged,
    called(2, sync, { sid: 2 }),
    answered(2, at(5), { kind: 'sync', path: '/a' }),
  ]);
});

test('a sync, or a linearizable read, that shows less is a violation', () => {
  const old = (op: typeof sync | typeof read, linearizable: boolean) => [
    ...acknowledged,
    called(2, op, { sid: 2, linearizable }),
    answered(2, at(4), 'NO_NODE'),
  ];
  expect(() => check(new RealTimeChecker(), old(sync, false))).toThrow('0x100000005 had been shown before it began');
  expect(() => check(new RealTimeChecker(), old(read, true))).toThrow('had been shown');
  check(new RealTimeChecker(), old(read, false));
});

test('what was acknowledged while the sync was under way need not be shown', () => {
  check(new RealTimeChecker(), [called(2, sync), ...acknowledged, answered(2, at(4), { kind: 'sync', path: '/a' })]);
});

test('what a read has shown is not unseen by a later linearizable one', () => {
  const history = [
    called(1, read),
    answered(1, at(5), shown),
    called(2, read, { linearizable: true }),
    answered(2, at(4), shown),
  ];
  expect(() => check(new RealTimeChecker(), history)).toThrow('had been shown');
});

test('a write stands after every answer that was given before it began', () => {
  const later = (zxid: number) => [...acknowledged, called(2, creating('/b', 'y')), answered(2, at(zxid), made)];
  check(new RealTimeChecker(), later(6));
  expect(() => check(new RealTimeChecker(), later(5))).toThrow('had been shown');
});
