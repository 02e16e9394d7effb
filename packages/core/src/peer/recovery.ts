/**
 * A member's start: what the disk holds, in the order in which it is read (the whole state, then the log after it),
 * becomes a member that looks for its leader. Whether the disk's content can be trusted was judged by `storage`; what
 * cannot be put together is refused here by name, with DecodeError.
 */
import { assert, type Epoch, formatZxid, type Zxid } from '@quorate/protocol';
import { TreeLoader } from '../tree/tree-loader.ts';
import type { VoteRight } from '../zab/config.ts';
import type { LogRecord, StateRecord } from '../zab/messages.ts';
import type { PeerAction } from './actions.ts';
import type { MemberConfig } from './config.ts';
import type { Now } from './events.ts';
import { QuorumPeer } from './quorum-peer.ts';

/** What the disk says beside state and log. */
export interface RecoverySummary {
  /** The state that was read is exactly that after this txn; 0 with no state at all. */
  readonly checkpointZxid: Zxid;
  readonly acceptedEpoch: Epoch;
  readonly currentEpoch: Epoch;
  readonly voteRight: VoteRight;
  /** Known to be committed when the log was written; a lower bound. */
  readonly committed: Zxid;
}

export class Recovery {
  readonly #config: MemberConfig;
  readonly #loader = new TreeLoader();
  readonly #records: LogRecord[] = [];
  #isFinished = false;

  constructor(config: MemberConfig) {
    this.#config = config;
  }

  /** The next records of the state database. Copies what it keeps. Throws DecodeError. */
  state(records: readonly StateRecord[]): void {
    this.#loader.add(records);
  }

  /** The next records of the log after the checkpoint, in order. They are kept as they are. */
  log(records: readonly LogRecord[]): void {
    for (const record of records) this.#records.push(record);
  }

  /** Everything was read: the member, and its first actions. Throws DecodeError when the state is not whole. */
  finish(summary: RecoverySummary, now: Now): { readonly peer: QuorumPeer; readonly actions: readonly PeerAction[] } {
    assert(!this.#isFinished, () => 'Recovery was finished twice');
    this.#isFinished = true;
    const { checkpointZxid, acceptedEpoch, currentEpoch, voteRight, committed } = summary;
    const first = this.#records[0];
    assert(
      first === undefined || first.zxid > checkpointZxid,
      () =>
        `The log begins at ${formatZxid(first?.zxid ?? 0n)}, before the checkpoint at ${formatZxid(checkpointZxid)}`,
    );
    const tree = this.#loader.finish(checkpointZxid);
    const baseZxid = checkpointZxid;
    const recovered = { acceptedEpoch, currentEpoch, voteRight, baseZxid, records: this.#records, committed };
    const peer = new QuorumPeer(this.#config, tree, recovered, now);
    return { peer, actions: peer.start(now) };
  }
}
