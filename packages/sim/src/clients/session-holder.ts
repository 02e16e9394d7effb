/**
 * A client's session and the stream that carries it: opens the session, attaches it again elsewhere when the stream is
 * gone, and notes when it ends and whether that could be helped. What is called on the stream, and when the client moves
 * or falls silent, is stream-client.ts's.
 */
import { NO_SESSION, type SessionId, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { type ClientOptions, pickFront } from './client.ts';
import type { Closed, Front, Reply } from './front.ts';
import { NumberedWrites } from './numbered-writes.ts';
import { OwnWatches } from './own-watches.ts';

export interface Session {
  readonly id: SessionId;
  readonly token: Uint8Array;
  readonly timeoutMs: number;
  lastZxidSeen: Zxid;
  /** Its client has asked for its end, or has been silent on purpose: it may end at any time. */
  mayEnd: boolean;
  /** A close is under way: no calls after it. */
  isClosing: boolean;
  readonly writes: NumberedWrites;
  readonly watches: OwnWatches;
}

/** A stream that carries the session: calls can be made. */
export interface ReadyStream {
  readonly front: Front;
  readonly attachment: number;
  readonly session: Session;
}

interface Stream {
  readonly front: Front;
  readonly attachment: number;
  /** When the session was attached; undefined until then. */
  readyUs: number | undefined;
}

const MS = 1_000;
/** A touch is on its way to the leader for less than this when all is well, µs. */
const TOUCH_SLACK_US = 300 * MS;

export class SessionHolder {
  /** While true, no stream is opened. */
  isSilent = false;
  readonly #options: ClientOptions;
  readonly #resumed: () => void;
  #session: Session | undefined;
  #stream: Stream | undefined;
  /** The member that it was connected to last: the next one is another. */
  #before: Front | undefined;

  /** `resumed` is called when the session goes on, on a new stream. */
  constructor(options: ClientOptions, resumed: () => void) {
    this.#options = options;
    this.#resumed = resumed;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** The stream on which calls can be made. */
  get ready(): ReadyStream | undefined {
    const session = this.#session;
    const stream = this.#stream;
    return stream?.readyUs === undefined || session === undefined ? undefined : { ...stream, session };
  }

  /** Connects to some member, now or as soon as one is up, unless it is connected or silent. */
  connect(): void {
    const { random, fronts, schedule } = this.#options;
    if (this.isSilent || this.#stream !== undefined) return;
    const front = pickFront(random, fronts, this.#before);
    if (front === undefined) {
      schedule.after(random.between(10, 60) * MS, () => this.connect());
      return;
    }
    if (this.#session === undefined) this.#open(front);
    else this.#attach(front, this.#session, () => {});
  }

  /** Gives the stream up, with a word to the member or without one; goes on elsewhere unless it is silent. */
  leave(tell: boolean): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    stream.front.detach(stream.attachment, tell);
    this.#lost(stream);
  }

  /** Gives the stream up when it is still this one after `patienceUs`. Returns what to call when the answer has come. */
  loseHeart(attachment: number): () => void {
    const { schedule, random, knobs } = this.#options;
    let isWaiting = true;
    schedule.after(knobs.patienceUs, () => {
      if (isWaiting && this.#stream?.attachment === attachment) this.leave(random.chance(0.3));
    });
    return () => {
      isWaiting = false;
    };
  }

  /** The session has been closed as its client asked. */
  closed(): void {
    if (this.#stream === undefined) return;
    this.#ended(undefined, this.#stream);
    this.leave(true);
  }

  /** Asks for the session although the client is silent: `then` learns whether it is still there. */
  lookBack(then: (isThere: boolean) => void): void {
    const front = pickFront(this.#options.random, this.#options.fronts);
    if (this.#session === undefined || front === undefined) return;
    this.#attach(front, this.#session, (reply) => then(reply.kind === 'ready'));
  }

  #open(front: Front): void {
    const { random, timeoutMs, schedule } = this.#options;
    const stream = this.#connectTo(front);
    const { attachment } = stream;
    const token = random.bytes(16);
    front.ask(
      { session: NO_SESSION, attachment, op: { kind: 'openSession' }, linearizable: false },
      this.deadlineMs(),
      (callId, deadlineMs) => ({ kind: 'openSession', callId, attachment, timeoutMs, token, deadlineMs }),
      (reply) => {
        if (reply.kind === 'ready') {
          const { session: id, timeoutMs: negotiatedMs } = reply;
          const fresh = { lastZxidSeen: ZERO_ZXID, mayEnd: false, isClosing: false, writes: new NumberedWrites() };
          const watches = new OwnWatches();
          this.#session = { id, token, timeoutMs: negotiatedMs, ...fresh, watches };
          stream.readyUs = schedule.nowUs;
        } else if (reply.kind === 'answer') this.#retry(stream);
      },
    );
  }

  #attach(front: Front, { id: session, token, lastZxidSeen }: Session, then: (reply: Reply) => void): void {
    const stream = this.#connectTo(front);
    const { attachment } = stream;
    const isAnswered = this.loseHeart(attachment);
    front.ask(
      { session, attachment, op: { kind: 'attachSession' }, linearizable: false },
      this.deadlineMs(),
      (callId, deadlineMs) => ({ kind: 'attachSession', callId, attachment, session, token, lastZxidSeen, deadlineMs }),
      (reply) => {
        isAnswered();
        if (reply.kind === 'ready') {
          stream.readyUs = this.#options.schedule.nowUs;
          if (this.#stream === stream) this.#resumed();
        }
        if (reply.kind === 'answer') {
          const { result } = reply.answer;
          if (result.kind === 'error' && result.code === 'SESSION_EXPIRED') this.#ended('SESSION_EXPIRED', stream);
          this.#retry(stream);
        }
        then(reply);
      },
    );
  }

  /** How long a call of this client may take, ms. */
  deadlineMs(): number {
    return this.#options.random.between(20, this.#options.knobs.deadlineMaxMs);
  }

  #connectTo(front: Front): Stream {
    const stream: Stream = {
      front,
      readyUs: undefined,
      attachment: front.connect({
        closed: (closed) => this.#closedBy(stream, closed),
        told: (notifications) => {
          if (this.#stream === stream) for (const each of notifications) this.#session?.watches.told(each);
        },
      }),
    };
    this.#stream = stream;
    this.#before = front;
    return stream;
  }

  /** A stream that came to nothing is left, and another tried. */
  #retry(stream: Stream): void {
    stream.front.detach(stream.attachment, true);
    this.#lost(stream);
  }

  #closedBy(stream: Stream, closed: Closed): void {
    if (closed.by === 'member' && closed.code === 'SESSION_EXPIRED' && stream.readyUs !== undefined) {
      this.#ended('SESSION_EXPIRED', stream);
    }
    this.#lost(stream);
  }

  #lost(stream: Stream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    const { random, schedule } = this.#options;
    schedule.after(random.chance(0.3) ? 0 : random.between(1, 40) * MS, () => this.connect());
  }

  #ended(code: 'SESSION_EXPIRED' | undefined, stream: Stream): void {
    const session = this.#session;
    if (session === undefined) return;
    const { observe, schedule, healthySinceUs } = this.#options;
    const wellSinceUs = Math.max(healthySinceUs() ?? Infinity, stream.readyUs ?? Infinity);
    const isExcused = session.mayEnd || schedule.nowUs - wellSinceUs < session.timeoutMs * MS + TOUCH_SLACK_US;
    observe({ kind: 'sessionEnded', session: session.id, code, isExcused });
    this.#session = undefined;
  }
}
