/**
 * The calls of a client that have no answer yet: waiting to be sent, or sent. It makes frames of them, matches replies
 * to them, and decides what becomes of each when its time is over, its signal is aborted, or the stream breaks.
 * Knows no sockets and no timers; the connection drives it.
 *
 * A write that may have been carried out is sent again under its number, which makes it happen once (`request-numbers.ts`).
 * A call is settled once. One that is settled while sent stays in line, so that its late reply is matched and dropped
 * without shifting the replies after it.
 */
import {
  ByteWriter,
  FRAME_BYTES_MAX,
  type Guard,
  MULTI_DATA_BYTES_MAX,
  type MultiPart,
  type OpFailure,
  REQUEST_BYTES_MAX,
  utf8Length,
  type Zxid,
} from '@quorate/protocol';
import {
  type FrameReply,
  type StreamOp,
  type StreamResult,
  writeAcknowledged,
  writeCall,
} from '@quorate/protocol/frames';
import { CoordinationError, type ErrorCode, errorOfFailure, type Outcome } from './errors.ts';
import { Fifo } from './fifo.ts';
import { RequestNumbers } from './request-numbers.ts';

export interface CallLimits {
  /** Most calls without an answer. Past it: THROTTLED. */
  readonly callsMax: number;
  /** Most bytes of data in them. Past it: THROTTLED. */
  readonly bytesMax: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = { callsMax: 20_000, bytesMax: 64 * 1024 * 1024 };

/** Calls in one frame at most, and the size at which a frame is full, bytes. */
export const FRAME_CALLS = 64;
export const FRAME_BYTES = 64 * 1024;

/** What the member of the present attachment reads. */
export interface FrameLimits {
  readonly frameBytesMax: number;
  readonly requestBytesMax: number;
}

export interface NewCall {
  readonly op: StreamOp;
  readonly guards?: readonly Guard[] | undefined;
  readonly linearizable: boolean;
  /** Monotonic ms. */
  readonly deadlineMs: number;
  resolve(result: StreamResult, zxid: Zxid): void;
  reject(error: CoordinationError): void;
}

/** A call in line. Handed out so that it can be aborted. */
export interface PendingCall {
  readonly call: Omit<NewCall, 'op'>;
  readonly kind: StreamOp['kind'];
  readonly path: string | undefined;
  readonly isWrite: boolean;
  /** Dropped when the call is settled, for it may hold a lot of data. */
  op: StreamOp | undefined;
  /** Bytes of path and data. */
  readonly bytes: number;
  readonly readBytes: number;
  state: 'waiting' | 'sent' | 'settled';
  xid: number;
  sentMs: number;
  /** Of a write: its number in the session, from its first sending on. */
  request: number;
  /** It was sent, and may have been carried out without our hearing of it. */
  isInDoubt: boolean;
}

/** A call is answered by the member a little before the client gives it up: its word says more. */
const MARGIN_MS_MAX = 100;

export class Calls {
  readonly #limits: CallLimits;
  readonly #waiting = new Fifo<PendingCall>();
  readonly #sent = new Fifo<PendingCall>();
  readonly #numbers = new RequestNumbers();
  /** Writes whose answer left open what became of them: to be sent again soon. */
  #again: PendingCall[] = [];
  #frameLimits: FrameLimits = { frameBytesMax: FRAME_BYTES_MAX, requestBytesMax: REQUEST_BYTES_MAX };
  #nextXid = 1;
  #waitingBytes = 0;
  #bytes = 0;

  constructor(limits: CallLimits = DEFAULT_CALL_LIMITS) {
    this.#limits = limits;
  }

  /** Calls that wait to be sent. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Writes that are to be sent again, when `askAgain` is called. */
  get againCount(): number {
    return this.#again.length;
  }

  /** True when what waits fills a frame. */
  get fillsFrame(): boolean {
    return this.#waiting.length >= FRAME_CALLS || this.#waitingBytes >= FRAME_BYTES;
  }

  /** Puts a call in line. Throws THROTTLED when there are too many. */
  add(call: NewCall): PendingCall {
    const { op } = call;
    const path = 'path' in op ? op.path : undefined;
    const bytes = sizeOf(op);
    if (this.#count >= this.#limits.callsMax || this.#bytes + bytes > this.#limits.bytesMax) {
      const message = `Cannot take another call: ${this.#count} have no answer yet`;
      throw new CoordinationError('THROTTLED', message, { path });
    }
    const pending: PendingCall = {
      call,
      kind: op.kind,
      path,
      isWrite: isWrite(op),
      op,
      bytes,
      readBytes: readBytesOf(op),
      state: 'waiting',
      xid: 0,
      sentMs: 0,
      request: 0,
      isInDoubt: false,
    };
    this.#waiting.push(pending);
    this.#waitingBytes += bytes;
    this.#bytes += bytes;
    return pending;
  }

  /** A new attachment: xids begin at 1. */
  attached(limits: FrameLimits): void {
    this.#frameLimits = limits;
    this.#nextXid = 1;
  }

