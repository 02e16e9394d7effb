/** For tests: a member's disk that does everything at once and loses nothing. A second implementation, not a mock. */
import { type Epoch, formatZxid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { VoteRight } from '../zab/config.ts';
import type { StorageCommand } from '../zab/host.ts';
import type { LogRecord, StateRecord } from '../zab/messages.ts';
import type { PeerAction } from './actions.ts';
import type { PeerEvent } from './events.ts';

type State = Map<string, StateRecord>;

function put(state: State, records: readonly StateRecord[]): void {
  for (const record of records) {
    const key = record.key.join();
    if (record.value === undefined) state.delete(key);
    else state.set(key, { key: record.key.slice(), value: record.value.slice() });
  }
}

export class InstantDisk {
  acceptedEpoch: Epoch = 0;
  currentEpoch: Epoch = 0;
  voteRight: VoteRight = 'unformed';
  committed: Zxid = ZERO_ZXID;
  checkpointZxid: Zxid = ZERO_ZXID;
  log: LogRecord[] = [];
  checkpoints = 0;
  #state: State = new Map();
  #batch: StateRecord[] = [];
  #installing: State = new Map();
  readonly #streams = new Map<number, readonly StateRecord[]>();

  get records(): readonly StateRecord[] {
    return [...this.#state.values()];
  }

  /** The log after the checkpoint. */
  get tail(): readonly LogRecord[] {
    return this.log.filter(({ zxid }) => zxid > this.checkpointZxid);
  }

  /** Carries out an action that concerns the disk; returns what the member is to be told. Undefined: it does not. */
  take(action: PeerAction): readonly PeerEvent[] | undefined {
    switch (action.kind) {
      case 'persist':
        this.#persist(action.command);
        return [{ kind: 'persisted', ticket: action.ticket }];
      case 'checkpointPut':
        this.#batch.push(...action.records);
        return [{ kind: 'checkpointReady' }];
      case 'checkpointCommit':
        put(this.#state, this.#batch);
        this.#batch = [];
        this.checkpointZxid = action.zxid;
        this.checkpoints++;
        return [{ kind: 'checkpointWritten', zxid: action.zxid }];
      case 'checkpointAbort':
        this.#batch = [];
        return [];
      case 'openState':
        this.#streams.set(action.stream, this.records);
        return [{ kind: 'stateOpened', stream: action.stream, zxid: this.checkpointZxid }];
      case 'closeState':
        this.#streams.delete(action.stream);
        return [];
      default:
        return undefined;
    }
  }

  stream(stream: number): readonly StateRecord[] {
    return this.#streams.get(stream) ?? [];
  }

  #persist(command: StorageCommand): void {
    switch (command.kind) {
      case 'append':
        for (const record of command.records) {
          const last = this.log.at(-1)?.zxid ?? this.checkpointZxid;
          if (record.zxid <= last) throw new Error(`append ${formatZxid(record.zxid)} after ${formatZxid(last)}`);
          this.log.push({ zxid: record.zxid, payload: record.payload.slice() });
        }
        this.committed = command.committed;
        return;
      case 'truncate':
        this.log = this.log.filter(({ zxid }) => zxid <= command.after);
        return;
      case 'saveEpochs':
        this.acceptedEpoch = command.acceptedEpoch;
        this.currentEpoch = command.currentEpoch;
        this.voteRight = command.voteRight;
        return;
      case 'installBegin':
      case 'installAbort':
        this.#installing = new Map();
        return;
      case 'installChunk':
        put(this.#installing, command.records);
        return;
      case 'installCommit':
        this.#state = this.#installing;
        this.#installing = new Map();
        this.checkpointZxid = command.zxid;
        this.committed = command.zxid;
        this.log = [];
        return;
      case 'purgeLog':
        this.log = this.log.filter(({ zxid }) => zxid > command.through);
        return;
    }
  }
}
