import { expect, test } from 'vitest';
import { answered, anyStat, at, bytes, called, check, creating, session } from './history.fixture.ts';
import { LinearizableChecker } from './linearizable.ts';

const made = { kind: 'create', path: '/a', stat: anyStat } as const;
const read = { kind: 'getData', path: '/a' } as const;
const shows = (text: string) => ({ kind: 'getData', data: bytes(text), stat: anyStat }) as const;
const acknowledged = [called(1, creating('/a', 'x')), answered(1, at(5), made)];

test('a linearizable read that shows what was acknowledged is right', () => {
  check(new LinearizableChecker(), [
    ...acknowledged,
    called(2, read, { sid: 2, linearizable: true }),
    answered(2, at(5), shows('x')),
  ]);
});

test('one that does not is a violation, whatever zxid its answer claims', () => {
  const missing = [...acknowledged, called(2, read, { sid: 2, linearizable: true }), answered(2, at(9), 'NO_NODE')];
  expect(() => check(new LinearizableChecker(), missing)).toThrow('violation: /a: after version 0');
});

test('a call that was given up may have happened, and calls about sessions are none of its business', () => {
  check(new LinearizableChecker(), [
    called(1, creating('/a', 'x')),
    { kind: 'abandoned', callId: 1 },
    {
      kind: 'called',
      call: { callId: 2, sid: 1, session: session(7), attachment: 3, op: { kind: 'keepAlive' }, linearizable: false },
    },
    called(3, read, { linearizable: true }),
    answered(3, at(5), shows('x')),
  ]);
});
