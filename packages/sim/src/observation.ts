/**
 * All that can be seen of a run from outside the members: what they hand to their disks, what the disks really hold,
 * what they say to each other, what clients asked and were told. Observations come in one total order (that of
 * virtual time), so "before" means "earlier in the stream". Checkers live on these alone and know nothing of how the
 * run is made; that is why a checker can be tested with a history written by hand.
 */
import type { LogRecord, PeerMessage, ServerState, StorageCommand, VoteRight } from '@quorate/core';
import type {
  Answer,
  Epoch,
  ErrorCode,
  Guard,
  Identity,
  Notification,
  Op,
  SessionId,
  Sid,
  WatchPiece,
  Zxid,
} from '@quorate/protocol';
import type { FaultKind } from './faults/kinds.ts';

/** What a member says of itself after a turn. */
export interface StatusView {
  readonly role: ServerState;
  readonly phase: string;
  /** currentEpoch. */
  readonly epoch: Epoch;
  readonly leader: Sid | undefined;
  /** Last applied. */
  readonly lastZxid: Zxid;
  readonly committed: Zxid;
  /** Hash of the tree at `lastZxid`. */
  readonly digest: bigint;
  readonly serving: boolean;
  /** Writes can be ordered, as far as this member knows. */
  readonly hasQuorum: boolean;
  /** Undefined on an observer. */
  readonly voteRight: VoteRight | undefined;
}

/** What a disk holds for sure. */
export interface DiskView {
  /** zxid of the checkpoint. */
  readonly baseZxid: Zxid;
  /** Log, in key order. */
  readonly records: readonly LogRecord[];
  readonly acceptedEpoch: Epoch;
  readonly currentEpoch: Epoch;
  readonly voteRight: VoteRight;
}

/** How time is measured in the ensemble. */
export interface ClocksView {
  /** A member's clock is faster or slower than virtual time by at most this part. */
  readonly driftMax: number;
  /** From one round of the reaper to the next, ms. */
  readonly reapIntervalMs: number;
}

/** What a client asks about its session; answered by `attached`, `alive` or an error. */
export interface SessionOp {
  readonly kind: 'openSession' | 'attachSession' | 'keepAlive';
}

/** A call as its client made it. */
export interface CallView {
  /** Unique in the run of the simulation, over all members. */
  readonly callId: number;
  readonly sid: Sid;
  /** NO_SESSION for a call without one. */
  readonly session: SessionId;
  /** Attachment by which it came, unique in the simulation; 0 for a unary call: only calls of one attachment are answered in order. */
  readonly attachment: number;
  readonly op: Op | SessionOp;
  readonly linearizable: boolean;
  /** Of a write: refused unless these znodes are there still. */
  readonly guards?: readonly Guard[] | undefined;
  /** What its client has shown for itself. Absent like nothing. */
  readonly identities?: readonly Identity[] | undefined;
  /** Number of a write in its session: calls of one number are one write, asked for again. Absent for what is not numbered. */
  readonly request?: number;
}

