/**
 * What a leader knows: the epoch it leads or means to lead, and how far each learner has come.
 * The phases (discovery, synchronization, broadcast) are functions over this state, in files of their own.
 */
import { assert, type Epoch, type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { ZabContext } from './context.ts';
import type { HandOver } from './hand-over.ts';
import type { Vote } from './messages.ts';

/**
 * How far a learner's conversation has come. Each stage may only follow the one before it.
 *
 * informed: its followerInfo came · promised: it was told the epoch · acked: it accepted the epoch · streaming: a snapshot is
 * on its way · catchingUp: a portion of the history is on its way, more is to follow · synchronizing: all history was sent,
 * ackNewLeader is awaited · active: it follows
 */
export type LearnerStage = 'informed' | 'promised' | 'acked' | 'streaming' | 'catchingUp' | 'synchronizing' | 'active';

/** Sending times of pings are remembered this exactly, ms, and so many of them. */
const PING_MARK_MS = 50;
const PING_MARKS_MAX = 256;

export interface Learner {
  readonly sid: Sid;
  readonly link: number;
  /** A voter that holds its right. A learner that lost its disk gains it in the conversation. */
  votes: boolean;
  readonly acceptedEpoch: Epoch;
  stage: LearnerStage;
  /** Last zxid of its log when it accepted the epoch. */
  lastZxid: Zxid;
  /** End of the history that it was synchronized with. */
  newLeaderZxid: Zxid;
  /** Everything up to here was sent to it. */
  sent: Zxid;
  /** The commit point it was told last. */
  toldCommitted: Zxid;
  /** Everything up to here is on its disk. */
  acked: Zxid;
  /** The last ping it answered. */
  pong: number;
  heardMs: number;
  /** When the epoch was told to it. */
  toldMs: number;
  /** It accepted the epoch, counted. */
  hasPromised: boolean;
  /**
   * When this member sent the last question that it has answered. What it says is not older: a message may have lain in a
   * buffer while this member stood still, and its sender may be gone since.
   */
  answeredMs: number;
  /** Its claim to have its vote back: the ping that a quorum has to answer first. */
  claim: 'none' | number | 'granted';
  /** Number of the snapshot stream under way to it. */
  stream: number | undefined;
  /** The portion of history under way to it: what follows is held under `pin` until it has answered this ping. */
  portion: { readonly ping: number; readonly pin: number } | undefined;
}

export class Leadership {
  readonly learners = new Map<Sid, Learner>();
  readonly startedMs: number;
  /** This member's history as it was when it was elected: what a quorum must not be ahead of. */
  readonly summary: { readonly currentEpoch: Epoch; readonly lastZxid: Zxid };
  /** Undefined until a quorum has connected. */
  epoch: Epoch | undefined;
  /** The epoch is accepted on this member's own disk. */
  hasPromised = false;
  /** The whole history and then the epoch are on this member's own disk. */
  hasAdopted = false;
  isSynchronizing = false;
  isEstablished = false;
  /** When a quorum of voters was known to be there last. */
  quorumMs: number;
  pingSeq = 0;
  /** When pings were sent, oldest first; of several in quick succession the first. */
  readonly #pings: { readonly seq: number; readonly ms: number }[] = [];
  pingedMs: number;
  /** A ping is to be sent at the end of this turn, for a confirmation that was asked for. */
  pingDue = false;
  confirmed = 0;
  /** Proposals are held, because another member is to take over. */
  handOver: HandOver | undefined;
  /** Set when this member has given this leadership up; completions of its disk work are then ignored. */
  isOver = false;
  /** It was said that this epoch is nearly used up. */
  isEndTold = false;

  constructor(context: ZabContext) {
    this.startedMs = context.nowMs;
    this.pingedMs = context.nowMs;
    this.quorumMs = context.nowMs;
    this.summary = { currentEpoch: context.currentEpoch, lastZxid: context.history.last };
  }

  get establishedEpoch(): Epoch {
    const epoch = this.epoch;
    assert(epoch !== undefined, () => 'The epoch of this leadership is not decided yet');
    return epoch;
  }

  add(sid: Sid, link: number, votes: boolean, acceptedEpoch: Epoch, nowMs: number): Learner {
    const learner: Learner = {
      sid,
      link,
      votes,
      acceptedEpoch,
      stage: 'informed',
      lastZxid: ZERO_ZXID,
      newLeaderZxid: ZERO_ZXID,
      sent: ZERO_ZXID,
      toldCommitted: ZERO_ZXID,
      acked: ZERO_ZXID,
      pong: 0,
      heardMs: nowMs,
      toldMs: nowMs,
      hasPromised: false,
      answeredMs: Number.NEGATIVE_INFINITY,
      claim: 'none',
      stream: undefined,
      portion: undefined,
    };
    this.learners.set(sid, learner);
    return learner;
  }

  /** Numbers a ping that is sent now. */
  nextPing(nowMs: number): number {
    const seq = ++this.pingSeq;
    const last = this.#pings.at(-1);
    if (last === undefined || nowMs - last.ms >= PING_MARK_MS) this.#pings.push({ seq, ms: nowMs });
    if (this.#pings.length > PING_MARKS_MAX) this.#pings.shift();
    return seq;
  }

  /** When ping `seq` was sent, or a little earlier; undefined when that was too long ago. */
  pingSentMs(seq: number): number | undefined {
    return this.#pings.findLast((ping) => ping.seq <= seq)?.ms;
  }

  /** The learner whose snapshot has this stream number. */
  byStream(stream: number): Learner | undefined {
    for (const learner of this.learners.values()) if (learner.stream === stream) return learner;
    return undefined;
  }
}

/**
 * The learner of that sid when its word counts now: a voter that holds its right, in its present conversation, and not
 * silent for longer than `wordBoundMs`. Looked at whenever something is counted: ticks may come late.
 */
export function countedLearner(context: ZabContext, leadership: Leadership, sid: Sid): Learner | undefined {
  const learner = leadership.learners.get(sid);
  if (learner === undefined || !learner.votes) return undefined;
  return context.nowMs - learner.answeredMs <= context.wordBoundMs ? learner : undefined;
}

/** How a leader presents itself in an election that others hold. */
export function leaderVote(context: ZabContext, leadership: Leadership): Vote {
  return {
    leader: context.config.sid,
    peerEpoch: leadership.isEstablished ? leadership.establishedEpoch : leadership.summary.currentEpoch,
    zxid: leadership.summary.lastZxid,
  };
}

/** Ends a learner's conversation. With a reason the link is closed too, so that nothing of it is still in flight. */
export function dropLearner(context: ZabContext, leadership: Leadership, learner: Learner, reason?: string): void {
  if (leadership.learners.get(learner.sid) !== learner) return;
  leadership.learners.delete(learner.sid);
  if (learner.stream !== undefined) {
    context.history.unpin(learner.stream);
    context.host.closeState(learner.stream);
  }
  if (learner.portion !== undefined) context.history.unpin(learner.portion.pin);
  if (reason === undefined) return;
  context.host.trace('learnerDropped', { learner: learner.sid, reason });
  context.closeLink(learner.sid, learner.link, reason);
}
