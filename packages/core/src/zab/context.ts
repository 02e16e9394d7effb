/**
 * What every phase of the agreement shares: configuration, history, disk, epochs, links, the member's present role.
 * Epochs are raised in memory when their save is handed to the disk; whatever is said because of them waits for it.
 */
import { assert, type Epoch, type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { VoteRight, ZabConfig, ZabRecovered } from './config.ts';
import { Disk, type Promises } from './disk.ts';
import type { Election } from './election.ts';
import { History } from './history.ts';
import type { ZabHost } from './host.ts';
import type { Leadership } from './leadership.ts';
import type { Learnership } from './learnership.ts';
import type { ServerState, Vote, ZabMessage } from './messages.ts';
import { Rights } from './rights.ts';

export type Role =
  | { readonly kind: 'looking'; readonly election: Election }
  | { readonly kind: 'leading'; readonly leadership: Leadership }
  | { readonly kind: 'learning'; readonly learnership: Learnership };

export class ZabContext {
  readonly config: ZabConfig;
  readonly host: ZabHost;
  readonly history: History;
  readonly disk: Disk;
  /** The current link to each member that is connected. */
  readonly links = new Map<Sid, number>();
  acceptedEpoch: Epoch;
  currentEpoch: Epoch;
  /** In force: on disk, save that losing it needs no waiting. */
  voteRight: VoteRight;
  /** What is on disk as soon as the disk has done its work. */
  savedRight: VoteRight;
  /** What the other voters say of their right. */
  readonly rights = new Rights();
  /** When this run began. */
  startedMs = 0;
  /** The highest epoch that any learner said it had promised: the next epoch of this member is above it. */
  epochFloor: Epoch = 0;
  /** Whom the last leader named as it left; preferred among equal votes of the election that followed. */
  successor: Vote | undefined;
  /** This member is about to stop, or its disk has failed: it is no candidate, and votes at most for a successor it named. */
  isAbstaining = false;
  /** Messages that did not fit, of this run. */
  faults = 0;
  /** Number of the next snapshot stream of this run. */
  nextStream = 1;
  /** Election round; rises with every election this member takes part in. */
  round = 0;
  /** Monotonic time of the step that is being taken. */
  nowMs = 0;
  /** zxid of the last durable checkpoint: what history needs no longer reach back before. */
  checkpoint: Zxid;

  constructor(config: ZabConfig, host: ZabHost, recovered: ZabRecovered) {
    assert(
      recovered.acceptedEpoch >= recovered.currentEpoch,
      () => `Z3: acceptedEpoch ${recovered.acceptedEpoch} is below currentEpoch ${recovered.currentEpoch}`,
    );
    this.config = config;
    this.host = host;
    this.acceptedEpoch = recovered.acceptedEpoch;
    this.currentEpoch = recovered.currentEpoch;
    this.voteRight = recovered.voteRight;
    this.savedRight = recovered.voteRight;
    this.checkpoint = recovered.baseZxid;
    this.history = new History(recovered.baseZxid);
    for (const record of recovered.records) this.history.append(record);
    this.history.takeUnissued();
    this.history.flush(this.history.last);
    this.history.commit(recovered.committed > this.history.last ? this.history.last : recovered.committed);
    this.disk = new Disk(host, this.history);
  }

  get isVoter(): boolean {
    return this.isVoting(this.config.sid);
  }

  /** A voter that counts. */
  get hasVote(): boolean {
    return this.isVoter && this.voteRight === 'held';
  }

  /** No data, and no epoch was ever promised. */
  get isEmpty(): boolean {
    return this.acceptedEpoch === 0 && this.history.last === ZERO_ZXID;
  }

  /** What goes to disk with every save. */
  get promises(): Promises {
    return { acceptedEpoch: this.acceptedEpoch, currentEpoch: this.currentEpoch, voteRight: this.savedRight };
  }

  /** No leader counts what a learner said longer ago than this. */
  get wordBoundMs(): number {
    const { syncTimeoutMs, initTimeoutMs } = this.config.timing;
    return Math.max(syncTimeoutMs, initTimeoutMs);
  }

  /** So long after its start nobody counts a word of this member's former life, with clocks that differ by a factor of two. */
  get formerLifeMs(): number {
    return 2 * this.wordBoundMs;
  }

  isVoting(sid: Sid): boolean {
    return this.config.voters.includes(sid);
  }

  /** Sends to a member on its current link; a member without one hears nothing. */
  send(sid: Sid, message: ZabMessage): void {
    const link = this.links.get(sid);
    if (link !== undefined) this.host.send(sid, link, message);
  }

  notify(sid: Sid, state: ServerState, vote: Vote): void {
    const { round, voteRight, isEmpty } = this;
    this.send(sid, { kind: 'notification', state, round, vote, voteRight, isEmpty });
  }

  /** Tells every connected member where this one stands. */
  notifyAll(state: ServerState, vote: Vote): void {
    for (const sid of this.links.keys()) this.notify(sid, state, vote);
  }

  /** Ends a link: it counts as down at once, and the driver closes it. */
  closeLink(sid: Sid, link: number, reason: string): void {
    if (this.links.get(sid) === link) this.links.delete(sid);
    this.host.closeLink(sid, link, reason);
  }

  /** Hands on what is committed and on disk, in order. Z4: never anything else. */
  deliver(): void {
    for (let record = this.history.takeDeliverable(); record; record = this.history.takeDeliverable()) {
      this.host.deliver(record);
    }
  }

  trim(): void {
    this.history.trim(this.config.limits.historyBytesMax, this.checkpoint);
  }
}
