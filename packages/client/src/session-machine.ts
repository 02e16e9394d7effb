/**
 * The life of the client's session as a machine: inputs and the time in, commands out. It owns when to dial, whom,
 * when to give a member up, and when the session is over. It knows no sockets, no timers and no calls.
 *
 * waiting --dial--> dialling --hello--> attached --lost--> waiting ... ; `expired` begins a new session in waiting;
 * `over` is final. Input of an attempt other than the present one is stale and changes nothing.
 *
 * Proof of life is the time at which a frame was *sent* that the member answered: only then is it certain that the
 * ensemble, which counts from when it heard the client, does not end the session before the client knows it.
 */
import type { SessionId, Zxid } from '@quorate/protocol';
import { NO_SESSION, unreachable, ZERO_ZXID } from '@quorate/protocol';
import {
  type ClientHello,
  type Credential,
  FRAME_PROTOCOL_REVISION,
  type ServerHello,
  type SessionClosed,
} from '@quorate/protocol/frames';
import { type Backoff, backoffMs } from './backoff.ts';
import { formatServer, type Server } from './servers.ts';
import type { SessionState } from './session-state.ts';

export interface MachineConfig {
  /** In the order in which they are tried. */
  readonly servers: readonly Server[];
  readonly sessionTimeoutMs: number;
  readonly credentials?: readonly Credential[];
  readonly onSessionLost: 'renew' | 'close';
  readonly backoff: Backoff;
  /** Gives [0, 1). */
  readonly random: () => number;
}

/** The clocks at one input, ms. */
export interface Clocks {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export type Input =
  | { readonly kind: 'start' }
  /** The transport of the attempt is up; the hello is on its way. */
  | { readonly kind: 'transportUp'; readonly attempt: number }
  | { readonly kind: 'hello'; readonly attempt: number; readonly hello: ServerHello }
  /** The member's last word. */
  | ({ readonly kind: 'closedByServer'; readonly attempt: number } & SessionClosed)
  | { readonly kind: 'lost'; readonly attempt: number; readonly reason: string }
  /** `wakeAtMs` has come. When the process was not running at that time, what has arrived meanwhile is read first. */
  | { readonly kind: 'wake'; readonly late: boolean }
  /** The user wants no more. The caller has ended the session, or could not. */
  | { readonly kind: 'close' };

export type Command =
  | { readonly kind: 'dial'; readonly attempt: number; readonly server: Server; readonly hello: ClientHello }
  /** Give up the transport of the attempt. */
  | { readonly kind: 'drop'; readonly attempt: number }
  | { readonly kind: 'heartbeat' }
  /** Calls can be sent. */
  | { readonly kind: 'attached'; readonly hello: ServerHello }
  /** What was sent and not answered will not be answered. `notApplied`: nor was it carried out, or ever will be. */
  | { readonly kind: 'detached'; readonly reason: string; readonly notApplied: boolean }
  /** The session is over; everything that belonged to it fails. */
  | { readonly kind: 'sessionEnded' }
  | { readonly kind: 'state'; readonly state: SessionState };

/** An attachment that lasted less than this does not reset the back-off, ms. */
const STABLE_MS = 1_000;

/** Members that are behind the session for less than this are only a moment behind, ms. */
const BEHIND_MS = 500;

/** Unanswered heartbeats; a member that lets more pass, although it is not silent, breaks the rules of the stream. */
const HEARTBEATS_MAX = 4;

type Phase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'waiting'; readonly dialAtMs: number }
  | { readonly kind: 'dialling'; readonly startedMs: number; readonly deadlineMs: number }
  | { readonly kind: 'attached'; readonly sinceMs: number; readonly server: string }
  | { readonly kind: 'over' };

