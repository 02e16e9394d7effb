/** Strikes at members: crashes, aimed ones too, stops, restarts, pauses, slowness, clocks. */
import type { PeerAction } from '@quorate/core';
import type { Member } from '../member.ts';
import type { Hands, Strikes } from './hands.ts';
import type { FaultKind } from './kinds.ts';

const persists =
  (...kinds: readonly string[]) =>
  (action: PeerAction): boolean =>
    action.kind === 'persist' && kinds.includes(action.command.kind);
const sends =
  (...kinds: readonly string[]) =>
  (action: PeerAction): boolean =>
    action.kind === 'send' && kinds.includes(action.message.kind);

/** Moments at which a crash tells most: right before or right after an action like these. */
const MOMENTS: Readonly<Record<string, (action: PeerAction) => boolean>> = {
  saveEpochs: persists('saveEpochs'),
  truncate: persists('truncate'),
  append: persists('append'),
  install: persists('installBegin', 'installChunk', 'installCommit', 'installAbort'),
  installCommit: persists('installCommit'),
  purge: persists('purgeLog'),
  checkpoint: ({ kind }) => kind === 'checkpointPut' || kind === 'checkpointCommit',
  snapshot: ({ kind }) => kind === 'openState' || kind === 'sendState',
  newLeader: sends('newLeader'),
  ackNewLeader: sends('ackNewLeader'),
  ackEpoch: sends('ackEpoch'),
  leaderInfo: sends('leaderInfo'),
  upToDate: sends('upToDate'),
  propose: sends('propose'),
  ack: sends('ack'),
  commit: sends('commit'),
  forward: sends('forward'),
  answer: ({ kind }) => kind === 'answer',
  sessionReady: ({ kind }) => kind === 'sessionReady',
};

const MS = 1_000;
const HOUR_MS = 3_600_000;

export const MEMBER_STRIKES: Strikes<
  Extract<
    FaultKind,
    'crash' | 'aimedCrash' | 'crashAll' | 'stop' | 'rollingRestart' | 'pause' | 'slowMember' | 'handOver' | 'clockStep'
  >
> = {
  crash(hands) {
    const member = hands.anyUp();
    if (member !== undefined) crash(hands, 'crash', member);
  },

  aimedCrash,

  crashAll(hands) {
    for (const member of hands.members.values()) if (member.isUp) crash(hands, 'crashAll', member);
  },

  /** As an operator does it: the leader as often as any other. */
  stop(hands) {
    const member = hands.leaderOrAny(0.4);
    if (member === undefined) return;
    hands.struck('stop', `member ${member.sid} is told to stop`);
    member.stop();
  },

  rollingRestart(hands) {
    hands.struck('rollingRestart', 'a rolling restart begins');
    restartNext(hands, hands.random.shuffle([...hands.members.values()]));
  },

  pause(hands) {
    const member = hands.leaderOrAny(0.4);
    if (member === undefined) return;
    hands.struck('pause', `pause of member ${member.sid}`);
    member.pause();
    hands.forAWhile(() => {
      hands.note(`member ${member.sid} goes on`);
      member.resume();
    }, hands.knobs.outlastsUs);
  },

  slowMember(hands) {
    const member = hands.leaderOrAny(0.4);
    if (member === undefined) return;
    const turnMs = hands.random.skewed(1, 150);
    hands.struck('slowMember', `a turn of member ${member.sid} takes up to ${turnMs} ms more`);
    member.slowBy(turnMs * MS);
    hands.forAWhile(() => member.slowBy(0));
  },

  handOver(hands) {
    const leader = hands.leader();
    if (leader === undefined) return;
    const to = hands.random.chance(0.5) ? undefined : hands.random.pick(hands.voters);
    hands.struck('handOver', `leader ${leader.sid} is asked to hand over to ${to ?? 'whom it likes'}`);
    leader.moveLeader(to);
  },

  clockStep(hands) {
    const member = hands.random.pick([...hands.members.values()]);
    const ms = hands.random.skewed(1, 4 * HOUR_MS) * (hands.random.chance(0.5) ? 1 : -1);
    hands.struck('clockStep', `the wall clock of member ${member.sid} jumps by ${ms} ms`);
    member.stepWallClock(ms);
  },
};

function crash(hands: Hands, kind: 'crash' | 'crashAll' | 'aimedCrash', member: Member): void {
  const power = hands.random.chance(0.6);
  hands.struck(kind, `crash of member ${member.sid}${power ? ', power lost' : ''}`);
  hands.crash(member, power);
}

/** Waits for a chosen kind of action at one member; then crashes it a few actions later, or the leader at once. */
function aimedCrash(hands: Hands): void {
  const { random } = hands;
  const member = hands.anyUp();
  const moment = random.pick(Object.keys(MOMENTS));
  const aim = MOMENTS[moment];
  if (member === undefined || aim === undefined) return;
  const atLeader = random.chance(0.25);
  const actions = random.pick([0, 0, 1, 1, 2, 3, 8]);
  member.aimAt(aim, () => {
    if (hands.isOver) return;
    const leader = hands.leader();
    const isOther = atLeader && leader !== undefined && leader !== member;
    hands.note(`at ${moment} of member ${member.sid}: ${isOther ? 'the leader' : `${actions} actions later`}`);
    if (isOther) {
      crash(hands, 'aimedCrash', leader);
      return;
    }
    hands.struck('aimedCrash', `crash of member ${member.sid} is near`);
    member.crashAfter(actions);
  });
}

/** Stops the first, waits until it is back and for a little while more, then goes on to the rest. */
function restartNext(hands: Hands, members: readonly Member[]): void {
  const [member, ...rest] = members;
  if (member === undefined || hands.isOver) return;
  hands.note(`member ${member.sid} is told to stop, ${rest.length} are to follow`);
  const run = member.runs;
  member.stop();
  const look = (): void => {
    if (hands.isOver) return;
    if (member.isUp && member.runs > run) restartNext(hands, rest);
    else hands.schedule.after(20 * MS, look);
  };
  hands.schedule.after(20 * MS, look);
}
