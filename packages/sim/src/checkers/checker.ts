/** What a checker is, and the judge that shows every observation to all of them. */
import { Ledger } from '../ledger.ts';
import { type Observation, Violation } from '../observation.ts';

/** Watches a run and throws Violation as soon as its rule is broken. */
export interface Checker {
  /** As printed with a violation; also the name of the file. */
  readonly name: string;
  /** The kinds of observation that it wants to see. */
  readonly kinds: readonly Observation['kind'][];
  /** Called with each observation of these kinds in order, after the ledger has taken it in. */
  observe?(observation: Observation, ledger: Ledger): void;
  /** Called once, after the last observation, for what only the whole history shows. */
  finish?(ledger: Ledger): void;
}

/** Throws: the rule of `checker` is broken. */
export function violated(checker: Checker, message: string): never {
  throw new Violation(checker.name, message);
}

/** Keeps the ledger and asks every checker, in a fixed order. */
export class Judge {
  readonly ledger = new Ledger();
  readonly #checkers: readonly Checker[];
  readonly #byKind = new Map<Observation['kind'], Checker[]>();

  constructor(checkers: readonly Checker[]) {
    this.#checkers = checkers;
    for (const checker of checkers) {
      for (const kind of checker.kinds) this.#byKind.set(kind, [...(this.#byKind.get(kind) ?? []), checker]);
    }
  }

  /** `nowUs`: virtual time. */
  observe(observation: Observation, nowUs = 0): void {
    this.ledger.nowUs = nowUs;
    this.ledger.note(observation);
    for (const checker of this.#byKind.get(observation.kind) ?? []) checker.observe?.(observation, this.ledger);
  }

  finish(): void {
    for (const checker of this.#checkers) checker.finish?.(this.ledger);
  }
}