export class SessionMachine {
  readonly #config: MachineConfig;
  #phase: Phase = { kind: 'idle' };
  #attempt = 0;
  #failures = 0;
  #lastFailure = 'no member was asked';
  /** Since when members are behind it, monotonic ms; Infinity when the user was told. Undefined while none was. */
  #behindSinceMs: number | undefined;
  #id: SessionId = NO_SESSION;
  #token: Uint8Array = new Uint8Array(0);
  #timeoutMs: number;
  #lastZxid: Zxid = ZERO_ZXID;
  #provenMs = 0;
  #heardMs = 0;
  /** Send times of heartbeats that are not answered yet. */
  #heartbeats: number[] = [];
  #now: Clocks = { monotonicMs: 0, wallMs: 0 };
  #commands: Command[] = [];
  /** What every hello shows. */
  #credentials: readonly Credential[];

  constructor(config: MachineConfig) {
    this.#config = config;
    this.#credentials = config.credentials ?? [];
    this.#timeoutMs = config.sessionTimeoutMs;
  }

  /** The present session's id; NO_SESSION while there is none. */
  get id(): SessionId {
    return this.#id;
  }

  /** The negotiated timeout, ms; the wanted one while there is no session. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** Highest zxid seen in this session. */
  get lastZxid(): Zxid {
    return this.#lastZxid;
  }

  /** Why the last attempt or attachment ended, as the end of a sentence. */
  get lastFailure(): string {
    return this.#lastFailure;
  }

