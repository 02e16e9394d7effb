/**
 * The decisions of a run, each with a name of its own: `strike crash 3`, `call stream1 17`, `client plain2`. A run can be told to
 * leave some out; what is left is the script that shrinking makes small. Each decision draws its chance from a stream of
 * its own as far as can be, so that leaving one out disturbs the others little.
 */

/** A seed, and what to leave out of it. */
export interface Script {
  readonly seed: number;
  /** Name of the planted fault, when there is one. */
  readonly fault: string | undefined;
  /** The checker that found fault. */
  readonly checker: string;
  /** Decisions that are left out. */
  readonly without: readonly string[];
  /** Faults end at this virtual time, µs; undefined: when the seed says. */
  readonly faultsUs: number | undefined;
}

export class Decisions {
  /** What was decided and not left out, in order. */
  readonly taken: string[] = [];
  readonly #without: ReadonlySet<string>;

  constructor(without: Iterable<string> = []) {
    this.#without = new Set(without);
  }

  /** Whether this is to happen. Each name is asked for once. */
  takes(name: string): boolean {
    if (this.#without.has(name)) return false;
    this.taken.push(name);
    return true;
  }
}

/** The script as text for a file. */
export function printScript(script: Script): string {
  return `${JSON.stringify(script, undefined, 2)}\n`;
}

/** Reads a script; returns what is wrong with it as text. */
export function parseScript(text: string): Script | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `This is no script: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (typeof value !== 'object' || value === null) return 'This is no script: not an object';
  const { seed, fault, checker, without, faultsUs } = value as Partial<Record<keyof Script, unknown>>;
  if (!isCount(seed)) return 'Bad seed in the script: not a number';
  if (fault !== undefined && typeof fault !== 'string') return 'Bad fault in the script: not a name';
  if (typeof checker !== 'string') return 'Bad checker in the script: not a name';
  if (!Array.isArray(without) || !without.every((name) => typeof name === 'string')) {
    return 'Bad list of what to leave out in the script: not names';
  }
  if (faultsUs !== undefined && !isCount(faultsUs)) return 'Bad end of faults in the script: not a number';
  return { seed, fault, checker, without, faultsUs };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
