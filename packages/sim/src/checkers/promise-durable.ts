/**
 * A promise is durable before it is given: a leader announces an epoch, and a learner accepts one, only once their own
 * disks hold it as acceptedEpoch. Else two leaders could be promised the same epoch. Source: reference §9.11 (1291).
 */
import type { Epoch, Sid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class PromiseDurableChecker implements Checker {
  readonly name = 'promise-durable';
  readonly kinds = ['sent'] as const;
  /** Epochs announced by a leader to a learner, by both. An acceptance does not say which of them it means. */
  readonly #announced = new Map<string, Epoch[]>();

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind !== 'sent') return;
    const { from, to, message } = observation;
    const { acceptedEpoch } = ledger.member(from);
    if (message.kind === 'leaderInfo') {
      if (acceptedEpoch < message.epoch) this.#fail(from, 'announces', message.epoch, acceptedEpoch);
      this.#announcedBy(from, to).push(message.epoch);
    } else if (message.kind === 'ackEpoch') {
      const announced = this.#announcedBy(to, from);
      if (announced.every((epoch) => epoch > acceptedEpoch)) {
        this.#fail(from, 'accepts', Math.min(...announced), acceptedEpoch);
      }
    }
  }

  #announcedBy(leader: Sid, learner: Sid): Epoch[] {
    const key = `${leader}/${learner}`;
    const announced = this.#announced.get(key) ?? [];
    this.#announced.set(key, announced);
    return announced;
  }

  #fail(sid: Sid, does: string, epoch: Epoch, durable: Epoch): never {
    violated(this, `member ${sid} ${does} epoch ${epoch}, but its disk has acceptedEpoch ${durable}`);
  }
}
