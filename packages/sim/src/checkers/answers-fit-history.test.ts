import type { TxnBody, TxnPart } from '@quorate/core';
import { type Acl, type Op, PERMS, type Stat, type Zxid } from '@quorate/protocol';
import { expect, test } from 'vitest';
import { AnswersFitHistoryChecker } from './answers-fit-history.ts';
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
  type History,
  logged,
  record,
  refusal,
} from './history.fixture.ts';

/** /a is created at 1, its data set at 2, /a/b created at 3, an error at 4. */
const history: History = [
  logged(
    [1, 2],
    record(at(1), create('/a', 'x', { creates: 4 })),
    record(at(2), { kind: 'setData', path: '/a', data: bytes('yy'), version: 1 }),
    record(at(3), create('/a/b', 'z')),
    refusal(at(4), 'NODE_EXISTS'),
  ),
  applied(1, at(4)),
];

const statAt = (zxid: Zxid, more: Partial<Stat> = {}): Stat => ({
  ...anyStat,
  czxid: at(1),
  mzxid: zxid,
  pzxid: at(1),
  ...more,
});
const read = (op: Op, zxid: Zxid, result: Parameters<typeof answered>[2]): History => [
  history,
  called(1, op),
  answered(1, zxid, result),
];
const getData: Op = { kind: 'getData', path: '/a' };
const getChildren: Op = { kind: 'getChildren', path: '/a' };
const run = (observations: History) => check(new AnswersFitHistoryChecker(), observations);

test('reads that show the state at their zxid are right', () => {
  run(read(getData, at(1), { kind: 'getData', data: bytes('x'), stat: statAt(at(1)) }));
  run(read(getData, at(2), { kind: 'getData', data: bytes('yy'), stat: statAt(at(2), { version: 1, dataLength: 2 }) }));
  run(read({ kind: 'exists', path: '/a' }, at(0), 'NO_NODE'));
});

test('a read that shows the data of another zxid is a violation', () => {
  expect(() => run(read(getData, at(2), { kind: 'getData', data: bytes('x'), stat: statAt(at(1)) }))).toThrow(
    'shows "x" at 0x100000002, not "yy"',
  );
});

test('a field of the stat that is wrong is a violation', () => {
  const stat = statAt(at(3), { mzxid: at(2), version: 1, dataLength: 2, cversion: 1, numChildren: 1, pzxid: at(3) });
  run(read(getChildren, at(3), { kind: 'getChildren', children: ['b'], stat }));
  const wrong = { ...stat, pzxid: at(1) };
  expect(() => run(read(getChildren, at(3), { kind: 'getChildren', children: ['b'], stat: wrong }))).toThrow(
    'shows pzxid',
  );
});

test('a listing that lacks a child is a violation', () => {
  expect(() => run(read(getChildren, at(4), { kind: 'getChildren', children: [], stat: statAt(at(4)) }))).toThrow(
    'lists [], not [b]',
  );
});

test('a znode that is there and was not found, or the other way round, is a violation', () => {
  expect(() => run(read(getData, at(1), 'NO_NODE'))).toThrow('/a does exist');
  expect(() => run(read({ kind: 'exists', path: '/c' }, at(1), { kind: 'exists', stat: anyStat }))).toThrow(
    '/c does not exist',
  );
});

test('an answer at a zxid where nothing is committed is a violation', () => {
  expect(() => run(read(getData, at(9), 'NO_NODE'))).toThrow('where nothing is committed');
});

test('a write that was done has to be allowed, and one that was refused not', () => {
  const again = called(1, creating('/a', 'w'));
  run([history, again, answered(1, at(4), 'NODE_EXISTS')]);
  expect(() => run([history, again, answered(1, at(4), { kind: 'create', path: '/a', stat: anyStat })])).toThrow(
    'had to be NODE_EXISTS',
  );
  expect(() => run([history, again, answered(1, at(1), 'NODE_EXISTS')])).toThrow('had to be done');
  expect(() => run([history, again, answered(1, at(4), 'NO_NODE')])).toThrow('had to be NODE_EXISTS');
});

test('a create is answered with the path and the stat that it got', () => {
  const call = called(1, creating('/a', 'x'));
  const stat = statAt(at(1));
  run([history, call, answered(1, at(1), { kind: 'create', path: '/a', stat })]);
  expect(() => run([history, call, answered(1, at(1), { kind: 'create', path: '/b', stat })])).toThrow(
    'with path /b, not /a',
  );
  expect(() =>
    run([history, call, answered(1, at(1), { kind: 'create', path: '/a', stat: { ...stat, version: 1 } })]),
  ).toThrow('shows version');
});

test('a committed txn that is not possible is a violation', () => {
  const impossible = [logged([1, 2], record(at(1), { kind: 'delete', path: '/a' })), applied(1, at(1))];
  expect(() => run(impossible)).toThrow('is impossible: cannot delete /a');
});

test('a guarded write is done only while the znode of its guard is there', () => {
  const set: Op = { kind: 'setData', path: '/a', data: bytes('yy'), expectedVersion: undefined };
  const guarded = (czxid: Zxid) => called(1, set, { guards: [{ path: '/a', czxid }] });
  const stat = statAt(at(2), { version: 1, dataLength: 2 });
  const done = answered(1, at(2), { kind: 'setData', stat });
  run([history, guarded(at(1)), done]);
  expect(() => run([history, guarded(at(9)), done])).toThrow('had to be GUARD_FAILED');
  expect(() => run([history, guarded(at(1)), answered(1, at(4), 'GUARD_FAILED')])).toThrow('had to be done');
  run([history, guarded(at(9)), answered(1, at(4), 'GUARD_FAILED')]);
});

