import { expect, test } from 'vitest';
import { answered, at, called, check } from './history.fixture.ts';
import { OneAnswerChecker } from './one-answer.ts';

const call = called(1, { kind: 'sync', path: '/a' });
const answer = answered(1, at(0), { kind: 'sync', path: '/a' });

test('one answer is right, and none when the client has given up', () => {
  check(new OneAnswerChecker(), [call, answer]);
  check(new OneAnswerChecker(), [call, { kind: 'abandoned', callId: 1 }]);
});

test('two answers are a violation', () => {
  expect(() => check(new OneAnswerChecker(), [call, answer, answer])).toThrow('was answered again');
});

test('no answer is a violation at the end', () => {
  check(new OneAnswerChecker(), [call], false);
  expect(() => check(new OneAnswerChecker(), [call])).toThrow('was never answered');
});

test('an answer to nobody is a violation', () => {
  expect(() => check(new OneAnswerChecker(), [answer])).toThrow('which nobody made');
});

test('a session that is ready, or alive, is an answer too', () => {
  const ready = { kind: 'attached', callId: 1, session: 5n as never, resumed: false } as const;
  check(new OneAnswerChecker(), [call, ready]);
  expect(() => check(new OneAnswerChecker(), [call, ready, { kind: 'alive', callId: 1 }])).toThrow(
    'was answered again',
  );
});
