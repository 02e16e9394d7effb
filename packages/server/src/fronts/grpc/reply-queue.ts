/**
 * The calls of one session stream in order, and their replies as frames. A reply leaves in its place: never before that
 * of an earlier call. It ends where the member does not go on: the calls from there on get none. Replies stay as they are (views of the tree, no copy) until there is room to write them, so that a
 * client which does not read costs references, not memory.
 */
import {
  ByteWriter,
  FRAME_ITEMS_MAX,
  type Notification,
  type Op,
  type OpFailure,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import {
  type CallFault,
  type StreamAnswer,
  type StreamOp,
  writeNotification,
  writeReply,
} from '@quorate/protocol/frames';
import type { Caller } from '../../calls.ts';
import { ToldLine } from '../told-line.ts';
import { type SizedAnswer, sized } from './reply-size.ts';

/** A frame is closed when it is this long, bytes: several such may leave in one turn. */
const FRAME_BYTES = 256 * 1024;

/** Notifications in one frame; each has a path of up to 65,535 bytes. */
const NOTIFICATIONS_A_FRAME = 48;

interface Slot extends Caller {
  readonly xid: number;
  readonly op: StreamOp['kind'];
  /** `zxid` undefined: that of the reply before it. */
  answered: { readonly zxid: Zxid | undefined; readonly result: StreamAnswer['result'] } | undefined;
  /** Made when its turn comes first, for it takes time with what it lists. */
  sized: SizedAnswer<StreamAnswer> | undefined;
}

export class ReplyQueue {
  readonly #onAnswer: () => void;
  /** Calls in order from `#head` on; what is before it is done. */
  #slots: (Slot | undefined)[] = [];
  #head = 0;
  readonly #told = new ToldLine<Slot>();
  /** The zxids of replies never fall on a stream. */
  #lastZxid = ZERO_ZXID;

  /** `onAnswer` is called when the reply to the oldest call is there. */
  constructor(onAnswer: () => void) {
    this.#onAnswer = onAnswer;
  }

  /** Calls whose replies have not left. */
  get size(): number {
    return this.#slots.length - this.#head;
  }

  /** About what waits of notifications, bytes. */
  get toldBytes(): number {
    return this.#told.bytes;
  }

  get hasReply(): boolean {
    return this.#slots[this.#head]?.answered !== undefined && this.farewell === undefined;
  }

  /** The oldest call is one that this member does not take any more. It gets no reply, nor does any after it. */
  get farewell(): OpFailure | undefined {
    const result = this.#slots[this.#head]?.answered?.result;
    return result?.kind === 'error' && result.goElsewhere === true ? result : undefined;
  }

  /** A place for the call: the core's answer goes to what is returned. */
  add(xid: number, op: Op['kind']): Caller {
    const slot: Slot = {
      xid,
      op,
      answered: undefined,
      sized: undefined,
      answer: (answer) => {
        slot.answered = answer;
        if (this.#slots[this.#head] === slot) this.#onAnswer();
      },
    };
    this.#push(slot);
    return slot;
  }

  /** A call that cannot be carried out: it is answered in its place. */
  addFault(xid: number, { code, message }: CallFault): void {
    this.addOwn(xid, 'sync', { kind: 'error', code, path: undefined, message });
  }

  /** A call that the stream itself has answered: the reply leaves in its place. */
  addOwn(xid: number, op: StreamOp['kind'], result: StreamAnswer['result']): void {
    this.#push({ xid, op, answered: { zxid: undefined, result }, sized: undefined, answer: () => undefined });
    if (this.size === 1) this.#onAnswer();
  }

  /** What watches are told: behind the replies that are there, before those that are not. */
  notify(notifications: readonly Notification[]): void {
    let at = this.#head;
    while (this.#slots[at]?.answered !== undefined) at++;
    this.#told.add(this.#slots[at], notifications);
  }

  /** The next replies, or notifications, as a frame of a good size; undefined when none is there. */
  nextFrame(): ByteWriter | undefined {
    if (this.#told.has(this.#slots[this.#head])) return this.#toldFrame();
    if (!this.hasReply) return undefined;
    const writer = new ByteWriter(1024);
    for (let items = 0; items < FRAME_ITEMS_MAX; items++) {
      const slot = this.#slots[this.#head];
      if (slot?.answered === undefined || this.farewell !== undefined || this.#told.has(slot)) break;
      const { zxid, result } = slot.answered;
      slot.sized ??= sized({ zxid: zxid ?? this.#lastZxid, result });
      const { answer, bytes } = slot.sized;
      if (items > 0 && writer.length + bytes > FRAME_BYTES) break;
      writeReply(writer, slot.xid, slot.op, answer);
      this.#lastZxid = answer.zxid;
      this.#slots[this.#head++] = undefined;
    }
    this.#compact();
    return writer;
  }

  #toldFrame(): ByteWriter {
    const writer = new ByteWriter(256);
    for (const one of this.#told.take(this.#slots[this.#head], NOTIFICATIONS_A_FRAME)) writeNotification(writer, one);
    return writer;
  }

  #push(slot: Slot): void {
    this.#slots.push(slot);
    this.#told.slotAdded(slot);
  }

  #compact(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#slots.length) {
      if (this.#head !== this.#slots.length) return;
    }
    this.#slots = this.#slots.slice(this.#head);
    this.#head = 0;
  }
}
