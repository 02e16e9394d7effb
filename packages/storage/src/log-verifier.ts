/**
 * Decides whether the entries of the log, taken in key order, are what was acknowledged: each whole, each continuing the
 * one before it, reaching back to the checkpoint and on to the lower bound. Only the very last entry may be bad, and only
 * when nothing says that it was acknowledged: then it is a torn tail, to be cut. All else is damage.
 */
import { formatZxid, type Zxid } from '@quorate/protocol';
import type { LogRecord } from './contract.ts';
import type { EntrySpan } from './log-index.ts';
import { type LogEntry, unpackEntry, zxidOfLogKey } from './record-codec.ts';
import { DamageError } from './sealed.ts';
import type { Bound } from './state-format.ts';

/** Where the log has to begin and how far it has to reach. */
export interface LogDemands {
  readonly checkpointZxid: Zxid;
  /** Of the log. */
  readonly generation: bigint;
  /** What is known to have been acknowledged, each under a generation. */
  readonly bounds: readonly Bound[];
}

/** The end of a verified log. */
export interface LogEnd {
  readonly lastZxid: Zxid;
  /** Highest hint that was found. */
  readonly committed: Zxid;
  /** Key of the entry to be cut, and why. */
  readonly torn: { readonly key: Uint8Array; readonly reason: string } | undefined;
}

/** All methods throw DamageError. */
export class LogVerifier {
  readonly #demands: LogDemands;
  #last: Zxid | undefined;
  #committed: Zxid;
  #bad: { readonly key: Uint8Array; readonly reason: string } | undefined;

  constructor(demands: LogDemands) {
    this.#demands = demands;
    this.#committed = demands.checkpointZxid;
  }

  /** Takes the next entry. Returns its span and its records after the checkpoint; undefined when it may be a torn tail. */
  add(
    key: Uint8Array,
    value: Uint8Array,
  ): { readonly span: EntrySpan; readonly records: readonly LogRecord[] } | undefined {
    if (this.#bad !== undefined) throw new DamageError(`${this.#bad.reason}, and it is not the last one`);
    const first = zxidOfLogKey(key);
    let entry: LogEntry;
    try {
      entry = unpackEntry(key, value);
    } catch (thrown) {
      if (!(thrown instanceof DamageError)) throw thrown;
      this.#bad = { key, reason: `entry ${formatZxid(first)} is bad: ${thrown.message}` };
      return undefined;
    }
    this.#checkLink(first, entry.previous);
    const records = this.#afterCheckpoint(entry);
    const last = entry.records.at(-1)?.zxid ?? first;
    this.#last = last;
    if (entry.committed > this.#committed) this.#committed = entry.committed;
    return { span: { first, last, bytes: value.length }, records };
  }

  /** The log is complete. */
  end(): LogEnd {
    const { checkpointZxid, generation, bounds } = this.#demands;
    let floor = checkpointZxid;
    for (const bound of bounds) {
      if (bound.generation > generation) {
        throw new DamageError(
          `it is of generation ${generation}, its lower bound of ${bound.generation}: it is older than what was acknowledged`,
        );
      }
      if (bound.generation === generation && bound.zxid > floor) floor = bound.zxid;
    }
    if (this.#bad !== undefined && zxidOfLogKey(this.#bad.key) <= floor) {
      throw new DamageError(`${this.#bad.reason}, and it was acknowledged`);
    }
    const isEmpty = this.#last === undefined;
    const lastZxid = this.#last ?? checkpointZxid;
    if (lastZxid < floor && !(isEmpty && floor === checkpointZxid)) {
      throw new DamageError(
        `acknowledged records are lost: it ends at ${formatZxid(lastZxid)}, expected ${formatZxid(floor)} or later`,
      );
    }
    const committed = this.#committed < lastZxid ? this.#committed : lastZxid;
    return { lastZxid, committed, torn: this.#bad };
  }

  #checkLink(first: Zxid, previous: Zxid): void {
    const { checkpointZxid } = this.#demands;
    if (this.#last !== undefined && previous !== this.#last) {
      throw new DamageError(
        `records are missing: after ${formatZxid(this.#last)} comes ${formatZxid(first)}, ` +
          `which follows ${formatZxid(previous)}`,
      );
    }
    if (this.#last === undefined && previous > checkpointZxid) {
      throw new DamageError(
        `records are missing: it begins with ${formatZxid(first)}, which follows ${formatZxid(previous)}; ` +
          `expected the one after the checkpoint ${formatZxid(checkpointZxid)}`,
      );
    }
  }

  /** The first record after the checkpoint must follow exactly the txn that the checkpoint was taken at. */
  #afterCheckpoint(entry: LogEntry): readonly LogRecord[] {
    const { checkpointZxid } = this.#demands;
    if (entry.previous >= checkpointZxid) return entry.records;
    const at = entry.records.findIndex(({ zxid }) => zxid > checkpointZxid);
    if (at === -1) return [];
    const before = at === 0 ? entry.previous : entry.records[at - 1]?.zxid;
    if (before !== checkpointZxid) {
      throw new DamageError(
        `the checkpoint ${formatZxid(checkpointZxid)} is not in it: ` +
          `${formatZxid(entry.records[at]?.zxid ?? 0n)} follows ${formatZxid(before ?? 0n)}`,
      );
    }
    return entry.records.slice(at);
  }
}
