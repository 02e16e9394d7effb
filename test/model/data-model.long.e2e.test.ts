/**
 * Many random sequences through the shipping data model and the slow obvious one; see data-model.test.ts.
 * `TEST_SEQUENCES=100000 npx vitest run --project long test/model/data-model` for more than the default.
 */
import { expect, it } from 'vitest';
import { checkSequences, REACHED } from './property.ts';

const SEQUENCES = Number(process.env['TEST_SEQUENCES'] ?? 10_000);
/** With so many every outcome is reached; with fewer one may be left out. */
const ENOUGH = 50_000;
const HOUR_MS = 3_600_000;

it(`C001, C002, C007, C011, C060: ${SEQUENCES} sequences end as in the model, in every result, Stat and change`, {
  timeout: HOUR_MS,
}, () => {
  const outcomes = checkSequences(SEQUENCES, Date.now() & 0x7fff_ffff);
  const missing = REACHED.filter((outcome) => !outcomes.has(outcome));
  expect(missing.length).toBeLessThanOrEqual(SEQUENCES < ENOUGH ? 2 : 0);
});
