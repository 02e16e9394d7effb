/**
 * A client with a session on a stream: pipelines calls, keeps the session alive, goes elsewhere when it waits for too
 * long. By itself it moves, closes, or falls silent for a while. How the session stays attached: session-holder.ts.
 */
import { fateOf, isWrite } from '../calls.ts';
import type { Random } from '../random.ts';
import type { Client, ClientOptions } from './client.ts';
import type { Reply } from './front.ts';
import type { NumberedWrite } from './numbered-writes.ts';
import { type ReadyStream, SessionHolder } from './session-holder.ts';
import { type Draw, Workload } from './workload.ts';

const MS = 1_000;

export class StreamClient implements Client {
  readonly name: string;
  readonly #options: ClientOptions;
  readonly #workload: Workload;
  readonly #holder: SessionHolder;
  readonly #again: Random;
  #inFlight = 0;
  #isQuiet = false;
  #complaint: string | undefined;

  constructor(options: ClientOptions) {
    this.name = options.name;
    this.#options = options;
    this.#again = options.random.fork('again');
    this.#workload = new Workload(options.random.fork('workload'), { ...options, hasSession: true, hasStream: true });
    // Whoever had calls waiting makes them as soon as it is back.
    this.#holder = new SessionHolder(options, () => {
      if (this.#isQuiet) return;
      this.#watchAgain();
      this.#sendAgain();
      this.#work();
    });
  }

  get complaint(): string | undefined {
    if (this.#complaint !== undefined || this.#holder.isSilent) return this.#complaint;
    return this.#holder.ready === undefined ? `${this.name} has no session` : undefined;
  }

  start(): void {
    const { schedule, random, knobs } = this.#options;
    schedule.after(random.between(0, 50 * MS), () => this.#holder.connect());
    this.#every(knobs.pauseUs, () => this.#work());
    this.#every(knobs.moveUs, () => this.#move());
    this.#every(knobs.closeUs, () => this.#close());
    this.#every(knobs.silenceUs, () => this.#fallSilent());
    this.#ping();
  }

  /** Half of the clients go away for good and leave their sessions to expire; the others stay, quietly. */
  quiesce(): void {
    const { random, observe } = this.#options;
    const { session, isSilent } = this.#holder;
    this.#isQuiet = true;
    if (session === undefined) return;
    if (!isSilent) {
      if (random.chance(0.5)) return;
      session.mayEnd = true;
      this.#holder.isSilent = true;
      this.#holder.leave(random.chance(0.5));
    }
    observe({ kind: 'sessionLeft', session: session.id });
  }

  /** Asks for a session that was left to expire; it must not be there any more. Only when its time is up. */
  lookBack(): void {
    if (!this.#holder.isSilent) return;
    this.#holder.lookBack((isThere) => {
      if (isThere) this.#complaint = `the session of ${this.name} was not ended by its silence`;
    });
  }

  /** Calls `happen` again and again, at random times, until the client is quiet. */
  #every(meanUs: number, happen: () => void): void {
    this.#options.schedule.after(this.#options.random.wait(meanUs), () => {
      if (this.#isQuiet) return;
      happen();
      this.#every(meanUs, happen);
    });
  }

  #work(): void {
    const { random, knobs } = this.#options;
    const { ready } = this.#holder;
    if (ready === undefined || ready.session.isClosing || this.#inFlight >= knobs.pipeline) return;
    const burst = random.chance(0.1) ? knobs.pipeline - this.#inFlight : 1;
    for (let i = 0; i < burst; i += 1) this.#call(ready, this.#workload.next());
  }

  #call(ready: ReadyStream, draw: Draw): void {
    const timeoutMs = this.#holder.deadlineMs();
    if (this.#options.takes('op')) this.#send(ready, draw, timeoutMs, this.#number(ready, draw));
  }

  /**
   * Most writes are numbered; the others stand for clients that do not care. None of those while a numbered one is without its
   * answer: it may be asked for again, and stands after whatever was made without a number meanwhile.
   */
  #number({ session }: ReadyStream, draw: Draw): NumberedWrite | undefined {
    if (!isWrite(draw.op)) return undefined;
    const isNumbered = this.#again.chance(0.9) || session.writes.hasOpen;
    return isNumbered ? session.writes.next(draw) : undefined;
  }

  /** Writes without a final answer, in order, before any new one; now and then one is given up. */
  #sendAgain(): void {
    const { ready } = this.#holder;
    if (ready === undefined || this.#isQuiet || ready.session.isClosing) return;
    for (const write of ready.session.writes.left) {
      if (this.#again.chance(0.05)) ready.session.writes.giveUp(write);
      else if (this.#options.takes('again')) {
        this.#send(ready, write.draw, this.#again.between(20, this.#options.knobs.deadlineMaxMs), write);
      }
    }
  }

  /** What it watched, before all else on a new stream. */
  #watchAgain(): void {
    const { ready } = this.#holder;
    if (ready === undefined || ready.session.isClosing || ready.session.watches.isEmpty) return;
    const { lastZxidSeen, watches } = ready.session;
    const op = { kind: 'setWatches', lists: watches.lists(lastZxidSeen) } as const;
    this.#send(ready, { ...this.#workload.who, op, linearizable: false }, this.#holder.deadlineMs());
  }

  #send({ front, attachment, session }: ReadyStream, draw: Draw, timeoutMs: number, write?: NumberedWrite): void {
    const { op } = draw;
    const numbered = write === undefined ? undefined : session.writes.mark(write);
    const view = { session: session.id, attachment, ...draw };
    this.#inFlight += 1;
    if (write !== undefined) write.isUnderWay = true;
    const isAnswered = this.#isQuiet ? () => {} : this.#holder.loseHeart(attachment);
    front.ask(
      write === undefined ? view : { ...view, request: write.request },
      timeoutMs,
      (callId, deadlineMs) => ({
        kind: 'call',
        call: { callId, ...view, token: undefined, numbered, deadlineMs },
      }),
      (reply) => {
        isAnswered();
        this.#inFlight -= 1;
        if (write !== undefined) this.#answered(session, write, reply);
        this.#workload.learn(op, reply);
        session.watches.answered(op, reply);
        if (op.kind === 'closeSession') session.isClosing = false;
        if (reply.kind !== 'answer') return;
        const fate = fateOf(reply.answer);
        const isShown = fate === 'done' || fate === 'refused';
        if (isShown && reply.answer.zxid > session.lastZxidSeen) session.lastZxidSeen = reply.answer.zxid;
        if (op.kind === 'closeSession' && fate === 'done') this.#holder.closed();
      },
    );
  }

  #answered({ writes }: ReadyStream['session'], write: NumberedWrite, reply: Reply): void {
    writes.answered(write, reply.kind === 'answer' ? reply.answer : undefined);
    // With the stream gone, it goes out again on the next one.
    if (reply.kind === 'answer' && writes.left.length > 0) {
      this.#options.schedule.after(this.#again.between(0, 50) * MS, () => this.#sendAgain());
    }
  }

  #ping(): void {
    const { schedule, timeoutMs } = this.#options;
    const { ready, isSilent, session } = this.#holder;
    if (ready !== undefined && !isSilent) ready.front.heard(ready.attachment);
    schedule.after((session?.timeoutMs ?? timeoutMs) * MS * 0.3, () => this.#ping());
  }

  #move(): void {
    const tell = this.#options.random.chance(0.5);
    if (this.#holder.ready !== undefined && this.#options.takes('move')) this.#holder.leave(tell);
  }

  #close(): void {
    const { ready } = this.#holder;
    if (ready === undefined || ready.session.isClosing || !this.#options.takes('close')) return;
    ready.session.mayEnd = true;
    ready.session.isClosing = true;
    this.#send(ready, { op: { kind: 'closeSession' }, linearizable: false }, this.#holder.deadlineMs());
  }

  #fallSilent(): void {
    const holder = this.#holder;
    const { session } = holder;
    if (session === undefined || holder.isSilent || !this.#options.takes('silence')) return;
    const { random, schedule } = this.#options;
    session.mayEnd = true;
    holder.isSilent = true;
    if (random.chance(0.5)) holder.leave(random.chance(0.5));
    schedule.after(session.timeoutMs * MS * (0.5 + random.fraction() * 2), () => {
      if (this.#isQuiet) return;
      holder.isSilent = false;
      if (random.chance(0.5)) holder.leave(true);
      holder.connect();
    });
  }
}
