import { expect, test } from 'vitest';
import { EqualDigestChecker } from './equal-digest.ts';
import { applied, at, check, started } from './history.fixture.ts';

test('equal digests at equal zxid are right, different ones at different zxids too', () => {
  check(new EqualDigestChecker(), [applied(1, at(1), 7n), applied(2, at(1), 7n), applied(2, at(2), 9n)]);
});

test('different digests at one zxid are a violation', () => {
  expect(() => check(new EqualDigestChecker(), [applied(1, at(1), 7n), applied(2, at(1), 8n)])).toThrow(
    'the tree of member 2 differs from that of member 1',
  );
});

test('a tree that comes back from disk as another one is a violation', () => {
  const history = [applied(1, at(1), 7n), started(1, {}, { lastZxid: at(1), digest: 8n })];
  expect(() => check(new EqualDigestChecker(), history)).toThrow('as loaded from its disk');
});
