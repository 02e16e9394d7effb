/**
 * Where the leader is, and how requests and their answers get there and back: over a link, or across this member itself
 * when it leads. Owns the standing, the leader's desk while there is one, and the links. What requests mean is the
 * pipeline's; what the agreement says over the same links is not seen here.
 */
import { DecodeError, type Sid, unreachable } from '@quorate/protocol';
import type { Entry, Upstream } from '../pipeline/entry.ts';
import { type DeskHost, LeaderDesk } from '../pipeline/leader-desk.ts';
import { type Refusal, refusal } from '../pipeline/refusal.ts';
import { decodeWriteRequest, type WriteRequest } from '../pipeline/write-request.ts';
import type { Standing } from '../zab/host.ts';
import type { MemberConfig } from './config.ts';
import type { Now } from './events.ts';
import type { PeerMessage, RequestMessage } from './messages.ts';
import type { Outbox } from './outbox.ts';
import { upstreamAcross, upstreamOver } from './upstream.ts';

/** What the routing asks of the agreement. */
export interface RoutingZab extends Omit<DeskHost, 'reply' | 'nowMs' | 'warn'> {
  /** True when that member is a synchronized learner of this leader. */
  isLearner(sid: Sid): boolean;
}

const NEVER_SERVED = refusal('UNAVAILABLE', 'This member has not yet been synchronized with a leader');
const NOT_TRUSTED = refusal('UNAVAILABLE', 'This member builds its tree anew, because it was not what the others have');
const TOO_STALE = refusal('UNAVAILABLE', 'This member has been without a leader for too long to answer reads');

export class Routing {
  readonly #config: MemberConfig;
  readonly #entry: () => Entry;
  readonly #zab: RoutingZab;
  readonly #outbox: Outbox;
  readonly #links = new Map<Sid, number>();
  #standing: Standing = { kind: 'looking' };
  #desk: LeaderDesk | undefined;
  #upstream: Upstream | undefined;
  /** A leader was found in this step, and what waits for one was not sent yet. */
  #isNew = false;
  #hasServed = false;
  #hasLeft = false;
  #lookingSinceMs = 0;
  /** When the leader, or as a leader a quorum, was last heard from. */
  #leaderHeardMs = 0;

