/**
 * A crash takes nothing that a disk had reported as durable: after the restart the log reaches at least as far on the same
 * history, and no epoch is lower. (What was not reported may or may not have survived; a cut that was under way too.)
 */
import { type Epoch, formatZxid, type Sid, type Zxid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

interface Promised {
  readonly last: Zxid;
  readonly acceptedEpoch: Epoch;
  readonly currentEpoch: Epoch;
}

export class RecoveryChecker implements Checker {
  readonly name = 'recovery';
  readonly kinds = ['issued', 'durable', 'crashed', 'diskReplaced', 'started'] as const;
  readonly #promised = new Map<Sid, Promised>();
  /** Truncations handed over and not yet reported, oldest first. */
  readonly #cuts = new Map<Sid, Zxid[]>();

  observe(observation: Observation, ledger: Ledger): void {
    switch (observation.kind) {
      case 'issued':
        if (observation.command.kind === 'truncate') this.#cutsOf(observation.sid).push(observation.command.after);
        break;
      case 'durable':
        if (observation.command.kind === 'truncate') this.#cutsOf(observation.sid).shift();
        break;
      case 'crashed': {
        const { durable, acceptedEpoch, currentEpoch } = ledger.member(observation.sid);
        const last = this.#cutsOf(observation.sid).reduce((low, cut) => (cut < low ? cut : low), durable.last);
        this.#promised.set(observation.sid, { last, acceptedEpoch, currentEpoch });
        this.#cuts.delete(observation.sid);
        break;
      }
      case 'diskReplaced':
        this.#promised.delete(observation.sid);
        break;
      case 'started': {
        const promised = this.#promised.get(observation.sid);
        if (promised !== undefined) this.#compare(observation.sid, promised, ledger);
        break;
      }
      default:
        break;
    }
  }

  #cutsOf(sid: Sid): Zxid[] {
    const cuts = this.#cuts.get(sid) ?? [];
    this.#cuts.set(sid, cuts);
    return cuts;
  }

  #compare(sid: Sid, promised: Promised, ledger: Ledger): void {
    const found = ledger.member(sid);
    if (!found.durable.has(promised.last)) {
      violated(
        this,
        `the disk of member ${sid} held ${formatZxid(promised.last)} for sure and came back with ${formatZxid(found.durable.last)}`,
      );
    }
    for (const name of ['acceptedEpoch', 'currentEpoch'] as const) {
      if (found[name] < promised[name]) {
        violated(
          this,
          `the disk of member ${sid} held ${name} ${promised[name]} for sure and came back with ${found[name]}`,
        );
      }
    }
  }
}
