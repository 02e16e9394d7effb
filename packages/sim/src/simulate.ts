/**
 * One run: an ensemble under load and faults, then the heal, then the proof that everything came right. The same seed gives
 * the same run, event by event.
 */
import { allCheckers } from './checkers/all.ts';
import { Probe } from './clients/probe.ts';
import { type Coverage, CoverageCounter } from './coverage.ts';
import { Ensemble } from './ensemble.ts';
import { isCalm } from './faults/kinds.ts';
import { drawKnobs, type Knobs } from './knobs.ts';
import { type Observation, Violation } from './observation.ts';
import type { PlantedFault } from './planted/plant.ts';
import { Decisions } from './script.ts';

export interface SimulationOptions {
  readonly fault?: PlantedFault;
  /** Names of the checkers to ask; all when absent. To see what a violation leads to that another checker finds first. */
  readonly checkers?: readonly string[];
  /** Names of decisions to leave out of the run; see script.ts. */
  readonly without?: readonly string[];
  /** Faults end at this virtual time, µs, when that is earlier than the seed says. */
  readonly faultsUs?: number;
  /** Sees every observation and a line for each fault and trace, with the virtual time, µs. */
  readonly watch?: (atUs: number, what: Observation | string) => void;
}

/** What a run came to. */
export interface Outcome {
  readonly seed: number;
  readonly knobs: Knobs;
  /** The rule that was broken, when one was. */
  readonly violation: Violation | undefined;
  /** Virtual time at the end, µs. */
  readonly virtualUs: number;
  /** Things that happened in virtual time. */
  readonly events: number;
  readonly coverage: Coverage;
  /** What the nemesis and the clients decided to do, by name, in order. */
  readonly decisions: readonly string[];
}

const MS = 1_000;
/** Conditions are looked at this often, µs. */
const SLICE_US = 20 * MS;
/** Clients go on for so long in a healthy ensemble before they become quiet, µs. */
const HEALTHY_LOAD_US = 300 * MS;

/** Runs one seed. Anything that is thrown and is no Violation is a fault of the simulator. */
export function simulate(seed: number, options: SimulationOptions = {}): Outcome {
  const drawn = drawKnobs(seed);
  const knobs = { ...drawn, faultsUs: Math.min(drawn.faultsUs, options.faultsUs ?? drawn.faultsUs) };
  const decisions = new Decisions(options.without);
  const coverage = new CoverageCounter();
  const ensemble = new Ensemble({
    knobs,
    decisions,
    checkers: [...allCheckers().filter(({ name }) => options.checkers?.includes(name) ?? true), coverage],
    fault: options.fault,
    watch: options.watch,
  });
  let violation: Violation | undefined;
  try {
    runPhases(ensemble);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = error;
  }
  const { nowUs: virtualUs, happened: events } = ensemble.schedule;
  return { seed, knobs, violation, virtualUs, events, coverage: coverage.counts, decisions: decisions.taken };
}

function runPhases(ensemble: Ensemble): void {
  const { schedule, knobs, nemesis, clients, judge, fronts, random } = ensemble;
  ensemble.start();
  if (isCalm(knobs.faults)) {
    waitFor(ensemble, knobs.faultsUs, () => isWhole(ensemble));
    ensemble.healthySinceUs = schedule.nowUs;
  }
  schedule.runUntil(knobs.faultsUs);

  nemesis.heal();
  const untilUs = schedule.nowUs + knobs.healUs;
  ensemble.observe({ kind: 'healed', atUs: schedule.nowUs, untilUs });
  waitFor(ensemble, untilUs, () => isWhole(ensemble));
  ensemble.healthySinceUs ??= schedule.nowUs;
  schedule.runUntil(schedule.nowUs + HEALTHY_LOAD_US);
  for (const client of clients) client.quiesce();
  const isAnswered = (): boolean => fronts.every(({ waiting }) => waiting === 0);
  waitFor(ensemble, schedule.nowUs + knobs.healUs, isAnswered);

  const probe = new Probe({ schedule, fronts, random: random.fork('probe'), untilUs: schedule.nowUs + knobs.healUs });
  probe.prepare();
  waitFor(ensemble, schedule.nowUs + knobs.healUs, () => probe.isDone);
  probe.sweep(judge.ledger);
  waitFor(ensemble, schedule.nowUs + knobs.healUs, () => probe.isDone);

  if (knobs.awaitsExpiry) {
    schedule.runUntil(schedule.nowUs + sessionsEndUs(knobs));
    for (const client of clients) client.lookBack();
  }
  const isQuiet = (): boolean =>
    isWhole(ensemble) && isAnswered() && clients.every(({ complaint }) => complaint === undefined);
  waitFor(ensemble, schedule.nowUs + knobs.healUs, isQuiet);
  ensemble.observe({
    kind: 'settled',
    atUs: schedule.nowUs,
    members: [...ensemble.members.values()].map(({ sid, status }) => ({ sid, status })),
    failures: [...probe.failures, ...clients.flatMap(({ complaint }) => complaint ?? [])],
  });
  startAgain(ensemble);
  judge.finish();
}

/** What disks hold by now is read once more: it is not right only because nobody looks. No time passes any more. */
function startAgain(ensemble: Ensemble): void {
  for (const member of ensemble.members.values()) {
    member.crash(false);
    member.start();
  }
}

/** Every member serves under one leader and has applied the whole history. */
function isWhole(ensemble: Ensemble): boolean {
  const { tip } = ensemble.judge.ledger;
  let leader: number | undefined;
  for (const { status } of ensemble.members.values()) {
    if (status?.serving !== true || !status.hasQuorum || status.leader === undefined || status.lastZxid !== tip)
      return false;
    if (status.voteRight === 'unformed' || status.voteRight === 'recovering') return false;
    leader ??= status.leader;
    if (status.leader !== leader) return false;
  }
  return true;
}

/** Lets time pass until the condition holds, but not beyond `untilUs`. */
function waitFor({ schedule }: Ensemble, untilUs: number, condition: () => boolean): void {
  while (schedule.nowUs < untilUs && !condition()) schedule.runUntil(Math.min(untilUs, schedule.nowUs + SLICE_US));
}

/**
 * The longest that a session which nobody keeps can last: its timeout, a bucket, and the word's way to the leader, on
 * the slowest clock.
 */
function sessionsEndUs({ timing, member }: Knobs): number {
  return ((2 * timing.sessionTimeoutMinMs + 2 * timing.tickMs + 400) / (1 - member.driftMax)) * MS;
}
