/** The session as the user of the client sees it: its id, its state, and the signal that says when it is over. */
import type { Logger } from './options.ts';
import type { SessionState } from './session-state.ts';

/**
 * The client's session. When it ends and a new one is opened in its place, this object goes over to the new one:
 * take `signal` or `id` at the time when they are needed.
 */
export interface Session extends AsyncIterable<SessionState> {
  /** The session's id, unsigned 64 bits; 0n while there is none. */
  readonly id: bigint;
  /** The negotiated timeout, ms. */
  readonly timeoutMs: number;
  readonly current: SessionState;
  /** Aborts when the present session is over: ended by the ensemble, by the local clock, or closed. */
  readonly signal: AbortSignal;
  /** Calls `listener` at every change from now on, until the returned object is disposed. */
  onChange(listener: (state: SessionState) => void): Disposable;
}

/** What the session reads of the machine. */
export interface SessionFacts {
  readonly id: bigint;
  readonly timeoutMs: number;
}

/** States that a slow iterator has not taken yet; past it the oldest is forgotten. */
const UNREAD_MAX = 1_024;

export class ClientSession implements Session {
  readonly #facts: SessionFacts;
  readonly #logger: Logger | undefined;
  readonly #listeners = new Set<(state: SessionState) => void>();
  #current: SessionState = { state: 'connecting' };
  #controller = new AbortController();

  constructor(facts: SessionFacts, logger: Logger | undefined) {
    this.#facts = facts;
    this.#logger = logger;
  }

  get id(): bigint {
    return this.#facts.id;
  }

  get timeoutMs(): number {
    return this.#facts.timeoutMs;
  }

  get current(): SessionState {
    return this.#current;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  onChange(listener: (state: SessionState) => void): Disposable {
    if (typeof listener !== 'function') throw new TypeError('listener must be a function');
    const own = (state: SessionState): void => listener(state);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** The present state, then every change; ends after `closed`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionState, void, undefined> {
    const unread: SessionState[] = [this.#current];
    let wake: (() => void) | undefined;
    using _subscription = this.onChange((state) => {
      unread.push(state);
      if (unread.length > UNREAD_MAX) unread.shift();
      wake?.();
    });
    for (;;) {
      const state = unread.shift();
      if (state === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        yield state;
        if (state.state === 'closed') return;
      }
    }
  }

  /** A new session is there: the signal begins anew when the last one was aborted. */
  begin(): void {
    if (this.#controller.signal.aborted) this.#controller = new AbortController();
  }

  /** Moves to `state` and tells everybody. A listener that throws harms nobody else. */
  change(state: SessionState): void {
    this.#current = state;
    if (state.state === 'expired' || state.state === 'closed')
      this.#controller.abort(new Error(`The session is ${state.state}`));
    for (const listener of [...this.#listeners]) {
      try {
        listener(state);
      } catch (error) {
        if (this.#logger === undefined) process.emitWarning(`A listener of the session threw: ${String(error)}`);
        else this.#logger.error({ err: error }, 'A listener of the session threw');
      }
    }
  }
}
