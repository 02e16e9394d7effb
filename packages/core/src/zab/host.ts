/**
 * What the agreement asks of the member around it: the only way out of `zab/`.
 * All calls are synchronous and made inside one step; none may call back into Zab.
 */
import type { Epoch, Sid, Zxid } from '@quorate/protocol';
import type { VoteRight } from './config.ts';
import type { LogRecord, StateRecord, ZabMessage } from './messages.ts';

/**
 * Work for the disk, carried out in the order given. The member is told of each completion by ticket.
 * The same shapes are `StorageCommand` in `storage`.
 */
export type StorageCommand =
  /** Adds records to the log. `committed` is a hint for recovery: known to be committed when this was written. */
  | { readonly kind: 'append'; readonly records: readonly LogRecord[]; readonly committed: Zxid }
  /** Removes every log record after `after`. */
  | { readonly kind: 'truncate'; readonly after: Zxid }
  | {
      readonly kind: 'saveEpochs';
      readonly acceptedEpoch: Epoch;
      readonly currentEpoch: Epoch;
      readonly voteRight: VoteRight;
    }
  /** Starts a new state database beside the present one. */
  | { readonly kind: 'installBegin' }
  | { readonly kind: 'installChunk'; readonly records: readonly StateRecord[] }
  /** Swaps the new state database in, at `zxid`, and drops the log up to and including it. */
  | { readonly kind: 'installCommit'; readonly zxid: Zxid }
  /** Throws a half-received state database away. */
  | { readonly kind: 'installAbort' }
  /** Drops log records up to and including `through`, which a checkpoint has made unnecessary. */
  | { readonly kind: 'purgeLog'; readonly through: Zxid };

/** Where this member stands in the agreement, as the rest of the member needs to know it. */
export type Standing =
  /** No leader is known, or not synchronized with it yet. Applied state stays readable. */
  | { readonly kind: 'looking' }
  /** Established: this member leads `epoch`; proposals are taken. */
  | { readonly kind: 'leading'; readonly epoch: Epoch }
  /** Synchronized with `leader` over `link`: everything the new epoch starts from has been delivered. */
  | { readonly kind: 'following'; readonly leader: Sid; readonly link: number; readonly epoch: Epoch };

export interface ZabHost {
  send(sid: Sid, link: number, message: ZabMessage): void;
  /** Hands work to the disk and returns its ticket: tickets rise by one. */
  persist(command: StorageCommand): number;
  /** A committed txn, on this member's disk, next in order. */
  deliver(record: LogRecord): void;
  standing(standing: Standing): void;
  /** Ends a conversation: the driver closes the link, and links come up anew. */
  closeLink(sid: Sid, link: number, reason: string): void;
  /** Asks for a stream of the state database as it is on disk; `stateOpened` comes back with its zxid. */
  openState(stream: number): void;
  /** Sends the opened stream to a learner as stateChunk messages; `stateSent` comes back. */
  sendState(stream: number, sid: Sid, link: number): void;
  /** Ends a stream that is not needed any more. */
  closeState(stream: number): void;
  /** A snapshot from the leader begins to replace this member's state; records go to `installRecords`. */
  installBegin(): void;
  /** Returns what is wrong with them; the snapshot is given up then. */
  installRecords(records: readonly StateRecord[]): string | undefined;
  /** All records of the snapshot at `zxid` have come. Returns what is wrong with the whole; it is given up then. */
  installCheck(zxid: Zxid): string | undefined;
  /** The state that was checked is on disk and takes the place of the present one. */
  installEnd(zxid: Zxid): void;
  installAbort(): void;
  /** The leadership of this epoch was confirmed by a quorum after round `seq` was begun. */
  leadershipConfirmed(seq: number): void;
  /** This member's right to vote has changed, for the reason given. */
  voteRightChanged(voteRight: VoteRight, reason: string): void;
  /** The member cannot go on: a broken promise of the disk or of another member. */
  fail(reason: string): void;
  trace(name: string, fields: Readonly<Record<string, string | number | bigint | boolean>>): void;
}
