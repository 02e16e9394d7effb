import type { TxnBody } from '@quorate/core';
import { expect, test } from 'vitest';
import {
  answered,
  applied,
  at,
  called,
  check,
  create,
  type History,
  logged,
  record,
  session,
} from './history.fixture.ts';
import { SessionFateChecker } from './session-fate.ts';

const mine = session(7);
const attached = { kind: 'attached', callId: 1, session: mine, resumed: false } as const;
const ended = (isExcused: boolean) =>
  ({ kind: 'sessionEnded', session: mine, code: 'SESSION_EXPIRED', isExcused }) as const;
const opens: TxnBody = { kind: 'createSession', timeoutMs: 100, token: new Uint8Array(16) };
const closes: TxnBody = { kind: 'closeSession', paths: [] };

const BY_LEADER = { sid: 0, incarnation: 0, seq: 0 };

/** These txns of the session are committed. */
function committed(...bodies: readonly TxnBody[]): History {
  const records = bodies.map((body, index) => record(at(index + 1), body, mine, BY_LEADER));
  return [logged([1, 2], ...records), applied(1, at(records.length))];
}

const run = (history: History) => check(new SessionFateChecker(), history);

test('a session that is opened and lives, or is opened and ends, is right', () => {
  run([committed(opens), attached]);
  run([committed(opens, closes), attached, ended(true)]);
});

test('a session that ends though its client could be heard is a violation', () => {
  expect(() => run([committed(opens, closes), attached, ended(false)])).toThrow(
    'though its client could be heard all the time',
  );
});

test('a session of a live client that is gone is a violation, unless the client has left it', () => {
  expect(() => run([committed(opens, closes), attached])).toThrow('of a live client is gone');
  run([committed(opens, closes), attached, { kind: 'sessionLeft', session: mine }]);
});

test('a session that its client was told is over, and that is still there, is a violation', () => {
  expect(() => run([committed(opens), attached, ended(true)])).toThrow('is still there after its end');
});

test('a session that is attached after its end is a violation', () => {
  expect(() => run([committed(opens, closes), attached, ended(true), attached])).toThrow('was attached after its end');
});

test('a txn that takes effect after the end of its session is a violation', () => {
  const late = committed(opens, closes, create('/a', 'x'));
  expect(() => run([late, attached, ended(true)])).toThrow('a create of session 0x7 takes effect after its end');
});

test('a close that was acknowledged has ended the session', () => {
  const close = [called(2, { kind: 'closeSession' }, { session: mine }), answered(2, at(2), { kind: 'closeSession' })];
  run([committed(opens, closes), attached, close, ended(true)]);
  expect(() => run([committed(opens), attached, close])).toThrow('was closed by its client and has not ended');
});

test('an ephemeral without its session is a violation', () => {
  const orphan = committed(opens, create('/a', 'x', { owner: mine, creates: 1 }), closes);
  expect(() => run([orphan, attached, ended(true)])).toThrow('is left of session 0x7');
});

test('a close that its client did not ask for is a violation, unless the leader made it by itself', () => {
  const closing = record(at(2), closes, mine);
  const history = [logged([1, 2], record(at(1), opens, mine), closing), applied(1, at(2))];
  run([history, called(2, { kind: 'closeSession' }, { session: mine })]);
  expect(() => run(history)).toThrow('its client never asked for it');
});
