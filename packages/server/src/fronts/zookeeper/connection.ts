/**
 * One connection of a ZooKeeper client: the first frame opens or resumes a session, every later one is a request. Requests go to the
 * core in the order in which they come, replies leave in that order, those of one turn in one write.
 *
 * Policies when full: with too many requests unanswered, or while the client does not read, the socket is not read from. What is not a
 * frame, or a request that nobody may send, ends this connection only; the session lives on. Source: reference §1.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  type ErrorCode,
  NO_SESSION,
  type Notification,
  toSessionId,
} from '@quorate/protocol';
import {
  type ConnectRequest,
  connectResponseFrame,
  readConnectRequest,
  readRequestHeader,
  sessionRefusal,
} from '@quorate/protocol/jute';
import type { SessionReady } from '../../calls.ts';
import type { Attachment } from '../../driver.ts';
import { type CoreAccess, deadlineAfter } from '../core-access.ts';
import { newToken } from '../session-token.ts';
import type { FourLetterWords } from './four-letter-words.ts';
import { FrameError, FrameReader } from './frame-reader.ts';
import type { QuorumView } from './quorum-view.ts';
import { ReplyLine } from './reply-line.ts';
import { Requests } from './requests.ts';
import type { ConnectionInfo, Counted, Traffic } from './traffic.ts';

export interface ConnectionOptions {
  readonly core: CoreAccess;
  /** Longest frame of a client, bytes (jute.maxbuffer). */
  readonly frameBytesMax: number;
  readonly words: FourLetterWords;
  readonly traffic: Traffic;
  readonly quorum: QuorumView;
}

/** A connection that has not asked for a session by then is closed, ms. */
const HELLO_MS = 10_000;

/** While this much waits for the client to read it, nothing more is encoded or read, bytes. */
const WRITE_MARK_BYTES = 1024 * 1024;

/** What watches saw, and a client does not read, bytes: past it the connection is closed, and the client asks what it missed. */
const NOTIFIED_BYTES_MAX = 16 * 1024 * 1024;

/** How long a client may take to read the last word, ms. */
const LINGER_MS = 5_000;

/** Requests that are taken in one go; others of the loop come in between. */
const REQUESTS_AT_ONCE = 1_000;

export class Connection implements Attachment, Counted {
  readonly #core: CoreAccess;
  readonly #socket: Socket;
  readonly #words: FourLetterWords;
  readonly #traffic: Traffic;
  readonly #quorum: QuorumView;
  readonly #peer: string;
  readonly #sinceMs = Date.now();
  #received = 0;
  #sent = 0;
  readonly #frames: FrameReader;
  readonly #replies: ReplyLine;
  readonly #requests: Requests;
  readonly #number: number;
  #phase: 'first' | 'opening' | 'open' | 'closed' = 'first';
  #helloTimer: NodeJS.Timeout | undefined;
  #isWriting = false;
  #isPaused = false;
  #isTakingSoon = false;
  /** The client knows of read-only service, and wants to hear of it. */
  #asksReadOnly = false;
  #allowsReadOnly = false;
  #isReadOnly = false;
  #heardMs = performance.now();

