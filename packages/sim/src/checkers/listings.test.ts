import type { TxnBody } from '@quorate/core';
import { type Acl, type ListingOp, type ListingResult, PERMS, type Stat, type Zxid } from '@quorate/protocol';
import { expect, test } from 'vitest';
import {
  answered,
  anyStat,
  applied,
  at,
  called,
  check,
  create,
  type History,
  logged,
  record,
} from './history.fixture.ts';
import { ListingsChecker } from './listings.ts';

const secret: Acl = [{ perms: PERMS.WRITE, scheme: 'world', id: 'anyone' }];

/** /p with b, a and the unreadable c, which has x; b is gone at 6. */
const history: History = [
  logged(
    [1, 2],
    ...[
      create('/p', ''),
      create('/p/b', 'v'),
      create('/p/a', 'v', { creates: 2 }),
      { ...create('/p/c', 'v', { creates: 3 }), acl: secret } as TxnBody,
      create('/p/c/x', ''),
      { kind: 'delete', path: '/p/b' } as const,
    ].map((body, index) => record(at(index + 1), body)),
  ),
  applied(1, at(6)),
];

const wish = { path: '/p', withStat: false, withData: false, limit: 0, token: undefined, isEnd: false };
const children: ListingOp = { kind: 'listChildren', ...wish, after: '' };
const subtree: ListingOp = { kind: 'getSubtree', ...wish, depth: undefined };
const named = (...names: string[]) => names.map((name) => ({ name, stat: undefined, data: undefined }));
const token = new Uint8Array([1]);
const topAt = (zxid: Zxid, numChildren: number, cversion = numChildren): Stat => {
  return { ...anyStat, dataLength: 0, czxid: at(1), mzxid: at(1), pzxid: zxid, numChildren, cversion };
};

let calls = 0;

function page(op: ListingOp, zxid: Zxid, shown: Partial<ListingResult>): History {
  calls += 1;
  const result = { kind: op.kind, at: zxid, top: undefined, entries: [], next: undefined, ...shown } as ListingResult;
  return [called(calls, op), answered(calls, at(6), result)];
}

const run = (...pages: History): void => check(new ListingsChecker(), [history, ...pages]);
const whole = { top: topAt(at(4), 3), entries: named('a', 'b', 'c') };

test('a page shows what was there at its position, in order', () => {
  run(page(children, at(4), whole));
  run(page(children, at(6), { top: topAt(at(6), 2, 4), entries: named('a', 'c') }));
  run(page({ ...children, after: 'a' } as ListingOp, at(4), { ...whole, entries: named('b', 'c') }));
  expect(() => run(page(children, at(6), whole))).toThrow('shows [a,b,c], not [a,c] as they were');
  expect(() => run(page(children, at(4), { ...whole, entries: named('b', 'a', 'c') }))).toThrow('not [a,b,c]');
  expect(() => run(page(children, at(4), { ...whole, entries: named('a', 'b') }))).toThrow('ends before the last');
  expect(() => run(page({ ...children, limit: 2 }, at(4), whole))).toThrow('longer than was asked for');
  expect(() => run(page(children, at(4), { ...whole, top: topAt(at(3), 2) }))).toThrow('shows another top');
  expect(() => run(page({ ...children, path: '/none' }, at(4), whole))).toThrow('lists what is not there');
});

test('the next page goes on where the page before has ended, at the same position', () => {
  const first = page(children, at(4), { ...whole, entries: named('a'), next: token });
  const on = { ...children, token };
  run(first, page(on, at(4), { entries: named('b', 'c') }));
  expect(() => run(first, page(on, at(4), { entries: named('c') }))).toThrow('shows [c], not [b]');
  expect(() => run(first, page(on, at(4), { entries: named('a', 'b', 'c') }))).toThrow('not [b,c]');
  expect(() => run(first, page(on, at(6), { entries: named('c') }))).toThrow('goes on at 0x100000006, not 0x100000004');
  const none = page(on, at(4), { next: new Uint8Array([2]) });
  run(first, none, page({ ...on, token: new Uint8Array([2]) }, at(4), { entries: named('b', 'c') }));
});

test('C123: below what may not be read nothing is told, and of it only the name', () => {
  const right = { top: topAt(at(5), 3), entries: named('/p', '/p/a', '/p/b', '/p/c') };
  run(page(subtree, at(5), { ...right, top: topAt(at(4), 3) }));
  const more = { ...right, top: topAt(at(4), 3), entries: named('/p', '/p/a', '/p/b', '/p/c', '/p/c/x') };
  expect(() => run(page(subtree, at(5), more))).toThrow('not [/p,/p/a,/p/b,/p/c]');
  const shown = named('a', 'b', 'c').map((entry) => ({ ...entry, stat: anyStat }));
  expect(() => run(page({ ...children, withStat: true }, at(4), { ...whole, entries: shown }))).toThrow('as they were');
  const top = { top: topAt(at(4), 3), entries: named('/p') };
  run(page({ ...subtree, depth: 0 } as ListingOp, at(4), top));
});
