/** What there may be only one of: a leader in an epoch, an owner of a lock, and the rounds of the side channel. */
import type { LockLog } from '../locks.ts';
import type { SideChannelRound } from '../workload.ts';

/** Two members that led in one epoch. */
export function leaderFaults(sightings: readonly { readonly epoch: number; readonly sid: number }[]): string[] {
  const leaders = new Map<number, number>();
  return sightings.flatMap(({ epoch, sid }) => {
    const other = leaders.get(epoch);
    leaders.set(epoch, sid);
    return other === undefined || other === sid ? [] : [`members ${other} and ${sid} both led in epoch ${epoch}`];
  });
}

/** Moments at which two clients held one lock, by the clock; and writes of a holder after those of a later one. */
export function lockFaults({ tenures, writes }: LockLog): string[] {
  const faults: string[] = [];
  for (const lock of new Set([...tenures, ...writes].map((one) => one.lock))) {
    const ordered = tenures.filter((tenure) => tenure.lock === lock).toSorted((a, b) => a.from - b.from);
    let last = ordered[0];
    for (const tenure of ordered.slice(1)) {
      if (last !== undefined && tenure.from < last.to && tenure.token !== last.token) {
        faults.push(
          `lock ${lock}: ${tenure.client} held it from ${Math.round(tenure.from)} ms while ${last.client} did until ${Math.round(last.to)} ms`,
        );
      }
      if (last === undefined || tenure.to > last.to) last = tenure;
    }
    const fenced = writes.filter((write) => write.lock === lock).toSorted((a, b) => (a.zxid < b.zxid ? -1 : 1));
    for (const [i, write] of fenced.entries()) {
      const before = fenced[i - 1];
      if (before !== undefined && write.token < before.token) {
        faults.push(
          `lock ${lock}: ${write.client} wrote with token ${write.token.toString(16)} after ${before.client} with ${before.token.toString(16)}`,
        );
      }
    }
  }
  return faults;
}

/** C047: a reader that was told n saw less. */
export function sideChannelFaults(rounds: readonly SideChannelRound[]): string[] {
  return rounds
    .filter(({ told, seen }) => !(seen >= told))
    .map(
      ({ path, how, told, seen, at }) =>
        `${path}: after ${how} at ${Math.round(at)} ms the reader saw ${seen}, but ${told} had been acknowledged`,
    );
}
