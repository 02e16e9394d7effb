import type { VoteRight } from '@quorate/core';
import { expect, test } from 'vitest';
import type { Observation } from '../observation.ts';
import { at, check, durable, type History, logged, refusal, sent, started } from './history.fixture.ts';
import { VoteGrantChecker } from './vote-grant.ts';

const saved = (voteRight: VoteRight) =>
  durable(3, { kind: 'saveEpochs', acceptedEpoch: 1, currentEpoch: 1, voteRight });

/** Member 3 begins anew, with this right on its disk. */
function begun(voteRight: VoteRight): Observation {
  const observation = started(3, {});
  if (observation.kind !== 'started') throw new Error('no start');
  return { ...observation, disk: { ...observation.disk, voteRight } };
}

const claim = sent(3, 1, { kind: 'voteClaim' });
const pong = (from: number) => sent(from, 1, { kind: 'pong', seq: 9 });
const grant = sent(1, 3, { kind: 'voteGrant', zxid: at(1) });
const lost: History = [logged([1, 2, 3], refusal(at(1))), { kind: 'diskReplaced', sid: 3, how: 'it is new' }];
const run = (...history: History) => check(new VoteGrantChecker(), history);

test('claimed, confirmed, granted, written down', () => {
  run(lost, begun('recovering'), pong(2), claim, pong(2), grant, saved('held'));
});

test('a grant that no quorum has confirmed since the claim is a violation', () => {
  expect(() => run(lost, begun('recovering'), pong(2), claim, grant)).toThrow('[1] of 3 voters confirm it');
  expect(() => run(lost, begun('recovering'), claim, pong(3), pong(4), grant)).toThrow('[1] of 3 voters confirm it');
});

test('a right that nobody granted is a violation, also one that is taken for new', () => {
  expect(() => run(lost, begun('recovering'), claim, saved('held'))).toThrow('which nobody has granted');
  expect(() => run(lost, begun('unformed'), saved('held'))).toThrow('(unformed before), which nobody has granted');
});

test('a grant to an earlier run does not count', () => {
  const before = [begun('recovering'), claim, pong(2), grant];
  expect(() => run(lost, before, begun('recovering'), saved('held'))).toThrow('which nobody has granted');
});

test('a new ensemble forms without grants', () => {
  run(begun('unformed'), saved('held'), saved('held'));
  run({ kind: 'diskReplaced', sid: 3, how: 'it is new' }, begun('unformed'), saved('held'));
});

test('a leader that stood still may grant what was claimed of it before, which is no grant of the claim after it', () => {
  const elsewhere = [sent(3, 2, { kind: 'voteClaim' }), sent(1, 2, { kind: 'pong', seq: 1 })];
  const late = [begun('recovering'), claim, pong(2), elsewhere, grant].flat();
  expect(() => run(lost, late, saved('held'))).toThrow('which nobody has granted');
  run(lost, late, sent(2, 3, { kind: 'voteGrant', zxid: at(1) }), saved('held'));
  run(lost, begun('recovering'), claim, pong(2), begun('recovering'), elsewhere.flat(), grant);
});
