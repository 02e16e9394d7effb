/**
 * Replacing the whole state by one that comes from another member. It is received into a database of its own, `state-<n+1>`
 * beside `state-<n>`; what makes it the current one is the head in the log database, written together with the deletion
 * of the log in one synced atomic write. A crash before that write leaves the old state and log, after it the new ones;
 * the database that is not current is removed when the store is opened.
 */
import { epochOf, formatZxid, type Zxid } from '@quorate/protocol';
import type { StateRecord } from './contract.ts';
import type { DiskState } from './disk-state.ts';
import { type KvOp, open, type Plan, stateDb, write } from './io.ts';
import { HEAD_KEY, packHead, packIdentity } from './log-meta.ts';
import { ContractError } from './log-plans.ts';
import { logKey } from './record-codec.ts';
import { BOUND_KEY, CHECKPOINT_KEY, packBound, packCheckpoint, STATE_IDENTITY_KEY, stateOp } from './state-format.ts';

/** Makes the database to receive into. */
export function* installBegin(disk: DiskState): Plan {
  yield* installAbort(disk);
  const incoming = disk.head.state + 1;
  disk.incoming = incoming;
  yield* open(stateDb(incoming), true);
  const identity = { key: STATE_IDENTITY_KEY, value: packIdentity(STATE_IDENTITY_KEY, disk.identity) };
  yield* write(stateDb(incoming), [identity]);
}

/**
 * Writes a part of the new state. Each part is synced: LevelDB starts a new file when one is full, and a sync of the
 * newest file says nothing of those before it.
 */
export function* installChunk(disk: DiskState, records: readonly StateRecord[]): Plan {
  yield* write(stateDb(received(disk, 'add to')), records.map(stateOp));
}

/** Makes the new state the current one. The state lane stands still meanwhile. */
export function* installCommit(disk: DiskState, zxid: Zxid): Plan {
  const incoming = received(disk, 'commit');
  if (zxid < disk.lastZxid) {
    throw new ContractError(
      `Cannot install the state at ${formatZxid(zxid)}: the log ends at ${formatZxid(disk.lastZxid)}`,
    );
  }
  if (epochOf(zxid) > disk.epochs.acceptedEpoch) {
    throw new ContractError(
      `Cannot install the state at ${formatZxid(zxid)}: the accepted epoch is ${disk.epochs.acceptedEpoch}`,
    );
  }
  const replaced = disk.stateDb;
  const head = { generation: disk.head.generation + 1n, state: incoming, floor: zxid };
  const bound = { zxid, generation: head.generation };
  const meta: KvOp[] = [
    { key: CHECKPOINT_KEY, value: packCheckpoint(zxid) },
    { key: BOUND_KEY, value: packBound(bound) },
  ];
  yield* write(stateDb(incoming), meta);
  const ops: KvOp[] = disk.log.all().map(({ first }) => ({ key: logKey(first), value: undefined }));
  ops.push({ key: HEAD_KEY, value: packHead(head) });
  yield* write('log', ops);
  disk.incoming = undefined;
  disk.head = head;
  disk.checkpointZxid = zxid;
  disk.lastZxid = zxid;
  disk.purgeThrough = zxid;
  disk.purgedBytes += disk.log.bytes;
  disk.log.clear();
  disk.entriesPastBound = 0;
  yield { kind: 'remove', db: replaced };
}

/** Throws away what was received. */
export function* installAbort(disk: DiskState): Plan {
  if (disk.incoming === undefined) {
    yield { kind: 'nothing' };
    return;
  }
  yield { kind: 'remove', db: stateDb(disk.incoming) };
  disk.incoming = undefined;
}

function received(disk: DiskState, verb: string): number {
  if (disk.incoming === undefined) throw new ContractError(`Cannot ${verb} a new state: none has been begun`);
  return disk.incoming;
}
