/** No member fails by its own account: no assertion of the product breaks, its disk never refuses its commands. */
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class NoFailureChecker implements Checker {
  readonly name = 'no-failure';
  readonly kinds = ['failed'] as const;

  observe(observation: Observation): void {
    if (observation.kind === 'failed')
      violated(this, `member ${observation.sid} (run ${observation.run}) failed: ${observation.reason}`);
  }
}
