/**
 * A campaign: many seeds one after the other, with lines to print on the way and the first violation at the end. It knows
 * no console and no clock; the command in `bin/` brings both.
 */
import { CHECKER_NAMES } from './checkers/all.ts';
import { COVERED, type Coverage, noCoverage } from './coverage.ts';
import { describeObservation } from './describe.ts';
import { describeKnobs, drawKnobs } from './knobs.ts';
import { PLANTED_FAULTS, plantedFault } from './planted/catalogue.ts';
import type { PlantedFault } from './planted/plant.ts';
import { type Outcome, simulate } from './simulate.ts';

export interface CampaignOptions {
  readonly from: number;
  readonly seeds: number;
  readonly fault: PlantedFault | undefined;
  /** Names of the only checkers to ask; undefined: all. */
  readonly checkers: readonly string[] | undefined;
  /** Prints everything that happens. */
  readonly verbose: boolean;
  /** Goes on after a violation, and reports all at the end. */
  readonly keepGoing: boolean;
}

/** What the surroundings give. */
export interface CampaignHost {
  readonly print: (line: string) => void;
  /** A clock for the throughput, ms. */
  readonly nowMs: () => number;
}

export const USAGE = `Usage: npm run sim -- [--seeds N] [--from S] [--fault NAME] [--checkers A,B] [--keep-going] [--verbose]
  --seeds N      how many seeds to run, default 100
  --from S       the first seed, default 1
  --fault NAME   plant a fault: ${PLANTED_FAULTS.map(({ name }) => name).join(', ')}
  --checkers A,B ask only these: ${CHECKER_NAMES.join(', ')}
  --keep-going   do not stop at the first violation
  --verbose      print everything that happens, in virtual time
Exit code 1 when a rule was broken, 2 when the arguments are wrong.`;

/** Reads the command line. Returns what is wrong with it as text. */
export function parseArguments(words: readonly string[]): CampaignOptions | string {
  const options: { -readonly [K in keyof CampaignOptions]: CampaignOptions[K] } = {
    from: 1,
    seeds: 100,
    fault: undefined,
    checkers: undefined,
    verbose: false,
    keepGoing: false,
  };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === '--verbose') options.verbose = true;
    else if (word === '--keep-going') options.keepGoing = true;
    else if (word === '--seeds' || word === '--from') {
      const number = Number(words[(at += 1)] ?? Number.NaN);
      if (!Number.isSafeInteger(number) || number < 0) return `Bad value for ${word}: ${words[at] ?? 'none'}`;
      if (word === '--seeds') options.seeds = number;
      else options.from = number;
    } else if (word === '--fault') {
      const name = words[(at += 1)] ?? '';
      options.fault = plantedFault(name);
      if (options.fault === undefined) return `There is no planted fault named "${name}"`;
    } else if (word === '--checkers') {
      options.checkers = (words[(at += 1)] ?? '').split(',');
      const unknown = options.checkers.find((name) => !CHECKER_NAMES.includes(name));
      if (unknown !== undefined) return `There is no checker named "${unknown}"`;
    } else return `Unknown argument: ${word ?? ''}`;
  }
  return options;
}

/** A line is printed at least this often, ms. */
const PROGRESS_MS = 5_000;

/** Runs the seeds. Returns the outcomes that broke a rule. */
export function runCampaign(options: CampaignOptions, host: CampaignHost): readonly Outcome[] {
  const { from, seeds } = options;
  const begunMs = host.nowMs();
  let toldMs = begunMs;
  let virtualUs = 0;
  const total = noCoverage();
  const broken: Outcome[] = [];
  let done = 0;
  for (; done < seeds; done += 1) {
    const outcome = runSeed(from + done, options, host);
    virtualUs += outcome.virtualUs;
    add(total, outcome.coverage);
    if (outcome.violation !== undefined) {
      broken.push(outcome);
      report(outcome, options, host);
      if (!options.keepGoing) break;
    }
    if (host.nowMs() - toldMs < PROGRESS_MS) continue;
    toldMs = host.nowMs();
    host.print(`${done + 1} of ${seeds} seeds, ${rate(done + 1, toldMs - begunMs)}`);
  }
  const ran = Math.min(done + 1, seeds);
  const elapsed = `${ran} seeds from ${from}, ${rate(ran, host.nowMs() - begunMs)}, ${Math.round(virtualUs / 1e6)} s of virtual time`;
  host.print(`${broken.length === 0 ? 'No violation' : `${broken.length} violations`}: ${elapsed}`);
  host.print(`  ${COVERED.map((name) => `${name}=${total[name]}`).join(' ')}`);
  return broken;
}

function runSeed(seed: number, { fault, checkers, verbose, seeds }: CampaignOptions, host: CampaignHost): Outcome {
  if (verbose || seeds === 1) host.print(`seed ${seed}\n${describeKnobs(drawKnobs(seed))}`);
  return simulate(seed, {
    ...(fault === undefined ? {} : { fault }),
    ...(checkers === undefined ? {} : { checkers }),
    ...(verbose ? { watch: (atUs, what) => host.print(describeObservation(atUs, what)) } : {}),
  });
}

function report({ seed, violation, knobs, virtualUs }: Outcome, options: CampaignOptions, host: CampaignHost): void {
  if (violation === undefined) return;
  const { fault, verbose, seeds } = options;
  const planted = fault === undefined ? '' : ` --fault ${fault.name}`;
  if (!verbose && seeds !== 1) host.print(`seed ${seed}\n${describeKnobs(knobs)}`);
  host.print(`VIOLATION of ${violation.checker} after ${(virtualUs / 1_000).toFixed(3)} ms: ${violation.message}`);
  host.print(`Replay: npm run sim -- --seeds 1 --from ${seed}${planted} --verbose`);
}

function rate(seeds: number, elapsedMs: number): string {
  return `${((seeds * 1_000) / Math.max(1, elapsedMs)).toFixed(1)} seeds/s`;
}

function add(total: Coverage, more: Coverage): void {
  for (const name of COVERED) total[name] += more[name];
}
