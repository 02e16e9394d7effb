/**
 * The ordered history as this member knows it: what is logged, what of it is on disk, what is committed, what has
 * been delivered. Records after `base` are held in memory, for delivery and for learners that come back.
 *
 *     base <= delivered <= min(committed, flushed) <= last            (Z6)
 *
 * Knows nothing of roles or messages.
 */
import { assert, follows, formatZxid, type Zxid } from '@quorate/protocol';
import type { LogRecord } from './messages.ts';

/** What a record costs in memory beside its payload, bytes; an estimate, for the bound only. */
const RECORD_OVERHEAD = 120;

/** Stands for the payload of a record that is not held any more. */
const DROPPED = new Uint8Array(0);

export class History {
  #base: Zxid;
  /** Records after base, ascending; those before #head have been dropped and wait for the array to be cut. */
  #records: LogRecord[] = [];
  #head = 0;
  #bytes = 0;
  #flushed: Zxid;
  #committed: Zxid;
  #delivered: Zxid;
  /** Index in #records of the first record that has not been handed to the disk. */
  #unissued = 0;
  readonly #pins = new Map<number, Zxid>();

  constructor(base: Zxid) {
    this.#base = base;
    this.#flushed = base;
    this.#committed = base;
    this.#delivered = base;
  }

  /** History in memory begins after this zxid. */
  get base(): Zxid {
    return this.#base;
  }
  /** zxid of the last record, or the base when there is none. */
  get last(): Zxid {
    return this.#records.at(-1)?.zxid ?? this.#base;
  }
  get flushed(): Zxid {
    return this.#flushed;
  }
  get committed(): Zxid {
    return this.#committed;
  }
  get delivered(): Zxid {
    return this.#delivered;
  }
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the next record. Z1: zxids rise without a hole within an epoch. */
  append(record: LogRecord): void {
    const last = this.last;
    assert(
      follows(record.zxid, last),
      () => `Z1: Cannot append ${formatZxid(record.zxid)}: last zxid is ${formatZxid(last)}`,
    );
    this.#records.push(record);
    this.#bytes += record.payload.length + RECORD_OVERHEAD;
  }

  /** Records that were appended and not yet handed to the disk; they count as handed over after this call. */
  takeUnissued(): readonly LogRecord[] {
    if (this.#unissued === this.#records.length) return [];
    const taken = this.#records.slice(this.#unissued);
    this.#unissued = this.#records.length;
    return taken;
  }

  /** The disk has everything up to `zxid`. */
  flush(zxid: Zxid): void {
    if (zxid > this.#flushed) this.#flushed = zxid;
    assert(this.#flushed <= this.last, () => `Z6: flushed ${formatZxid(zxid)} is after the last record`);
  }

  /** Everything up to `zxid` is committed. Z7: nothing is committed that is not in the history. */
  commit(zxid: Zxid): void {
    assert(zxid <= this.last, () => `Z7: Cannot commit ${formatZxid(zxid)}: last zxid is ${formatZxid(this.last)}`);
    if (zxid > this.#committed) this.#committed = zxid;
  }

  /** The next record that is committed and on disk, which counts as delivered after this call. */
  takeDeliverable(): LogRecord | undefined {
    const bound = this.#committed < this.#flushed ? this.#committed : this.#flushed;
    if (this.#delivered >= bound) return undefined;
    const record = this.#records[this.#indexAfter(this.#delivered)];
    assert(
      record !== undefined && record.zxid <= bound,
      () => `Z6: no record after ${formatZxid(this.#delivered)} though ${formatZxid(bound)} is due`,
    );
    this.#delivered = record.zxid;
    return record;
  }

  /** Cuts everything after `after`. Z5: nothing committed is ever cut. */
  truncate(after: Zxid): void {
    assert(
      after >= this.#committed && after >= this.#base,
      () => `Z5: Cannot truncate after ${formatZxid(after)}: committed is ${formatZxid(this.#committed)}`,
    );
    const index = this.#indexAfter(after);
    for (let i = index; i < this.#records.length; i++) this.#bytes -= this.#cost(i);
    this.#records.length = index;
    this.#unissued = Math.min(this.#unissued, index);
    assert(this.last === after, () => `Z5: Cannot truncate after ${formatZxid(after)}: it is not in the history`);
    if (this.#flushed > after) this.#flushed = after;
  }

  /** A snapshot at `zxid` has replaced everything; it counts as flushed when the disk says so. */
  reset(zxid: Zxid): void {
    assert(zxid > this.last, () => `Z9: snapshot ${formatZxid(zxid)} is not after ${formatZxid(this.last)}`);
    this.#base = zxid;
    this.#records = [];
    this.#head = 0;
    this.#unissued = 0;
    this.#bytes = 0;
    this.#committed = zxid;
    this.#delivered = zxid;
  }

  /** The largest zxid of this history (its base included) that is at most `zxid`; undefined when the base is later. */
  floor(zxid: Zxid): Zxid | undefined {
    if (zxid < this.#base) return undefined;
    const index = this.#indexAfter(zxid) - 1;
    return index < this.#head ? this.#base : (this.#records[index] as LogRecord).zxid;
  }

  /** The records after `zxid`, which must not be before the base. */
  after(zxid: Zxid): readonly LogRecord[] {
    assert(zxid >= this.#base, () => `History after ${formatZxid(zxid)} is gone: base is ${formatZxid(this.#base)}`);
    return this.#records.slice(this.#indexAfter(zxid));
  }

  /** Holds history after `zxid` in memory until `unpin`, for a snapshot that is on its way. */
  pin(key: number, zxid: Zxid): void {
    this.#pins.set(key, zxid);
  }

  unpin(key: number): void {
    this.#pins.delete(key);
  }

  /**
   * Drops the oldest records while more than `bytesMax` are held, but none that is needed: nothing after the last
   * durable checkpoint, after the delivered point, or after a pin.
   */
  trim(bytesMax: number, checkpoint: Zxid): void {
    let bound = checkpoint < this.#delivered ? checkpoint : this.#delivered;
    for (const pinned of this.#pins.values()) if (pinned < bound) bound = pinned;
    while (this.#bytes > bytesMax && this.#head < this.#records.length) {
      const record = this.#records[this.#head] as LogRecord;
      if (record.zxid > bound) break;
      this.#bytes -= this.#cost(this.#head);
      this.#base = record.zxid;
      // Its place is cut from the array later, with many others; its payload goes now.
      this.#records[this.#head] = { zxid: record.zxid, payload: DROPPED };
      this.#head++;
    }
    if (this.#head > 1024 && this.#head * 2 > this.#records.length) this.#compact();
  }

  #compact(): void {
    this.#records = this.#records.slice(this.#head);
    this.#unissued -= this.#head;
    this.#head = 0;
  }

  #cost(index: number): number {
    return (this.#records[index] as LogRecord).payload.length + RECORD_OVERHEAD;
  }

  /** Index of the first record whose zxid is above `zxid`. */
  #indexAfter(zxid: Zxid): number {
    let low = this.#head;
    let high = this.#records.length;
    if (low < high && (this.#records[high - 1] as LogRecord).zxid <= zxid) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#records[middle] as LogRecord).zxid <= zxid) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
