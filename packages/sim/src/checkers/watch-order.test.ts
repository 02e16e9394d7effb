import type { WatchEvent, WatchEventKind, WatchPiece, Zxid } from '@quorate/protocol';
import { expect, test } from 'vitest';
import type { Observation } from '../observation.ts';
import { anyStat, at, check } from './history.fixture.ts';
import { WatchOrderChecker } from './watch-order.ts';

function event(kind: WatchEventKind, zxid: Zxid, path = '', version = 0): WatchEvent {
  const stat = path === '' || kind === 'deleted' ? undefined : { ...anyStat, version };
  return { kind, zxid, path, stat, data: undefined };
}

/** A piece at member `sid`, whose tree is there where the piece ends and has `znodes`. */
function watched(
  sid: number,
  piece: WatchPiece,
  znodes: number,
  by: { readonly from?: Zxid; readonly feed?: number; readonly run?: number } = {},
): Observation {
  const { from, feed = 1, run = 1 } = by;
  return { kind: 'watched', sid, run, feed, from, piece, zxid: piece.zxid, znodes };
}

const STATE = { zxid: at(1), events: [event('current', at(1), '/'), event('ready', at(1))] };
const CREATED = { zxid: at(2), events: [event('created', at(2), '/a')] };
const again = { from: at(2), feed: 2 };

test('a state, changes, and changes after a resumption are right, and so is the same at another member', () => {
  const more = { zxid: at(4), events: [event('ready', at(2)), event('deleted', at(4), '/a')] };
  const history = [1, 2].flatMap((sid) => [
    watched(sid, STATE, 1),
    watched(sid, CREATED, 2),
    watched(sid, more, 1, again),
  ]);
  check(new WatchOrderChecker(), history);
});

test('a txn that was told in part comes again whole', () => {
  const part = { zxid: at(1), events: [event('created', at(2), '/a')] };
  const whole = { zxid: at(2), events: [event('created', at(2), '/a'), event('created', at(2), '/b')] };
  check(new WatchOrderChecker(), [
    watched(1, STATE, 1),
    { ...watched(1, part, 3), zxid: at(2) } as Observation,
    watched(1, whole, 3, { from: at(1), feed: 2 }),
  ]);
});

test('a gap begins anew', () => {
  const gap = { zxid: at(9), events: [event('gap', at(5)), event('current', at(9), '/'), event('ready', at(9))] };
  check(new WatchOrderChecker(), [watched(1, STATE, 1), watched(1, CREATED, 2), watched(1, gap, 1, again)]);
});

test('a change that is told twice is a violation', () => {
  const twice = [watched(1, STATE, 1), watched(1, CREATED, 2), watched(1, CREATED, 2, again)];
  expect(() => check(new WatchOrderChecker(), twice)).toThrow('which he knew');
});

test('a change that was missed is a violation', () => {
  const missed = [watched(1, STATE, 1), watched(1, { zxid: at(2), events: [] }, 2)];
  expect(() => check(new WatchOrderChecker(), missed)).toThrow('the tree has 2');
  const unseen = { zxid: at(3), events: [event('deleted', at(3), '/b')] };
  expect(() => check(new WatchOrderChecker(), [watched(1, STATE, 1), watched(1, unseen, 1)])).toThrow('he never saw');
});

test('changes out of order, and positions that go back, are violations', () => {
  const order = { zxid: at(3), events: [event('created', at(3), '/b'), event('created', at(2), '/a')] };
  expect(() => check(new WatchOrderChecker(), [watched(1, STATE, 1), watched(1, order, 3)])).toThrow('after one at');
  const back = [watched(1, STATE, 1), watched(1, CREATED, 2), watched(1, { zxid: at(1), events: [] }, 2)];
  expect(() => check(new WatchOrderChecker(), back)).toThrow('went back');
});

test('two members that tell of one txn differently are a violation', () => {
  const other = { zxid: at(2), events: [event('created', at(2), '/a', 7)] };
  const history = [watched(1, STATE, 1), watched(1, CREATED, 2), watched(2, STATE, 1), watched(2, other, 2)];
  expect(() => check(new WatchOrderChecker(), history)).toThrow('others were');
});
