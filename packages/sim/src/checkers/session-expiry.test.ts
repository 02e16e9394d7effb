import { expect, test } from 'vitest';
import type { Observation } from '../observation.ts';
import { Judge } from './checker.ts';
import { append, at, ensemble, issued, record, session, status } from './history.fixture.ts';
import { SessionExpiryChecker } from './session-expiry.ts';

const mine = session(7);
const MS = 1_000;
/** In epoch 1 the session is opened with 100 ms; clocks run at most a tenth too fast. */
const opens = issued(
  1,
  append(record(at(1), { kind: 'createSession', timeoutMs: 100, token: new Uint8Array(16) }, mine)),
);
const leads = (epoch: number) => status(1, { role: 'leading', epoch });
const told: Observation = { kind: 'told', sid: 1, from: 2, sessions: [mine] };

/** The txn of a session's end that the leader makes by itself. */
function expires(counter: number, epoch = 1, by = 1): Observation {
  const origin = { sid: by === 1 ? 0 : by, incarnation: 0, seq: 0 };
  const closing = record(at(counter, epoch), { kind: 'closeSession', paths: [] }, mine, origin);
  return issued(1, append(closing));
}

function run(...history: readonly (readonly [atMs: number, observation: Observation])[]): void {
  const judge = new Judge([new SessionExpiryChecker()]);
  judge.observe(ensemble, 0);
  for (const [atMs, observation] of history) judge.observe(observation, atMs * MS);
  judge.finish();
}

test('a session ends when its timeout has passed since its client was heard, on the fastest clock', () => {
  const follows = status(2, { role: 'following', epoch: 1 });
  run([0, leads(1)], [5, follows], [10, opens], [50, told], [141, expires(2)]);
  const early = () => run([0, leads(1)], [5, follows], [10, opens], [50, told], [135, expires(2)]);
  expect(early).toThrow('85 ms after it was heard');
});

test('a new leader gives every session its whole timeout', () => {
  run([0, leads(1)], [10, opens], [500, leads(2)], [591, expires(1, 2)]);
  expect(() => run([0, leads(1)], [10, opens], [500, leads(2)], [585, expires(1, 2)])).toThrow(
    'of epoch 2 ends session',
  );
});

test('what a member says that has not come to the epoch is no sign of life', () => {
  const late = status(2, { role: 'following', epoch: 0 });
  expect(() => run([0, late], [0, leads(1)], [10, opens], [90, told], [125, expires(2)])).not.toThrow();
});

test('a close that was asked for may come at any time', () => {
  expect(() => run([0, leads(1)], [10, opens], [12, expires(2, 1, 2)])).not.toThrow();
});

test('what a leader writes down of earlier epochs is not its doing', () => {
  expect(() => run([0, leads(1)], [10, opens], [500, leads(2)], [501, expires(2, 1)])).not.toThrow();
});

test('what a former leader is given of its own epoch, as it begins anew, is not its doing', () => {
  const looks = status(1, { role: 'looking', phase: 'election' });
  expect(() => run([0, leads(1)], [10, opens], [20, looks], [21, opens], [22, expires(2)])).not.toThrow();
});
