/**
 * No leader ends a session too early: from the beginning of its tenure, and from each time that a member has told it that the
 * client was heard, the session's whole timeout passes by its clock. Between faults, elections, steps of wall clocks and all.
 */
import { decodeTxn, type StorageCommand, type Txn } from '@quorate/core';
import {
  type Epoch,
  epochOf,
  formatSessionId,
  formatZxid,
  type SessionId,
  type Sid,
  type Zxid,
} from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

interface Tenure {
  readonly sid: Sid;
  readonly epoch: Epoch;
  readonly sinceUs: number;
  /** When the leader was told of a session last, µs. */
  readonly heardUs: Map<SessionId, number>;
}

const MS = 1_000;

export class SessionExpiryChecker implements Checker {
  readonly name = 'session-expiry';
  readonly kinds = ['status', 'told', 'issued'] as const;
  /** The present tenure of each member that leads. */
  readonly #tenures = new Map<Sid, Tenure>();
  readonly #timeoutsMs = new Map<SessionId, number>();
  /** The epoch that each member is in. What one says that has not come to the leader's epoch is of an older conversation (seed 4004242). */
  readonly #epochs = new Map<Sid, Epoch>();

  observe(observation: Observation, ledger: Ledger): void {
    switch (observation.kind) {
      case 'status': {
        const { sid, status } = observation;
        this.#epochs.set(sid, status.epoch);
        // A member that led may come by its own epoch again, as a learner: one that lost its disk (seed 1441).
        if (status.role !== 'leading' || status.phase !== 'broadcast') return void this.#tenures.delete(sid);
        if (this.#tenures.get(sid)?.epoch === status.epoch) return;
        this.#tenures.set(sid, { sid, epoch: status.epoch, sinceUs: ledger.nowUs, heardUs: new Map() });
        break;
      }
      case 'told': {
        const { sid, from, sessions } = observation;
        const tenure = this.#tenures.get(sid);
        if (tenure === undefined || this.#epochs.get(from) !== tenure.epoch) break;
        for (const session of sessions) tenure.heardUs.set(session, ledger.nowUs);
        break;
      }
      case 'issued':
        this.#issued(observation.sid, observation.command, ledger);
        break;
      default:
        break;
    }
  }

  /** Only what a leader proposes itself is looked at: it is of its own epoch, and others have it from there. */
  #issued(sid: Sid, command: StorageCommand, ledger: Ledger): void {
    const tenure = this.#tenures.get(sid);
    if (command.kind !== 'append' || tenure === undefined) return;
    for (const { zxid, payload } of command.records) {
      if (epochOf(zxid) === tenure.epoch) this.#proposed(tenure, zxid, decodeTxn(payload), ledger);
    }
  }

  #proposed(tenure: Tenure, zxid: Zxid, { origin, session, body }: Txn, ledger: Ledger): void {
    if (body.kind === 'createSession') {
      this.#timeoutsMs.set(session, body.timeoutMs);
      tenure.heardUs.set(session, ledger.nowUs);
    }
    if (body.kind !== 'closeSession' || origin.sid !== 0) return;
    const { driftMax } = ledger.clocks;
    const heardUs = tenure.heardUs.get(session) ?? tenure.sinceUs;
    const silentMs = (ledger.nowUs - heardUs) / MS;
    const leastMs = (this.#timeoutsMs.get(session) ?? 0) / (1 + driftMax);
    if (silentMs < leastMs) {
      violated(
        this,
        `leader ${tenure.sid} of epoch ${tenure.epoch} ends session ${formatSessionId(session)} at ${formatZxid(zxid)}, ${silentMs} ms after it was heard or the tenure began; ${leastMs} ms must pass`,
      );
    }
  }
}
