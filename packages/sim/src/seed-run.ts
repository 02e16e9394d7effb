/** One seed as a task that can be sent to another thread, and what comes back: plain values only. */
import type { Coverage } from './coverage.ts';
import { plantedFault } from './planted/catalogue.ts';
import { simulate } from './simulate.ts';

export interface SeedTask {
  readonly seed: number;
  /** Name of a planted fault. */
  readonly fault: string | undefined;
  readonly checkers: readonly string[] | undefined;
}

export interface SeedResult extends SeedTask {
  readonly virtualUs: number;
  readonly coverage: Coverage;
  /** The rule that was broken, when one was. */
  readonly violation: { readonly checker: string; readonly message: string } | undefined;
}

/** Runs a seed. Throws when the simulator itself breaks. */
export function runSeedTask(task: SeedTask): SeedResult {
  const fault = task.fault === undefined ? undefined : plantedFault(task.fault);
  const { violation, virtualUs, coverage } = simulate(task.seed, {
    ...(fault === undefined ? {} : { fault }),
    ...(task.checkers === undefined ? {} : { checkers: task.checkers }),
  });
  const found = violation === undefined ? undefined : { checker: violation.checker, message: violation.message };
  return { ...task, virtualUs, coverage, violation: found };
}