  /**
   * Makes a frame of the calls that wait, first come first sent, and moves them to those sent.
   * Undefined when none waits. A call that the member would not read fails with INVALID_ARGUMENT.
   */
  nextFrame(nowMs: number): Uint8Array | undefined {
    const writer = new ByteWriter(512);
    const { acknowledged } = this.#numbers;
    let count = 0;
    while (count < FRAME_CALLS && writer.length < FRAME_BYTES) {
      const pending = this.#waiting.peek();
      if (pending === undefined) break;
      if (pending.op !== undefined) {
        if (isNumbered(pending) && !this.#numbers.hasRoomFor(pending)) break;
        const { requestBytesMax, frameBytesMax } = this.#frameLimits;
        // A call never takes more than this beside its data and path.
        const bytesMost = pending.bytes + 64;
        if (count > 0 && writer.length + bytesMost > frameBytesMax) break;
        if (pending.bytes > requestBytesMax || bytesMost > frameBytesMax) {
          const message = `Cannot ${pending.kind} with ${pending.bytes} bytes: the limit is ${requestBytesMax}`;
          this.#fail(pending, 'INVALID_ARGUMENT', message);
        } else {
          this.#send(writer, pending, pending.op, nowMs);
          count++;
        }
      }
      this.#waiting.shift();
      this.#waitingBytes -= pending.bytes;
    }
    if (count === 0) return undefined;
    writeAcknowledged(writer, acknowledged);
    return writer.finish();
  }

  /**
   * Takes the reply to the first call that was sent, and returns when that was sent.
   * Undefined when the reply answers another one: the member breaks the rules.
   */
  reply({ xid, answer }: FrameReply): number | undefined {
    const pending = this.#sent.peek();
    if (pending === undefined || pending.xid !== xid) return undefined;
    const { result, zxid } = answer;
    if (result.kind !== 'error' && result.kind !== pending.kind) return undefined;
    this.#sent.shift();
    if (result.kind === 'error' && isOpen(pending, result)) this.#askLater(pending, result);
    else if (this.#settle(pending)) {
      if (result.kind === 'error') pending.call.reject(this.#errorOf(pending, result));
      else pending.call.resolve(result, zxid);
    }
    return pending.sentMs;
  }

  /** What was answered without a clear word goes back to the head of the line. */
  askAgain(): void {
    const again = this.#again.filter(({ state }) => state !== 'settled');
    this.#again = [];
    this.#putBack(again);
  }

  /**
   * The attachment is gone. What was sent goes back to the head of the line, in order: reads, and writes under their numbers. Except the
   * end of the session, when it may have been carried out. `notApplied`: nothing was.
   */
  detached(reason: string, notApplied: boolean): void {
    const back = this.#again.filter(({ state }) => state !== 'settled');
    this.#again = [];
    for (const pending of this.#sent.takeAll()) {
      if (pending.state !== 'sent') continue;
      if (pending.isWrite && !notApplied && !isNumbered(pending)) {
        const message = `Cannot tell what became of ${pending.kind}: the connection was lost: ${reason}`;
        this.#fail(pending, 'CONNECTION_LOST', message);
      } else {
        if (pending.isWrite && !notApplied) pending.isInDoubt = true;
        back.push(pending);
      }
    }
    this.#putBack(back);
  }

  /** The session is over: fails every call, sent or not. The numbers of writes begin anew. */
  failAll(code: ErrorCode, why: string): void {
    for (const pending of [...this.#again, ...this.#sent.takeAll(), ...this.#waiting.takeAll()]) {
      if (pending.state !== 'settled') this.#fail(pending, code, `Cannot ${pending.kind}: ${why}`);
    }
    this.#waitingBytes = 0;
    this.#again = [];
    this.#numbers.reset();
  }

  /** Fails the calls whose deadline has come. Returns the next deadline, monotonic ms, or undefined when none is left. */
  expire(nowMs: number): number | undefined {
    let next: number | undefined;
    for (const queue of [this.#waiting, this.#sent, this.#again]) {
      for (const pending of queue) {
        if (pending.state === 'settled') continue;
        if (pending.call.deadlineMs <= nowMs) this.#fail(pending, 'TIMEOUT', this.#lateMessage(pending));
        else if (next === undefined || pending.call.deadlineMs < next) next = pending.call.deadlineMs;
      }
    }
    this.#waiting.filter((pending) => pending.state === 'waiting');
    this.#waitingBytes = 0;
    for (const pending of this.#waiting) this.#waitingBytes += pending.bytes;
    return next;
  }

  /** Fails one call because its signal was aborted. */
  abort(pending: PendingCall, reason: unknown): void {
    if (pending.state === 'settled') return;
    const isTimeout = reason instanceof Error && reason.name === 'TimeoutError';
    const message = `${isTimeout ? 'Ran out of time in' : 'Aborted'} ${pending.kind}`;
    this.#fail(pending, isTimeout ? 'TIMEOUT' : 'ABORTED', message, reason);
  }

  #send(writer: ByteWriter, pending: PendingCall, op: StreamOp, nowMs: number): void {
    const { guards, linearizable, deadlineMs } = pending.call;
    const leftMs = Math.max(1, deadlineMs - nowMs);
    const timeoutMs = Math.max(1, Math.floor(leftMs - Math.min(MARGIN_MS_MAX, leftMs / 10)));
    pending.xid = this.#nextXid++;
    pending.sentMs = nowMs;
    pending.state = 'sent';
    if (isNumbered(pending)) this.#numbers.assign(pending);
    writeCall(writer, { xid: pending.xid, timeoutMs, op, guards, linearizable, request: pending.request });
    this.#sent.push(pending);
  }

  /** The answer does not say what became of the write: it is asked for again under its number. */
  #askLater(pending: PendingCall, { code }: OpFailure): void {
    if (code === 'OUTCOME_UNKNOWN') pending.isInDoubt = true;
    pending.state = 'waiting';
    this.#again.push(pending);
  }

  #putBack(calls: readonly PendingCall[]): void {
    for (const pending of calls) {
      pending.state = 'waiting';
      this.#waitingBytes += pending.bytes;
    }
    this.#waiting.unshiftAll(calls);
  }

  get #count(): number {
    return this.#waiting.length + this.#sent.length + this.#again.length;
  }

  #lateMessage({ state, kind, isInDoubt }: PendingCall): string {
    return state === 'sent' || isInDoubt
      ? `Cannot wait longer for the answer to ${kind}: its time is over`
      : `Cannot ${kind} in time: no member could be asked`;
  }

