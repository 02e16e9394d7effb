import type { TxnBody } from '@quorate/core';
import { type Acl, NO_ZXID, type Notification, type Op, PERMS, type WatchLists, type Zxid } from '@quorate/protocol';
import { expect, test } from 'vitest';
import type { Observation } from '../observation.ts';
import {
  answered,
  anyStat,
  applied,
  at,
  bytes,
  called,
  check,
  create,
  type History,
  logged,
  record,
} from './history.fixture.ts';
import { WatchesChecker } from './watches.ts';

const set = (path: string, version = 1): TxnBody => ({ kind: 'setData', path, data: bytes('y'), version });
const secret: Acl = [{ perms: PERMS.WRITE, scheme: 'world', id: 'anyone' }];

/** /a at 1, /a/b at 2, data of /a at 3, /a/b gone at 4, /s, which nobody may read, at 5 and set at 6, /d at 7. */
const history: History = [
  logged(
    [1, 2],
    ...[
      create('/a', 'x'),
      create('/a/b', 'x'),
      set('/a'),
      { kind: 'delete', path: '/a/b' } as const,
      { ...create('/s', 'x'), acl: secret } as TxnBody,
      set('/s'),
      create('/d', ''),
    ].map((body, index) => record(at(index + 1), body)),
  ),
  applied(1, at(7)),
];

let calls = 0;

/** A call by attachment 1 that is answered there. */
function asked(op: Op, zxid: Zxid, code?: 'NO_NODE'): History {
  calls += 1;
  const kind = op.kind === 'getChildren' ? { children: [] } : {};
  const result = code ?? ({ kind: op.kind, stat: anyStat, data: undefined, ...kind } as never);
  return [called(calls, op, { attachment: 1 }), answered(calls, zxid, result)];
}

const watching = (kind: 'exists' | 'getData' | 'getChildren', path: string): Op => ({ kind, path, watch: true });
const plain: Op = { kind: 'exists', path: '/a' };
const told = (kind: Notification['kind'], path: string, zxid: bigint): Observation => {
  return { kind: 'notified', attachment: 1, notifications: [{ kind, path, zxid }] };
};
const run = (...heard: History): void => check(new WatchesChecker(), [history, ...heard]);

test('what a watch sees is told before any answer that could show it, once', () => {
  const left = asked(watching('getData', '/a'), at(1));
  run(left, told('nodeDataChanged', '/a', at(3)), asked(plain, at(3)));
  run(left, asked(plain, at(2)), told('nodeDataChanged', '/a', at(3)), asked(plain, at(7)));
  expect(() => run(left, asked(plain, at(3)))).toThrow('before nodeDataChanged of /a at 0x100000003');
  expect(() => run(left, told('nodeDataChanged', '/a', at(3)), told('nodeDataChanged', '/a', at(3)))).toThrow(
    'nothing was due',
  );
  expect(() => run(left, told('nodeDeleted', '/a', at(3)))).toThrow(
    'where nodeDataChanged of /a at 0x100000003 was due',
  );
  expect(() => run(asked(plain, at(1)), told('nodeDataChanged', '/a', at(3)))).toThrow('nothing was due');
});

test('a watch sees nothing of what was before it', () => {
  run(asked(watching('getData', '/a'), at(3)), asked(plain, at(7)));
  run(asked(watching('getData', '/d'), at(6), 'NO_NODE'), asked(plain, at(7)));
});

test('of children, of an end, of what is not there yet', () => {
  const children = asked(watching('getChildren', '/a'), at(1));
  run(children, told('nodeChildrenChanged', '/a', at(2)), asked(plain, at(7)));
  const end = asked(watching('getData', '/a/b'), at(2));
  const both = asked(watching('getChildren', '/a/b'), at(2));
  run(end, both, told('nodeDeleted', '/a/b', at(4)), asked(plain, at(7)));
  expect(() => run(end, both, asked(plain, at(7)))).toThrow('before nodeDeleted of /a/b');
  run(asked(watching('exists', '/d'), at(6), 'NO_NODE'), told('nodeCreated', '/d', at(7)), asked(plain, at(7)));
});

test('what lasts is told each time, until it is taken away', () => {
  const all = asked({ kind: 'addWatch', path: '/a', mode: 'persistentRecursive' }, at(0));
  const three = [
    told('nodeCreated', '/a', at(1)),
    told('nodeCreated', '/a/b', at(2)),
    told('nodeDataChanged', '/a', at(3)),
  ];
  run(all, three, told('nodeDeleted', '/a/b', at(4)), asked(plain, at(7)));
  run(all, three, asked({ kind: 'removeWatches', path: '/a', watcher: 'any' }, at(3)), asked(plain, at(7)));
  expect(() => run(all, three, asked(plain, at(7)))).toThrow('before nodeDeleted of /a/b');
  const some = asked({ kind: 'addWatch', path: '/a', mode: 'persistent' }, at(1));
  const children = (counter: number) => told('nodeChildrenChanged', '/a', at(counter));
  run(some, children(2), told('nodeDataChanged', '/a', at(3)), children(4), asked(plain, at(7)));
  const none = asked({ kind: 'removeWatches', path: '/d', watcher: 'any' }, at(3));
  expect(() => run(all, three, none)).toThrow('has no watches of /d');
});

test('who may not read the znode is told nothing', () => {
  const left = asked({ kind: 'addWatch', path: '/s', mode: 'persistent' }, at(1));
  run(left, asked(plain, at(7)));
  expect(() => run(left, told('nodeDataChanged', '/s', at(6)))).toThrow('nothing was due');
});

test('C027: on setWatches what was missed is told before the answer, and the rest is watched', () => {
  const none = { data: [], exist: [], child: [], persistent: [], persistentRecursive: [] };
  const again = (lists: Partial<WatchLists>): Op => {
    return { kind: 'setWatches', lists: { ...none, relativeZxid: at(2), ...lists } };
  };
  const missed = told('nodeDataChanged', '/a', NO_ZXID);
  run(missed, asked(again({ data: ['/a'] }), at(3)));
  expect(() => run(asked(again({ data: ['/a'] }), at(3)))).toThrow('not [nodeDataChanged of /a]');
  expect(() => run(missed, asked(again({ data: ['/a'] }), at(2)))).toThrow('of [nodeDataChanged of /a], not []');
  run(told('nodeDeleted', '/a/b', NO_ZXID), asked(again({ child: ['/a/b'] }), at(4)));
  run(told('nodeChildrenChanged', '/a', NO_ZXID), asked(again({ child: ['/a'] }), at(4)));
  run(told('nodeCreated', '/d', NO_ZXID), asked(again({ exist: ['/d'] }), at(7)));
  const waits = asked(again({ exist: ['/d'] }), at(6));
  run(waits, told('nodeCreated', '/d', at(7)), asked(plain, at(7)));
  expect(() => run(waits, asked(plain, at(7)))).toThrow('before nodeCreated of /d');
});
