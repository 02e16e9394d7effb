/**
 * The shipping data model against the slow obvious one, under random sequences of everything: all operations by several
 * sessions, txns in flight, expiry, reaping, checkpoints half done, restarts. data-model.long.e2e.test.ts runs many more of them.
 */
import { describe, expect, it } from 'vitest';
import { checkSequences, REACHED } from './property.ts';

describe('the data model against its reference', () => {
  it('C001, C002, C007, C011: every result, Stat, change and restart is as in the model', { timeout: 120_000 }, () => {
    const outcomes = checkSequences(300, Date.now() & 0x7fff_ffff);
    expect(outcomes.size).toBeGreaterThan(REACHED.length / 2);
  });
});
