/**
 * Makes a failing run small: leaves out faults, clients and calls as long as the same checker still finds fault (delta
 * debugging: halves first, then ever smaller parts). It knows neither clock nor console; how much it may try is given.
 */
import { plantedFault } from './planted/catalogue.ts';
import type { Script } from './script.ts';
import { type Outcome, type SimulationOptions, simulate } from './simulate.ts';

export interface ShrinkOptions {
  /** Most runs to try. */
  readonly runsMax: number;
  /** Asked before each run: true ends the shrinking with what there is. */
  readonly isLate: () => boolean;
}

export interface Shrunk {
  readonly script: Script;
  /** Decisions of the whole run, and of the small one. */
  readonly before: number;
  readonly after: number;
  readonly runs: number;
  /** The small run. */
  readonly outcome: Outcome;
}

/** What `simulate` must be told to run a script. Only its checker is asked. */
export function optionsOf({ fault, checker, without, faultsUs }: Script): SimulationOptions {
  const planted = fault === undefined ? undefined : plantedFault(fault);
  return {
    checkers: [checker],
    without,
    ...(planted === undefined ? {} : { fault: planted }),
    ...(faultsUs === undefined ? {} : { faultsUs }),
  };
}

/** Shrinks a seed that fails. Undefined: asked alone, the checker finds no fault, so that there is nothing to go by. */
export function shrink(whole: Script, options: ShrinkOptions): Shrunk | undefined {
  const outcome = simulate(whole.seed, optionsOf(whole));
  if (outcome.violation?.checker !== whole.checker) return undefined;
  return new Shrinking(whole, outcome, options).run();
}

class Shrinking {
  #script: Script;
  #outcome: Outcome;
  #runs = 1;
  readonly #options: ShrinkOptions;
  readonly #before: number;

  constructor(script: Script, outcome: Outcome, options: ShrinkOptions) {
    this.#script = script;
    this.#outcome = outcome;
    this.#options = options;
    this.#before = outcome.decisions.length;
  }

  run(): Shrunk {
    this.#shorten();
    this.#thin((name) => name.startsWith('client '));
    this.#thin((name) => name.startsWith('strike '));
    this.#thin((name) => name.startsWith('call '));
    this.#thin((name) => name.startsWith('strike '));
    this.#shorten();
    const { decisions } = this.#outcome;
    const outcome = this.#outcome;
    return { script: this.#script, before: this.#before, after: decisions.length, runs: this.#runs, outcome };
  }

  get #isOver(): boolean {
    return this.#runs >= this.#options.runsMax || this.#options.isLate();
  }

  /** Ends the faults, and with them most of the load, earlier. */
  #shorten(): void {
    let good = this.#script.faultsUs ?? this.#outcome.knobs.faultsUs;
    let bad = 0;
    while (good - bad > 20_000 && !this.#isOver) {
      const middle = Math.floor((good + bad) / 2);
      if (this.#fails({ ...this.#script, faultsUs: middle })) good = middle;
      else bad = middle;
    }
  }

  /** Leaves out what can be left out of the decisions of one kind. */
  #thin(isOfKind: (name: string) => boolean): void {
    let size = Math.ceil(this.#outcome.decisions.filter(isOfKind).length / 2);
    while (size >= 1) {
      // From the end: what is late is needed least.
      let end = this.#outcome.decisions.filter(isOfKind).length;
      while (end > 0) {
        if (this.#isOver) return;
        const part = this.#outcome.decisions.filter(isOfKind).slice(Math.max(0, end - size), end);
        this.#fails({ ...this.#script, without: [...this.#script.without, ...part] });
        end -= size;
      }
      if (size === 1) return;
      size = Math.ceil(size / 2);
    }
  }

  /** Tries a smaller script, and keeps it when it still fails. */
  #fails(script: Script): boolean {
    this.#runs += 1;
    const outcome = simulate(script.seed, optionsOf(script));
    if (outcome.violation?.checker !== script.checker) return false;
    this.#script = script;
    this.#outcome = outcome;
    return true;
  }
}
