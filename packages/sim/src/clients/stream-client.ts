/**
 * A client with a session on a stream: opens it, keeps it alive, pipelines calls, goes on elsewhere with the same session
 * when the stream is gone. By itself it moves, closes, or falls silent for a while. It notes when a session ends, and
 * whether that could be helped.
 */
import { NO_SESSION, type SessionId, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { fateOf } from '../calls.ts';
import { type Client, type ClientOptions, pickFront } from './client.ts';
import type { Closed, Front, Reply } from './front.ts';
import { type Draw, Workload } from './workload.ts';

interface Session {
  readonly id: SessionId;
  readonly token: Uint8Array;
  readonly timeoutMs: number;
  lastZxidSeen: Zxid;
  /** Its client has asked for its end, or has been silent on purpose: it may end at any time. */
  mayEnd: boolean;
  /** A close is under way: no calls after it. */
  isClosing: boolean;
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

export class StreamClient implements Client {
  readonly name: string;
  readonly #options: ClientOptions;
  readonly #workload: Workload;
  #session: Session | undefined;
  #stream: Stream | undefined;
  /** The member that it was connected to last: the next one is another. */
  #before: Front | undefined;
  #inFlight = 0;
  #isQuiet = false;
  #isSilent = false;
  #complaint: string | undefined;

  constructor(options: ClientOptions) {
    this.name = options.name;
    this.#options = options;
    this.#workload = new Workload(options.random.fork('workload'), { ...options, hasSession: true });
  }

  get complaint(): string | undefined {
    if (this.#complaint !== undefined || this.#isSilent) return this.#complaint;
    return this.#stream?.readyUs === undefined ? `${this.name} has no session` : undefined;
  }

  start(): void {
    const { schedule, random, knobs } = this.#options;
    schedule.after(random.between(0, 50 * MS), () => this.#connect());
    this.#every(
      () => random.wait(knobs.pauseUs),
      () => this.#work(),
    );
    this.#every(
      () => random.wait(knobs.moveUs),
      () => this.#move(),
    );
    this.#every(
      () => random.wait(knobs.closeUs),
      () => this.#close(),
    );
    this.#every(
      () => random.wait(knobs.silenceUs),
      () => this.#fallSilent(),
    );
    this.#ping();
  }

  /** Half of the clients go away for good and leave their sessions to expire; the others stay, quietly. */
  quiesce(): void {
    const { random, observe } = this.#options;
    this.#isQuiet = true;
    if (this.#session === undefined) return;
    if (!this.#isSilent) {
      if (random.chance(0.5)) return;
      this.#session.mayEnd = true;
      this.#isSilent = true;
      this.#leave(random.chance(0.5));
    }
    observe({ kind: 'sessionLeft', session: this.#session.id });
  }

  /** Asks for a session that was left to expire; it must not be there any more. Only when its time is up. */
  lookBack(): void {
    const session = this.#session;
    const front = pickFront(this.#options.random, this.#options.fronts);
    if (!this.#isSilent || session === undefined || front === undefined) return;
    this.#attach(front, session, (reply) => {
      if (reply.kind === 'ready') this.#complaint = `the session of ${this.name} was not ended by its silence`;
    });
  }

  /** Calls `happen` again and again until the client is quiet. */
  #every(waitUs: () => number, happen: () => void): void {
    this.#options.schedule.after(waitUs(), () => {
      if (this.#isQuiet) return;
      happen();
      this.#every(waitUs, happen);
    });
  }

  #connect(): void {
    const { random, fronts, schedule } = this.#options;
    if (this.#isSilent || this.#stream !== undefined) return;
    const front = pickFront(random, fronts, this.#before);
    if (front === undefined) {
      schedule.after(random.between(10, 60) * MS, () => this.#connect());
      return;
    }
    if (this.#session === undefined) this.#open(front);
    else this.#attach(front, this.#session, () => {});
  }

  #open(front: Front): void {
    const { random, timeoutMs } = this.#options;
    const stream = this.#connectTo(front);
    const token = random.bytes(16);
    const view = {
      session: NO_SESSION,
      attachment: stream.attachment,
      op: { kind: 'openSession' },
      linearizable: false,
    } as const;
    front.ask(
      view,
      this.#deadlineMs(),
      (callId, deadlineMs) => ({
        kind: 'openSession',
        callId,
        attachment: stream.attachment,
        timeoutMs,
        token,
        deadlineMs,
      }),
      (reply) => {
        if (reply.kind === 'ready') {
          this.#session = {
            id: reply.session,
            token,
            timeoutMs: reply.timeoutMs,
            lastZxidSeen: ZERO_ZXID,
            mayEnd: false,
            isClosing: false,
          };
          stream.readyUs = this.#options.schedule.nowUs;
        } else if (reply.kind === 'answer') this.#retry(stream);
      },
    );
  }

  #attach(front: Front, { id, token, lastZxidSeen }: Session, then: (reply: Reply) => void): void {
    const stream = this.#connectTo(front);
    const { attachment } = stream;
    const view = { session: id, attachment, op: { kind: 'attachSession' }, linearizable: false } as const;
    const isAnswered = this.#loseHeart(stream);
    front.ask(
      view,
      this.#deadlineMs(),
      (callId, deadlineMs) => ({
        kind: 'attachSession',
        callId,
        attachment,
        session: id,
        token,
        lastZxidSeen,
        deadlineMs,
      }),
      (reply) => {
        isAnswered();
        if (reply.kind === 'ready') stream.readyUs = this.#options.schedule.nowUs;
        else if (reply.kind === 'answer') {
          const { result } = reply.answer;
          if (result.kind === 'error' && result.code === 'SESSION_EXPIRED') this.#ended('SESSION_EXPIRED', stream);
          this.#retry(stream);
        }
        then(reply);
      },
    );
  }

  #connectTo(front: Front): Stream {
    const stream: Stream = {
      front,
      readyUs: undefined,
      attachment: front.connect((closed) => this.#closed(stream, closed)),
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

  #closed(stream: Stream, closed: Closed): void {
    if (closed.by === 'member' && closed.code === 'SESSION_EXPIRED' && stream.readyUs !== undefined) {
      this.#ended('SESSION_EXPIRED', stream);
    }
    this.#lost(stream);
  }

  #lost(stream: Stream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#options.schedule.after(this.#options.random.between(1, 40) * MS, () => this.#connect());
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

  #work(): void {
    const stream = this.#stream;
    const session = this.#session;
    if (stream?.readyUs === undefined || session === undefined || session.isClosing) return;
    if (this.#inFlight >= this.#options.knobs.pipeline) return;
    const burst = this.#options.random.chance(0.1) ? this.#options.knobs.pipeline - this.#inFlight : 1;
    for (let i = 0; i < burst; i += 1) this.#call(stream, session, this.#workload.next());
  }

  #call(stream: Stream, session: Session, { op, linearizable }: Draw): void {
    const { attachment } = stream;
    this.#inFlight += 1;
    const isAnswered = this.#loseHeart(stream);
    stream.front.ask(
      { session: session.id, attachment, op, linearizable },
      this.#deadlineMs(),
      (callId, deadlineMs) => ({
        kind: 'call',
        call: { callId, session: session.id, attachment, token: undefined, op, linearizable, deadlineMs },
      }),
      (reply) => {
        isAnswered();
        this.#inFlight -= 1;
        this.#workload.learn(op, reply);
        if (op.kind === 'closeSession') session.isClosing = false;
        if (reply.kind !== 'answer') return;
        const fate = fateOf(reply.answer);
        const isShown = fate === 'done' || fate === 'refused';
        if (isShown && reply.answer.zxid > session.lastZxidSeen) session.lastZxidSeen = reply.answer.zxid;
        if (op.kind !== 'closeSession' || fate !== 'done') return;
        this.#ended(undefined, stream);
        this.#retry(stream);
      },
    );
  }

  #ping(): void {
    const { schedule, timeoutMs } = this.#options;
    const stream = this.#stream;
    if (stream?.readyUs !== undefined && !this.#isSilent) stream.front.heard(stream.attachment);
    schedule.after((this.#session?.timeoutMs ?? timeoutMs) * MS * 0.3, () => this.#ping());
  }

  /** A client that waits for too long goes elsewhere, as any would. Returns what to call when the answer has come. */
  #loseHeart(stream: Stream): () => void {
    const { schedule, random, knobs } = this.#options;
    let isWaiting = true;
    schedule.after(knobs.patienceUs, () => {
      if (isWaiting && this.#stream === stream && !this.#isQuiet) this.#leave(random.chance(0.3));
    });
    return () => {
      isWaiting = false;
    };
  }

  #move(): void {
    if (this.#stream?.readyUs !== undefined) this.#leave(this.#options.random.chance(0.5));
  }

  /** Gives the stream up; goes on elsewhere unless it has fallen silent. */
  #leave(tell: boolean): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    stream.front.detach(stream.attachment, tell);
    this.#lost(stream);
  }

  #close(): void {
    const stream = this.#stream;
    if (stream?.readyUs === undefined || this.#session === undefined || this.#session.isClosing) return;
    this.#session.mayEnd = true;
    this.#session.isClosing = true;
    this.#call(stream, this.#session, { op: { kind: 'closeSession' }, linearizable: false });
  }

  #fallSilent(): void {
    const session = this.#session;
    if (session === undefined || this.#isSilent) return;
    const { random, schedule } = this.#options;
    session.mayEnd = true;
    this.#isSilent = true;
    if (random.chance(0.5)) this.#leave(random.chance(0.5));
    schedule.after(session.timeoutMs * MS * (0.5 + random.fraction() * 2), () => {
      if (this.#isQuiet) return;
      this.#isSilent = false;
      if (random.chance(0.5)) this.#leave(true);
      if (this.#stream === undefined) this.#connect();
    });
  }

  #deadlineMs(): number {
    return this.#options.random.between(20, this.#options.knobs.deadlineMaxMs);
  }
}
