/**
 * The face of the memory twin: a MemberStore whose disk work waits until the simulator lets it happen.
 * `openMemoryStore(disk, options): SimStore` and `class SimDisk` are beside it.
 */
import type { MemberStore, RecoveredSummary, RecoverySink, StatePage } from '../contract.ts';
import type { LaneName } from '../io.ts';

export interface SimStore extends MemberStore {
  /** Disk operations that have been started and wait for `pump`; at most one a lane. */
  pending(lane?: LaneName): number;
  /**
   * Completes up to `count` disk operations (default 1), in the order in which they were started, or of one lane only;
   * store events are called inside. Returns how many were done. One operation may start the next.
   */
  pump(count?: number, lane?: LaneName): number;
  /** `recover`, at once. Throws StorageError. */
  recoverNow(sink: RecoverySink): RecoveredSummary;
  /** `readState`, at once. Throws StorageError. */
  readStateNow(stream: number, maxBytes: number): StatePage;
  /**
   * The next write that is pumped fails with this reason; undefined: it does not. `lands`: it is on the disk all the same,
   * unsynced. Default false.
   */
  failNextWrite(reason: string | undefined, lands?: boolean): void;
}
