/**
 * Opening a member's databases: making them when they have never been used, checking whose they are, finding the current
 * state database and removing those that a crash left behind. Does not read the log or the state; recovery.ts does.
 */
import { ZERO_ZXID } from '@quorate/protocol';
import type { StoreIdentity, VoteRight } from './contract.ts';
import { damaged } from './damage.ts';
import { DiskState } from './disk-state.ts';
import { type DbName, open, type Plan, read, slots, stateDb, write } from './io.ts';
import {
  EPOCHS_KEY,
  HEAD_KEY,
  IDENTITY_KEY,
  packEpochs,
  packHead,
  packIdentity,
  unpackEpochs,
  unpackHead,
  unpackIdentity,
} from './log-meta.ts';
import { DamageError } from './sealed.ts';
import {
  BOUND_KEY,
  CHECKPOINT_KEY,
  packBound,
  packCheckpoint,
  STATE_IDENTITY_KEY,
  unpackCheckpoint,
} from './state-format.ts';
import { StorageError } from './storage-error.ts';
import { newestWatermark, noteWatermark, type Watermark } from './watermark.ts';

/** Whose store is opened, and where it is. */
export interface BootOptions {
  readonly identity: StoreIdentity;
  /** The data folder, for messages. */
  readonly place: string;
  /** There are no databases: they are made. */
  readonly fresh: boolean;
  /** What fresh databases say of the right to vote. */
  readonly firstVoteRight: VoteRight;
}

/** State number and generation of a store that has just been made. */
const FIRST_HEAD = { generation: 0n, state: 1, floor: ZERO_ZXID };

/** Opens the log and the current state database. Throws StorageError: DAMAGED, WRONG_CLUSTER, WRONG_SID. */
export function* boot(options: BootOptions): Plan<DiskState> {
  const { place, identity, fresh } = options;
  if (!(yield* open('log', fresh))) throw damaged(place, 'log', 'the database is missing');
  if (fresh) yield* initialise(options);
  yield* checkIdentity(options, 'log', IDENTITY_KEY);
  const head = yield* meta(place, 'log', { key: HEAD_KEY, name: 'head', unpack: unpackHead });
  const epochs = yield* meta(place, 'log', { key: EPOCHS_KEY, name: 'epochs', unpack: unpackEpochs });
  const current = stateDb(head.state);
  if (!(yield* open(current, false))) throw damaged(place, current, 'the database is missing');
  yield* checkIdentity(options, current, STATE_IDENTITY_KEY);
  const checkpointZxid = yield* meta(place, current, {
    key: CHECKPOINT_KEY,
    name: 'checkpoint',
    unpack: unpackCheckpoint,
  });
  const disk = new DiskState({ identity, head, epochs, checkpointZxid });
  disk.watermark = yield* watermark(options);
  yield* removeOthers(current);
  return disk;
}

/** Writes the first records, into databases that are empty. A crash in between is begun anew (level/folder.ts). */
function* initialise({ identity, firstVoteRight }: BootOptions): Plan {
  const first = stateDb(FIRST_HEAD.state);
  const epochs = { acceptedEpoch: 0, currentEpoch: 0, voteRight: firstVoteRight };
  yield* open(first, true);
  yield* write(first, [
    { key: STATE_IDENTITY_KEY, value: packIdentity(STATE_IDENTITY_KEY, identity) },
    { key: CHECKPOINT_KEY, value: packCheckpoint(ZERO_ZXID) },
    { key: BOUND_KEY, value: packBound({ zxid: ZERO_ZXID, generation: FIRST_HEAD.generation }) },
  ]);
  yield* write('log', [
    { key: IDENTITY_KEY, value: packIdentity(IDENTITY_KEY, identity) },
    { key: HEAD_KEY, value: packHead(FIRST_HEAD) },
    { key: EPOCHS_KEY, value: packEpochs(epochs) },
  ]);
  const disk = new DiskState({ identity, head: FIRST_HEAD, epochs, checkpointZxid: ZERO_ZXID });
  yield* noteWatermark(disk, { sync: true });
  yield* noteWatermark(disk, { sync: true });
}

function* checkIdentity({ place, identity }: BootOptions, db: DbName, key: Uint8Array): Plan {
  const found = yield* meta(place, db, { key, name: 'identity', unpack: (value) => unpackIdentity(key, value) });
  const fault = identityFault(`${place}/${db}`, found, identity);
  if (fault !== undefined) throw fault;
}

/** The refusal of a folder or database that holds other data than it should, or undefined. */
export function identityFault(place: string, found: StoreIdentity, expected: StoreIdentity): StorageError | undefined {
  if (found.clusterId !== expected.clusterId) {
    return new StorageError(
      'WRONG_CLUSTER',
      `${place} holds data of cluster ${found.clusterId}, not of ${expected.clusterId}; give this member its own data folder`,
    );
  }
  if (found.sid !== expected.sid) {
    return new StorageError(
      'WRONG_SID',
      `${place} holds data of member ${found.sid}, not of ${expected.sid}; give each member its own data folder`,
    );
  }
  return undefined;
}

/** Reads and unpacks a record that must be there. Throws StorageError DAMAGED. */
export function* meta<T>(
  place: string,
  db: DbName,
  record: { readonly key: Uint8Array; readonly name: string; readonly unpack: (value: Uint8Array) => T },
): Plan<T> {
  const value = yield* read(db, record.key);
  if (value === undefined) throw damaged(place, db, `the ${record.name} record is missing`);
  try {
    return record.unpack(value);
  } catch (thrown) {
    if (!(thrown instanceof DamageError)) throw thrown;
    throw damaged(place, db, `the ${record.name} record is bad: ${thrown.message}`, thrown);
  }
}

function* watermark({ place, identity }: BootOptions): Plan<Watermark> {
  const found = yield* slots();
  try {
    return newestWatermark(identity, found);
  } catch (thrown) {
    if (!(thrown instanceof DamageError)) throw thrown;
    throw damaged(place, 'WATERMARK', `the watermark of what was acknowledged is bad: ${thrown.message}`, thrown);
  }
}

/** What is not current was half received (a higher number) or has been replaced (a lower one). */
function* removeOthers(current: DbName): Plan {
  const result = yield { kind: 'list' };
  if (result.kind !== 'names') return;
  for (const db of result.names) {
    if (db !== current) yield { kind: 'remove', db };
  }
}
