/** All that a member asks of its surroundings. The driver carries them out in order, and reports completions. */
import type { Answer, ErrorCode, Notification, SessionId, Sid, WatchPiece, Zxid } from '@quorate/protocol';
import type { StorageCommand } from '../zab/host.ts';
import type { StateRecord } from '../zab/messages.ts';
import type { PeerMessage } from './messages.ts';

export type PeerAction =
  /** Send on that link, in order; drop the message when the link is not the current one. */
  | { readonly kind: 'send'; readonly sid: Sid; readonly link: number; readonly message: PeerMessage }
  | { readonly kind: 'closeLink'; readonly sid: Sid; readonly link: number; readonly reason: string }
  /** Disk work on the ordered lane; answered by `persisted` with this ticket or a later one. */
  | { readonly kind: 'persist'; readonly ticket: number; readonly command: StorageCommand }
  /** Part of a checkpoint: add to the batch. Answered by `checkpointReady`. */
  | { readonly kind: 'checkpointPut'; readonly records: readonly StateRecord[] }
  /** Write the batch atomically, with its zxid. Answered by `checkpointWritten`. */
  | { readonly kind: 'checkpointCommit'; readonly zxid: Zxid }
  /** Throw the batch away. */
  | { readonly kind: 'checkpointAbort' }
  /** Open a stream of the state database. Answered by `stateOpened` or `stateFailed`. */
  | { readonly kind: 'openState'; readonly stream: number }
  /** Send that stream as stateChunk messages on the link, then report `stateSent`. */
  | { readonly kind: 'sendState'; readonly stream: number; readonly sid: Sid; readonly link: number }
  | { readonly kind: 'closeState'; readonly stream: number }
  /** The answer to a call, an openSession that failed, an attachSession that failed, or a keepAlive. */
  | { readonly kind: 'answer'; readonly callId: number; readonly answer: Answer }
  /** A session was opened or attached again. */
  | {
      readonly kind: 'sessionReady';
      readonly callId: number;
      readonly attachment: number;
      readonly session: SessionId;
      readonly token: Uint8Array;
      readonly timeoutMs: number;
      readonly resumed: boolean;
    }
  /** A session without a stream is alive. */
  | { readonly kind: 'sessionAlive'; readonly callId: number; readonly timeoutMs: number }
  /** The answer to a moveLeader: that member leads now. */
  | { readonly kind: 'leaderMoved'; readonly callId: number; readonly leader: Sid }
  /**
   * Close the stream or socket: its session has ended or moved, or this member can no longer serve it. `isIdle`: every call of
   * the session that was taken is answered, and none that came by this attachment is carried out any more.
   */
  | {
      readonly kind: 'closeAttachment';
      readonly attachment: number;
      readonly code: ErrorCode;
      readonly reason: string;
      readonly isIdle: boolean;
    }
  /** Tell the client of that attachment what its watches saw: after what was answered before, and before what is answered later. */
  | { readonly kind: 'notify'; readonly attachment: number; readonly notifications: readonly Notification[] }
  /** Hand the piece to the reader, and report `feedTaken` when it has taken it: no other comes before that. */
  | { readonly kind: 'feedPiece'; readonly feed: number; readonly piece: WatchPiece }
  /** The feed is over, or was refused: tell its reader why. */
  | {
      readonly kind: 'feedEnded';
      readonly feed: number;
      readonly code: ErrorCode;
      readonly path: string | undefined;
      readonly message: string;
    }
  /** There is more to do than fits a turn: end another one soon, though nothing may have happened. */
  | { readonly kind: 'turnWanted' }
  /** The member has changed its place in the ensemble: for status, health and logs. */
  | { readonly kind: 'statusChanged' }
  /** The answer to `stop`: nothing is in flight any more. */
  | { readonly kind: 'stopped' }
  /**
   * The member has given its place up because its disk failed, and asks for no disk work any more: close the store, and when
   * the disk works again recover a new member from it. Until then this one answers reads.
   */
  | { readonly kind: 'diskFailed'; readonly reason: string }
  /**
   * This member's memory cannot be trusted: it has given its place up, and neither asks for disk work nor answers from its
   * tree any more. Close the store and recover a new member from it; when `isDiskWrong`, what was read from the disk was no better: set it aside first and begin with
   * an empty one. Log it as an error.
   */
  | { readonly kind: 'rebuild'; readonly reason: string; readonly isDiskWrong: boolean }
  /** Something that people should look at: log it as a warning. */
  | { readonly kind: 'warning'; readonly reason: string }
  /** Something that people must know of: log it as an error. */
  | { readonly kind: 'alarm'; readonly reason: string }
  /** The member cannot go on safely: log the reason and end the process. */
  | { readonly kind: 'fail'; readonly reason: string }
  | {
      readonly kind: 'trace';
      readonly name: string;
      readonly fields: Readonly<Record<string, string | number | bigint | boolean>>;
    };
