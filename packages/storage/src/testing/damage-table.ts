/** The table of disk damage: every case of damage-cases.ts on real folders, through the shipping recovery; counts of what came of it. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cuts, type DamageCase, flips, wholes } from './damage-cases.ts';
import { type DamageFolder, type End, makeFolder, type Outcome, outcomeOf, workPlace } from './damage-folder.ts';

export interface DamageTable {
  /** Row → how many cases had which outcome. */
  readonly rows: ReadonlyMap<string, Readonly<Record<Outcome, number>>>;
  /** What must not be: the case, and what happened. */
  readonly forbidden: readonly string[];
  readonly cases: number;
}

export interface DamageTableOptions {
  readonly ends: readonly End[];
  /** Which cases; default all. */
  readonly only?: (one: DamageCase) => boolean;
}

/** How many folders are open at a time. */
const AT_ONCE = 4;
/** Of so many cases of a row one is followed further: set aside and begun anew, or written on and opened again. */
const DEEP_EVERY = 23;

/** Tries all of it. */
export async function damageTable({ ends, only = () => true }: DamageTableOptions): Promise<DamageTable> {
  const place = await workPlace();
  const rows = new Map<string, Record<Outcome, number>>();
  const forbidden: string[] = [];
  let cases = 0;
  try {
    const member = (await makeFolder(place, 'killed', { clusterId: 'test-cluster', sid: 8 })).files;
    for (const end of ends) {
      const folder = await makeFolder(place, end);
      const work = allCases(folder, member);
      const worker = async (number: number): Promise<void> => {
        for (let next = work.next(); next.done !== true; next = work.next()) {
          const one = next.value;
          if (!only(one)) continue;
          cases++;
          const counts = rows.get(one.row) ?? { full: 0, cut: 0, refused: 0, foreign: 0 };
          rows.set(one.row, counts);
          const deep = (counts.full + counts.cut + counts.refused + counts.foreign) % DEEP_EVERY === 0;
          try {
            const outcome = await outcomeOf(join(place, `case-${number}`), folder, one.files, { deep });
            if (outcome === 'foreign' && one.row !== 'a file of another member')
              throw new Error('It is said to be foreign');
            counts[outcome]++;
          } catch (thrown) {
            forbidden.push(
              `${end}, ${one.name}: ${thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)}`,
            );
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => worker(number)));
    }
  } finally {
    await rm(place, { recursive: true, force: true });
  }
  return { rows, forbidden, cases };
}

function* allCases(folder: DamageFolder, member: DamageFolder['files']): Generator<DamageCase> {
  yield* wholes(folder.files, { member, earlier: folder.earlier });
  yield* cuts(folder.files);
  yield* flips(folder.files);
}

/** As a table for a README. */
export function tableText({ rows, cases }: DamageTable): string {
  const outcomes = ['full', 'cut', 'refused', 'foreign'] as const;
  const sum = (outcome: Outcome): number => [...rows.values()].reduce((total, counts) => total + counts[outcome], 0);
  const line = (name: string, counts: (outcome: Outcome) => number): string =>
    `| ${[name, ...outcomes.map((outcome) => counts(outcome))].join(' | ')} |`;
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '| damage | recovered in full | unacknowledged end cut | refused: damaged | refused: of another member |',
    '| --- | --- | --- | --- | --- |',
    ...sorted.map(([row, counts]) => line(row, (outcome) => counts[outcome])),
    line(`all ${cases}`, sum),
  ].join('\n');
}
