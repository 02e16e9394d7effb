/**
 * What waits for the driver's turns, in order. Everything that comes from clients is bounded by their connections; what
 * another member sends is not, and the large parts of a snapshot or a history can come quicker than they are taken: a link with
 * too many of them waiting, or with too much that waits for the disk because of it, is not read, so that the rest waits on
 * the other side.
 */
import type { PeerEvent } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import type { Links } from './peers/links.ts';

/** Large messages of one link that may wait. What was read already comes all the same: a frame's worth. */
const LARGE_MAX = 4;

/** Bytes that may wait for the disk before links with large messages are held; they are let go at half of it. */
const BACKLOG_BYTES_MAX = 8 * 1024 * 1024;

export class Intake {
  readonly #links: Pick<Links, 'hold'>;
  readonly #backlogBytes: () => number;
  #events: PeerEvent[] = [];
  /** Those before it were taken. */
  #at = 0;
  /** By link: how many large messages wait. */
  readonly #large = new Map<number, number>();
  /** Links that are not read, and whose. */
  readonly #held = new Map<number, Sid>();

  /** `backlogBytes`: what waits for the disk. */
  constructor(links: Pick<Links, 'hold'>, backlogBytes: () => number) {
    this.#links = links;
    this.#backlogBytes = backlogBytes;
  }

  get length(): number {
    return this.#events.length - this.#at;
  }

  push(event: PeerEvent): void {
    this.#events.push(event);
    if (!isLarge(event)) return;
    const { sid, link } = event;
    const waiting = (this.#large.get(link) ?? 0) + 1;
    this.#large.set(link, waiting);
    if (waiting >= LARGE_MAX) this.#hold(sid, link);
  }

  /** The next event; undefined when there is none. */
  shift(): PeerEvent | undefined {
    const event = this.#events[this.#at];
    if (event === undefined) return undefined;
    this.#at++;
    if (this.#at === this.#events.length) {
      this.#events = [];
      this.#at = 0;
    }
    if (isLarge(event)) this.#took(event);
    return event;
  }

  /** Leaves only those that `keep` wants. None of a link may be left out. */
  filter(keep: (event: PeerEvent) => boolean): void {
    this.#events = this.#events.slice(this.#at).filter((event) => isLarge(event) || keep(event));
    this.#at = 0;
  }

  clear(): void {
    this.#events = [];
    this.#at = 0;
  }

  /** The disk has done something: links that were held for its sake may be read again. */
  relieve(): void {
    if (this.#held.size === 0 || this.#backlogBytes() > BACKLOG_BYTES_MAX / 2) return;
    for (const [link, sid] of [...this.#held]) if (!this.#large.has(link)) this.#letGo(sid, link);
  }

  #took({ sid, link }: LargeEvent): void {
    const waiting = (this.#large.get(link) ?? 0) - 1;
    if (waiting > 0) this.#large.set(link, waiting);
    else this.#large.delete(link);
    if (this.#backlogBytes() > BACKLOG_BYTES_MAX) this.#hold(sid, link);
    else if (waiting <= 0) this.#letGo(sid, link);
  }

  #hold(sid: Sid, link: number): void {
    if (this.#held.has(link)) return;
    this.#held.set(link, sid);
    this.#links.hold(sid, link, true);
  }

  /** The link may be gone. */
  #letGo(sid: Sid, link: number): void {
    if (this.#held.delete(link)) this.#links.hold(sid, link, false);
  }
}

type LargeEvent = Extract<PeerEvent, { kind: 'peerMessage' }>;

function isLarge(event: PeerEvent): event is LargeEvent {
  return event.kind === 'peerMessage' && (event.message.kind === 'stateChunk' || event.message.kind === 'diff');
}
