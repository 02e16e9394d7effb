/**
 * All that can happen to a member. An event carries everything that is not determined; time comes with each step.
 * Completions of disk work are events like any other: the core waits for them, the driver does not.
 */
import type { Guard, Identity, Numbered, Op, SessionId, Sid, WatchSpec, Zxid } from '@quorate/protocol';
import type { PeerMessage } from './messages.ts';

/** The clocks at one step. */
export interface Now {
  /** Monotonic, ms; decides every timeout. */
  readonly monotonicMs: number;
  /** Wall clock, ms since 1970; only stamps ctime and mtime. */
  readonly wallMs: number;
}

/** One call of a client. Calls of one session are answered in the order in which they came. */
export interface Call {
  /** Chosen by the driver, unique in this run, rising. */
  readonly callId: number;
  /** The session it belongs to; NO_SESSION for a call without one. */
  readonly session: SessionId;
  /** The attachment (stream or socket) it came by: the session must be attached there. 0 for a unary call. */
  readonly attachment: number;
  /** A unary call that names a session proves it with the token. Undefined on an attachment. */
  readonly token: Uint8Array | undefined;
  readonly op: Op;
  /** For a write of a session that must happen once, however often it is asked for. Ignored for all else. */
  readonly numbered?: Numbered | undefined;
  /** For writes: refused unless these znodes exist still. Undefined like none. */
  readonly guards?: readonly Guard[] | undefined;
  /** What its connection has shown for itself by now. Undefined like nothing. */
  readonly identities?: readonly Identity[] | undefined;
  /** For reads: bytes of the longest list of names that the front can hand on. Undefined: any. */
  readonly listBytesMax?: number | undefined;
  /** For reads of clients that want them however long there has been no leader. */
  readonly isStaleAllowed?: boolean | undefined;
  /** For reads: confirm with the leader first. */
  readonly linearizable: boolean;
  /** Monotonic time at which it is answered as failed. */
  readonly deadlineMs: number;
}

export type PeerEvent =
  /** Time has passed. Comes at least every 50 ms. */
  | { readonly kind: 'tick' }
  /** The driver has no more events at hand: send what was gathered. */
  | { readonly kind: 'turnEnded' }
  /** A link to a member is up; `link` is unique in this run and rises. */
  | { readonly kind: 'linkUp'; readonly sid: Sid; readonly link: number }
  | { readonly kind: 'linkDown'; readonly sid: Sid; readonly link: number }
  | { readonly kind: 'peerMessage'; readonly sid: Sid; readonly link: number; readonly message: PeerMessage }
  /** All disk work up to and including `ticket` is done and durable. */
  | { readonly kind: 'persisted'; readonly ticket: number }
  /**
   * Disk work failed; nothing that was not reported as persisted can be relied on. The member gives its place up and answers
   * `diskFailed`; it goes on answering reads until it is replaced by one that was made from the mended disk.
   */
  | { readonly kind: 'storageFailed'; readonly reason: string }
  /** The driver can take the next part of the checkpoint. */
  | { readonly kind: 'checkpointReady' }
  /** The checkpoint at `zxid` is durable. */
  | { readonly kind: 'checkpointWritten'; readonly zxid: Zxid }
  | { readonly kind: 'stateOpened'; readonly stream: number; readonly zxid: Zxid }
  | { readonly kind: 'stateSent'; readonly stream: number }
  | { readonly kind: 'stateFailed'; readonly stream: number; readonly reason: string }
  /** A client asks for a new session. `attachment` 0: without a stream. `token` is random, from the driver. */
  | {
      readonly kind: 'openSession';
      readonly callId: number;
      readonly attachment: number;
      readonly timeoutMs: number;
      readonly token: Uint8Array;
      readonly deadlineMs: number;
    }
  /** A client asks to go on with a session on this attachment. */
  | {
      readonly kind: 'attachSession';
      readonly callId: number;
      readonly attachment: number;
      readonly session: SessionId;
      readonly token: Uint8Array;
      readonly lastZxidSeen: Zxid;
      readonly deadlineMs: number;
    }
  /** A client without a stream keeps its session alive. */
  | {
      readonly kind: 'keepAlive';
      readonly callId: number;
      readonly session: SessionId;
      readonly token: Uint8Array;
      readonly deadlineMs: number;
    }
  /** An operator ends a session, whoever has it. Answered as a closeSession, or with a failure. */
  | { readonly kind: 'endSession'; readonly callId: number; readonly session: SessionId; readonly deadlineMs: number }
  /** Something was heard from the client of this attachment. */
  | { readonly kind: 'heard'; readonly attachment: number }
  /** The stream or socket is gone; its session lives on until it expires. */
  | { readonly kind: 'detached'; readonly attachment: number }
  /** A client without a session, which reads only, is served by this attachment: its watches belong to it. */
  | { readonly kind: 'attachReader'; readonly attachment: number }
  /** The client of this attachment has shown more for itself; its calls say so from now on, and its watches go by it. */
  | { readonly kind: 'identified'; readonly attachment: number; readonly identities: readonly Identity[] }
  | { readonly kind: 'call'; readonly call: Call }
  /** A reader wants to watch. `feed` is chosen by the driver, unique in this run. Answered by `feedPiece`s or `feedEnded`. */
  | {
      readonly kind: 'feedOpened';
      readonly feed: number;
      readonly spec: WatchSpec;
      /** What the reader's connection has shown for itself. Undefined like nothing. */
      readonly identities?: readonly Identity[] | undefined;
    }
  /** The reader has taken the last piece, and can take another one. */
  | { readonly kind: 'feedTaken'; readonly feed: number }
  /** The reader has gone; nothing more comes for it. */
  | { readonly kind: 'feedClosed'; readonly feed: number }
  /** The lead is to go to `to`, or to the voter that is furthest. Answered by `leaderMoved` or a failed `answer`. */
  | { readonly kind: 'moveLeader'; readonly callId: number; readonly to: Sid | undefined; readonly deadlineMs: number }
  /** The member is to stop: take no new calls, answer those in flight, then say `stopped`. */
  | { readonly kind: 'stop' };
