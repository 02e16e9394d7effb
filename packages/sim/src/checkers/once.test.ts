import type { LogRecord } from '@quorate/core';
import { decodeTxn, encodeTxn } from '@quorate/core';
import type { Zxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { CallBook } from '../calls.ts';
import {
  answered,
  anyStat,
  applied,
  at,
  bytes,
  called,
  check,
  create,
  creating,
  logged,
  record,
  session,
} from './history.fixture.ts';
import { OnceChecker } from './once.ts';

const S = session(7);
const result = { kind: 'create', path: '/a', stat: anyStat } as const;

function numbered(zxid: Zxid, request: number): LogRecord {
  const { payload } = record(zxid, create('/a', 'x'), S);
  return { zxid, payload: encodeTxn({ ...decodeTxn(payload), numbered: { request, acknowledged: 0 } }) };
}

function asked(callId: number, request: number) {
  const { call } = called(callId, creating('/a', 'x'), { session: S, attachment: callId }) as { call: object };
  return { kind: 'called', call: { ...call, request } } as ReturnType<typeof called>;
}

const committed = (...records: LogRecord[]) => [
  ...logged([1, 2], ...records),
  applied(1, records.at(-1)!.zxid),
  applied(2, records.at(-1)!.zxid),
];

describe('numbered writes', () => {
  it('that stand once, and are answered alike, are right', () => {
    const answers = [answered(1, at(1), result), answered(2, at(1), result)];
    check(new OnceChecker(), [asked(1, 1), asked(2, 1), committed(numbered(at(1), 1), numbered(at(2), 3)), answers]);
  });

  it('that stand twice, or in another order, are a violation', () => {
    const twice = [committed(numbered(at(1), 1), numbered(at(2), 1))];
    expect(() => check(new OnceChecker(), twice)).toThrow('request 1 of session 0x7 stands at');
    const turned = [committed(numbered(at(1), 2), numbered(at(2), 1))];
    expect(() => check(new OnceChecker(), turned)).toThrow('after request 2');
  });

  it('whose copies are answered in different ways are a violation', () => {
    const history = [asked(1, 1), asked(2, 1), committed(numbered(at(1), 1)), answered(1, at(1), result)];
    expect(() => check(new OnceChecker(), [...history, answered(2, at(1), 'NODE_EXISTS')])).toThrow(
      'was answered otherwise',
    );
  });

  it('that are said to have come out of order stand nowhere', () => {
    const late = [asked(2, 1), answered(2, at(2), 'OUT_OF_ORDER')];
    check(new OnceChecker(), [...late, committed(numbered(at(1), 2))]);
    expect(() => check(new OnceChecker(), [...late, committed(numbered(at(1), 1))])).toThrow('stands in the history');
  });
});

describe('the calls as their clients mean them', () => {
  it('are one for all copies of a write, from the first asking to the first clear answer', () => {
    const book = new CallBook();
    const other = called(9, { kind: 'setData', path: '/b', data: bytes('y'), expectedVersion: undefined });
    for (const one of [asked(1, 1), other, asked(2, 1), answered(2, at(1), 'UNAVAILABLE'), asked(3, 1)]) book.note(one);
    expect(book.meant()).toMatchObject([{ call: { callId: 1 }, answer: undefined, isRepeated: true }, { calledAt: 2 }]);
    book.note(answered(3, at(1), result));
    expect(book.meant()).toMatchObject([{ calledAt: 1, answer: { result }, answeredAt: 6 }, { calledAt: 2 }]);
  });
});
