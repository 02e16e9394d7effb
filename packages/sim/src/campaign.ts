/**
 * A campaign: many seeds, some beside each other, for so many seeds or so long, with lines to print on the way; what fails
 * is shrunk and kept. It knows no console, no clock, no file and no thread; the command in `bin/` brings them.
 */
import type { CampaignOptions } from './arguments.ts';
import { COVERED, type Coverage, noCoverage } from './coverage.ts';
import { describeObservation } from './describe.ts';
import { describeKnobs, drawKnobs } from './knobs.ts';
import { plantedFault } from './planted/catalogue.ts';
import { parseScript, printScript, type Script } from './script.ts';
import type { SeedResult, SeedTask } from './seed-run.ts';
import { optionsOf, shrink } from './shrink.ts';
import { type Outcome, simulate } from './simulate.ts';

/** What the surroundings give. */
export interface CampaignHost {
  readonly print: (line: string) => void;
  /** A clock for the throughput, ms. */
  readonly nowMs: () => number;
  /** Runs a seed; called for as many at a time as there are jobs. */
  readonly run: (task: SeedTask) => Promise<SeedResult>;
  /** Keeps a text under this name, and says where. */
  readonly save: (name: string, text: string) => string;
  /** Reads a text that was kept. Throws when there is none. */
  readonly load: (place: string) => string;
}

const MINUTE_MS = 60_000;
/** A line is printed at least this often, ms; in a run of minutes each minute. */
const PROGRESS_MS = 5_000;
/** So many failing seeds are shrunk. */
const SHRUNK_MAX = 3;
const SHRINK_RUNS_MAX = 500;

