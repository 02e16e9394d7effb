/**
 * A session ends once, and for a reason: its own request, or silence longer than its timeout. After its end nothing of
 * it takes effect and none of its ephemerals is left; before it, none is taken away but by its own or another's delete.
 * (The txns' exactness is checked by answers-fit-history, a leader's patience by session-expiry; here it is who ends.)
 */
import { formatSessionId, formatZxid, type SessionId } from '@quorate/protocol';
import { fateOf } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { TreeModel } from '../tree-model.ts';
import { type Checker, violated } from './checker.ts';
import { WriteIndex } from './write-index.ts';

export class SessionFateChecker implements Checker {
  readonly name = 'session-fate';
  readonly kinds = ['attached', 'sessionLeft', 'sessionEnded'] as const;
  /** Sessions whose clients should still have them at the end, and those that should be gone. */
  readonly #live = new Set<SessionId>();
  readonly #dead = new Set<SessionId>();

  observe(observation: Observation): void {
    if (observation.kind === 'attached') {
      if (this.#dead.has(observation.session)) {
        violated(this, `session ${formatSessionId(observation.session)} was attached after its end`);
      }
      this.#live.add(observation.session);
    } else if (observation.kind === 'sessionLeft') {
      this.#live.delete(observation.session);
    } else if (observation.kind === 'sessionEnded') {
      const { session, code, isExcused } = observation;
      this.#live.delete(session);
      this.#dead.add(session);
      if (!isExcused)
        violated(
          this,
          `session ${formatSessionId(session)} ended (${code}) though its client could be heard all the time`,
        );
    }
  }

  finish(ledger: Ledger): void {
    const model = new TreeModel();
    const ended = new Set<SessionId>();
    const asked = closesAsked(ledger);
    for (const { zxid, txn } of new WriteIndex(ledger).txns) {
      const { session, body } = txn;
      if (ended.has(session) && body.kind !== 'error') {
        violated(this, `a ${body.kind} of session ${formatSessionId(session)} takes effect after its end`);
      }
      if (body.kind === 'closeSession') {
        ended.add(session);
        if (txn.origin.sid !== 0 && !asked.has(session)) {
          violated(
            this,
            `session ${formatSessionId(session)} was closed at ${formatZxid(zxid)}; its client never asked for it`,
          );
        }
      }
      model.apply(zxid, txn);
    }
    for (const session of this.#dead) {
      if (model.sessions.has(session))
        violated(this, `session ${formatSessionId(session)} is still there after its end`);
    }
    for (const session of this.#live) {
      if (!model.sessions.has(session)) violated(this, `session ${formatSessionId(session)} of a live client is gone`);
    }
    for (const [path, znode] of model.znodes) {
      if (znode.ephemeralOwner !== 0n && !model.sessions.has(znode.ephemeralOwner)) {
        violated(this, `${path} is left of session ${formatSessionId(znode.ephemeralOwner)}`);
      }
    }
    this.#checkCloses(ledger, ended);
  }

  /** A close that was acknowledged has ended the session. */
  #checkCloses(ledger: Ledger, ended: ReadonlySet<SessionId>): void {
    for (const { call, answer } of ledger.calls.all.values()) {
      if (call.op.kind === 'closeSession' && fateOf(answer) === 'done' && !ended.has(call.session)) {
        violated(this, `session ${formatSessionId(call.session)} was closed by its client and has not ended`);
      }
    }
  }
}

/** Sessions that their clients wanted closed. */
function closesAsked({ calls }: Ledger): ReadonlySet<SessionId> {
  const closes = [...calls.all.values()].filter(({ call }) => call.op.kind === 'closeSession');
  return new Set(closes.map(({ call }) => call.session));
}
