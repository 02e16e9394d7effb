/** The property itself, for as many sequences as there is time for. */
import fc from 'fast-check';
import { sequence, take } from './steps.ts';
import { Subject } from './subject.ts';

/** Runs `count` random sequences; throws with the shortest that fails. Returns what came of what in all of them. */
export function checkSequences(count: number, seed: number): ReadonlySet<string> {
  const outcomes = new Set<string>();
  const property = fc.property(sequence, (steps) => {
    const subject = new Subject(outcomes);
    for (const step of steps) take(subject, step);
    subject.finish();
  });
  fc.assert(property, { numRuns: count, seed });
  return outcomes;
}
