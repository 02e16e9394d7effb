/**
 * One session stream: hello, then frames of calls, and replies in the order of the calls. The rules of the conversation
 * are in session_service.proto. One write is on its way at a time; what is answered meanwhile goes with the next.
 *
 * Policies when full: with too many calls unanswered, or while the client does not read, the stream is not read from. A
 * frame that is too long or is not one ends this stream only; the session lives on.
 */
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  ByteWriter,
  type ErrorCode,
  FRAME_BYTES_MAX,
  type Identity,
  NO_SESSION,
  type Notification,
  REQUEST_BYTES_MAX,
  type SessionId,
} from '@quorate/protocol';
import {
  type AddAuthOp,
  type AttachRequest,
  type ClientHello,
  FRAME_PROTOCOL_REVISION,
  type ReceivedCall,
  writeServerHello,
  writeSessionClosed,
} from '@quorate/protocol/frames';
import type { SessionReady } from '../../calls.ts';
import type { Attachment } from '../../driver.ts';
import { type CoreAccess, deadlineAfter } from '../core-access.ts';
import { CredentialError, withMore } from '../identities.ts';
import { newToken } from '../session-token.ts';
import { ReplyQueue } from './reply-queue.ts';
import { StreamWatches } from './stream-watches.ts';

/** A stream that has not said hello by then is ended, ms. */
const HELLO_MS = 10_000;

/** While this much waits for the client to read it, nothing more is encoded or read, bytes. */
const WRITE_MARK_BYTES = 1024 * 1024;

/** What watches saw, and the client does not read, bytes: past it the stream is ended, and the client asks what it missed. */
const NOTIFIED_BYTES_MAX = 16 * 1024 * 1024;

/** Signs of life that are owed to a client which does not read; it gets no more for those past it. */
const ECHOES_MAX = 16;

type Stream = ServerDuplexStream<AttachRequest, Uint8Array>;

/** The handler of SessionService.Attach. */
export function attachHandler(core: CoreAccess): (stream: Stream) => void {
  return (stream) => {
    new AttachStream(core, stream).start();
  };
}

class AttachStream implements Attachment {
  readonly #core: CoreAccess;
  readonly #stream: Stream;
  readonly #replies: ReplyQueue;
  readonly #watches: StreamWatches;
  readonly #number: number;
  #phase: 'hello' | 'opening' | 'open' | 'closed' = 'hello';
  #session: SessionId = NO_SESSION;
  #identities: readonly Identity[] = [];
  #helloTimer: NodeJS.Timeout | undefined;
  /** Frames that are ready, before any reply. */
  #ready: Uint8Array[] = [];
  #readyBytes = 0;
  #isWriting = false;
  #isPaused = false;
  /** Signs of life that the client asked for. Each gets its own: the client counts them. */
  #echoes = 0;
  #isEnding = false;