  /** When `wake` is due, monotonic ms; undefined when nothing is. It may move later without a command. */
  get wakeAtMs(): number | undefined {
    const expiry = this.#id === NO_SESSION ? Number.POSITIVE_INFINITY : this.#expiryMs();
    switch (this.#phase.kind) {
      case 'waiting':
        return Math.min(this.#phase.dialAtMs, expiry);
      case 'dialling':
        return Math.min(this.#phase.deadlineMs, expiry);
      case 'attached':
        return Math.min(this.#heartbeatMs(), this.#silenceMs(), expiry);
      case 'idle':
      case 'over':
        return undefined;
      default:
        return unreachable(this.#phase);
    }
  }

  /** A frame came. `isHeartbeat`: it was empty, which answers the oldest heartbeat. */
  heard(attempt: number, isHeartbeat: boolean, nowMs: number): void {
    if (attempt !== this.#attempt) return;
    this.#heardMs = nowMs;
    const sentMs = isHeartbeat ? this.#heartbeats.shift() : undefined;
    if (sentMs !== undefined) this.proven(sentMs);
  }

  /** Something that was sent at `sentMs` in this session was answered. */
  proven(sentMs: number): void {
    if (sentMs > this.#provenMs) this.#provenMs = sentMs;
  }

  /** An answer showed the history up to `zxid`. */
  seen(zxid: Zxid): void {
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
  }

  /** The member took it: every later hello shows it too. */
  proved(credential: Credential): void {
    const isKnown = this.#credentials.some((one) => isSameCredential(one, credential));
    if (!isKnown) this.#credentials = [...this.#credentials, credential];
  }

  /** Takes one input and returns what is to be done, in order. */
  step(input: Input, now: Clocks): readonly Command[] {
    this.#now = now;
    this.#commands = [];
    if (this.#phase.kind !== 'over' && !('attempt' in input && input.attempt !== this.#attempt)) this.#take(input);
    return this.#commands;
  }

  #take(input: Input): void {
    switch (input.kind) {
      case 'start':
        this.#state({ state: 'connecting' });
        this.#dial();
        return;
      case 'transportUp':
        this.#transportUp();
        return;
      case 'hello':
        this.#hello(input.hello);
        return;
      case 'closedByServer':
        this.#closedByServer(input);
        return;
      case 'lost':
        this.#lost(input.reason);
        return;
      case 'wake':
        this.#wake(input.late);
        return;
      case 'close':
        this.#drop();
        if (this.#phase.kind === 'attached') this.#detached('the client was closed', false);
        this.#end();
        return;
      default:
        unreachable(input);
    }
  }

  #dial(): void {
    const { servers } = this.#config;
    const server = servers[this.#attempt % servers.length] as Server;
    this.#attempt++;
    this.#heartbeats = [];
    const startedMs = this.#now.monotonicMs;
    // A member that does not even accept a connection must not use up the time that another has.
    const connectMs = Math.min(1_000, Math.max(200, this.#timeoutMs / 6));
    this.#phase = { kind: 'dialling', startedMs, deadlineMs: startedMs + connectMs };
    const hello: ClientHello = {
      session: this.#id,
      token: this.#token,
      timeoutMs: this.#config.sessionTimeoutMs,
      lastZxidSeen: this.#lastZxid,
      protocolRevision: FRAME_PROTOCOL_REVISION,
      credentials: this.#credentials,
    };
    this.#commands.push({ kind: 'dial', attempt: this.#attempt, server, hello });
  }

  #transportUp(): void {
    if (this.#phase.kind !== 'dialling') return;
    // The answer to the hello of a new session waits for a quorum.
    const handshakeMs = Math.min(5_000, Math.max(500, this.#timeoutMs / 3));
    this.#phase = { ...this.#phase, deadlineMs: this.#now.monotonicMs + handshakeMs };
  }

  #hello(hello: ServerHello): void {
    if (this.#phase.kind !== 'dialling') return;
    const fault = this.#helloFault(hello);
    if (fault !== undefined) {
      this.#drop();
      this.#lost(fault);
      return;
    }
    const { startedMs } = this.#phase;
    this.#id = hello.session;
    this.#token = hello.token.slice();
    this.#timeoutMs = hello.timeoutMs;
    this.#provenMs = Math.max(this.#provenMs, startedMs);
    this.#heardMs = this.#now.monotonicMs;
    this.seen(hello.zxid);
    this.#behindSinceMs = undefined;
    const server = formatServer(this.#server());
    this.#phase = { kind: 'attached', sinceMs: this.#now.monotonicMs, server };
    this.#commands.push({ kind: 'attached', hello });
    this.#state({ state: 'connected', server });
  }

  #helloFault(hello: ServerHello): string | undefined {
    if (hello.session === NO_SESSION || hello.timeoutMs === 0)
      return 'the member answered with a hello without a session';
    if (this.#id === NO_SESSION) return undefined;
    return hello.session === this.#id ? undefined : 'the member answered with another session';
  }

  #closedByServer({ code, message, unansweredNotApplied }: SessionClosed): void {
    if (this.#phase.kind !== 'dialling' && this.#phase.kind !== 'attached') return;
    this.#drop();
    if (code === 'SESSION_EXPIRED' && this.#id !== NO_SESSION) {
      this.#expire(unansweredNotApplied);
      return;
    }
    const reason = `the member closed the stream with ${code}: ${message}`;
    const wasAttached = this.#phase.kind === 'attached';
    this.#lost(reason, unansweredNotApplied);
    // An ensemble that was set back refuses the session until it ends: that is worth a word of its own, once. A member may
    // also be a moment behind the one that the client comes from: that is none.
    if (code !== 'SERVER_BEHIND' || this.#id === NO_SESSION) return;
    const { monotonicMs } = this.#now;
    this.#behindSinceMs ??= monotonicMs;
    if (wasAttached || monotonicMs - this.#behindSinceMs < BEHIND_MS) return;
    this.#behindSinceMs = Number.POSITIVE_INFINITY;
    this.#suspended(reason);
  }

  #lost(reason: string, notApplied = false): void {
    const { monotonicMs } = this.#now;
    this.#lastFailure = reason;
    if (this.#phase.kind === 'attached') {
      if (monotonicMs - this.#phase.sinceMs >= STABLE_MS) this.#failures = 0;
      this.#detached(reason, notApplied);
      this.#suspended(reason);
      this.#wait();
    } else if (this.#phase.kind === 'dialling') this.#wait();
  }

  #suspended(reason: string): void {
    const leftMs = Math.max(0, this.#expiryMs() - this.#now.monotonicMs);
    this.#state({ state: 'suspended', expiresAtMs: Math.ceil(this.#now.wallMs + leftMs), reason });
  }

  #wait(): void {
    this.#failures++;
    const pauseMs = backoffMs(this.#config.backoff, this.#failures, this.#config.random);
    this.#phase = { kind: 'waiting', dialAtMs: this.#now.monotonicMs + pauseMs };
  }

  #wake(late: boolean): void {
    const { monotonicMs } = this.#now;
    if (this.#id !== NO_SESSION && monotonicMs >= this.#expiryMs()) {
      this.#drop();
      this.#expire();
    } else if (this.#phase.kind === 'waiting' && monotonicMs >= this.#phase.dialAtMs) this.#dial();
    else if (this.#phase.kind === 'dialling' && monotonicMs >= this.#phase.deadlineMs && !late) {
      this.#drop();
      this.#lost(`${formatServer(this.#server())} did not answer in time`);
    } else if (this.#phase.kind === 'attached') this.#wakeAttached(late);
  }

  #wakeAttached(late: boolean): void {
    const { monotonicMs } = this.#now;
    if (monotonicMs >= this.#silenceMs() && !late) {
      this.#drop();
      this.#lost(`${formatServer(this.#server())} has been silent for ${Math.round(monotonicMs - this.#heardMs)} ms`);
    } else if (monotonicMs >= this.#heartbeatMs()) {
      if (this.#heartbeats.length === HEARTBEATS_MAX) {
        this.#drop();
        this.#lost(`${formatServer(this.#server())} does not answer heartbeats`);
        return;
      }
      this.#heartbeats.push(monotonicMs);
      this.#commands.push({ kind: 'heartbeat' });
    }
  }

  /** The session is over, by the ensemble's word or by our own clock. The transport has been dropped. */
  #expire(notApplied = false): void {
    if (this.#phase.kind === 'attached') this.#detached('the session has ended', notApplied);
    this.#id = NO_SESSION;
    this.#token = new Uint8Array(0);
    this.#lastZxid = ZERO_ZXID;
    this.#timeoutMs = this.#config.sessionTimeoutMs;
    this.#commands.push({ kind: 'sessionEnded' });
    this.#state({ state: 'expired' });
    if (this.#config.onSessionLost === 'close') {
      this.#end();
      return;
    }
    this.#state({ state: 'connecting' });
    if (this.#phase.kind !== 'waiting') this.#wait();
  }

  #end(): void {
    this.#phase = { kind: 'over' };
    this.#id = NO_SESSION;
    this.#token = new Uint8Array(0);
    this.#state({ state: 'closed' });
  }

  /** Gives up the present transport, if there is one, and makes its later input stale. */
  #drop(): void {
    if (this.#phase.kind === 'dialling' || this.#phase.kind === 'attached') {
      this.#commands.push({ kind: 'drop', attempt: this.#attempt });
    }
  }

  #server(): Server {
    const { servers } = this.#config;
    return servers[(this.#attempt - 1) % servers.length] as Server;
  }

  #expiryMs(): number {
    return this.#provenMs + this.#timeoutMs;
  }

  #silenceMs(): number {
    return this.#heardMs + (this.#timeoutMs * 2) / 3;
  }

  /** A heartbeat is due when a third of the timeout has passed since the last proof of life or the last heartbeat. */
  #heartbeatMs(): number {
    return Math.max(this.#provenMs, this.#heartbeats.at(-1) ?? 0) + this.#timeoutMs / 3;
  }

  #detached(reason: string, notApplied: boolean): void {
    this.#commands.push({ kind: 'detached', reason, notApplied });
  }

  #state(state: SessionState): void {
    this.#commands.push({ kind: 'state', state });
  }
}

function isSameCredential(a: Credential, b: Credential): boolean {
  return (
    a.scheme === b.scheme && a.proof.length === b.proof.length && a.proof.every((byte, at) => byte === b.proof[at])
  );
}
