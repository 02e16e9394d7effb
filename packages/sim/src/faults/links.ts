/**
 * Strikes at links. A direction may be blocked for several reasons at once and works again when none is left, so shapes may
 * overlap. What is blocked is silent; half of the time it is broken as well, so that members notice at once.
 */
import type { Sid } from '@quorate/protocol';
import type { Hands, Strikes } from './hands.ts';
import type { FaultKind } from './kinds.ts';

type Pair = readonly [Sid, Sid];

const MS = 1_000;

export const LINK_STRIKES: Strikes<
  Extract<FaultKind, 'sever' | 'partition' | 'isolateLeader' | 'bridge' | 'ring' | 'oneWay' | 'mute' | 'stall' | 'lag'>
> = {
  sever(hands) {
    const [a, b] = twoOf(hands);
    hands.struck('sever', `link ${a}-${b} broken`);
    hands.network.sever(a, b);
  },

  partition(hands) {
    const { random } = hands;
    const leader = random.chance(0.4) ? hands.leader()?.sid : undefined;
    const others = random.shuffle(hands.sids).filter((sid) => sid !== leader);
    const sids = leader === undefined ? others : [leader, ...others];
    // A leader that is cut off is most often in the smaller part.
    const size = random.between(1, leader === undefined ? sids.length - 1 : Math.ceil(sids.length / 2) - 1);
    const [here, there] = [sids.slice(0, size), sids.slice(size)];
    cut(hands, 'partition', between(here, there), `[${here.join()}] from [${there.join()}]`);
  },

  isolateLeader(hands) {
    const leader = hands.leader()?.sid;
    if (leader === undefined) return;
    const others = hands.sids.filter((sid) => sid !== leader);
    cut(hands, 'isolateLeader', between([leader], others), `leader ${leader} from all others`);
  },

  bridge(hands) {
    const [middle, ...others] = hands.random.shuffle(hands.sids);
    const size = hands.random.between(1, others.length - 1);
    const [here, there] = [others.slice(0, size), others.slice(size)];
    cut(hands, 'bridge', between(here, there), `[${here.join()}] from [${there.join()}], but ${middle} sees both`);
  },

  ring(hands) {
    const sids = hands.random.shuffle(hands.sids);
    const last = sids.length - 1;
    const pairs = sids.flatMap((a, i) =>
      sids.slice(i + 2).flatMap((b, j): Pair[] => (i === 0 && i + 2 + j === last ? [] : [[a, b]])),
    );
    cut(hands, 'ring', pairs, `each but its neighbours in ${sids.join('-')}-${sids[0]}`);
  },

  oneWay(hands) {
    const [from, to] = twoOf(hands);
    silence(hands, 'oneWay', [[from, to]], `nothing gets from ${from} to ${to}`);
  },

  mute(hands) {
    const sid = hands.leaderOrAny(0.4)?.sid;
    if (sid === undefined) return;
    const isDeaf = hands.random.chance(0.5);
    const others = hands.sids.filter((other) => other !== sid);
    const ways = others.map((other): Pair => (isDeaf ? [other, sid] : [sid, other]));
    silence(hands, 'mute', ways, `member ${sid} ${isDeaf ? 'hears nothing' : 'is not heard'}`);
  },

  stall(hands) {
    const [a, b] = twoOf(hands);
    const both: readonly Pair[] = [
      [a, b],
      [b, a],
    ];
    hands.struck('stall', `what goes between ${a} and ${b} waits`);
    for (const [from, to] of both) hands.network.block(from, to);
    hands.forAWhile(() => {
      hands.note(`what waited between ${a} and ${b} goes on`);
      for (const [from, to] of both) hands.network.unblock(from, to);
    }, hands.knobs.outlastsUs);
  },

  lag(hands) {
    const [from, to] = twoOf(hands);
    const ms = hands.random.skewed(5, 300);
    hands.struck('lag', `what goes from ${from} to ${to} takes ${ms} ms more`);
    hands.network.lag(from, to, ms * MS);
    hands.forAWhile(() => hands.network.lag(from, to, 0));
  },
};

function twoOf({ random, sids }: Hands): Pair {
  const [a, b] = random.shuffle(sids);
  return [a as Sid, b as Sid];
}

function between(here: readonly Sid[], there: readonly Sid[]): readonly Pair[] {
  return here.flatMap((a) => there.map((b): Pair => [a, b]));
}

/** Cuts every pair both ways. */
function cut(hands: Hands, kind: FaultKind, pairs: readonly Pair[], what: string): void {
  const { network, random } = hands;
  const breaks = random.chance(0.5);
  hands.struck(kind, `${kind}: ${what}, ${breaks ? 'links break' : 'silent'}`);
  for (const [a, b] of pairs) {
    if (breaks) network.sever(a, b);
    network.block(a, b);
    network.block(b, a);
  }
  hands.forAWhile(() => {
    hands.note(`${kind} ends: ${what}`);
    // A leader that is lost right then: those who come back meet one that knows nothing of what they missed.
    const leader = hands.leader();
    if (!hands.isOver && leader !== undefined && random.chance(0.3)) hands.crash(leader, random.chance(0.6));
    for (const [a, b] of pairs) {
      network.unblock(a, b);
      network.unblock(b, a);
      // What was silent for long has broken, or goes on with all that waited.
      if (random.chance(0.5)) network.sever(a, b);
    }
  }, hands.knobs.outlastsUs);
}

/** Blocks directions; the other ways work. */
function silence(hands: Hands, kind: FaultKind, ways: readonly Pair[], what: string): void {
  const { network, random } = hands;
  hands.struck(kind, what);
  for (const [from, to] of ways) network.block(from, to);
  hands.forAWhile(() => {
    hands.note(`no more: ${what}`);
    for (const [from, to] of ways) {
      network.unblock(from, to);
      if (random.chance(0.5)) network.sever(from, to);
    }
  }, hands.knobs.outlastsUs);
}
