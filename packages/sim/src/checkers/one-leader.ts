/**
 * One leader an epoch: at most one run of one member declares a history for an epoch, establishes itself and proposes in
 * it. (A member that crashes and comes back may not lead the same epoch again. Two may well announce the same epoch:
 * a quorum promises it to one of them at most.)
 */
import { type Epoch, epochOf } from '@quorate/protocol';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class OneLeaderChecker implements Checker {
  readonly name = 'one-leader';
  readonly kinds = ['status', 'sent'] as const;
  readonly #leaders = new Map<Epoch, string>();

  observe(observation: Observation): void {
    if (observation.kind === 'status') {
      const { role, phase, epoch } = observation.status;
      if (role === 'leading' && phase === 'broadcast') this.#leads(epoch, observation.sid, observation.run);
    } else if (observation.kind === 'sent') {
      const { message, from, run } = observation;
      if (message.kind === 'newLeader') this.#leads(message.epoch, from, run);
      const first = message.kind === 'propose' ? message.records[0] : undefined;
      if (first !== undefined) this.#leads(epochOf(first.zxid), from, run);
    }
  }

  #leads(epoch: Epoch, sid: number, run: number): void {
    const leader = `member ${sid} (run ${run})`;
    const known = this.#leaders.get(epoch);
    if (known === undefined) this.#leaders.set(epoch, leader);
    else if (known !== leader) violated(this, `epoch ${epoch} is led by ${known} and by ${leader}`);
  }
}
