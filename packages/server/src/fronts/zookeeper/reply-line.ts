/**
 * The requests of one connection that have no reply yet, in order, and their replies as frames. A reply leaves in its place, never
 * before that of an earlier request: clients match them by their order (C166). Replies stay as they are (views of the tree, no copy)
 * until there is room to write them.
 */
import {
  type Answer,
  type ByteWriter,
  type ErrorCode,
  type Notification,
  type OpFailure,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { wireErrorOf, writeNotificationFrame, writeReplyHeader } from '@quorate/protocol/jute';
import type { Caller } from '../../calls.ts';
import { ToldLine } from '../told-line.ts';

/** Writes what follows the header. Not called for a result that is an error, unless it `takesErrors`. */
export interface ReplyBody {
  write(writer: ByteWriter, result: Answer['result']): void;
  /** The header has no error whatever came of it; the body says so. */
  readonly takesErrors?: (failure: OpFailure) => boolean;
  /** A client of this wire does not look at an error of it: the connection ends instead. */
  readonly endsOnError?: boolean;
}

export const NO_BODY: ReplyBody = { write: () => undefined };

/** A reply that the connection makes itself: `zxid` undefined for that of the reply before it, or later. */
export interface OwnReply {
  readonly zxid: bigint | undefined;
  readonly error: number;
  readonly body: ReplyBody;
}

interface Slot extends Caller {
  readonly xid: number;
  readonly body: ReplyBody;
  answered: Answer | undefined;
  own: OwnReply | undefined;
  /** Monotonic ms. */
  readonly sinceMs: number;
}

const LENGTH_BYTES = 4;

/** Nothing to show for the body of a reply that a connection makes itself. */
const NOTHING: Answer['result'] = { kind: 'delete' };

export class ReplyLine {
  readonly #onReply: () => void;
  readonly #appliedZxid: () => Zxid;
  readonly #replied: (ms: number) => void;
  /** In order from `#head` on; what is before it is done. */
  #slots: (Slot | undefined)[] = [];
  #head = 0;
  readonly #told = new ToldLine<Slot>();
  /** The zxids of replies never fall on a connection. */
  #lastZxid = ZERO_ZXID;

  /** `onReply` is called when the reply to the oldest request is there; `replied` as each is written, with its age in ms. */
  constructor(onReply: () => void, appliedZxid: () => Zxid, replied: (ms: number) => void) {
    this.#onReply = onReply;
    this.#replied = replied;
    this.#appliedZxid = appliedZxid;
  }

  /** Requests whose replies have not left. */
  get size(): number {
    return this.#slots.length - this.#head;
  }

  /** A place for a request that the core answers: the answer goes to what is returned. */
  add(xid: number, body: ReplyBody): Caller {
    const slot: Slot = {
      xid,
      body,
      answered: undefined,
      own: undefined,
      sinceMs: performance.now(),
      answer: (answer) => {
        slot.answered = answer;
        if (this.#slots[this.#head] === slot) this.#onReply();
      },
    };
    this.#push(slot);
    return slot;
  }

  /** A request that is answered without the core, in its place. */
  addOwn(xid: number, own: OwnReply): void {
    const sinceMs = performance.now();
    this.#push({ xid, body: own.body, answered: undefined, own, sinceMs, answer: () => undefined });
    if (this.size === 1) this.#onReply();
  }

  /** Why the connection has to end before the oldest request: it gets no reply, nor does any after it. */
  get farewell(): OpFailure | undefined {
    const slot = this.#slots[this.#head];
    const result = slot?.answered?.result;
    if (result?.kind !== 'error') return undefined;
    return slot?.body.endsOnError === true || isLoss(result) ? result : undefined;
  }

  /** About what waits of notifications, bytes. */
  get toldBytes(): number {
    return this.#told.bytes;
  }

  /** What watches are told: behind the replies that are there, before those that are not. */
  notify(notifications: readonly Notification[]): void {
    let at = this.#head;
    while (isThere(this.#slots[at])) at++;
    this.#told.add(this.#slots[at], notifications);
  }

  /** Writes the next reply, or notification, as a frame. False when it is not there. */
  writeNext(writer: ByteWriter): boolean {
    const slot = this.#slots[this.#head];
    const [told] = this.#told.take(slot, 1);
    if (told !== undefined) {
      writeNotificationFrame(writer, told);
      return true;
    }
    if (slot === undefined || !isThere(slot)) return false;
    if (this.farewell !== undefined) return false;
    const start = writer.length;
    writer.u32(0);
    if (slot.own !== undefined) this.#writeOwn(writer, slot.xid, slot.own);
    else if (slot.answered !== undefined) this.#writeAnswer(writer, slot, slot.answered);
    writer.u32At(start, writer.length - start - LENGTH_BYTES);
    this.#slots[this.#head++] = undefined;
    this.#compact();
    this.#replied(performance.now() - slot.sinceMs);
    return true;
  }

  #push(slot: Slot): void {
    this.#slots.push(slot);
    this.#told.slotAdded(slot);
  }

  #writeOwn(writer: ByteWriter, xid: number, { zxid, error, body }: OwnReply): void {
    if (zxid === undefined) this.#raise(this.#appliedZxid());
    writeReplyHeader(writer, { xid, zxid: zxid ?? this.#lastZxid, error });
    body.write(writer, NOTHING);
  }

  #writeAnswer(writer: ByteWriter, { xid, body }: Slot, { zxid, result }: Answer): void {
    this.#raise(zxid);
    const isError = result.kind === 'error' && body.takesErrors?.(result) !== true;
    const error = isError ? wireErrorOf(result.code) : 0;
    writeReplyHeader(writer, { xid, zxid: this.#lastZxid, error });
    if (!isError) body.write(writer, result);
  }

  #raise(zxid: Zxid): void {
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
  }

  #compact(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#slots.length) {
      if (this.#head !== this.#slots.length) return;
    }
    this.#slots = this.#slots.slice(this.#head);
    this.#head = 0;
  }
}

function isThere(slot: Slot | undefined): boolean {
  return slot !== undefined && (slot.answered !== undefined || slot.own !== undefined);
}

/**
 * Failures that this wire has no word for: the client is to take them for a lost connection, which it is, and to go on at another
 * member. What became of a write is then as open as it is after any loss.
 */
const LOSSES: ReadonlySet<ErrorCode> = new Set([
  'SESSION_MOVED',
  'SESSION_EXPIRED',
  'UNAVAILABLE',
  'OUTCOME_UNKNOWN',
  'DEADLINE_EXCEEDED',
  'SERVER_BEHIND',
  'INTERNAL',
]);

function isLoss({ code, goElsewhere }: OpFailure): boolean {
  // What has no number of its own would be taken for a success.
  return goElsewhere === true || LOSSES.has(code) || wireErrorOf(code) === 0;
}