export type Observation =
  /** The shape of the ensemble: first in every stream. */
  | {
      readonly kind: 'ensemble';
      readonly voters: readonly Sid[];
      readonly observers: readonly Sid[];
      readonly clocks: ClocksView;
    }
  /** A member came up, for the `run`-th time, with what its disk held. */
  | {
      readonly kind: 'started';
      readonly sid: Sid;
      readonly run: number;
      readonly disk: DiskView;
      readonly status: StatusView;
    }
  /** A member lost its memory and what its disk had not synced. */
  | { readonly kind: 'crashed'; readonly sid: Sid; readonly run: number }
  /** A member has ended a turn. */
  | { readonly kind: 'status'; readonly sid: Sid; readonly run: number; readonly status: StatusView }
  /** A member handed work to its disk. */
  | { readonly kind: 'issued'; readonly sid: Sid; readonly command: StorageCommand }
  /** A disk has made that work durable. Comes in the order in which the disk did it. */
  | { readonly kind: 'durable'; readonly sid: Sid; readonly command: StorageCommand }
  /** A disk has made a checkpoint durable. */
  | { readonly kind: 'checkpointed'; readonly sid: Sid; readonly zxid: Zxid }
  /** A member sent a message (it may still be lost). */
  | { readonly kind: 'sent'; readonly from: Sid; readonly run: number; readonly to: Sid; readonly message: PeerMessage }
  /** A member takes in, on a link that stands, that another one has heard from the clients of these sessions. */
  | { readonly kind: 'told'; readonly sid: Sid; readonly from: Sid; readonly sessions: readonly SessionId[] }
  | { readonly kind: 'called'; readonly call: CallView }
  | { readonly kind: 'answered'; readonly callId: number; readonly answer: Answer }
  /** What the watches of that connection saw. */
  | { readonly kind: 'notified'; readonly attachment: number; readonly notifications: readonly Notification[] }
  /** The client cannot get an answer any more: its stream, its member or its session is gone. */
  | { readonly kind: 'abandoned'; readonly callId: number }
  /** The answer to an openSession or attachSession: the client has the session, new or again. */
  | { readonly kind: 'attached'; readonly callId: number; readonly session: SessionId; readonly resumed: boolean }
  /** The answer to a keepAlive. */
  | { readonly kind: 'alive'; readonly callId: number }
  /** A client learned that its session has ended. `isExcused`: it had asked for that, or could not be heard all the time. */
  | {
      readonly kind: 'sessionEnded';
      readonly session: SessionId;
      readonly code: ErrorCode | undefined;
      readonly isExcused: boolean;
    }
  /** A client has left its session for good: it may end or not. */
  | { readonly kind: 'sessionLeft'; readonly session: SessionId }
  /** A member's disk has failed: it goes on without one, and is made anew (`crashed`, `started`) when the disk works again. */
  | { readonly kind: 'diskLost'; readonly sid: Sid; readonly run: number; readonly reason: string }
  /** A member that is down has another disk, with nothing on it: its own was taken away, or set aside at its start. */
  | { readonly kind: 'diskReplaced'; readonly sid: Sid; readonly how: string }
  /** A member says what it does, for people: see the core's traces. */
  | {
      readonly kind: 'traced';
      readonly sid: Sid;
      readonly name: string;
      readonly fields: Readonly<Record<string, string | number | bigint | boolean>>;
    }
  /** A piece of what whoever watches the whole tree at a member was told, in his `feed`-th watch of this run, begun `from` there. */
  | {
      readonly kind: 'watched';
      readonly sid: Sid;
      readonly run: number;
      readonly feed: number;
      readonly from: Zxid | undefined;
      readonly piece: WatchPiece;
      /** Position of the member's tree, and how many znodes it has. */
      readonly zxid: Zxid;
      readonly znodes: number;
    }
  /** The nemesis has struck. */
  | { readonly kind: 'struck'; readonly fault: FaultKind; readonly what: string }
  /** Faults have stopped; the ensemble has until `untilUs` to be whole again. */
  | { readonly kind: 'healed'; readonly atUs: number; readonly untilUs: number }
  /** The end of the wait after the heal: what every member says of itself, and what still is not as it should be. */
  | {
      readonly kind: 'settled';
      readonly atUs: number;
      readonly members: readonly { readonly sid: Sid; readonly status: StatusView | undefined }[];
      /** Calls made after the heal that got no successful answer in time, one line each. */
      readonly failures: readonly string[];
    }
  /** Something broke in a member by its own account: an assertion, or a `fail` action. */
  | { readonly kind: 'failed'; readonly sid: Sid; readonly run: number; readonly reason: string };

/** A rule was broken. Ends the run. */
export class Violation extends Error {
  /** Name of the checker that found it. */
  readonly checker: string;

  constructor(checker: string, message: string) {
    super(message);
    this.name = 'Violation';
    this.checker = checker;
  }
}
