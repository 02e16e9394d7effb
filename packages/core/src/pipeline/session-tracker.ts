/**
 * Which sessions the leader still believes alive, and which member each is attached to. Decides by monotonic time alone;
 * it ends nothing itself (`leader-desk.ts` proposes the txn). Source: ZooKeeper `ExpiryQueue`, reference §7.4 and §7.5.
 */
import { assert, formatSessionId, type SessionId, type Sid } from '@quorate/protocol';
import type { Timing } from '../peer/config.ts';

/** The timeout handed out for a requested one (reference §7.1, case C026). Anything that is no number counts as too short. */
export function negotiateTimeout(requestedMs: number, timing: Timing): number {
  const { sessionTimeoutMinMs, sessionTimeoutMaxMs } = timing;
  if (!(requestedMs > sessionTimeoutMinMs)) return sessionTimeoutMinMs;
  return Math.min(Math.ceil(requestedMs), sessionTimeoutMaxMs);
}

/** What the leader knows of a session's client. */
export interface SessionStanding {
  /** Member it is attached to; undefined until one is known. */
  readonly owner: Sid | undefined;
  /** It ends after this at the latest when nothing is heard, ms. */
  readonly expiresInMs: number;
}

interface Tracked {
  readonly timeoutMs: number;
  /** Member it is attached to; undefined until one is known to this leader. */
  owner: Sid | undefined;
  /** End of the bucket it waits in, on the tracker's own clock. */
  bucketMs: number;
}

/** One leadership's view. A new leader starts a new one, so that every session gets a full timeout from it (case C017). */
export class SessionTracker {
  readonly #bucketWidthMs: number;
  readonly #sessions = new Map<SessionId, Tracked>();
  readonly #buckets = new Map<number, Set<SessionId>>();
  /** First bucket that has not been emptied. */
  #nextBucketMs: number;
  /** Follows monotonic time, but never faster than half a bucket a step: see `follow`. */
  #clockMs = 0;
  #lastNowMs: number;

  constructor(bucketWidthMs: number, nowMs: number) {
    assert(bucketWidthMs > 0, () => `Bad width of an expiry bucket: ${bucketWidthMs} ms`);
    this.#bucketWidthMs = bucketWidthMs;
    this.#nextBucketMs = bucketWidthMs;
    this.#lastNowMs = nowMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Begins to track; the session has its full timeout from now. */
  add(id: SessionId, timeoutMs: number, owner: Sid | undefined): void {
    assert(!this.#sessions.has(id), () => `P9: session ${formatSessionId(id)} is tracked twice`);
    const tracked = { timeoutMs, owner, bucketMs: this.#bucketOf(timeoutMs) };
    this.#sessions.set(id, tracked);
    this.#enter(id, tracked.bucketMs);
  }

  /** It was heard from. Unknown sessions are not an error: they may have ended while the word was on its way. */
  touch(id: SessionId): void {
    const tracked = this.#sessions.get(id);
    if (tracked === undefined) return;
    const bucketMs = this.#bucketOf(tracked.timeoutMs);
    if (bucketMs === tracked.bucketMs) return;
    this.#leave(id, tracked.bucketMs);
    tracked.bucketMs = bucketMs;
    this.#enter(id, bucketMs);
  }

  owner(id: SessionId): Sid | undefined {
    return this.#sessions.get(id)?.owner;
  }

  /** Undefined when it is not tracked. */
  standing(id: SessionId): SessionStanding | undefined {
    const tracked = this.#sessions.get(id);
    if (tracked === undefined) return undefined;
    return { owner: tracked.owner, expiresInMs: Math.max(0, Math.ceil(tracked.bucketMs - this.#clockMs)) };
  }

  setOwner(id: SessionId, owner: Sid): void {
    const tracked = this.#sessions.get(id);
    if (tracked !== undefined) tracked.owner = owner;
  }

  /** Its end is proposed: no longer tracked. */
  remove(id: SessionId): void {
    const tracked = this.#sessions.get(id);
    if (tracked === undefined) return;
    this.#sessions.delete(id);
    this.#leave(id, tracked.bucketMs);
  }

  /**
   * Moves the clock, by at most half a bucket: a leader that stood still, and so heard nobody, gives the time in which it
   * did not listen back to its sessions. Before `touch` and `add`, which count from where the clock is.
   */
  follow(nowMs: number): void {
    const elapsed = Math.max(0, nowMs - this.#lastNowMs);
    this.#lastNowMs = Math.max(nowMs, this.#lastNowMs);
    this.#clockMs += Math.min(elapsed, this.#bucketWidthMs / 2);
  }

  /**
   * Follows the time and returns at most `max` sessions whose time is up, which are no longer tracked. Those beyond `max`
   * stay, and can still be touched. Effective expiry is between timeout and timeout + one bucket after the last touch.
   */
  advance(nowMs: number, max: number): SessionId[] {
    this.follow(nowMs);
    const expired: SessionId[] = [];
    while (this.#nextBucketMs <= this.#clockMs && expired.length < max) {
      for (const id of this.#buckets.get(this.#nextBucketMs) ?? []) {
        if (expired.length === max) return expired;
        expired.push(id);
        this.remove(id);
      }
      this.#nextBucketMs += this.#bucketWidthMs;
    }
    return expired;
  }

  #bucketOf(timeoutMs: number): number {
    const width = this.#bucketWidthMs;
    return (Math.floor((this.#clockMs + timeoutMs) / width) + 1) * width;
  }

  #enter(id: SessionId, bucketMs: number): void {
    const bucket = this.#buckets.get(bucketMs);
    if (bucket === undefined) this.#buckets.set(bucketMs, new Set([id]));
    else bucket.add(id);
  }

  #leave(id: SessionId, bucketMs: number): void {
    const bucket = this.#buckets.get(bucketMs);
    if (bucket?.delete(id) === true && bucket.size === 0) this.#buckets.delete(bucketMs);
  }
}
