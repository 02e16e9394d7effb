/** Faults of processes and their clocks: killed, stopped, told to end, wiped, and given a wall clock that jumps. */
import { existsSync } from 'node:fs';
import { moveLeader } from '@quorate/client';
import type { Random } from '@quorate/sim';
import type { Ensemble } from './ensemble.ts';
import type { Begun, Fault } from './fault.ts';
import { FAKETIME } from './member-process.ts';

type Choose = (ensemble: Ensemble, random: Random) => readonly number[];

const anyOne: Choose = ({ sids }, random) => [random.pick(sids)];
const theLeader: Choose = ({ sids, leader }, random) => [leader ?? random.pick(sids)];
const majority: Choose = ({ sids }, random) => random.shuffle(sids).slice(0, Math.floor(sids.length / 2) + 1);
const everyone: Choose = ({ sids }) => sids;

/** SIGKILL; the member is started again at the end, or at once. */
function killed(kind: string, choose: Choose, comesBackAtOnce = false): Fault {
  return {
    kind,
    begin: async (ensemble, random) => {
      const sids = choose(ensemble, random);
      await Promise.all(sids.map((sid) => ensemble.member(sid).kill()));
      const start = (): void => sids.forEach((sid) => ensemble.member(sid).start());
      if (comesBackAtOnce) start();
      return begun(sids.join(' '), start);
    },
  };
}

/** SIGSTOP, and SIGCONT at the end. */
function paused(kind: string, choose: Choose): Fault {
  return {
    kind,
    begin: async (ensemble, random) => {
      const sids = choose(ensemble, random);
      for (const sid of sids) ensemble.member(sid).pause();
      return begun(sids.join(' '), () => sids.forEach((sid) => ensemble.member(sid).resume()));
    },
  };
}

function terminated(kind: string, choose: Choose): Fault {
  return {
    kind,
    begin: async (ensemble, random) => {
      const sids = choose(ensemble, random);
      const inTime = await Promise.all(sids.map((sid) => ensemble.member(sid).terminate()));
      const about = `${sids.join(' ')}${inTime.every(Boolean) ? '' : ', which took too long'}`;
      return begun(about, () => sids.forEach((sid) => ensemble.member(sid).start()));
    },
  };
}

/** Each member is told to end and started again, the leader last; the next one only when all are back. */
const rolling: Fault = {
  kind: 'rolling restart',
  isAlone: true,
  begin: async (ensemble) => {
    const { leader } = ensemble;
    const order = [...ensemble.sids.filter((sid) => sid !== leader), ...(leader === undefined ? [] : [leader])];
    for (const sid of order) {
      await ensemble.member(sid).terminate();
      ensemble.member(sid).start();
      await ensemble.whole();
    }
    return begun(order.join(' '), () => undefined);
  },
};

/** `quorate move-leader`, as an operator does; that there is nobody to move, or nobody to move to, is no fault. */
const moved: Fault = {
  kind: 'move leader',
  begin: async (ensemble, random) => {
    const to = random.chance(0.5) ? random.pick(ensemble.sids) : undefined;
    const done = await moveLeader(ensemble.addresses, { to, timeoutMs: 5_000 }).catch((error: unknown) =>
      String(error),
    );
    return begun(typeof done === 'string' ? done : `from ${done.from} to ${done.to}`, () => undefined);
  },
};

/** A member loses its disk and comes back with an empty one, while all others are well. */
const wiped: Fault = {
  kind: 'wiped disk',
  isAlone: true,
  begin: async (ensemble, random) => {
    await ensemble.whole();
    const member = ensemble.member(random.pick(ensemble.sids));
    await member.kill();
    member.wipe();
    member.start();
    return { about: String(member.sid), end: async () => void (await ensemble.whole()) };
  },
};

const clockStep: Fault = {
  kind: 'clock step',
  begin: (ensemble, random) => {
    const [sid = 1] = random.chance(0.6) ? theLeader(ensemble, random) : anyOne(ensemble, random);
    const seconds = random.pick([3_600, -7_200, 30, -30, 86_400 * 400]);
    ensemble.member(sid).stepClock(seconds);
    return Promise.resolve(begun(`${sid} by ${seconds} s`, () => ensemble.member(sid).stepClock(0)));
  },
};

function begun(about: string, end: () => void): Begun {
  return { about, end: () => Promise.resolve(end()) };
}

export const PROCESS_FAULTS: readonly Fault[] = [
  killed('kill', anyOne),
  killed('kill leader', theLeader),
  killed('kill leader, back at once', theLeader, true),
  killed('kill majority', majority),
  killed('kill all', everyone, true),
  paused('pause', anyOne),
  paused('pause leader', theLeader),
  paused('pause all', everyone),
  terminated('terminate', anyOne),
  terminated('terminate leader', theLeader),
  rolling,
  moved,
  wiped,
  ...(existsSync(FAKETIME) ? [clockStep] : []),
];