  #errorOf(pending: PendingCall, failure: OpFailure): CoordinationError {
    const { isWrite, isInDoubt, path } = pending;
    const outcome = isInDoubt && failure.code === 'SESSION_EXPIRED' ? 'unknown' : undefined;
    return errorOfFailure({ ...failure, path: failure.path ?? path }, isWrite, outcome);
  }

  #fail(pending: PendingCall, code: ErrorCode, message: string, cause?: unknown): void {
    const mayBeDone = pending.isWrite && (pending.state === 'sent' || pending.isInDoubt);
    const outcome: Outcome = mayBeDone ? 'unknown' : 'not-applied';
    if (!this.#settle(pending)) return;
    pending.call.reject(new CoordinationError(code, message, { path: pending.path, outcome, cause }));
  }

  /** True when the call was not settled before. */
  #settle(pending: PendingCall): boolean {
    if (pending.state === 'settled') return false;
    pending.state = 'settled';
    pending.op = undefined;
    this.#bytes -= pending.bytes;
    this.#numbers.settled(pending);
    return true;
  }
}

/** Whether an operation changes anything. Every one is named: one that is taken for a read would be sent again without a number. */
const WRITES = {
  create: true,
  delete: true,
  setData: true,
  setAcl: true,
  createOrSet: true,
  deleteSubtree: true,
  multi: true,
  closeSession: true,
  exists: false,
  getData: false,
  getChildren: false,
  getEphemerals: false,
  getAllChildrenNumber: false,
  listChildren: false,
  getSubtree: false,
  getAcl: false,
  multiRead: false,
  addWatch: false,
  checkWatches: false,
  removeWatches: false,
  setWatches: false,
  sync: false,
  addAuth: false,
} as const satisfies Record<StreamOp['kind'], boolean>;

function isWrite(op: StreamOp): boolean {
  return WRITES[op.kind];
}

/** A write that may be sent again. The end of the session is not: a session that is gone knows no numbers. */
function isNumbered({ isWrite, kind }: PendingCall): boolean {
  return isWrite && kind !== 'closeSession';
}

/**
 * True when a numbered write was answered without a word on what became of it, now or at an earlier attempt. What is no answer of
 * the tree says nothing about an attempt before.
 */
function isOpen(pending: PendingCall, { code }: OpFailure): boolean {
  if (pending.request === 0 || pending.state === 'settled') return false;
  if (code === 'OUTCOME_UNKNOWN' || code === 'SESSION_MOVED') return true;
  return pending.isInDoubt && (code === 'UNAVAILABLE' || code === 'THROTTLED' || code === 'SERVER_BEHIND');
}

/** What a part of a multi takes in a frame beside its path and data, at most, bytes. */
const PART_BYTES = 64;

/** Bytes that a transaction may read, from above: what it reads is kept until it is acknowledged. */
function readBytesOf(op: StreamOp): number {
  return op.kind === 'multi' && op.parts.some(({ kind }) => kind === 'getData') ? MULTI_DATA_BYTES_MAX : 0;
}

/** Bytes of the path and the data of `op`, or of what it shows. */
function sizeOf(op: StreamOp | MultiPart): number {
  if (op.kind === 'addAuth') return op.credential.scheme.length * 3 + op.credential.proof.length;
  if ('parts' in op) return op.parts.reduce((sum, part) => sum + PART_BYTES + sizeOf(part), 0);
  const data = 'data' in op ? (op.data?.length ?? 0) : 0;
  return data + ('path' in op ? utf8Length(op.path) : 0);
}