/** Runs the seeds. Returns the results that broke a rule. */
export async function runCampaign(options: CampaignOptions, host: CampaignHost): Promise<readonly SeedResult[]> {
  if (options.replay !== undefined) return replay(options.replay, options, host);
  if (options.verbose) return runAllAloud(options, host);
  return new Campaign(options, host).run();
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #host: CampaignHost;
  readonly #begunMs: number;
  readonly #total = noCoverage();
  readonly #broken: SeedResult[] = [];
  #toldMs: number;
  #virtualUs = 0;
  #begun = 0;
  #done = 0;

  constructor(options: CampaignOptions, host: CampaignHost) {
    this.#options = options;
    this.#host = host;
    this.#begunMs = host.nowMs();
    this.#toldMs = this.#begunMs;
  }

  async run(): Promise<readonly SeedResult[]> {
    const { from, jobs, seeds, minutes } = this.#options;
    if (seeds === 1) this.#host.print(`seed ${from}\n${describeKnobs(drawKnobs(from))}`);
    if (minutes !== undefined) this.#host.print(`${minutes} minutes of seeds from ${from}`);
    await Promise.all(Array.from({ length: jobs }, () => this.#work()));
    const verdict = this.#broken.length === 0 ? 'No violation' : `${this.#broken.length} violations`;
    this.#host.print(`${verdict}: ${this.#done} seeds from ${from}, ${this.#rate()}, ${this.#virtual()}`);
    this.#host.print(`  ${describeCoverage(this.#total)}`);
    for (const result of this.#broken.slice(0, SHRUNK_MAX)) keepSmall(result, this.#options, this.#host);
    return this.#broken;
  }

  async #work(): Promise<void> {
    const { from, fault, checkers } = this.#options;
    while (!this.#isOver()) {
      const seed = from + this.#begun;
      this.#begun += 1;
      this.#take(await this.#host.run({ seed, fault: fault?.name, checkers }));
    }
  }

  #isOver(): boolean {
    const { seeds, minutes, keepGoing } = this.#options;
    if (this.#begun >= seeds || (this.#broken.length > 0 && !keepGoing)) return true;
    return minutes !== undefined && this.#host.nowMs() - this.#begunMs >= minutes * MINUTE_MS;
  }

  #take(result: SeedResult): void {
    const { seeds, minutes } = this.#options;
    this.#done += 1;
    this.#virtualUs += result.virtualUs;
    for (const name of COVERED) this.#total[name] += result.coverage[name];
    if (result.violation !== undefined) {
      this.#broken.push(result);
      report(result, this.#options, this.#host);
    }
    const now = this.#host.nowMs();
    if (now - this.#toldMs < (minutes === undefined ? PROGRESS_MS : MINUTE_MS)) return;
    this.#toldMs = now;
    if (minutes === undefined) this.#host.print(`${this.#done} of ${seeds} seeds, ${this.#rate()}`);
    else {
      const failures = this.#broken.map(({ seed, violation }) => `${seed} ${violation?.checker ?? ''}`);
      const what = failures.length === 0 ? 'no violation' : `violations: ${failures.join(', ')}`;
      this.#host.print(`${this.#done} seeds, ${this.#rate()}, ${what}; ${describeCoverage(this.#total)}`);
    }
  }

  #rate(): string {
    return `${Math.round((this.#done * MINUTE_MS) / Math.max(1, this.#host.nowMs() - this.#begunMs))} seeds/min`;
  }

  #virtual(): string {
    return `${Math.round(this.#virtualUs / 1e6)} s of virtual time`;
  }
}

/** Seed after seed, each with everything that happens in it. */
function runAllAloud(options: CampaignOptions, host: CampaignHost): readonly SeedResult[] {
  const broken: SeedResult[] = [];
  for (let done = 0; done < options.seeds && (broken.length === 0 || options.keepGoing); done += 1) {
    const result = runAloud(options.from + done, options, host);
    if (result.violation !== undefined) broken.push(result);
  }
  return broken;
}

/** One seed with everything that happens in it. */
function runAloud(seed: number, { fault, checkers }: CampaignOptions, host: CampaignHost): SeedResult {
  host.print(`seed ${seed}\n${describeKnobs(drawKnobs(seed))}`);
  const outcome = simulate(seed, {
    ...(fault === undefined ? {} : { fault }),
    ...(checkers === undefined ? {} : { checkers }),
    watch: (atUs, what) => host.print(describeObservation(atUs, what)),
  });
  return told(outcome, { seed, fault: fault?.name, checkers }, host);
}

/** Runs a script that was kept: the decisions that are left, in words, and what they lead to. */
function replay(place: string, { verbose }: CampaignOptions, host: CampaignHost): readonly SeedResult[] {
  const script = parseScript(host.load(place));
  if (typeof script === 'string') throw new RangeError(script);
  if (script.fault !== undefined && plantedFault(script.fault) === undefined) {
    throw new RangeError(`There is no planted fault named "${script.fault}"`);
  }
  const outcome = tell(script, verbose, host);
  const result = told(outcome, { seed: script.seed, fault: script.fault, checkers: [script.checker] }, host);
  return result.violation === undefined ? [] : [result];
}

function told({ violation, virtualUs, coverage }: Outcome, task: SeedTask, host: CampaignHost): SeedResult {
  if (violation === undefined) host.print(`No violation: 1 seeds from ${task.seed}\n  ${describeCoverage(coverage)}`);
  else host.print(`VIOLATION of ${violation.checker} after ${(virtualUs / 1_000).toFixed(3)} ms: ${violation.message}`);
  return { ...task, virtualUs, coverage, violation };
}

/** Runs a script and prints it as it happens: what the nemesis and the clients do, or everything. */
function tell(script: Script, everything: boolean, host: CampaignHost): Outcome {
  const { voters, observers } = drawKnobs(script.seed);
  host.print(`script of seed ${script.seed}: voters ${voters.join()}, observers ${observers.join() || 'none'}`);
  return simulate(script.seed, {
    ...optionsOf(script),
    watch: (atUs, what) => {
      const isTold = typeof what === 'string' ? !what.startsWith('member ') : TOLD.has(what.kind);
      if (everything || isTold) host.print(describeObservation(atUs, what));
    },
  });
}

/** What makes a script readable: what was done to the ensemble, and what its clients heard. */
const TOLD: ReadonlySet<string> = new Set(['struck', 'crashed', 'called', 'answered', 'abandoned', 'healed']);

function report(result: SeedResult, { seeds }: CampaignOptions, host: CampaignHost): void {
  const { seed, violation, fault, virtualUs } = result;
  if (violation === undefined) return;
  const planted = fault === undefined ? '' : ` --fault ${fault}`;
  if (seeds !== 1) host.print(`seed ${seed}\n${describeKnobs(drawKnobs(seed))}`);
  host.print(`VIOLATION of ${violation.checker} after ${(virtualUs / 1_000).toFixed(3)} ms: ${violation.message}`);
  host.print(`Replay: npm run sim -- --seeds 1 --from ${seed}${planted} --verbose`);
}

/** Shrinks a failing seed, prints what is left of it, and keeps it. */
function keepSmall(
  { seed, fault, violation }: SeedResult,
  { shrinkSeconds }: CampaignOptions,
  host: CampaignHost,
): void {
  if (violation === undefined || shrinkSeconds === 0) return;
  const untilMs = host.nowMs() + shrinkSeconds * 1_000;
  const whole: Script = { seed, fault, checker: violation.checker, without: [], faultsUs: undefined };
  const isLate = (): boolean => host.nowMs() >= untilMs;
  const small = shrink(whole, { runsMax: SHRINK_RUNS_MAX, isLate });
  if (small === undefined) {
    host.print(`seed ${seed} does not fail when ${violation.checker} is asked alone: not shrunk`);
    return;
  }
  const { script, before, after, runs } = small;
  host.print(`seed ${seed} shrunk from ${before} decisions to ${after} in ${runs} runs:`);
  const outcome = tell(script, false, host);
  host.print(`=> ${outcome.violation?.checker ?? ''}: ${outcome.violation?.message ?? ''}`);
  const place = host.save(`seed-${seed}${fault === undefined ? '' : `-${fault}`}.json`, printScript(script));
  host.print(`Replay: npm run sim -- --replay ${place}`);
}

function describeCoverage(counts: Coverage): string {
  return COVERED.map((name) => `${name}=${counts[name]}`).join(' ');
}
