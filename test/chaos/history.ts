/**
 * What clients asked and were told, with the moments on the one monotonic clock of the runner. Judges nothing.
 * A record is made when the call is sent and completed when its answer is in; those without an answer stay open.
 */
import { writeFileSync } from 'node:fs';
import { type CoordinationError, isCode } from '@quorate/client';

export type CallKind = 'create' | 'set' | 'delete' | 'get' | 'exists' | 'sync';

/**
 * `ok`: answered with success. `refused`: surely without effect. `unknown`: may have had its effect or not.
 * `failed`: a read or sync without an answer.
 */
export type CallOutcome = 'ok' | 'refused' | 'unknown' | 'failed';

export interface Call {
  readonly id: number;
  readonly client: string;
  /** Session in which it was sent; 0n for none, or when the session changed while it waited. */
  session: bigint;
  readonly kind: CallKind;
  /** As asked for; of a sequential create, what came out stands in `created`. */
  readonly path: string;
  /** Written value, unique in the run. */
  readonly value: string | undefined;
  /** Version that a conditional write expected. */
  readonly expected: number | undefined;
  readonly linearizable: boolean;
  readonly invokedAt: number;
  /** Infinity while there is no answer. */
  completedAt: number;
  outcome: CallOutcome;
  /** Error code of a call that did not succeed. */
  code: string | undefined;
  /** Version of the znode: after a write, or as read. */
  version: number | undefined;
  /** zxid of a write or sync; of a read: of the last change of what it saw. */
  zxid: bigint | undefined;
  /** Value that a read saw; undefined when the znode was not there. */
  seen: string | undefined;
  created: string | undefined;
  /** Session that owns the ephemeral that was created. */
  owner: bigint | undefined;
}

/** What a call came to, for its record. */
export type Answer = Partial<Pick<Call, 'version' | 'zxid' | 'seen' | 'created' | 'owner'>>;

/** What is asked; the rest of a record follows from it. */
export type Asked = Pick<Call, 'client' | 'kind' | 'path'> & Partial<Pick<Call, 'value' | 'expected' | 'linearizable'>>;

export class History {
  readonly calls: Call[] = [];

  /**
   * Makes a call and records it. Resolves with its answer, or with undefined when it did not succeed.
   * `session` is asked before and after: a call that waited through a change of session belongs to none for sure.
   */
  async record<T>(
    asked: Asked,
    session: () => bigint,
    call: () => Promise<T>,
    answerOf: (value: T) => Answer,
  ): Promise<T | undefined> {
    const record: Call = {
      ...{ value: undefined, expected: undefined, linearizable: false },
      ...asked,
      ...{ id: this.calls.length, session: session(), invokedAt: performance.now() },
      ...{ completedAt: Number.POSITIVE_INFINITY, outcome: isWrite(asked.kind) ? 'unknown' : 'failed' },
      ...{ code: undefined, version: undefined, zxid: undefined, seen: undefined },
      ...{ created: undefined, owner: undefined },
    };
    this.calls.push(record);
    try {
      const value = await call();
      record.completedAt = performance.now();
      Object.assign(record, { outcome: 'ok', ...answerOf(value) });
      return value;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'CoordinationError') throw error;
      const { code, outcome } = error as CoordinationError;
      record.code = code;
      if (isWrite(asked.kind) && outcome === 'not-applied') {
        record.outcome = 'refused';
        record.completedAt = performance.now();
      } else if (asked.kind === 'get' && isCode(error, 'NO_NODE')) {
        record.outcome = 'ok';
        record.completedAt = performance.now();
      }
      return undefined;
    } finally {
      if (session() !== record.session) record.session = 0n;
    }
  }

  /** One line a call, bigints as hex. */
  save(file: string): void {
    const hexed = (_: string, value: unknown): unknown =>
      typeof value === 'bigint' ? `0x${value.toString(16)}` : value;
    writeFileSync(file, this.calls.map((call) => `${JSON.stringify(call, hexed)}\n`).join(''));
  }
}

export function isWrite(kind: CallKind): boolean {
  return kind === 'create' || kind === 'set' || kind === 'delete';
}

/** True for a write that was acknowledged. */
export function isAcknowledged(call: Call): boolean {
  return isWrite(call.kind) && call.outcome === 'ok';
}
