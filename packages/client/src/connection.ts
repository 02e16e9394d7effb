/**
 * The driver of the session: carries out what the machine commands, sends the calls in frames, and keeps the two
 * timers (the machine's, and that of the calls' deadlines). One attachment at a time.
 *
 * Frames are written without waiting: when nothing is on its way, at the end of the micro-tasks of this turn; else when
 * a frame's worth has gathered or the last one has left. So calls made together travel together, and one alone at once.
 */
import { ByteWriter, type Identity } from '@quorate/protocol';
import { type AttachResponse, type Credential, type SessionClosed, writeClientHello } from '@quorate/protocol/frames';
import { shuffled } from './backoff.ts';
import { Calls, type NewCall, type PendingCall } from './calls.ts';
import { CoordinationError } from './errors.ts';
import { Fifo } from './fifo.ts';
import type { FullOptions } from './options.ts';
import { formatServer } from './servers.ts';
import { ClientSession } from './session.ts';
import { type Command, type Input, SessionMachine } from './session-machine.ts';
import type { Attachment, Dial } from './stream.ts';
import { Watches } from './watches.ts';

/** Frames that were written and have not left our buffers, at most. Past it calls wait in line. */
const FRAMES_UNDER_WAY_MAX = 4;

/** A timer that fires this much after its time says that the process was not running, ms. */
const LATE_MS = 100;

/** Longest time for ending a session when the client is closed, ms. */
const GOODBYE_MS = 1_000;

/** A write that was answered without a word on what became of it is asked for again after this, ms. */
const AGAIN_MS = 50;

const EMPTY_FRAME = new Uint8Array(0);

