/**
 * Calls that the core has not answered yet, by number: who waits for each. Numbers rise and are never used again in a
 * run. Bounded by those who call: a stream stops reading, a connection has a limit of streams.
 */
import type { PeerAction } from '@quorate/core';
import type { Answer, Sid } from '@quorate/protocol';

export type SessionReady = Extract<PeerAction, { kind: 'sessionReady' }>;

/** Whoever waits for the core. Each call is answered once, by one of them. */
export interface Caller {
  answer(answer: Answer): void;
  /** A session was opened or attached. Only calls that asked for one get this. */
  sessionReady?(ready: SessionReady): void;
  /** A session without a stream is alive. Only a keepAlive gets this. */
  sessionAlive?(timeoutMs: number): void;
  /** Leadership went to that member. Only a moveLeader gets this. */
  leaderMoved?(leader: Sid): void;
}

export class Calls {
  readonly #waiting = new Map<number, Caller>();
  #last = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** The number for a new call. */
  add(caller: Caller): number {
    this.#waiting.set(++this.#last, caller);
    return this.#last;
  }

  /** The caller has gone: the answer is dropped when it comes. */
  forget(callId: number): void {
    this.#waiting.delete(callId);
  }

  answer(callId: number, answer: Answer): void {
    this.#take(callId)?.answer(answer);
  }

  sessionReady(callId: number, ready: SessionReady): void {
    this.#take(callId)?.sessionReady?.(ready);
  }

  sessionAlive(callId: number, timeoutMs: number): void {
    this.#take(callId)?.sessionAlive?.(timeoutMs);
  }

  leaderMoved(callId: number, leader: Sid): void {
    this.#take(callId)?.leaderMoved?.(leader);
  }

  #take(callId: number): Caller | undefined {
    const caller = this.#waiting.get(callId);
    this.#waiting.delete(callId);
    return caller;
  }
}
