/**
 * Where every entry of the log begins and ends, in memory: what truncate and purge need to know without reading the
 * disk. Mirrors what is durable; knows nothing of bytes. 32 bytes or so an entry, bounded by purging.
 */
import { assert, formatZxid, type Zxid } from '@quorate/protocol';

/** One entry of the log on disk. */
export interface EntrySpan {
  readonly first: Zxid;
  readonly last: Zxid;
  /** Of the value, for statistics. */
  readonly bytes: number;
}

/** Dropped entries are swept out of the array once there are this many of them. */
const SWEEP_AT = 1024;

export class LogIndex {
  #spans: EntrySpan[] = [];
  /** Spans before this one are dropped already. */
  #start = 0;
  #bytes = 0;

  get count(): number {
    return this.#spans.length - this.#start;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The newest entry. */
  get newest(): EntrySpan | undefined {
    return this.count === 0 ? undefined : this.#spans.at(-1);
  }

  /** The newest entry but for the `count` newest. */
  newestBut(count: number): EntrySpan | undefined {
    return count < this.count ? this.#spans.at(-1 - count) : undefined;
  }

  /** The oldest entry. */
  get oldestSpan(): EntrySpan | undefined {
    return this.#spans[this.#start];
  }

  /** Adds the entry after the newest one. */
  push(span: EntrySpan): void {
    const newest = this.newest;
    assert(newest === undefined || span.first > newest.last, () => {
      return `S1: log entry ${formatZxid(span.first)} is not after ${formatZxid(newest?.last ?? 0n)}`;
    });
    this.#spans.push(span);
    this.#bytes += span.bytes;
  }

  /** The oldest entries that lie wholly at or before `through`, at most `countMax` of them. */
  oldest(through: Zxid, countMax: number): readonly EntrySpan[] {
    let end = this.#start;
    while (
      end < this.#spans.length &&
      end - this.#start < countMax &&
      (this.#spans[end] as EntrySpan).last <= through
    ) {
      end++;
    }
    return this.#spans.slice(this.#start, end);
  }

  /** Forgets the `count` oldest entries. */
  dropOldest(count: number): void {
    for (const span of this.#spans.slice(this.#start, this.#start + count)) this.#bytes -= span.bytes;
    this.#start += count;
    if (this.#start < SWEEP_AT && this.#start < this.#spans.length) return;
    this.#spans.splice(0, this.#start);
    this.#start = 0;
  }

  /** The entries that hold anything after `after`, in order: the first of them may begin at or before it. */
  after(after: Zxid): readonly EntrySpan[] {
    let begin = this.#spans.length;
    while (begin > this.#start && (this.#spans[begin - 1] as EntrySpan).last > after) begin--;
    return this.#spans.slice(begin);
  }

  /** Forgets the `count` newest entries. */
  dropNewest(count: number): void {
    for (let i = 0; i < count; i++) this.#bytes -= this.#spans.pop()?.bytes ?? 0;
  }

  /** Every entry, oldest first. */
  all(): readonly EntrySpan[] {
    return this.#spans.slice(this.#start);
  }

  clear(): void {
    this.#spans = [];
    this.#start = 0;
    this.#bytes = 0;
  }
}
