/** The zxids in one log, followed from outside by the commands given to the disk that holds it. Payloads are not kept. */
import type { LogRecord, StorageCommand } from '@quorate/core';
import { ZERO_ZXID, type Zxid } from '@quorate/protocol';

export class ShadowLog {
  /** The state database holds everything up to here, as of the last install or recovery. */
  base: Zxid = ZERO_ZXID;
  /** Ascending, unless the disk itself is out of order. Purges are not followed: what was purged is in the state database. */
  readonly #zxids: Zxid[] = [];

  get last(): Zxid {
    return this.#zxids.at(-1) ?? this.base;
  }

  /** Whether the disk holds the history up to and including `zxid`, in its log or in its state database. */
  has(zxid: Zxid): boolean {
    return zxid <= this.base || this.#indexFrom(zxid) !== undefined;
  }

  /** The first zxid in the log after `zxid`. */
  after(zxid: Zxid): Zxid | undefined {
    return this.#zxids.find((each) => each > zxid);
  }

  reset(base: Zxid, records: readonly LogRecord[]): void {
    this.base = base;
    this.#zxids.length = 0;
    for (const { zxid } of records) this.#zxids.push(zxid);
  }

  copy(): ShadowLog {
    const copy = new ShadowLog();
    copy.base = this.base;
    copy.#zxids.push(...this.#zxids);
    return copy;
  }

  take(command: StorageCommand): void {
    switch (command.kind) {
      case 'append':
        for (const { zxid } of command.records) this.#zxids.push(zxid);
        break;
      case 'truncate':
        while (this.#zxids.length > 0 && this.last > command.after) this.#zxids.pop();
        break;
      case 'installCommit':
        this.reset(command.zxid, []);
        break;
      default:
        break;
    }
  }

  /** Index of `zxid`, when it is there. */
  #indexFrom(zxid: Zxid): number | undefined {
    let low = 0;
    let high = this.#zxids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#zxids[middle] as Zxid) < zxid) low = middle + 1;
      else high = middle;
    }
    return this.#zxids[low] === zxid ? low : undefined;
  }
}
