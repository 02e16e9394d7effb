/**
 * The proof of life after the heal: writes at every member, and a sweep of reads over what the history says there is, which
 * the checkers compare with the history. Every probe must succeed in time; one that surely had no effect and may be tried
 * again is tried again, as any client would.
 */
import { ERRORS, NO_SESSION, type Op } from '@quorate/protocol';
import { fateOf } from '../calls.ts';
import type { Ledger } from '../ledger.ts';
import type { Random } from '../random.ts';
import type { Schedule } from '../schedule.ts';
import type { Front, Reply } from './front.ts';
import { QUEUE, ROOT } from './places.ts';

/** Most paths that are read at each member. */
const SWEEP_MAX = 15;
/** Calls in flight at one member. */
const IN_FLIGHT_MAX = 3;
const RETRY_US = 20_000;

export class Probe {
  readonly failures: string[] = [];
  readonly #fronts: readonly Front[];
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #untilUs: number;
  /** What is still to be asked, by member; a few calls are in flight at each, within every limit. */
  readonly #queues = new Map<Front, (() => void)[]>();
  #waiting = 0;
  #writes = 0;

  constructor(options: {
    readonly schedule: Schedule;
    readonly fronts: readonly Front[];
    readonly random: Random;
    /** By then every probe must have succeeded. */
    readonly untilUs: number;
  }) {
    this.#schedule = options.schedule;
    this.#fronts = options.fronts;
    this.#random = options.random;
    this.#untilUs = options.untilUs;
  }

  get isDone(): boolean {
    return this.#waiting === 0;
  }

  /** Makes the parents, which most often exist, at one member. */
  prepare(): void {
    const front = this.#random.pick(this.#fronts);
    for (const path of [ROOT, QUEUE]) this.#ask(front, this.#create(path, false), false);
  }

  /** Writes and reads at every member. */
  sweep(ledger: Ledger): void {
    const created = new Set<string>();
    for (const zxid of ledger.committed) {
      const body = ledger.txn(zxid)?.body;
      for (const change of body !== undefined && 'parts' in body ? body.parts : [body]) {
        if (change?.kind === 'create') created.add(change.path);
      }
    }
    for (const front of this.#fronts) {
      this.#ask(front, this.#create(`${QUEUE}/probe-`, true), false);
      this.#ask(front, { kind: 'sync', path: ROOT }, false);
      for (const path of [ROOT, QUEUE]) this.#ask(front, { kind: 'getAllChildrenNumber', path }, false);
      for (const path of [ROOT, QUEUE]) this.#ask(front, { kind: 'getChildren', path }, this.#random.chance(0.5));
      for (const path of this.#random.shuffle([...created]).slice(0, SWEEP_MAX)) {
        this.#ask(front, { kind: this.#random.pick(['getData', 'getChildren']), path }, false);
      }
    }
  }

  #create(path: string, sequential: boolean): Op {
    this.#writes += 1;
    const data = Uint8Array.from(`probe:${this.#writes}`, (character) => character.charCodeAt(0));
    return { kind: 'create', path, data, mode: 'persistent', sequential };
  }

  #ask(front: Front, op: Op, linearizable: boolean): void {
    this.#waiting += 1;
    const queue = this.#queues.get(front) ?? [];
    this.#queues.set(front, queue);
    queue.push(() => this.#askNow(front, op, linearizable));
    if (queue.length <= IN_FLIGHT_MAX) queue[queue.length - 1]?.();
  }

  #askNow(front: Front, op: Op, linearizable: boolean): void {
    front.ask(
      { session: NO_SESSION, attachment: 0, op, linearizable },
      (this.#untilUs - this.#schedule.nowUs) / 1_000,
      (callId, deadlineMs) => ({
        kind: 'call',
        call: { callId, session: NO_SESSION, attachment: 0, token: undefined, op, linearizable, deadlineMs },
      }),
      (reply) => {
        if (isWorthAnother(reply) && this.#schedule.nowUs + RETRY_US < this.#untilUs) {
          // A write of unknown outcome is never sent again as it is: its value must stand in the history once.
          const again = op.kind === 'create' ? this.#create(op.path, op.sequential) : op;
          this.#schedule.after(RETRY_US, () => this.#askNow(front, again, linearizable));
          return;
        }
        if (!isFine(reply)) this.failures.push(`${op.kind} at member ${front.sid}: ${describe(reply)}`);
        this.#waiting -= 1;
        const queue = this.#queues.get(front) ?? [];
        queue.shift();
        queue[IN_FLIGHT_MAX - 1]?.();
      },
    );
  }
}

function isWorthAnother(reply: Reply): boolean {
  if (reply.kind !== 'answer' || reply.answer.result.kind !== 'error') return false;
  return ERRORS[reply.answer.result.code].retryable || fateOf(reply.answer) === 'unknown';
}

function isFine(reply: Reply): boolean {
  if (reply.kind !== 'answer') return false;
  const fate = fateOf(reply.answer);
  return fate === 'done' || fate === 'refused';
}

function describe(reply: Reply): string {
  if (reply.kind !== 'answer') return reply.kind;
  const { result } = reply.answer;
  return result.kind === 'error' ? `${result.code}: ${result.message}` : result.kind;
}
