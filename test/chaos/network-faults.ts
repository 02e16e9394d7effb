/** Faults of the network. Whom they hit is drawn when they begin, because who leads is known only then. */
import type { Random } from '@quorate/sim';
import type { Ensemble } from './ensemble.ts';
import type { Fault } from './fault.ts';
import type { Drop, End } from './network.ts';

/** Packets of `a` do not reach `b`. */
const oneWay = (from: End, to: End, percent = 100): Drop => ({ from, to, percent });

const bothWays = (a: End, b: End, percent = 100): Drop[] => [oneWay(a, b, percent), oneWay(b, a, percent)];

/** Cuts every link that `isUp` does not leave. */
function only(sids: readonly number[], isUp: (a: number, b: number) => boolean): Drop[] {
  return sids.flatMap((a) => sids.filter((b) => a < b && !isUp(a, b)).flatMap((b) => bothWays(a, b)));
}

/** Splits members into two sides. */
function sides(ensemble: Ensemble, random: Random, leaderIsFew: boolean): [number[], number[]] {
  const few = random.between(1, Math.floor((ensemble.sids.length - 1) / 2));
  const leader = ensemble.leader;
  const others = random.shuffle(ensemble.sids.filter((sid) => sid !== leader));
  const all = leader === undefined ? others : leaderIsFew ? [leader, ...others] : [...others, leader];
  return [all.slice(0, few), all.slice(few)];
}

type Draw = (ensemble: Ensemble, random: Random) => { readonly about: string; readonly drops: readonly Drop[] };

const SHAPES = {
  cut: ({ sids }, random) => {
    const [a = 1, b = 2] = random.shuffle(sids);
    return { about: `${a} | ${b}`, drops: bothWays(a, b) };
  },
  'one-way cut': ({ sids }, random) => {
    const [a = 1, b = 2] = random.shuffle(sids);
    return { about: `${a} -> ${b}`, drops: [oneWay(a, b)] };
  },
  partition: (ensemble, random) => {
    const [few, many] = sides(ensemble, random, false);
    return {
      about: `${few.join(' ')} | ${many.join(' ')}`,
      drops: few.flatMap((a) => many.flatMap((b) => bothWays(a, b))),
    };
  },
  'leader in minority': (ensemble, random) => {
    const [few, many] = sides(ensemble, random, true);
    return {
      about: `${few.join(' ')} | ${many.join(' ')}`,
      drops: few.flatMap((a) => many.flatMap((b) => bothWays(a, b))),
    };
  },
  'isolated leader': (ensemble, random) => {
    const leader = ensemble.leader ?? random.pick(ensemble.sids);
    const others = ensemble.sids.filter((sid) => sid !== leader);
    return { about: String(leader), drops: others.flatMap((other) => bothWays(leader, other)) };
  },
  bridge: ({ sids }, random) => {
    const [middle = 1, ...rest] = random.shuffle(sids);
    const half = Math.ceil(rest.length / 2);
    const left = new Set(rest.slice(0, half));
    const isUp = (a: number, b: number): boolean => a === middle || b === middle || left.has(a) === left.has(b);
    return {
      about: `${rest.slice(0, half).join(' ')} - ${middle} - ${rest.slice(half).join(' ')}`,
      drops: only(sids, isUp),
    };
  },
  ring: ({ sids }, random) => {
    const order = random.shuffle(sids);
    const isUp = (a: number, b: number): boolean => {
      const distance = Math.abs(order.indexOf(a) - order.indexOf(b));
      return distance === 1 || (distance === order.length - 1 && order.length > 3);
    };
    return { about: order.join(' - '), drops: only(sids, isUp) };
  },
  'all apart': ({ sids }) => ({ about: 'every link', drops: only(sids, () => false) }),
  deaf: ({ sids, leader }, random) => {
    const deaf = random.chance(0.5) ? (leader ?? random.pick(sids)) : random.pick(sids);
    return { about: String(deaf), drops: sids.filter((sid) => sid !== deaf).map((sid) => oneWay(sid, deaf)) };
  },
  mute: ({ sids, leader }, random) => {
    const mute = random.chance(0.5) ? (leader ?? random.pick(sids)) : random.pick(sids);
    return { about: String(mute), drops: sids.filter((sid) => sid !== mute).map((sid) => oneWay(mute, sid)) };
  },
  loss: ({ sids }, random) => {
    const percent = random.between(2, 30);
    return {
      about: `${percent} % everywhere`,
      drops: sids.flatMap((a) => sids.filter((b) => b !== a).map((b) => oneWay(a, b, percent))),
    };
  },
  'clients cut': ({ sids }, random) => {
    const sid = random.pick(sids);
    const way = random.pick(['both', 'to member', 'to clients'] as const);
    const drops =
      way === 'both'
        ? bothWays('clients', sid)
        : [way === 'to member' ? oneWay('clients', sid) : oneWay(sid, 'clients')];
    return { about: `${sid}, ${way}`, drops };
  },
} satisfies Record<string, Draw>;

/** Cuts of one shape. */
function dropFault(kind: keyof typeof SHAPES): Fault {
  return {
    kind,
    begin: async (ensemble, random) => {
      const { about, drops } = SHAPES[kind](ensemble, random);
      return { about, end: await ensemble.network.drop(drops) };
    },
  };
}

/** A link that goes and comes, faster than every timeout or slower. */
const flapping: Fault = {
  kind: 'flapping',
  begin: async (ensemble, random) => {
    const [a = 1, b = 2] = random.shuffle(ensemble.sids);
    const everyMs = random.between(200, 1_500);
    let isOver = false;
    const flap = async (): Promise<void> => {
      while (!isOver) {
        const end = await ensemble.network.drop(bothWays(a, b));
        await new Promise((resolve) => setTimeout(resolve, everyMs));
        await end();
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    };
    const flapped = flap();
    const end = (): Promise<void> => {
      isOver = true;
      return flapped;
    };
    return { about: `${a} | ${b} every ${everyMs} ms`, end };
  },
};

/** What a member sends waits in line: delay that grows with load, and loss when the line is full. */
const slow: Fault = {
  kind: 'slow link',
  begin: async (ensemble, random) => {
    const sid = random.chance(0.5) ? (ensemble.leader ?? random.pick(ensemble.sids)) : random.pick(ensemble.sids);
    const kbit = random.skewed(100, 2_000);
    return { about: `${sid} sends ${kbit} kbit/s`, end: await ensemble.network.slow(sid, kbit) };
  },
};

export const NETWORK_FAULTS: readonly Fault[] = [
  ...(Object.keys(SHAPES) as (keyof typeof SHAPES)[]).map(dropFault),
  flapping,
  slow,
];
