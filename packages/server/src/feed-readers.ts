/**
 * Who reads the watches that can be resumed, by the number that the core knows each by. Numbers rise and are never used again
 * in a process. Bounded by the core, which refuses watches past its limit.
 */
import type { ErrorCode, WatchPiece } from '@quorate/protocol';

/** Why a watch is over. */
export interface FeedEnd {
  readonly code: ErrorCode;
  readonly path: string | undefined;
  readonly message: string;
}

export interface FeedReader {
  /** Take the piece, and post `feedTaken` when there is room for another. */
  piece(piece: WatchPiece): void;
  /** Nothing comes after this. */
  ended(end: FeedEnd): void;
}

export class FeedReaders {
  readonly #readers = new Map<number, FeedReader>();
  #last = 0;

  get size(): number {
    return this.#readers.size;
  }

  /** The number for a new watch. */
  add(reader: FeedReader): number {
    this.#readers.set(++this.#last, reader);
    return this.#last;
  }

  /** The reader has gone. False when it had been told that its watch is over. */
  forget(feed: number): boolean {
    return this.#readers.delete(feed);
  }

  /** False when nobody reads it any more. */
  piece(feed: number, piece: WatchPiece): boolean {
    const reader = this.#readers.get(feed);
    reader?.piece(piece);
    return reader !== undefined;
  }

  ended(feed: number, end: FeedEnd): void {
    const reader = this.#readers.get(feed);
    this.#readers.delete(feed);
    reader?.ended(end);
  }

  /** Tells every reader that its watch is over. */
  endAll(code: ErrorCode, message: string): void {
    for (const feed of [...this.#readers.keys()]) this.ended(feed, { code, path: undefined, message });
  }
}
