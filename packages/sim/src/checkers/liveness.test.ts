import { expect, test } from 'vitest';
import type { Observation, StatusView } from '../observation.ts';
import { applied, at, check, type History, logged, refusal, viewOf } from './history.fixture.ts';
import { LivenessChecker } from './liveness.ts';

const history: History = [
  logged([1, 2, 3], refusal(at(1))),
  applied(1, at(1)),
  { kind: 'healed', atUs: 0, untilUs: 9 },
];

function settled(views: readonly (Partial<StatusView> | undefined)[], failures: readonly string[] = []): Observation {
  const members = views.map((view, index) => ({
    sid: index + 1,
    status: view === undefined ? undefined : viewOf({ lastZxid: at(1), ...view }),
  }));
  return { kind: 'settled', atUs: 9, members, failures };
}

test('every member serves under one leader and has applied the whole history', () => {
  check(new LivenessChecker(), [history, settled([{ role: 'leading' }, {}, {}])]);
});

test.each([
  ['a member that is down', settled([{}, undefined]), 'member 2 is not running'],
  ['a member that does not serve', settled([{}, { serving: false, phase: 'election' }]), 'member 2 does not serve'],
  ['a member that has no quorum', settled([{}, { hasQuorum: false }]), 'member 2 does not serve'],
  ['a member that is behind', settled([{}, { lastZxid: at(0) }]), 'member 2 stands at 0x0'],
  ['a voter without its right', settled([{}, { voteRight: 'recovering' }]), 'member 2 does not hold its right to vote'],
  ['two leaders', settled([{}, { leader: 2 }]), 'different leaders: 1, 2'],
  ['a probe that failed', settled([{}], ['create at member 1: UNAVAILABLE']), '1 probes failed'],
])('%s is a violation', (_what, observation, message) => {
  expect(() => check(new LivenessChecker(), [history, observation])).toThrow(message);
});

test('a run that ends before it has settled is a violation', () => {
  expect(() => check(new LivenessChecker(), [history])).toThrow('before the ensemble had settled');
});