export class Connection {
  readonly session: ClientSession;
  readonly watches: Watches;
  readonly #options: FullOptions;
  readonly #dial: Dial;
  readonly #machine: SessionMachine;
  readonly #calls = new Calls();
  readonly #commands = new Fifo<Command>();
  #isCarryingOut = false;
  #attachment: Attachment | undefined;
  #isAttached = false;
  #identities: readonly Identity[] = [];
  #framesUnderWay = 0;
  #isFlushDue = false;
  #machineTimer: NodeJS.Timeout | undefined;
  #machineTimerAtMs = Number.POSITIVE_INFINITY;
  #deadlineTimer: NodeJS.Timeout | undefined;
  #deadlineTimerAtMs = Number.POSITIVE_INFINITY;
  #againTimer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: FullOptions, dial: Dial, random: () => number = Math.random) {
    this.#options = options;
    this.#dial = dial;
    this.#machine = new SessionMachine({
      servers: shuffled(options.servers, random),
      sessionTimeoutMs: options.sessionTimeoutMs,
      credentials: options.credentials,
      onSessionLost: options.onSessionLost,
      backoff: { baseMs: options.retryBaseMs, maxMs: options.retryMaxMs },
      random,
    });
    this.session = new ClientSession(this.#machine, options.logger);
    this.watches = new Watches({
      write: (frame) => this.#attachment?.write(frame, () => {}),
      backoff: { baseMs: options.retryBaseMs, maxMs: options.retryMaxMs },
      random,
    });
  }

  /** Is told when a member does not take what the client shows for itself: no other one will. */
  onAuthFailed: ((reason: string) => void) | undefined;

  start(): void {
    this.#step({ kind: 'start' });
  }

  /** Why the last attempt or attachment ended, as the end of a sentence. */
  get lastFailure(): string {
    return this.#machine.lastFailure;
  }

  /** What the member of the last attachment took it for. */
  get identities(): readonly Identity[] {
    return this.#identities;
  }

  /** The present member took the credential, and takes the client for these now. Later ones are shown it too. */
  proved(credential: Credential, identities: readonly Identity[]): void {
    this.#machine.proved(credential);
    this.#identities = identities;
  }

  /** Monotonic ms, the clock of deadlines. */
  now(): number {
    return performance.now();
  }

  /** Puts a call in line. Throws CLOSED or THROTTLED. */
  call(call: NewCall): PendingCall {
    if (this.#closing !== undefined || this.session.current.state === 'closed') {
      throw new CoordinationError('CLOSED', `Cannot ${call.op.kind}: the client is closed`);
    }
    return this.#add(call);
  }

  /** Fails a call early. */
  abort(pending: PendingCall, reason: unknown): void {
    this.#calls.abort(pending, reason);
  }

  /** Ends the session, lets the calls before that be answered, and releases everything. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#isAttached) {
      await new Promise<void>((resolve) => {
        const deadlineMs = this.now() + Math.min(GOODBYE_MS, this.#machine.timeoutMs);
        try {
          const call = { op: { kind: 'closeSession' as const }, linearizable: false, deadlineMs };
          this.#add({ ...call, resolve: () => resolve(), reject: () => resolve() });
        } catch {
          // Too many calls are in line for another: the session ends by its timeout.
          resolve();
        }
      });
    }
    this.#step({ kind: 'close' });
    this.#calls.failAll('CLOSED', 'the client is closed');
    clearTimeout(this.#machineTimer);
    clearTimeout(this.#deadlineTimer);
    clearTimeout(this.#againTimer);
  }

  #add(call: NewCall): PendingCall {
    const pending = this.#calls.add(call);
    this.#armDeadline(call.deadlineMs);
    this.#flushSoon();
    return pending;
  }

  // The machine.

  #step(input: Input): void {
    const now = { monotonicMs: this.now(), wallMs: Date.now() };
    for (const command of this.#machine.step(input, now)) this.#commands.push(command);
    // A listener may cause another step while commands are carried out: theirs come after those that are left.
    if (this.#isCarryingOut) return;
    this.#isCarryingOut = true;
    for (let command = this.#commands.shift(); command !== undefined; command = this.#commands.shift()) {
      this.#carryOut(command);
    }
    this.#isCarryingOut = false;
    this.#armMachine();
  }

  #carryOut(command: Command): void {
    switch (command.kind) {
      case 'dial':
        this.#open(command);
        return;
      case 'drop':
        this.#attachment?.drop();
        this.#attachment = undefined;
        this.#isAttached = false;
        return;
      case 'heartbeat':
        this.#attachment?.write(EMPTY_FRAME, () => {});
        return;
      case 'attached':
        this.#isAttached = true;
        this.#identities = command.hello.identities ?? [];
        this.#framesUnderWay = 0;
        this.#calls.attached(command.hello);
        this.session.begin();
        this.watches.attached();
        this.#flushSoon();
        return;
      case 'detached':
        this.#isAttached = false;
        this.#calls.detached(command.reason, command.notApplied);
        this.watches.detached();
        return;
      case 'sessionEnded':
        this.#calls.failAll('SESSION_EXPIRED', 'the session has ended');
        return;
      case 'state':
        this.#log(command.state.state);
        this.session.change(command.state);
        if (command.state.state === 'closed') this.watches.close();
        return;
    }
  }

  #open({ attempt, server, hello }: Extract<Command, { kind: 'dial' }>): void {
    this.#options.logger?.debug({ server: formatServer(server), attempt }, 'Dialling');
    const attachment = this.#dial(server, {
      onUp: () => this.#step({ kind: 'transportUp', attempt }),
      onFrame: (frame) => this.#frame(attempt, frame),
      onEnd: (reason) => {
        if (this.#attachment === attachment) this.#attachment = undefined;
        this.#step({ kind: 'lost', attempt, reason });
      },
    });
    this.#attachment = attachment;
    const writer = new ByteWriter(64);
    writeClientHello(writer, hello);
    attachment.write(writer.finish(), () => {});
  }

  #frame(attempt: number, frame: AttachResponse): void {
    const { hello, replies, closed, watches } = frame;
    const isHeartbeat = hello === undefined && replies.length === 0 && watches.length === 0 && closed === undefined;
    this.#machine.heard(attempt, isHeartbeat, this.now());
    if (hello !== undefined) this.#step({ kind: 'hello', attempt, hello });
    for (const reply of replies) {
      const sentMs = this.#isAttached ? this.#calls.reply(reply) : undefined;
      if (sentMs === undefined) {
        this.#breach(attempt, `the member answered call ${reply.xid}, which is not the next`);
        return;
      }
      this.#machine.proven(sentMs);
      this.#machine.seen(reply.answer.zxid);
    }
    for (const news of watches) {
      if (!this.#isAttached) break;
      if (news.kind === 'piece') this.#machine.seen(news.piece.zxid);
      this.watches.take(news);
    }
    // Writes may have waited for room among those without an answer.
    if (replies.length > 0 && this.#calls.waitingCount > 0) this.#flushSoon();
    if (this.#calls.againCount > 0) this.#askAgainSoon();
    if (closed?.code === 'AUTH_FAILED') this.onAuthFailed?.(closed.message);
    if (closed !== undefined && this.#isNews(closed)) this.#step({ kind: 'closedByServer', attempt, ...closed });
  }

  /** While the client ends the session itself, the member's last word is, unless it leaves that to another member. */
  #isNews({ code, unansweredNotApplied }: SessionClosed): boolean {
    return this.#closing === undefined || (unansweredNotApplied && code !== 'SESSION_EXPIRED');
  }

  /** The member breaks the rules of the stream: go to another. */
  #breach(attempt: number, reason: string): void {
    this.#attachment?.drop();
    this.#attachment = undefined;
    this.#step({ kind: 'lost', attempt, reason });
  }

  #armMachine(): void {
    const atMs = this.#machine.wakeAtMs;
    if (atMs === undefined) {
      clearTimeout(this.#machineTimer);
      this.#machineTimerAtMs = Number.POSITIVE_INFINITY;
    } else if (atMs < this.#machineTimerAtMs) {
      // A timer that is early does no harm: it finds nothing to do and is armed anew.
      clearTimeout(this.#machineTimer);
      this.#machineTimerAtMs = atMs;
      this.#machineTimer = setTimeout(() => this.#wake(atMs), Math.max(0, Math.ceil(atMs - this.now())));
    }
  }

  #wake(atMs: number): void {
    this.#machineTimerAtMs = Number.POSITIVE_INFINITY;
    const late = this.now() - atMs > LATE_MS;
    this.#step({ kind: 'wake', late });
    // What arrived while the process was not running is read before a member is called silent.
    if (late) setImmediate(() => this.#step({ kind: 'wake', late: false }));
  }

  #log(state: string): void {
    const session = `0x${this.#machine.id.toString(16)}`;
    if (state === 'suspended') this.#options.logger?.warn({ session, reason: this.lastFailure }, 'Session suspended');
    else if (state === 'expired') this.#options.logger?.warn({ reason: this.lastFailure }, 'Session expired');
    else this.#options.logger?.info({ session, state }, 'Session state');
  }

  // Frames of calls.

  #flushSoon(): void {
    if (!this.#isAttached || this.#isFlushDue) return;
    if (this.#framesUnderWay > 0 && !(this.#calls.fillsFrame && this.#framesUnderWay < FRAMES_UNDER_WAY_MAX)) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#isAttached && this.#framesUnderWay < FRAMES_UNDER_WAY_MAX) {
      const frame = this.#calls.nextFrame(this.now());
      if (frame === undefined) return;
      const attachment = this.#attachment;
      this.#framesUnderWay++;
      attachment?.write(frame, () => {
        if (this.#attachment !== attachment) return;
        this.#framesUnderWay--;
        if (this.#calls.waitingCount > 0) this.#flush();
      });
    }
  }

  #askAgainSoon(): void {
    this.#againTimer ??= setTimeout(() => {
      this.#againTimer = undefined;
      this.#calls.askAgain();
      this.#flushSoon();
    }, AGAIN_MS);
  }

  // Deadlines.

  #armDeadline(atMs: number): void {
    if (atMs >= this.#deadlineTimerAtMs) return;
    clearTimeout(this.#deadlineTimer);
    this.#deadlineTimerAtMs = atMs;
    this.#deadlineTimer = setTimeout(() => this.#sweep(), Math.max(0, Math.ceil(atMs - this.now())));
  }

  #sweep(): void {
    this.#deadlineTimerAtMs = Number.POSITIVE_INFINITY;
    const next = this.#calls.expire(this.now());
    if (next !== undefined) this.#armDeadline(next);
  }
}
