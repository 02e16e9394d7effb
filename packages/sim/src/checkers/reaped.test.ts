import type { TxnBody } from '@quorate/core';
import { expect, test } from 'vitest';
import type { Observation } from '../observation.ts';
import { Judge } from './checker.ts';
import { applied, at, bytes, create, ensemble, logged, record, settled, status } from './history.fixture.ts';
import { ReapedChecker } from './reaped.ts';

const MS = 1_000;
const LEADER = { sid: 0, incarnation: 0, seq: 0 };
const container: TxnBody = { ...create('/k', ''), lifetime: 'container' } as TxnBody;
const brief: TxnBody = { ...create('/l', ''), lifetime: { ttlMs: 100 } } as TxnBody;
const gone = (path: string): TxnBody => ({ kind: 'delete', path });
const emptied = [container, create('/k/x', ''), gone('/k/x')];

/** Bodies in order, of which the last one is the leader's own; each is at 5 ms on the leader's clock, the last at `timeMs`. */
function ends(bodies: readonly TxnBody[], last: TxnBody, timeMs = 5) {
  const records = bodies.map((body, index) => record(at(index + 1), body));
  const zxid = at(bodies.length + 1);
  return [...logged([1, 2], ...records, record(zxid, last, undefined, LEADER, timeMs)), applied(1, zxid)];
}

function run(...history: readonly (readonly [atMs: number, ...observations: Observation[]])[]): void {
  const judge = new Judge([new ReapedChecker()]);
  judge.observe(ensemble, 0);
  for (const [atMs, ...observations] of history) for (const each of observations) judge.observe(each, atMs * MS);
  judge.finish();
}

test('a container goes when it has had children and has none', () => {
  run([1, ...ends(emptied, gone('/k'))]);
  expect(() => run([1, ...ends([container], gone('/k'))])).toThrow('/k, which never had a child');
  expect(() => run([1, ...ends([container, create('/k/x', '')], gone('/k'))])).toThrow('/k, which has children');
  expect(() => run([1, ...ends([create('/k', '')], gone('/k'))])).toThrow('until somebody deletes it');
  expect(() => run([1, ...ends([], gone('/k'))])).toThrow('which is not there');
});

test('a znode with a TTL goes when its data is older than that, and not when it was set since', () => {
  const set: TxnBody = { kind: 'setData', path: '/l', data: bytes('y'), version: 1 };
  run([1, ...ends([brief], gone('/l'), 106)]);
  expect(() => run([1, ...ends([brief], gone('/l'), 105)])).toThrow('at the age of 100 ms, its TTL is 100 ms');
  expect(() => run([1, ...ends([brief, set], gone('/l'), 50)])).toThrow('at the age of 45 ms');
});

test('what clients delete is their own business', () => {
  const history = [...logged([1, 2], record(at(1), create('/a', '')), record(at(2), gone('/a'))), applied(1, at(2))];
  expect(() => run([1, ...history])).not.toThrow();
});

test('under a leader that stays no empty container is forgotten', () => {
  const leads = status(1, { role: 'leading' });
  const history = [...logged([1, 2], ...emptied.map((body, index) => record(at(index + 1), body))), applied(2, at(3))];
  // A round comes every 900 ms on a clock that may be a tenth slow; the rest takes a second.
  run([0, leads], [10, ...history], [2_000, settled(2_000)]);
  expect(() => run([0, leads], [10, ...history], [2_011, settled(2_011)])).toThrow('the container /k is empty since');
  run([0, leads], [10, ...history], [100, status(3, { role: 'leading', epoch: 2 })], [2_011, settled(2_011)]);
});