  constructor(core: CoreAccess, stream: Stream) {
    this.#core = core;
    this.#stream = stream;
    this.#replies = new ReplyQueue(() => core.answered(this));
    this.#watches = new StreamWatches(
      core,
      () => core.answered(this),
      () => this.#identities,
    );
    this.#number = core.attach(this);
  }

  start(): void {
    const stream = this.#stream;
    // Without this listener a broken stream would end the process.
    stream.on('error', () => this.#gone());
    stream.on('data', (frame: AttachRequest) => this.#frame(frame));
    stream.once('end', () => {
      this.#gone();
      stream.end();
    });
    stream.once('cancelled', () => this.#gone());
    stream.once('close', () => this.#gone());
    this.#helloTimer = setTimeout(() => this.#fault('no hello came'), HELLO_MS).unref();
    const refusal = this.#core.refusal();
    if (refusal !== undefined) this.close('UNAVAILABLE', refusal);
  }

  /** End of a turn in which something was answered. */
  flush(): void {
    if (this.#isWriting || this.#isEnding) return;
    this.#encode();
    const { farewell } = this.#replies;
    if (farewell !== undefined) return this.close(farewell.code, farewell.message);
    this.#write();
    this.#resumeWhenRoom();
  }

  /**
   * The last word: after the replies that are there already. When all calls that were taken have theirs, the client learns that
   * the others were not carried out: what comes from now on is not read.
   */
  close(code: ErrorCode, reason: string, isIdle = false): void {
    if (this.#phase === 'closed') return;
    this.#detach();
    for (let frame = this.#replies.nextFrame(); frame !== undefined; frame = this.#replies.nextFrame()) {
      this.#push(frame.finish());
    }
    const writer = new ByteWriter(128);
    const { farewell, size } = this.#replies;
    const unansweredNotApplied = isIdle || farewell !== undefined || size === 0;
    writeSessionClosed(writer, { code, message: reason, unansweredNotApplied });
    this.#push(writer.finish());
    this.#isEnding = true;
    if (!this.#isWriting) this.#write();
  }

  /** What the connection's own watches are told: behind the replies that are there, before those that are not. */
  notify(notifications: readonly Notification[]): void {
    if (this.#phase !== 'open') return;
    this.#replies.notify(notifications);
    if (this.#replies.toldBytes > NOTIFIED_BYTES_MAX)
      this.close('THROTTLED', 'The client does not read what its watches saw');
    else this.#core.answered(this);
  }

  #frame(frame: AttachRequest): void {
    if (this.#phase === 'hello') {
      this.#hello(frame);
      return;
    }
    if (this.#phase === 'closed') return;
    if (frame.hello !== undefined) return this.#fault('a second hello');
    if (this.#phase === 'opening') return this.#fault('calls before the hello was answered');
    this.#core.post({ kind: 'heard', attachment: this.#number });
    for (const command of frame.watches) {
      const fault = this.#watches.take(command);
      if (fault !== undefined) return this.#fault(fault);
    }
    if (frame.calls.length === 0) {
      if (frame.watches.length > 0) return;
      if (this.#echoes < ECHOES_MAX) this.#echoes++;
      this.#core.answered(this);
      return;
    }
    for (const call of frame.calls) this.#call(call, frame.acknowledged);
    if (this.#replies.size >= this.#core.streamCallsMax) this.#pause();
  }

  #hello({ hello, calls, watches }: AttachRequest): void {
    clearTimeout(this.#helloTimer);
    if (hello === undefined || calls.length > 0 || watches.length > 0)
      return this.#fault('the first frame must have a hello and nothing else');
    if (hello.protocolRevision < 1) return this.#fault('the hello names no protocol revision');
    if (hello.lastZxidSeen > this.#core.appliedZxid()) {
      this.close('SERVER_BEHIND', 'This member has not yet seen what the client has seen');
      return;
    }
    if (!this.#identify(hello)) return;
    this.#phase = 'opening';
    const callId = this.#core.calls.add({
      answer: ({ result }) => {
        if (result.kind === 'error') this.close(result.code, result.message);
      },
      sessionReady: (ready) => this.#sessionReady(hello, ready),
    });
    const common = { callId, attachment: this.#number, deadlineMs: deadlineAfter(0) };
    if (hello.session === NO_SESSION) {
      this.#core.post({ kind: 'openSession', ...common, timeoutMs: hello.timeoutMs, token: newToken() });
    } else {
      const { session, token, lastZxidSeen } = hello;
      this.#core.post({ kind: 'attachSession', ...common, session, token, lastZxidSeen });
    }
  }

  /** False when it shows something that proves nothing: nobody goes on as somebody else than he means to be (case C171). */
  #identify({ credentials = [] }: ClientHello): boolean {
    try {
      this.#identities = this.#core.identitiesOf(this.#stream.getPeer(), credentials);
      return true;
    } catch (error) {
      if (!(error instanceof CredentialError)) throw error;
      this.close('AUTH_FAILED', error.message);
      return false;
    }
  }

  #sessionReady(hello: ClientHello, { session, token, timeoutMs, resumed }: SessionReady): void {
    if (this.#phase !== 'opening') return;
    this.#phase = 'open';
    this.#session = session;
    const writer = new ByteWriter(128);
    writeServerHello(writer, {
      session,
      token,
      timeoutMs,
      resumed,
      frameBytesMax: FRAME_BYTES_MAX,
      requestBytesMax: REQUEST_BYTES_MAX,
      sid: this.#core.sid,
      protocolRevision: Math.min(hello.protocolRevision, FRAME_PROTOCOL_REVISION),
      zxid: this.#core.appliedZxid(),
      identities: this.#identities,
    });
    this.#push(writer.finish());
    this.#core.answered(this);
  }

  #call({ xid, timeoutMs, op, guards, linearizable, request = 0 }: ReceivedCall, acknowledged: number): void {
    if (op.kind === 'fault') {
      this.#replies.addFault(xid, op);
      return;
    }
    if (op.kind === 'addAuth') return this.#addAuth(xid, op);
    if (request > 0 && acknowledged >= request) return this.#fault('a call is acknowledged before it is answered');
    const callId = this.#core.calls.add(this.#replies.add(xid, op.kind));
    this.#core.post({
      kind: 'call',
      call: {
        callId,
        session: this.#session,
        attachment: this.#number,
        token: undefined,
        op,
        guards,
        identities: this.#identities,
        linearizable,
        listBytesMax: FRAME_BYTES_MAX,
        numbered: request === 0 ? undefined : { request, acknowledged },
        deadlineMs: deadlineAfter(timeoutMs),
      },
    });
  }

  /** It counts from the next call on. What proves nothing fails alone, like any call. */
  #addAuth(xid: number, { credential }: AddAuthOp): void {
    try {
      const shown = this.#core.identitiesOf(this.#stream.getPeer(), [credential]);
      this.#identities = withMore(this.#identities, shown);
      // What it watches goes by it from now on too.
      this.#core.post({ kind: 'identified', attachment: this.#number, identities: this.#identities });
      this.#replies.addOwn(xid, 'addAuth', { kind: 'addAuth', identities: this.#identities });
    } catch (error) {
      if (!(error instanceof CredentialError)) throw error;
      this.#replies.addFault(xid, { kind: 'fault', code: 'AUTH_FAILED', message: error.message });
    }
  }

  /** Makes frames of replies, as far as there is room. */
  #encode(): void {
    while (this.#readyBytes < WRITE_MARK_BYTES) {
      const frame = this.#replies.nextFrame();
      if (frame === undefined) break;
      this.#push(frame.finish());
    }
    while (this.#readyBytes < WRITE_MARK_BYTES) {
      const frame = this.#watches.nextFrame();
      if (frame === undefined) break;
      this.#push(frame);
    }
    for (; this.#echoes > 0; this.#echoes--) this.#ready.push(new Uint8Array(0));
  }

  #push(frame: Uint8Array): void {
    this.#ready.push(frame);
    this.#readyBytes += frame.length;
  }

  #write(): void {
    const frames = this.#ready;
    if (frames.length > 0) {
      this.#ready = [];
      this.#readyBytes = 0;
      this.#isWriting = true;
      frames.forEach((frame, index) => {
        if (index < frames.length - 1) this.#stream.write(frame);
        else this.#stream.write(frame, this.#written);
      });
    }
    if (this.#isEnding) this.#stream.end();
  }

  /** The client's side has taken what was written. */
  readonly #written = (): void => {
    this.#isWriting = false;
    // A client that reads lives, also while we do not read from it.
    if (this.#isPaused) this.#core.post({ kind: 'heard', attachment: this.#number });
    if (this.#isEnding) this.#write();
    else this.flush();
  };

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#stream.pause();
  }

  #resumeWhenRoom(): void {
    if (!this.#isPaused || this.#replies.size > this.#core.streamCallsMax / 2) return;
    this.#isPaused = false;
    this.#stream.resume();
  }

  /** The other side broke the rules of the stream: it ends with a status, and the session lives on. */
  #fault(reason: string): void {
    if (this.#phase === 'closed') return;
    this.#detach();
    this.#core.log.warnRarely('streamFault', this.#stream.getPeer(), { address: this.#stream.getPeer(), reason });
    this.#stream.emit('error', { code: status.INVALID_ARGUMENT, details: reason });
  }

  #gone(): void {
    this.#isEnding = true;
    this.#detach();
  }

  #detach(): void {
    clearTimeout(this.#helloTimer);
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#watches.closeAll();
    this.#core.detach(this.#number);
  }
}
