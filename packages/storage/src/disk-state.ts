/**
 * What one member's disk holds, as far as the storage logic has to remember it between commands. Every field says what
 * is durable, never what is under way: plans change it after the write that made it true.
 */
import { ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { StoreIdentity } from './contract.ts';
import { type DbName, stateDb } from './io.ts';
import { LogIndex } from './log-index.ts';
import type { Epochs, Head } from './log-meta.ts';
import type { Watermark } from './watermark.ts';

export class DiskState {
  readonly identity: StoreIdentity;
  readonly log = new LogIndex();
  head: Head;
  epochs: Epochs;
  /** zxid of the current state database. */
  checkpointZxid: Zxid;
  /** End of the log: the last record's zxid, or that of the checkpoint when nothing follows it. */
  lastZxid: Zxid;
  /** Entries written since the lower bound was last noted in the state database; Infinity when it does not hold any more. */
  entriesPastBound = 0;
  /** What was last noted in the watermark file, or is about to be; undefined: nothing. */
  watermark: Watermark | undefined;
  /** Entries up to here have been given up and may be deleted. */
  purgeThrough: Zxid = ZERO_ZXID;
  /** Bytes deleted from the log since its range was last compacted. */
  purgedBytes = 0;
  /** Number of the state database that is being received beside the current one. */
  incoming: number | undefined;

  constructor(found: {
    readonly identity: StoreIdentity;
    readonly head: Head;
    readonly epochs: Epochs;
    readonly checkpointZxid: Zxid;
  }) {
    this.identity = found.identity;
    this.head = found.head;
    this.epochs = found.epochs;
    this.checkpointZxid = found.checkpointZxid;
    this.lastZxid = found.checkpointZxid;
  }

  /** The current state database. */
  get stateDb(): DbName {
    return stateDb(this.head.state);
  }
}
