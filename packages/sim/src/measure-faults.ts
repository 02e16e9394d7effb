/** How many seeds each planted fault needs until it is caught: the median of ten starts far apart. */
import type { CampaignOptions } from './arguments.ts';
import type { CampaignHost } from './campaign.ts';
import { PLANTED_FAULTS } from './planted/catalogue.ts';
import type { PlantedFault } from './planted/plant.ts';

const STARTS = 10;
const APART = 10_000;
/** A start that needs more seeds is given up. */
export const SEEDS_MAX = 500;

export interface Measured {
  readonly name: string;
  /** Infinity: not caught from most starts. */
  readonly median: number;
  readonly all: readonly number[];
  /** The checkers that caught it, with how often. */
  readonly by: ReadonlyMap<string, number>;
}

/** Measures one fault, or all of them, and prints a line for each as it is known. */
export async function measureFaults(
  { fault, jobs }: CampaignOptions,
  host: Pick<CampaignHost, 'print' | 'run'>,
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const each of fault === undefined ? PLANTED_FAULTS : [fault]) {
    const one = await measure(each, jobs, host);
    const by = [...one.by].map(([checker, count]) => `${checker} ${count}`).join(', ');
    host.print(`${one.name}: median ${one.median} of ${one.all.join(' ')}; caught by ${by}`);
    measured.push(one);
  }
  return measured;
}

async function measure({ name }: PlantedFault, jobs: number, host: Pick<CampaignHost, 'run'>): Promise<Measured> {
  const all: number[] = [];
  const by = new Map<string, number>();
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < STARTS) {
      const from = 1 + APART * begun;
      begun += 1;
      let count = 1;
      for (; count <= SEEDS_MAX; count += 1) {
        const { violation } = await host.run({ seed: from + count - 1, fault: name, checkers: undefined });
        if (violation === undefined) continue;
        by.set(violation.checker, (by.get(violation.checker) ?? 0) + 1);
        break;
      }
      all.push(count > SEEDS_MAX ? Infinity : count);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  all.sort((a, b) => a - b);
  const middle = [all[STARTS / 2 - 1] ?? Infinity, all[STARTS / 2] ?? Infinity] as const;
  return { name, median: Math.round((middle[0] + middle[1]) / 2), all, by };
}
