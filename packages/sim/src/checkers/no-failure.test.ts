import { expect, test } from 'vitest';
import { check } from './history.fixture.ts';
import { NoFailureChecker } from './no-failure.ts';

test('a member that fails by its own account is a violation', () => {
  check(new NoFailureChecker(), [{ kind: 'crashed', sid: 1, run: 1 }]);
  const failed = { kind: 'failed', sid: 1, run: 1, reason: 'Z1: a hole' } as const;
  expect(() => check(new NoFailureChecker(), [failed])).toThrow('member 1 (run 1) failed: Z1: a hole');
});