  constructor(config: MemberConfig, zab: RoutingZab, outbox: Outbox, entry: () => Entry) {
    this.#config = config;
    this.#zab = zab;
    this.#outbox = outbox;
    this.#entry = entry;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The leader's desk, while this member leads. */
  get desk(): LeaderDesk | undefined {
    return this.#desk;
  }

  get upstream(): Upstream | undefined {
    return this.#upstream;
  }

  linkUp(sid: Sid, link: number): void {
    this.#links.set(sid, link);
  }

  linkDown(sid: Sid, link: number): void {
    if (this.#links.get(sid) === link) this.#links.delete(sid);
  }

  /** Why reads are not answered at `nowMs`. Without a leader they are for `staleReadMaxMs`, from what was applied, or as long as is wanted. */
  readFault(nowMs: number, isStaleAllowed = false): Refusal | undefined {
    if (this.#hasLeft) return NOT_TRUSTED;
    if (this.#standing.kind !== 'looking') return undefined;
    if (isStaleAllowed) return undefined;
    if (!this.#hasServed) return NEVER_SERVED;
    return nowMs - this.#lookingSinceMs > this.#config.timing.staleReadMaxMs ? TOO_STALE : undefined;
  }

  /** Nothing is answered from the tree any more. */
  leave(): void {
    this.#hasLeft = true;
  }

  /** True when `link` is the one over which this member follows `sid`. */
  isFollowed(sid: Sid, link: number): boolean {
    const standing = this.#standing;
    return standing.kind === 'following' && standing.leader === sid && standing.link === link;
  }

  /** True when `link` is the present one to a synchronized learner of this leader. */
  isLed(sid: Sid, link: number): boolean {
    return this.#links.get(sid) === link && this.#desk !== undefined && this.#zab.isLearner(sid);
  }

  /** On the link over which this member follows, if it does. */
  toLeader(message: PeerMessage): void {
    const standing = this.#standing;
    if (standing.kind !== 'following') return;
    this.#outbox.push({ kind: 'send', sid: standing.leader, link: standing.link, message });
  }

  /** To a synchronized learner of this leader. */
  toLearner(sid: Sid, message: PeerMessage): void {
    const link = this.#links.get(sid);
    if (link !== undefined && this.#zab.isLearner(sid)) this.#outbox.push({ kind: 'send', sid, link, message });
  }

  /**
   * The standing has changed. Called from inside the agreement, so nothing is asked of it here: see `settle`.
   * From this moment on the old leadership's desk is gone, and nobody is told anything in its name.
   */
  stand(standing: Standing, now: Now): void {
    this.#standing = standing;
    this.#desk = undefined;
    this.#upstream = undefined;
    this.#isNew = standing.kind !== 'looking';
    switch (standing.kind) {
      case 'looking':
        this.#lookingSinceMs = now.monotonicMs;
        this.#entry().attachments.leaderLost(this.#leaderHeardMs);
        break;
      case 'leading':
        this.#upstream = upstreamAcross(this.#config.sid, this.#openDesk(now), () => this.#entry().host.now());
        break;
      case 'following':
        this.#upstream = upstreamOver((message) => this.toLeader(message));
        break;
      default:
        unreachable(standing);
    }
    if (standing.kind !== 'looking') {
      this.#hasServed = true;
      this.#leaderHeardMs = now.monotonicMs;
    }
    this.#outbox.push({ kind: 'statusChanged' });
  }

  /** End of a step: sends what waited for a leader when one was found. True when it did. */
  settle(): boolean {
    if (!this.#isNew || this.#upstream === undefined) return false;
    this.#isNew = false;
    this.#entry().leaderFound(this.#upstream);
    return true;
  }

  /** Something came over that link. */
  heard(sid: Sid, link: number, now: Now): void {
    if (this.isFollowed(sid, link)) this.#leaderHeardMs = now.monotonicMs;
  }

  /** A quorum has confirmed this leader since round `round` was begun. */
  confirmed(round: number, now: Now): void {
    this.#leaderHeardMs = now.monotonicMs;
    this.#desk?.confirmed(round);
  }

  tick(now: Now): void {
    this.#desk?.tick(now);
    if (this.readFault(now.monotonicMs) !== TOO_STALE) return;
    this.#entry().attachments.closeAll('UNAVAILABLE', TOO_STALE.message);
  }

  /** A request or an answer from another member. What belongs to a conversation that is over is dropped. */
  fromPeer(sid: Sid, link: number, message: RequestMessage, now: Now): void {
    if (this.#links.get(sid) !== link) return;
    switch (message.kind) {
      case 'syncReply':
      case 'revalidated':
      case 'sessionMoved':
        if (this.isFollowed(sid, link)) this.#entry().fromLeader(message);
        return;
      case 'forward':
      case 'syncRequest':
      case 'touch':
      case 'revalidate':
        if (this.#desk !== undefined && this.isLed(sid, link)) this.#toDesk(this.#desk, sid, link, message, now);
        return;
      default:
        unreachable(message);
    }
  }

  #toDesk(
    desk: LeaderDesk,
    sid: Sid,
    link: number,
    message: Exclude<RequestMessage, { kind: 'syncReply' | 'revalidated' | 'sessionMoved' }>,
    now: Now,
  ): void {
    switch (message.kind) {
      case 'forward': {
        const requests = this.#decode(sid, link, message.requests);
        if (requests !== undefined) desk.order(sid, requests, now);
        return;
      }
      case 'syncRequest':
        return desk.sync(sid, message.seq);
      case 'touch':
        return desk.touch(message.sessions);
      case 'revalidate':
        return desk.revalidate(sid, message);
      default:
        unreachable(message);
    }
  }

  /** All or nothing: a member that sends what cannot be read is not talked to any further. */
  #decode(sid: Sid, link: number, requests: readonly Uint8Array[]): readonly WriteRequest[] | undefined {
    try {
      return requests.map((bytes) => decodeWriteRequest(bytes));
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause;
      this.#outbox.push({ kind: 'closeLink', sid, link, reason: `Cannot read a forwarded write: ${cause.message}` });
      return undefined;
    }
  }

  #openDesk(now: Now): LeaderDesk {
    const { timing, limits, voters, observers } = this.#config;
    const zab = this.#zab;
    const host: DeskHost = {
      propose: (payload) => zab.propose(payload),
      lastLogged: () => zab.lastLogged(),
      committed: () => zab.committed(),
      confirmLeadership: () => zab.confirmLeadership(),
      nowMs: () => this.#entry().host.now().monotonicMs,
      isHeld: () => zab.isHeld(),
      reply: (sid, message) => this.#reply(sid, message),
      warn: (reason) => this.#outbox.push({ kind: 'warning', reason }),
    };
    const { reapIntervalMs: intervalMs, containerUnusedMs } = timing;
    const reaper = { intervalMs, containerUnusedMs, perMinuteMax: limits.reapPerMinuteMax };
    const options = { tickMs: timing.tickMs, members: [...voters, ...observers], reaper };
    this.#desk = new LeaderDesk(options, this.#entry().state, host, now);
    return this.#desk;
  }

  /** From the desk to a member: this one, or one over its link. */
  #reply(sid: Sid, message: RequestMessage): void {
    if (sid === this.#config.sid) {
      if (message.kind === 'syncReply' || message.kind === 'revalidated' || message.kind === 'sessionMoved') {
        this.#entry().fromLeader(message);
      }
      return;
    }
    this.toLearner(sid, message);
  }
}