  constructor(socket: Socket, { core, frameBytesMax, words, traffic, quorum }: ConnectionOptions) {
    this.#core = core;
    this.#socket = socket;
    this.#words = words;
    this.#traffic = traffic;
    this.#quorum = quorum;
    this.#frames = new FrameReader(frameBytesMax);
    this.#replies = new ReplyLine(
      () => core.answered(this),
      () => core.appliedZxid(),
      (ms) => this.#replied(ms),
    );
    this.#number = core.attach(this);
    this.#peer = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#requests = new Requests(core, this.#number, this.#replies, this.#peer);
  }

  start(): void {
    const socket = this.#socket;
    this.#traffic.opened(this);
    socket.once('close', () => this.#traffic.closed(this));
    socket.on('data', (chunk: Buffer) => this.#data(chunk));
    socket.once('end', () => this.#gone());
    socket.once('close', () => this.#gone());
    this.#helloTimer = setTimeout(() => this.#end(), HELLO_MS).unref();
  }

  info(): ConnectionInfo {
    const { session, timeoutMs } = this.#requests;
    const counts = { queued: this.#replies.size, received: this.#received, sent: this.#sent };
    return { peer: this.#peer, ...counts, session, timeoutMs, sinceMs: this.#sinceMs };
  }

  resetCounts(): void {
    this.#received = 0;
    this.#sent = 0;
  }

  /** End of a turn in which something was answered. */
  flush(): void {
    if (this.#isWriting || this.#phase === 'closed') return;
    this.#write();
    const isDone = this.#requests.isOver && this.#replies.size === 0;
    if (isDone || this.#replies.farewell !== undefined) this.#end();
    else this.#takeMore();
  }

  /** The session has ended or moved, or this member cannot serve it: this wire has no word for it, so the socket is closed. */
  close(code: ErrorCode): void {
    if (this.#phase === 'closed') return;
    if (this.#phase === 'opening') return this.#refused(code);
    if (!this.#isWriting) this.#write();
    this.#end();
  }

  /** What its watches are told stands where it came: behind the replies that are there, before those that are not. */
  notify(notifications: readonly Notification[]): void {
    if (this.#phase !== 'open') return;
    this.#replies.notify(notifications);
    if (this.#replies.toldBytes > NOTIFIED_BYTES_MAX) return this.#fault('it does not read what its watches saw');
    this.#core.answered(this);
  }

  #data(chunk: Buffer): void {
    if (this.#phase === 'closed') return;
    this.#frames.push(chunk);
    this.#take();
  }

  #take(): void {
    try {
      for (let left = REQUESTS_AT_ONCE; left > 0; left--) {
        if (this.#mustWait()) return;
        if (this.#phase === 'first' && this.#takeWord()) return;
        const frame = this.#frames.next();
        if (frame === undefined) return this.#listen();
        if (this.#phase === 'first') this.#connect(frame);
        else this.#request(frame);
      }
    } catch (error) {
      if (!(error instanceof FrameError || error instanceof DecodeError)) throw error;
      return this.#fault(error.message);
    }
    this.#takeSoon();
  }

  /** No more requests are taken now; the socket is left alone until that changes. */
  #mustWait(): boolean {
    if (this.#phase === 'closed' || this.#requests.isOver) return true;
    const isFull = this.#replies.size >= this.#core.streamCallsMax;
    if (this.#phase !== 'opening' && !isFull) return false;
    this.#isPaused = true;
    this.#socket.pause();
    return true;
  }

  #listen(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  #takeMore(): void {
    if (this.#phase !== 'open' || this.#replies.size > this.#core.streamCallsMax / 2) return;
    if (this.#isPaused || this.#frames.bytes > 0) this.#takeSoon();
  }

  #takeSoon(): void {
    if (this.#isTakingSoon) return;
    this.#isTakingSoon = true;
    setImmediate(() => {
      this.#isTakingSoon = false;
      this.#take();
    });
  }

  /** A word of four letters instead of a frame: answered, and the connection closed. */
  #takeWord(): boolean {
    const first = this.#frames.peek();
    const answer = first && this.#words.answer(first.toString('latin1'));
    if (answer === undefined) return false;
    this.#end(answer);
    return true;
  }

  #connect(frame: Buffer): void {
    clearTimeout(this.#helloTimer);
    const request = readConnectRequest(new ByteReader(frame));
    const { lastZxidSeen, session, password, timeoutMs } = request;
    this.#asksReadOnly = request.readOnly !== undefined;
    this.#allowsReadOnly = request.readOnly === true;
    // To a client that has seen more than this member, or that comes too early, nothing is said: it goes to another member.
    if (this.#core.refusal() !== undefined || lastZxidSeen > this.#core.appliedZxid()) return this.#end();
    if (this.#quorum.isReadOnly) return this.#openReadOnly(request);
    this.#phase = 'opening';
    const callId = this.#core.calls.add({
      answer: ({ result }) => {
        if (result.kind === 'error') this.#refused(result.code);
      },
      sessionReady: (ready) => this.#sessionReady(ready),
    });
    const common = { callId, attachment: this.#number, deadlineMs: deadlineAfter(0) };
    if (session === NO_SESSION) {
      // What is no time becomes the shortest that is allowed.
      this.#core.post({ kind: 'openSession', ...common, timeoutMs: Math.max(1, timeoutMs), token: newToken() });
    } else {
      this.#core.post({
        kind: 'attachSession',
        ...common,
        session,
        token: password,
        lastZxidSeen: this.#core.appliedZxid(),
      });
    }
  }

  /** Without a quorum sessions can be neither made nor resumed: what the client named stays as it is until there is one. */
  #openReadOnly({ session, password, timeoutMs }: ConnectRequest): void {
    if (!this.#allowsReadOnly) return this.#end();
    this.#phase = 'open';
    this.#isReadOnly = true;
    this.#core.post({ kind: 'attachReader', attachment: this.#number });
    const { sessionTimeoutMinMs: min, sessionTimeoutMaxMs: max } = this.#core.timing;
    const granted = Math.min(Math.max(timeoutMs, min), max);
    this.#requests.openedReadOnly(granted);
    const isNew = session === NO_SESSION;
    const own = {
      session: isNew ? toSessionId(randomBytes(8).readBigUInt64BE() | 1n) : session,
      password: isNew ? newToken() : password,
    };
    this.#socket.write(connectResponseFrame({ timeoutMs: granted, ...own, readOnly: true }));
    this.#takeSoon();
  }

  /** Called several times a second: a client that allows read-only service is let go when that begins, and when it is over. */
  look(): void {
    if (this.#phase === 'first' || this.#phase === 'closed') return;
    const { hasLeader, isReadOnly } = this.#quorum;
    const isSilent = this.#isReadOnly && performance.now() - this.#heardMs > this.#requests.timeoutMs;
    const isStranded = isReadOnly && this.#allowsReadOnly && !this.#isReadOnly;
    if (isStranded || isSilent || (this.#isReadOnly && hasLeader)) this.#end();
  }

  /** That the session has ended, or is not his, the client is told: it begins a new one. With any other reason it goes elsewhere. */
  #refused(code: ErrorCode): void {
    if (this.#phase !== 'opening') return;
    if (code === 'SESSION_EXPIRED') this.#end(connectResponseFrame(sessionRefusal(this.#asksReadOnly)));
    else this.#end();
  }

  #sessionReady({ session, token, timeoutMs }: SessionReady): void {
    if (this.#phase !== 'opening') return;
    this.#phase = 'open';
    this.#requests.opened(session, timeoutMs);
    const readOnly = this.#asksReadOnly ? false : undefined;
    this.#socket.write(connectResponseFrame({ timeoutMs, session, password: token, readOnly }));
    this.#takeSoon();
  }

  #request(frame: Buffer): void {
    this.#received++;
    this.#heardMs = performance.now();
    // What is read from now on is news that its watches were not told of here.
    if (this.#isReadOnly && this.#quorum.hasLeader) return this.#end();
    this.#traffic.received++;
    this.#core.post({ kind: 'heard', attachment: this.#number });
    const reader = new ByteReader(frame);
    this.#requests.take(readRequestHeader(reader), reader);
  }

  #replied(ms: number): void {
    this.#sent++;
    this.#traffic.answered(ms);
  }

  #write(): void {
    const writer = new ByteWriter(1024);
    while (writer.length < WRITE_MARK_BYTES && this.#replies.writeNext(writer)) {
      // Until there is no more, or enough.
    }
    if (writer.length === 0) return;
    this.#isWriting = true;
    this.#socket.write(writer.finish(), this.#written);
  }

  /** What was written has left for the client. */
  readonly #written = (): void => {
    this.#isWriting = false;
    // A client that reads lives, also while nothing is read from it.
    if (this.#isPaused) this.#core.post({ kind: 'heard', attachment: this.#number });
    this.flush();
  };

  #fault(reason: string): void {
    this.#core.log.warnRarely('connectionFault', this.#peer, { address: this.#peer, reason });
    this.#end();
  }

  /** After what was written, and a last word, the socket is closed; nothing more is taken from it. */
  #end(lastWord?: Uint8Array | string): void {
    this.#detach();
    const socket = this.#socket;
    if (lastWord === undefined) socket.end();
    else socket.end(lastWord);
    // What the client still sends is read and dropped: closing over it could cost the client what was written last.
    socket.resume();
    const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(linger));
  }

  #gone(): void {
    this.#detach();
    this.#socket.end();
  }

  #detach(): void {
    clearTimeout(this.#helloTimer);
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#core.detach(this.#number);
  }
}
