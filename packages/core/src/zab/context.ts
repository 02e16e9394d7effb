/**
 * What every phase of the agreement shares: configuration, history, disk, epochs, links, the member's present role.
 * Epochs are raised in memory when their save is handed to the disk; whatever is said because of them waits for it.
 */
import { assert, type Epoch, type Sid, type Zxid } from '@quorate/protocol';
import type { VoteRight, ZabConfig, ZabRecovered } from './config.ts';
import { Disk } from './disk.ts';
import type { Election } from './election.ts';
import { History } from './history.ts';
import type { ZabHost } from './host.ts';
import type { Leadership } from './leadership.ts';
import type { Learnership } from './learnership.ts';
import type { ServerState, Vote, ZabMessage } from './messages.ts';

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
  /** Raised in memory when its save is handed to the disk, as the epochs are. */
  voteRight: VoteRight;
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

  isVoting(sid: Sid): boolean {
    return this.config.voters.includes(sid);
  }

  /** Sends to a member on its current link; a member without one hears nothing. */
  send(sid: Sid, message: ZabMessage): void {
    const link = this.links.get(sid);
    if (link !== undefined) this.host.send(sid, link, message);
  }

  notify(sid: Sid, state: ServerState, vote: Vote): void {
    this.send(sid, { kind: 'notification', state, round: this.round, vote });
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
