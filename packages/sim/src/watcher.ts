/**
 * Somebody who watches the whole tree at one member, over all its runs, always going on from where he was. He takes every piece
 * before the next event of the member, may read everything, and makes no plans of his own: neither time nor chance is different because of him.
 */
import type { PeerAction, PeerEvent } from '@quorate/core';
import { type WatchPiece, ZERO_ZXID, type Zxid } from '@quorate/protocol';

/** What came of an action. */
export interface WatcherNews {
  /** Number of the watch in the run. */
  readonly feed: number;
  /** Where it was begun from; undefined: from its state. */
  readonly from: Zxid | undefined;
  readonly piece: WatchPiece;
}

export class Watcher {
  /** Every change up to here was told; undefined while the state is told, or nothing was. */
  #told: Zxid | undefined;
  #from: Zxid | undefined;
  #feed = 0;
  #isOpen = false;
  #hasPiece = false;

  /** The member begins a run. */
  started(): void {
    this.#feed = 0;
    this.#isOpen = false;
    this.#hasPiece = false;
  }

  /** What he says before an event of the member. A watch that was refused is tried again at the next tick. */
  before(event: PeerEvent): PeerEvent | undefined {
    if (this.#hasPiece) {
      this.#hasPiece = false;
      return { kind: 'feedTaken', feed: this.#feed };
    }
    if (this.#isOpen || event.kind !== 'tick') return undefined;
    this.#isOpen = true;
    this.#from = this.#told;
    const spec = { path: '/', recursive: true, withValues: true, from: this.#from, initial: true };
    return { kind: 'feedOpened', feed: ++this.#feed, spec, identities: [{ scheme: 'super', id: '' }] };
  }

  /** Takes an action that is meant for him. */
  take(action: Extract<PeerAction, { kind: 'feedPiece' | 'feedEnded' }>): WatcherNews | undefined {
    if (action.kind === 'feedEnded') {
      this.#isOpen = false;
      this.#hasPiece = false;
      return undefined;
    }
    const { feed, piece } = action;
    this.#hasPiece = true;
    if (piece.events.some(({ kind }) => kind === 'gap')) this.#told = undefined;
    if (piece.zxid !== ZERO_ZXID) this.#told = piece.zxid;
    return { feed, from: this.#from, piece };
  }
}
