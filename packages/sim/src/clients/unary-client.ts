/**
 * A client without a stream: one call at a time, each to any member. With a session it proves itself by its token and
 * keeps the session alive with calls of their own; without one it just calls.
 */
import { NO_SESSION, type SessionId } from '@quorate/protocol';
import { fateOf } from '../calls.ts';
import { type Client, type ClientOptions, pickFront } from './client.ts';
import type { Front, Reply } from './front.ts';
import { type Draw, Workload } from './workload.ts';

interface Session {
  readonly id: SessionId;
  readonly token: Uint8Array;
  readonly timeoutMs: number;
}

const MS = 1_000;

export class UnaryClient implements Client {
  readonly name: string;
  readonly #options: ClientOptions;
  readonly #hasSession: boolean;
  readonly #workload: Workload;
  #session: Session | undefined;
  /** The member that was asked last: most calls go to the same. */
  #front: Front | undefined;
  #isQuiet = false;

  constructor(options: ClientOptions, hasSession: boolean) {
    this.name = options.name;
    this.#options = options;
    this.#hasSession = hasSession;
    this.#workload = new Workload(options.random.fork('workload'), { ...options, hasSession, hasStream: false });
  }

  get complaint(): string | undefined {
    return undefined;
  }

  start(): void {
    this.#next();
    if (this.#hasSession) this.#keepAlive();
  }

  /** It stops for good; a session that it has is left to expire. */
  quiesce(): void {
    this.#isQuiet = true;
    if (this.#session !== undefined) this.#options.observe({ kind: 'sessionLeft', session: this.#session.id });
  }

  lookBack(): void {
    // Its session may be kept alive by a call that is still under way.
  }

  #next(): void {
    const { schedule, random, knobs } = this.#options;
    schedule.after(random.wait(knobs.pauseUs), () => {
      if (this.#isQuiet) return;
      const front = this.#pick();
      if (front === undefined) this.#next();
      else if (this.#hasSession && this.#session === undefined) this.#open(front);
      else this.#call(front);
    });
  }

  #pick(): Front | undefined {
    const { random, fronts } = this.#options;
    if (this.#front?.isOpen !== true || random.chance(0.1)) this.#front = pickFront(random, fronts, this.#front);
    return this.#front;
  }

  #open(front: Front): void {
    const { random, timeoutMs } = this.#options;
    const token = random.bytes(16);
    front.ask(
      { session: NO_SESSION, attachment: 0, op: { kind: 'openSession' }, linearizable: false },
      this.#deadlineMs(),
      (callId, deadlineMs) => ({ kind: 'openSession', callId, attachment: 0, timeoutMs, token, deadlineMs }),
      (reply) => {
        if (reply.kind === 'ready') {
          this.#session = { id: reply.session, token, timeoutMs: reply.timeoutMs };
          if (this.#isQuiet) this.#options.observe({ kind: 'sessionLeft', session: reply.session });
        }
        this.#done();
      },
    );
  }

  #call(front: Front): void {
    const draw: Draw =
      this.#options.random.chance(0.02) && this.#session !== undefined
        ? { op: { kind: 'closeSession' }, linearizable: false }
        : this.#workload.next();
    const { op } = draw;
    const timeoutMs = this.#deadlineMs();
    if (!this.#options.takes('op')) {
      this.#next();
      return;
    }
    const session = this.#session?.id ?? NO_SESSION;
    const token = this.#session?.token;
    front.ask(
      { session, attachment: 0, ...draw },
      timeoutMs,
      (callId, deadlineMs) => ({
        kind: 'call',
        call: { callId, session, attachment: 0, token, ...draw, deadlineMs },
      }),
      (reply) => {
        this.#workload.learn(op, reply);
        if (hasEnded(reply) || (op.kind === 'closeSession' && isDone(reply))) this.#ended();
        this.#done();
      },
    );
  }

  /** It may end whenever its client cannot be heard; nobody can tell from outside whether it could. */
  #ended(): void {
    if (this.#session === undefined) return;
    this.#options.observe({ kind: 'sessionEnded', session: this.#session.id, code: undefined, isExcused: true });
    this.#session = undefined;
  }

  #done(): void {
    this.#next();
  }

  #keepAlive(): void {
    const { schedule, timeoutMs } = this.#options;
    schedule.after((this.#session?.timeoutMs ?? timeoutMs) * MS * 0.25, () => {
      if (this.#isQuiet) return;
      const front = this.#front;
      const session = this.#session;
      if (front?.isOpen === true && session !== undefined) this.#ping(front, session);
      this.#keepAlive();
    });
  }

  #ping(front: Front, { id, token }: Session): void {
    front.ask(
      { session: id, attachment: 0, op: { kind: 'keepAlive' }, linearizable: false },
      this.#deadlineMs(),
      (callId, deadlineMs) => ({ kind: 'keepAlive', callId, session: id, token, deadlineMs }),
      (reply) => {
        if (hasEnded(reply) && this.#session?.id === id) this.#ended();
      },
    );
  }

  #deadlineMs(): number {
    return this.#options.random.between(20, this.#options.knobs.deadlineMaxMs);
  }
}

function hasEnded(reply: Reply): boolean {
  return (
    reply.kind === 'answer' && reply.answer.result.kind === 'error' && reply.answer.result.code === 'SESSION_EXPIRED'
  );
}

function isDone(reply: Reply): boolean {
  return reply.kind === 'answer' && fateOf(reply.answer) === 'done';
}
