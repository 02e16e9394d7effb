/**
 * The order of disk work as the agreement sees it: appends gather and go out as one, any other work goes out after
 * them, and whatever must wait for the disk waits here for its ticket. Nothing here trusts memory: `flushed` moves
 * only when the disk has answered.
 */
import { assert, type Epoch, formatZxid, type Zxid } from '@quorate/protocol';
import type { VoteRight } from './config.ts';
import type { History } from './history.ts';
import type { StorageCommand, ZabHost } from './host.ts';

interface Waiting {
  readonly ticket: number;
  readonly then: () => void;
}

interface Flushing {
  readonly ticket: number;
  readonly zxid: Zxid;
}

/** What is saved together. */
export interface Promises {
  readonly acceptedEpoch: Epoch;
  readonly currentEpoch: Epoch;
  readonly voteRight: VoteRight;
}

export class Disk {
  readonly #host: ZabHost;
  readonly #history: History;
  #waiting: Waiting[] = [];
  #flushing: Flushing[] = [];

  constructor(host: ZabHost, history: History) {
    this.#host = host;
    this.#history = history;
  }

  /** Hands over the records that were appended since the last call, as one batch. */
  issueAppends(): void {
    const records = this.#history.takeUnissued();
    const last = records.at(-1);
    if (last === undefined) return;
    const ticket = this.#host.persist({ kind: 'append', records, committed: this.#history.committed });
    this.#flushing.push({ ticket, zxid: last.zxid });
  }

  /** Cuts the log and the history after `after`. Nothing is under way then: the promise of the epoch waited for it (Z2). */
  truncate(after: Zxid): void {
    assert(this.#flushing.length === 0, () => `Z2: cut after ${formatZxid(after)} while appends are under way`);
    this.#history.truncate(after);
    this.#host.persist({ kind: 'truncate', after });
  }

  /** Z2: epochs are on disk before anything that depends on them is said; `then` runs when they are. */
  saveEpochs(promises: Promises, then: () => void): void {
    const { acceptedEpoch, currentEpoch, voteRight } = promises;
    this.#order({ kind: 'saveEpochs', acceptedEpoch, currentEpoch, voteRight }, then);
  }

  /** Work on the state database that a snapshot brings, in order with everything else. */
  install(command: StorageCommand, then?: () => void): void {
    this.#order(command, then);
  }

  /** The installed snapshot at `zxid` replaces log and state; the history has been reset to it. */
  installCommit(zxid: Zxid, then: () => void): void {
    this.#flushing = [];
    const ticket = this.#host.persist({ kind: 'installCommit', zxid });
    this.#flushing.push({ ticket, zxid });
    this.#waiting.push({ ticket, then });
  }

  /** Everything up to `ticket` is durable. Returns true when more of the history is on disk than before. */
  persisted(ticket: number): boolean {
    const before = this.#history.flushed;
    let done = 0;
    for (; done < this.#flushing.length; done++) {
      const flush = this.#flushing[done] as Flushing;
      if (flush.ticket > ticket) break;
      this.#history.flush(flush.zxid);
    }
    if (done > 0) this.#flushing.splice(0, done);
    const ready = this.#waiting.filter((waiting) => waiting.ticket <= ticket);
    if (ready.length > 0) this.#waiting = this.#waiting.filter((waiting) => waiting.ticket > ticket);
    for (const { then } of ready) then();
    return this.#history.flushed > before;
  }

  #order(command: StorageCommand, then?: () => void): void {
    this.issueAppends();
    const ticket = this.#host.persist(command);
    if (then !== undefined) this.#waiting.push({ ticket, then });
  }
}
