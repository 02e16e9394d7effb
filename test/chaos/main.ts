/** The command `npm run chaos`: episodes one after the other until the time is over; sums them up. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ALL_FAULTS, type EpisodeResult, runEpisode } from './episode.ts';

export const USAGE = `npm run chaos -- [--minutes N] [--members 3|5] [--seed S] [--episode SECONDS] [--only KIND,KIND]
                 [--folder PATH] [--quiet]
npm run chaos -- --ci      a fixed set

Real members in network namespaces of their own, under faults drawn from a seed. Needs root, iproute2 and nftables.
Episodes of --episode seconds (default 120), each with the next seed, until --minutes (default 5) are over; 3 and 5 members
in turn without --members. Exit code 1 when a rule was broken; then the history and all logs stay in --folder.`;

interface Plan {
  readonly seed: number;
  readonly members: number;
  readonly seconds: number;
}

const CI: readonly Plan[] = [
  { seed: 1, members: 3, seconds: 50 },
  { seed: 2, members: 5, seconds: 50 },
  { seed: 3, members: 3, seconds: 50 },
];

/** Runs what the arguments say. Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '5' },
      members: { type: 'string' },
      seed: { type: 'string' },
      episode: { type: 'string', default: '120' },
      folder: { type: 'string', default: `/tmp/quorate-chaos-${process.pid}` },
      only: { type: 'string' },
      ci: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  // Ends with 'exit', on which networks are removed; members die with this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
  const only = values.only?.split(',');
  const faults = only === undefined ? ALL_FAULTS : ALL_FAULTS.filter(({ kind }) => only.includes(kind));
  const startedAt = performance.now();
  const results: EpisodeResult[] = [];
  for (const plan of values.ci ? CI : plans(values, startedAt)) {
    const folder = join(values.folder, `seed-${plan.seed}-of-${plan.members}`);
    const result = await runEpisode({
      ...plan,
      folder,
      faults,
      print: (line) => (values.quiet ? undefined : console.log(line)),
    });
    results.push(result);
    report(plan, result, folder);
  }
  summarize(results, performance.now() - startedAt);
  const failed = results.filter(({ violations }) => violations.length > 0).length;
  console.log(`chaos: ${results.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function* plans(
  values: { readonly minutes: string; readonly members?: string; readonly seed?: string; readonly episode: string },
  startedAt: number,
): Generator<Plan> {
  const minutes = positive('minutes', values.minutes);
  const seconds = positive('episode', values.episode);
  const first = values.seed === undefined ? Date.now() % 1_000_000 : positive('seed', values.seed);
  const members = values.members === undefined ? undefined : positive('members', values.members);
  const endsAt = startedAt + minutes * 60_000;
  for (let i = 0; i === 0 || performance.now() < endsAt; i++) {
    const left = Math.max(10, (endsAt - performance.now()) / 1_000);
    yield { seed: first + i, members: members ?? (i % 2 === 0 ? 3 : 5), seconds: Math.round(Math.min(seconds, left)) };
  }
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new RangeError(`--${name} must be a number above 0, not ${text}`);
  return value;
}

function report(plan: Plan, { violations, availability }: EpisodeResult, folder: string): void {
  const { seed, members, seconds } = plan;
  const share = `${(availability.share * 100).toFixed(1)} % of quarter seconds with a write, longest gap ${Math.round(availability.longestGapMs)} ms`;
  console.log(`episode seed ${seed}, ${members} members, ${seconds} s: ${violations.length} violations; ${share}`);
  for (const line of violations.slice(0, 20)) console.log(`  VIOLATION ${line}`);
  if (violations.length > 0) console.log(`  kept in ${folder}`);
}

function summarize(results: readonly EpisodeResult[], tookMs: number): void {
  const faults: Record<string, number> = {};
  const calls: Record<string, Record<string, number>> = {};
  for (const result of results) {
    for (const [kind, count] of Object.entries(result.faults)) faults[kind] = (faults[kind] ?? 0) + count;
    for (const [kind, row] of Object.entries(result.calls)) {
      const sum = (calls[kind] ??= {});
      for (const [outcome, count] of Object.entries(row)) sum[outcome] = (sum[outcome] ?? 0) + count;
    }
  }
  const total = (of: (result: EpisodeResult) => number): number => results.reduce((sum, result) => sum + of(result), 0);
  const injected = Object.values(faults).reduce((sum, count) => sum + count, 0);
  console.log(`\n${results.length} episodes in ${Math.round(tookMs / 1_000)} s; ${injected} faults:`);
  console.log(
    Object.entries(faults)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, count]) => `  ${kind} ${count}`)
      .join('\n'),
  );
  console.log('Calls checked:');
  console.table(calls);
  console.log(
    `leaders seen ${total(({ leaders }) => leaders)}, side-channel rounds ${total(({ sideChannelRounds }) => sideChannelRounds)}, ` +
      `lock tenures ${total(({ tenures }) => tenures)}, sessions of killed clients ${total(({ departedSessions }) => departedSessions)}, ` +
      `violations ${total(({ violations }) => violations.length)}`,
  );
}
