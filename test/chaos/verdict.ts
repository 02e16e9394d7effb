/** Everything that is checked of a run, by name; and what a run adds up to in numbers. */

import { leaderFaults, lockFaults, sideChannelFaults } from './analysis/exclusion.ts';
import { ephemeralFaults, equalityFaults, lostWriteFaults, queueFaults } from './analysis/final.ts';
import { linearizabilityFaults } from './analysis/linearizable.ts';
import { realTimeFaults, sessionOrderFaults, VersionTable } from './analysis/registers.ts';
import type { Final } from './final-state.ts';
import { type Call, isAcknowledged } from './history.ts';
import type { LockLog } from './locks.ts';
import type { SideChannelRound } from './workload.ts';

/** All that a run left behind. */
export interface Evidence {
  readonly calls: readonly Call[];
  readonly locks: LockLog;
  readonly rounds: readonly SideChannelRound[];
  readonly sightings: readonly { readonly epoch: number; readonly sid: number }[];
  readonly final: Final;
  /** Processes that ended by themselves, and lines of members that say that something is broken. */
  readonly failures: readonly string[];
}

/** Violations by the name of the check; a check without any is there with an empty list. */
export function judge({
  calls,
  locks,
  rounds,
  sightings,
  final,
  failures,
}: Evidence): Record<string, readonly string[]> {
  const table = new VersionTable(calls);
  return {
    'members do not fail': failures,
    'one leader an epoch': leaderFaults(sightings),
    'values and versions': table.faults,
    'real time': realTimeFaults(calls, table),
    linearizability: linearizabilityFaults(calls),
    'session order': sessionOrderFaults(calls, table),
    'side channel': sideChannelFaults(rounds),
    'locks have one owner': lockFaults(locks),
    'acknowledged writes stay': lostWriteFaults(calls, final.states),
    'sequential creates': queueFaults(calls, final.states),
    ephemerals: ephemeralFaults(calls, final.states, final.liveSessions),
    'members are equal': equalityFaults(final.states),
    'all comes to rest': final.faults,
  };
}

/** Number of calls by kind and outcome. */
export function countCalls(calls: readonly Call[]): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const { kind, outcome, linearizable } of calls) {
    const row = (counts[linearizable ? `${kind} linearizable` : kind] ??= {});
    row[outcome] = (row[outcome] ?? 0) + 1;
  }
  return counts;
}

/** Share of quarter seconds with an acknowledged write, and the longest time without one, ms. */
export function availability(calls: readonly Call[]): { readonly share: number; readonly longestGapMs: number } {
  const times = calls
    .filter(isAcknowledged)
    .map(({ completedAt }) => completedAt)
    .toSorted((a, b) => a - b);
  const [first = 0] = times;
  const slots = new Set(times.map((time) => Math.floor((time - first) / 250)));
  const longestGapMs = times.reduce((longest, time, i) => Math.max(longest, time - (times[i - 1] ?? time)), 0);
  const all = Math.floor(((times.at(-1) ?? 0) - first) / 250) + 1;
  return { share: slots.size / all, longestGapMs };
}
