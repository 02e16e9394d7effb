/**
 * What waits for the driver's turns, in order. Everything that comes from clients is bounded by their connections; what
 * another member sends is not, and the large parts of a snapshot or a history can come quicker than they are taken: a link with
 * too many of them waiting is not read until most are taken, so that they wait on the other side.
 */
import type { PeerEvent } from '@quorate/core';
import type { Links } from './peers/links.ts';

/** Large messages of one link that may wait. What was read already comes all the same: a frame's worth. */
const LARGE_MAX = 4;

export class Intake {
  readonly #links: Pick<Links, 'hold'>;
  #events: PeerEvent[] = [];
  /** Those before it were taken. */
  #at = 0;
  /** By link: how many large messages wait. */
  readonly #large = new Map<number, number>();

  constructor(links: Pick<Links, 'hold'>) {
    this.#links = links;
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
    if (waiting === LARGE_MAX) this.#links.hold(sid, link, true);
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

  #took({ sid, link }: LargeEvent): void {
    const waiting = (this.#large.get(link) ?? 0) - 1;
    if (waiting > 0) this.#large.set(link, waiting);
    else {
      this.#large.delete(link);
      // Also when it was not held; it may be gone.
      this.#links.hold(sid, link, false);
    }
  }
}

type LargeEvent = Extract<PeerEvent, { kind: 'peerMessage' }>;

function isLarge(event: PeerEvent): event is LargeEvent {
  return event.kind === 'peerMessage' && (event.message.kind === 'stateChunk' || event.message.kind === 'diff');
}
