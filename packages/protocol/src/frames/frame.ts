/**
 * The frames of a session stream as the two ends handle them: in the words of the domain, not of the wire.
 * Their bytes are those of AttachRequest and AttachResponse in protos/quorate/v1/session_service.proto, which also
 * states the rules of the conversation.
 */
import type { Identity } from '../acl.ts';
import type { ErrorCode } from '../errors.ts';
import type { Answer, Guard, Op, OpFailure, OpResult } from '../op.ts';
import type { SessionId, Sid } from '../session-id.ts';
import type { WatchCommand, WatchNews } from '../watch.ts';
import type { Notification } from '../watch-ops.ts';
import type { Zxid } from '../zxid.ts';

/** Full name of the stream's method, as HTTP/2 path. */
export const ATTACH_PATH = '/quorate.v1.SessionService/Attach';

/** Revision of the frame protocol that this build speaks. */
export const FRAME_PROTOCOL_REVISION = 1;

/** First frame of the client: which session it wants. */
export interface ClientHello {
  /** NO_SESSION for a new one. */
  readonly session: SessionId;
  /** Empty for a new one. A secret. */
  readonly token: Uint8Array;
  readonly timeoutMs: number;
  readonly lastZxidSeen: Zxid;
  readonly protocolRevision: number;
  /** What the connection shows for itself. Secrets. */
  readonly credentials?: readonly Credential[];
}

/** A proof of an identity: of scheme digest, `user:password` in UTF-8. */
export interface Credential {
  readonly scheme: string;
  readonly proof: Uint8Array;
}

/** Shows something more for the connection. Answered by the member itself, and no part of the history. */
export interface AddAuthOp {
  readonly kind: 'addAuth';
  readonly credential: Credential;
}

/** What a session stream can be asked for. */
export type StreamOp = Op | AddAuthOp;

/** The successful result of a call of a session stream. */
export type StreamResult =
  | OpResult
  /** All that the connection is taken for from the next call on. */
  | { readonly kind: 'addAuth'; readonly identities: readonly Identity[] };

/** The answer to a call of a session stream. */
export interface StreamAnswer extends Omit<Answer, 'result'> {
  readonly result: StreamResult | OpFailure;
}

/** First frame of the member: the session as attached. */
export interface ServerHello {
  readonly session: SessionId;
  /** A secret. */
  readonly token: Uint8Array;
  readonly timeoutMs: number;
  readonly resumed: boolean;
  /** Largest frame that the member reads, bytes. */
  readonly frameBytesMax: number;
  /** Largest single call or reply, bytes. */
  readonly requestBytesMax: number;
  readonly sid: Sid;
  readonly protocolRevision: number;
  readonly zxid: Zxid;
  /** What the member takes the connection for. */
  readonly identities?: readonly Identity[];
}

/** A call that cannot be carried out as it came; it is answered with this and nothing else. */
export interface CallFault {
  readonly kind: 'fault';
  readonly code: ErrorCode;
  readonly message: string;
}

/** One call as the client sends it. */
export interface FrameCall {
  readonly xid: number;
  /** 0 for the member's default. */
  readonly timeoutMs: number;
  readonly op: StreamOp;
  /** For writes: refused unless these znodes exist still. Undefined like none. */
  readonly guards?: readonly Guard[] | undefined;
  /** For reads: confirm with the leader first. */
  readonly linearizable: boolean;
  /** Number of a write in its session; absent or 0 for one that may be carried out again when it is sent again. */
  readonly request?: number;
}

/** One call as the member receives it: the operation may be one that it cannot understand. */
export interface ReceivedCall extends Omit<FrameCall, 'op'> {
  readonly op: StreamOp | CallFault;
}

/** The answer to one call. An `exists` of an absent znode is a NO_NODE failure here, although not on the wire. */
export interface FrameReply {
  readonly xid: number;
  readonly answer: StreamAnswer;
}

/** Last word of the member on a stream. */
export interface SessionClosed {
  readonly code: ErrorCode;
  readonly message: string;
  /** True: calls without a reply were not carried out and never will be. False: that is not known. */
  readonly unansweredNotApplied: boolean;
}

/** A frame from the client. */
export interface AttachRequest {
  readonly hello: ClientHello | undefined;
  readonly calls: readonly ReceivedCall[];
  readonly watches: readonly WatchCommand[];
  /** All replies to numbered calls up to this one were received; it holds for the calls of this frame. 0: nothing is said. */
  readonly acknowledged: number;
}

/** A frame from the member. */
export interface AttachResponse {
  readonly hello: ServerHello | undefined;
  readonly replies: readonly FrameReply[];
  readonly closed: SessionClosed | undefined;
  readonly watches: readonly WatchNews[];
  /** What the connection's own watches are told: before the replies that stand in later frames. */
  readonly notifications: readonly Notification[];
}
