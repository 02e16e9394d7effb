/**
 * The client-facing side of one member: gives calls their numbers, hands them in, brings each answer back to whoever
 * asked, and tells everybody concerned when a stream or the whole member is gone. Observes both. It decides nothing.
 */
import type { PeerAction, PeerEvent } from '@quorate/core';
import type { Answer, Notification, SessionId, Sid } from '@quorate/protocol';
import type { CallView, Observation } from '../observation.ts';
import type { Random } from '../random.ts';

/** What comes back for a call. `lost`: no answer can come any more. */
export type Reply =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | {
      readonly kind: 'ready';
      readonly session: SessionId;
      readonly token: Uint8Array;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'alive' }
  | { readonly kind: 'lost' };

/** Why a stream is gone: the member closed it, or the member itself is gone. */
export type Closed = { readonly by: 'member'; readonly code: string } | { readonly by: 'crash' };

/** The client's end of a stream. */
export interface Listener {
  /** Called once when the stream is gone, not after `detach`. */
  readonly closed: (closed: Closed) => void;
  /** What its watches saw. */
  readonly told: (notifications: readonly Notification[]) => void;
}

/** Numbers that are unique over all members of a run. */
export class Numbers {
  #last = 0;

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

export interface FrontOptions {
  readonly sid: Sid;
  readonly numbers: Numbers;
  readonly random: Random;
  readonly observe: (observation: Observation) => void;
  /** Puts an event into the member's queue. */
  readonly deliver: (event: PeerEvent) => void;
  /** Its disk is behind what it is given. */
  readonly isSlow: () => boolean;
  /** The member's monotonic clock, ms. */
  readonly clockMs: () => number;
}

interface Waiting {
  readonly attachment: number;
  readonly reply: (reply: Reply) => void;
}

export class Front {
  readonly sid: Sid;
  /** False while the member is down: then nothing may be asked. */
  isOpen = false;
  readonly #options: FrontOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #attachments = new Map<number, Listener>();
  /** Calls whose clients have given up. */
  readonly #abandoned = new Set<number>();

  constructor(options: FrontOptions) {
    this.sid = options.sid;
    this.#options = options;
  }

  /** The member's disk is behind what it is given: so may be what it shows. */
  get isSlow(): boolean {
    return this.#options.isSlow();
  }

  /** Calls that wait for a reply. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Opens a stream and returns its number. */
  connect(listener: Listener): number {
    const attachment = this.#options.numbers.next();
    this.#attachments.set(attachment, listener);
    return attachment;
  }

  /** The client leaves its stream; with `tell`, the member notices. */
  detach(attachment: number, tell: boolean): void {
    if (!this.#attachments.delete(attachment)) return;
    this.#abandon((waiting) => waiting.attachment === attachment);
    if (tell && this.isOpen) this.#options.deliver({ kind: 'detached', attachment });
  }

  heard(attachment: number): void {
    if (this.isOpen && this.#attachments.has(attachment)) this.#options.deliver({ kind: 'heard', attachment });
  }

  /** Makes a call. `build` gets its number and its deadline on the member's clock. Exactly one reply follows. */
  ask(
    view: Omit<CallView, 'callId' | 'sid'>,
    timeoutMs: number,
    build: (callId: number, deadlineMs: number) => PeerEvent,
    reply: (reply: Reply) => void,
  ): void {
    const callId = this.#options.numbers.next();
    this.#waiting.set(callId, { attachment: view.attachment, reply });
    this.#options.observe({ kind: 'called', call: { ...view, callId, sid: this.sid } });
    this.#options.deliver(build(callId, this.#options.clockMs() + timeoutMs));
  }

  /** Takes what the member says to its clients. */
  take(
    action: Extract<PeerAction, { kind: 'answer' | 'sessionReady' | 'sessionAlive' | 'notify' | 'closeAttachment' }>,
  ): void {
    const { observe } = this.#options;
    if (action.kind === 'notify') {
      const { attachment, notifications } = action;
      // Whoever has left hears nothing.
      const stream = this.#attachments.get(attachment);
      if (stream === undefined) return;
      observe({ kind: 'notified', attachment, notifications });
      stream.told(notifications);
      return;
    }
    if (action.kind === 'closeAttachment') {
      const stream = this.#attachments.get(action.attachment);
      this.#attachments.delete(action.attachment);
      this.#abandon((waiting) => waiting.attachment === action.attachment);
      // A driver may still report the end of the stream that it was told to close.
      if (this.#options.random.chance(0.5)) this.#options.deliver({ kind: 'detached', attachment: action.attachment });
      stream?.closed({ by: 'member', code: action.code });
      return;
    }
    const { callId } = action;
    const waiting = this.#waiting.get(callId);
    this.#waiting.delete(callId);
    // An answer to a call that was given up is lost on its way; a second answer is not.
    if (waiting === undefined && this.#abandoned.has(callId)) return;
    switch (action.kind) {
      case 'answer':
        observe({ kind: 'answered', callId, answer: action.answer });
        waiting?.reply({ kind: 'answer', answer: action.answer });
        break;
      case 'sessionReady': {
        const { session, token, timeoutMs, resumed } = action;
        observe({ kind: 'attached', callId, session, resumed });
        waiting?.reply({ kind: 'ready', session, token, timeoutMs });
        break;
      }
      case 'sessionAlive':
        observe({ kind: 'alive', callId });
        waiting?.reply({ kind: 'alive' });
        break;
    }
  }

  /** The member has crashed: every stream and every call is gone. */
  crash(): void {
    this.isOpen = false;
    const streams = [...this.#attachments.values()];
    this.#attachments.clear();
    this.#abandon(() => true);
    for (const stream of streams) stream.closed({ by: 'crash' });
  }

  #abandon(isGone: (waiting: Waiting) => boolean): void {
    const gone = [...this.#waiting].filter(([, waiting]) => isGone(waiting));
    for (const [callId, waiting] of gone) {
      this.#waiting.delete(callId);
      this.#abandoned.add(callId);
      this.#options.observe({ kind: 'abandoned', callId });
      waiting.reply({ kind: 'lost' });
    }
  }
}
