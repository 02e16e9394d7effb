/**
 * A learner's disk holds currentEpoch only once it holds the history that the epoch starts from, exactly: all of it, and
 * nothing that is not in it. A disk that has the epoch without the history wins elections that it must lose.
 * Source: reference §9.11 (4643, 4785).
 */
import { type Epoch, formatZxid, type Sid, type Zxid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class EpochAfterHistoryChecker implements Checker {
  readonly name = 'epoch-after-history';
  readonly kinds = ['sent', 'durable', 'started'] as const;
  /** For each epoch and learner: the end of the history that its leader declared to it last. */
  readonly #ends = new Map<string, Zxid>();
  /** What each disk held last. A learner that comes back in the same epoch adopts nothing new. */
  readonly #epochs = new Map<Sid, Epoch>();

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind === 'sent' && observation.message.kind === 'newLeader') {
      const { epoch, lastZxid } = observation.message;
      this.#ends.set(this.#key(epoch, observation.to), lastZxid);
    } else if (observation.kind === 'durable' && observation.command.kind === 'saveEpochs') {
      this.#adopted(observation.sid, observation.command.currentEpoch, ledger);
    } else if (observation.kind === 'started') {
      this.#adopted(observation.sid, observation.disk.currentEpoch, ledger);
    }
  }

  #adopted(sid: Sid, epoch: Epoch, ledger: Ledger): void {
    const isNew = epoch > (this.#epochs.get(sid) ?? 0);
    this.#epochs.set(sid, epoch);
    const end = this.#ends.get(this.#key(epoch, sid));
    if (end === undefined || !isNew) return;
    const { durable } = ledger.member(sid);
    if (!durable.has(end)) {
      violated(
        this,
        `the disk of member ${sid} has currentEpoch ${epoch}, whose history ends at ${formatZxid(end)}, but ends at ${formatZxid(durable.last)}`,
      );
    }
  }

  #key(epoch: Epoch, sid: Sid): string {
    return `${epoch}/${sid}`;
  }
}