test('a guard that may not be read refuses the write with NO_AUTH, whatever it names', () => {
  const acl: Acl = [{ perms: PERMS.WRITE, scheme: 'world', id: 'anyone' }];
  const refusal: TxnBody = { kind: 'error', code: 'NO_AUTH', path: '/a', message: '' };
  const records = [record(at(1), { ...create('/a', 'x'), acl } as TxnBody), record(at(2), refusal)];
  const closed: History = [logged([1, 2], ...records), applied(1, at(1)), applied(1, at(2))];
  const set: Op = { kind: 'setData', path: '/a', data: bytes('yy'), expectedVersion: undefined };
  for (const czxid of [at(1), at(9)]) {
    const guarded = called(1, set, { guards: [{ path: '/a', czxid }] });
    run([closed, guarded, answered(1, at(2), 'NO_AUTH')]);
    expect(() => run([closed, guarded, answered(1, at(2), 'GUARD_FAILED')])).toThrow('had to be NO_AUTH');
  }
});

test('what may not be read is not shown, and what may be is', () => {
  const acl: Acl = [{ perms: PERMS.READ, scheme: 'digest', id: 'ann:x' }];
  const closed: History = [logged([1, 2], record(at(1), { ...create('/a', 'x'), acl } as TxnBody)), applied(1, at(1))];
  const ann = { identities: [{ scheme: 'digest', id: 'ann:x' }] };
  const shows = answered(1, at(1), { kind: 'getData', data: bytes('x'), stat: statAt(at(1)) });
  run([closed, called(1, getData, ann), shows]);
  expect(() => run([closed, called(1, getData), shows])).toThrow('to whoever may not read it');
  run([closed, called(1, getData), answered(1, at(1), 'NO_AUTH')]);
  expect(() => run([closed, called(1, getData, ann), answered(1, at(1), 'NO_AUTH')])).toThrow(
    'nothing kept it from /a',
  );
});

test('a write stands in the history as what was asked for', () => {
  const stands: History = [logged([1, 2], record(at(1), create('/a', 'x'))), applied(1, at(1))];
  const done = answered(1, at(1), { kind: 'create', path: '/a', stat: statAt(at(1)) });
  run([stands, called(1, creating('/a', 'x')), done]);
  expect(() => run([stands, called(1, { ...creating('/a', 'x'), mode: 'container' } as Op), done])).toThrow(
    '"lifetime":"container"',
  );
});

test('the parts of a multi are judged one after the other, and a stat is that right after its part', () => {
  const parts = [creating('/a', 'x'), { kind: 'setData', path: '/a', data: bytes('yy'), expectedVersion: 0 }];
  const asked = called(1, { kind: 'multi', parts } as Op);
  const body = [create('/a', 'x'), { kind: 'setData', path: '/a', data: bytes('yy'), version: 1 }] as TxnPart[];
  const stands: History = [logged([1, 2], record(at(1), { kind: 'multi', parts: body })), applied(1, at(1))];
  const first = { kind: 'create', path: '/a', stat: statAt(at(1)) } as const;
  const second = { kind: 'setData', stat: statAt(at(1), { version: 1, dataLength: 2 }) } as const;
  run([stands, asked, answered(1, at(1), { kind: 'multi', results: [first, second] })]);
  const late = { ...first, stat: second.stat };
  expect(() => run([stands, asked, answered(1, at(1), { kind: 'multi', results: [late, second] })])).toThrow(
    'shows version 1',
  );
  const refusedIn = (part: number) => {
    const result = { kind: 'error', code: 'NODE_EXISTS', path: '/a', message: '', part } as const;
    return { kind: 'answered', callId: 1, answer: { zxid: at(4), result } } as const;
  };
  run([history, asked, refusedIn(0)]);
  expect(() => run([history, asked, refusedIn(1)])).toThrow('NODE_EXISTS in part 0');
});

test('several reads of one moment are each held against it', () => {
  const parts = [getData, { kind: 'exists', path: '/c' }] as const;
  const asked = called(1, { kind: 'multiRead', parts } as Op);
  const first = { kind: 'getData', data: bytes('x'), stat: statAt(at(1)) } as const;
  const none = { kind: 'error', code: 'NO_NODE', path: '/c', message: '' } as const;
  run([history, asked, answered(1, at(1), { kind: 'multiRead', results: [first, none] })]);
  expect(() => run([history, asked, answered(1, at(2), { kind: 'multiRead', results: [first, none] })])).toThrow(
    'shows "x"',
  );
  expect(() => run([history, asked, answered(1, at(1), { kind: 'multiRead', results: [none, none] })])).toThrow(
    'does exist',
  );
  expect(() => run([history, asked, answered(1, at(1), { kind: 'multiRead', results: [first] })])).toThrow(
    'has other parts',
  );
});

test('a write that sets or creates says which it was', () => {
  const put = called(1, { kind: 'createOrSet', path: '/a', data: bytes('yy') });
  const body: TxnBody = {
    kind: 'compound',
    answers: 'createOrSet',
    parts: [{ kind: 'setData', path: '/a', data: bytes('yy'), version: 1 }],
  };
  const stands: History = [logged([1, 2], record(at(1), create('/a', 'x')), record(at(2), body)), applied(1, at(2))];
  const stat = statAt(at(2), { version: 1, dataLength: 2 });
  run([stands, put, answered(1, at(2), { kind: 'createOrSet', created: false, stat })]);
  expect(() => run([stands, put, answered(1, at(2), { kind: 'createOrSet', created: true, stat })])).toThrow(
    'has created /a',
  );
});
