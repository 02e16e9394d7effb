/**
 * One connection between two members, once both have said hello: frames out and in. It gathers what is sent in a turn
 * into one frame, and while a write is on its way it gathers on. Knows nothing of who dialled, or what messages mean.
 *
 * Policy when full: past `queueBytesMax` the link is closed, so that the member on the other side synchronizes anew.
 */
import type { PeerMessage } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import { decodeFrame } from './decode.ts';
import { encodeMessage } from './encode.ts';
import { PIECE_BYTES, splitMessage } from './split.ts';

/** Bytes of gathered messages in one frame, about: it is read in one go. A single message may be longer. */
const FRAME_BYTES = 128 * 1024;

/** The stream of gRPC under a link: the same on both sides for what is needed of it. */
export interface LinkStream {
  write(frame: Buffer, written: (error?: Error | null) => void): void;
  /** Stops to read frames. The flow control of HTTP/2 stops the other side before much waits here. */
  pause(): void;
  resume(): void;
  /** Ends it at once; what was not sent is lost. */
  destroy(): void;
}

export interface LinkEvents {
  message(link: Link, message: PeerMessage): void;
  /** The link is over. Comes once. */
  closed(link: Link, reason: string): void;
}

export class Link {
  readonly sid: Sid;
  /** Rises with every link of this run. */
  readonly number: number;
  readonly #stream: LinkStream;
  readonly #events: LinkEvents;
  readonly #queueBytesMax: number;
  /** Encoded messages not yet written. */
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  /** Bytes of the write that is on its way; 0 for none. */
  #writingBytes = 0;
  #isClosed = false;
  #onDrain: (() => void) | undefined;

  constructor(
    about: { readonly sid: Sid; readonly number: number; readonly queueBytesMax: number },
    stream: LinkStream,
    events: LinkEvents,
  ) {
    this.sid = about.sid;
    this.number = about.number;
    this.#queueBytesMax = about.queueBytesMax;
    this.#stream = stream;
    this.#events = events;
  }

  /** Bytes that wait here for the network. */
  get queuedBytes(): number {
    return this.#gatheredBytes + this.#writingBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Adds encoded messages (`encodePieces`) to what the next flush writes. */
  send(pieces: readonly Uint8Array[]): void {
    if (this.#isClosed) return;
    for (const piece of pieces) {
      this.#gathered.push(piece);
      this.#gatheredBytes += piece.length;
    }
    if (this.queuedBytes > this.#queueBytesMax) {
      this.close(`${this.queuedBytes} bytes wait to be sent, more than ${this.#queueBytesMax}`);
    }
  }

  /** Writes what was gathered, unless a write is on its way: then it follows that one. */
  flush(): void {
    if (this.#writingBytes > 0 || this.#gathered.length === 0 || this.#isClosed) return;
    const frame = this.#takeFrame();
    this.#writingBytes = frame.length;
    this.#stream.write(frame, (error) => {
      this.#writingBytes = 0;
      if (error) {
        this.close(`write failed: ${error.message}`);
        return;
      }
      this.flush();
      if (this.queuedBytes <= PIECE_BYTES) this.#drained();
    });
  }

  /** Calls back once, when little is waiting: for a sender that would fill the queue. Also when the link closes. */
  onceDrained(callback: () => void): void {
    if (this.#isClosed || this.queuedBytes <= PIECE_BYTES) queueMicrotask(callback);
    else this.#onDrain = callback;
  }

  /** Takes a frame from the other side. Bytes that are not one close the link. */
  receive(frame: Uint8Array): void {
    if (this.#isClosed) return;
    let messages: readonly PeerMessage[];
    try {
      messages = decodeFrame(frame).messages;
    } catch (error) {
      this.close(`bad frame: ${(error as Error).message}`);
      return;
    }
    for (const message of messages) this.#events.message(this, message);
  }

  /** Stops to read from the other side, or goes on. Its end is not seen while it is held, a broken connection is. */
  hold(isHeld: boolean): void {
    if (this.#isClosed) return;
    if (isHeld) this.#stream.pause();
    else this.#stream.resume();
  }

  /** Ends the link. Idempotent. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#stream.destroy();
    this.#events.closed(this, reason);
    this.#drained();
  }

  #drained(): void {
    const callback = this.#onDrain;
    this.#onDrain = undefined;
    callback?.();
  }

  /** As many messages as make a frame of a good size, at least one. */
  #takeFrame(): Buffer {
    const gathered = this.#gathered;
    let count = 0;
    let bytes = 0;
    while (count < gathered.length && (count === 0 || bytes < FRAME_BYTES)) bytes += gathered[count++]?.length ?? 0;
    const taken = count === gathered.length ? gathered : gathered.slice(0, count);
    this.#gathered = count === gathered.length ? [] : gathered.slice(count);
    this.#gatheredBytes -= bytes;
    const only = taken.length === 1 ? taken[0] : undefined;
    return only === undefined ? Buffer.concat(taken, bytes) : Buffer.from(only.buffer, only.byteOffset, only.length);
  }
}

/** A message as the frames' fields: cut where it is too long for one. Made once for all who get the same message. */
export function encodePieces(message: PeerMessage): readonly Uint8Array[] {
  return splitMessage(message).map(encodeMessage);
}
