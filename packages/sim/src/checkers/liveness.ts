/**
 * Once faults stop, the ensemble is whole again within the stated time: one leader, every member serves, all have applied
 * the whole history, and every call that was made as a probe succeeded. Safety without this would be easy.
 */
import { formatZxid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class LivenessChecker implements Checker {
  readonly name = 'liveness';
  readonly kinds = ['healed', 'settled'] as const;
  #isHealed = false;
  #isSettled = false;

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind === 'healed') this.#isHealed = true;
    if (observation.kind !== 'settled') return;
    this.#isSettled = true;
    const [failure] = observation.failures;
    if (failure !== undefined)
      violated(this, `${observation.failures.length} probes failed after the heal, first: ${failure}`);
    const leaders = new Set<number | undefined>();
    for (const { sid, status } of observation.members) {
      if (status === undefined) violated(this, `member ${sid} is not running after the heal`);
      if (!status.serving || !status.hasQuorum) {
        violated(this, `member ${sid} does not serve after the heal: it is ${status.role}, in ${status.phase}`);
      }
      if (status.voteRight !== undefined && status.voteRight !== 'held') {
        violated(this, `member ${sid} does not hold its right to vote after the heal: it is ${status.voteRight}`);
      }
      leaders.add(status.leader);
      if (status.lastZxid !== ledger.tip) {
        violated(
          this,
          `member ${sid} stands at ${formatZxid(status.lastZxid)} after the heal, the history at ${formatZxid(ledger.tip)}`,
        );
      }
    }
    if (leaders.size !== 1)
      violated(this, `after the heal the members follow different leaders: ${[...leaders].join(', ')}`);
  }

  finish(): void {
    if (this.#isHealed && !this.#isSettled) violated(this, 'the run ended before the ensemble had settled');
  }
}
