/**
 * How each command of the log becomes writes: append, truncate, epochs, purge and the lower bound. Every write is synced,
 * deletes too: a lost one behind a kept one would look like a hole.
 * A command that breaks the contract throws ContractError: the store fails, for its caller's idea of the log is wrong.
 */
import { assert, EPOCH_MAX, follows, formatZxid, type Zxid } from '@quorate/protocol';
import type { LogRecord, StorageCommand } from './contract.ts';
import type { DiskState } from './disk-state.ts';
import { type KvOp, type Plan, read, write } from './io.ts';
import type { EntrySpan } from './log-index.ts';
import { EPOCHS_KEY, HEAD_KEY, mayBecome, packEpochs, packHead } from './log-meta.ts';
import { LOG_RANGE, type LogEntry, logKey, packEntry, RECORD_OVERHEAD_BYTES, unpackEntry } from './record-codec.ts';
import { DamageError } from './sealed.ts';
import { BOUND_KEY, packBound } from './state-format.ts';

/** Most bytes of records in one entry, unless a single record is larger. Also the most that one group commit gathers. */
export const ENTRY_BYTES_MAX = 4 * 1024 * 1024;

/** Most entries that are deleted in one write: bounds what a purge adds to the wait of an append. */
export const PURGE_SLICE_ENTRIES = 64;

/** The lower bound in the state database is behind the log by at most this many entries. */
export const BOUND_EVERY_ENTRIES = 32;

/** The log's deleted range is compacted each time that this much was deleted, bytes. */
export const COMPACT_EVERY_BYTES = 32 * 1024 * 1024;

/** A command that cannot be carried out as the log stands. */
export class ContractError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ContractError';
  }
}

/** Bytes that a record takes in the log. */
export function recordBytes(record: LogRecord): number {
  return RECORD_OVERHEAD_BYTES + record.payload.length;
}

/** One group commit: the records of consecutive appends, in one synced write, which also carries a slice of the purge. */
export function* append(disk: DiskState, appends: readonly (StorageCommand & { readonly kind: 'append' })[]): Plan {
  const committed = appends.reduce((most, { committed: one }) => (one > most ? one : most), 0n as Zxid);
  const entries = split(
    appends.flatMap(({ records }) => records),
    disk.lastZxid,
    committed,
  );
  if (entries.length === 0) {
    yield { kind: 'nothing' };
    return;
  }
  const purged = disk.log.oldest(disk.purgeThrough, PURGE_SLICE_ENTRIES);
  const ops: KvOp[] = purged.map(({ first }) => ({ key: logKey(first), value: undefined }));
  const spans = entries.map((entry) => {
    const op = entryOp(entry);
    ops.push(op);
    return spanOf(entry, op);
  });
  yield* write('log', ops);
  forget(disk, purged);
  for (const span of spans) disk.log.push(span);
  disk.lastZxid = (spans.at(-1) as EntrySpan).last;
  disk.entriesPastBound += spans.length;
}

/** Cuts records into entries of bounded size, and checks that they continue the log. */
function split(records: readonly LogRecord[], last: Zxid, committed: Zxid): LogEntry[] {
  const entries: LogEntry[] = [];
  let previous = last;
  let start = 0;
  let bytes = 0;
  let before = last;
  for (const [at, record] of records.entries()) {
    if (!follows(record.zxid, before)) {
      throw new ContractError(`Cannot append txn ${formatZxid(record.zxid)}: last zxid is ${formatZxid(before)}`);
    }
    if (at > start && bytes + recordBytes(record) > ENTRY_BYTES_MAX) {
      entries.push({ committed, previous, records: records.slice(start, at) });
      previous = before;
      start = at;
      bytes = 0;
    }
    bytes += recordBytes(record);
    before = record.zxid;
  }
  if (records.length > start) entries.push({ committed, previous, records: records.slice(start) });
  return entries;
}

function entryOp(entry: LogEntry): KvOp & { readonly value: Uint8Array } {
  const key = logKey((entry.records[0] as LogRecord).zxid);
  return { key, value: packEntry(entry, key) };
}

function spanOf(entry: LogEntry, op: { readonly value: Uint8Array }): EntrySpan {
  const { records } = entry;
  return {
    first: (records[0] as LogRecord).zxid,
    last: (records.at(-1) as LogRecord).zxid,
    bytes: op.value.length,
  };
}

/**
 * Drops everything after `after` in one atomic write: whole entries are deleted, the one on the boundary is written again
 * without its end. The generation rises in the same write, so that the lower bound of before does not accuse the new log, and
 * the new end is named in it, so that a loss of what was kept does not pass for the cut.
 */
export function* truncate(disk: DiskState, after: Zxid): Plan {
  if (after < disk.checkpointZxid) {
    throw new ContractError(
      `Cannot truncate the log after ${formatZxid(after)}: the checkpoint is at ${formatZxid(disk.checkpointZxid)}`,
    );
  }
  const dropped = disk.log.after(after);
  if (dropped.length === 0) {
    yield { kind: 'nothing' };
    return;
  }
  const boundary = dropped[0] as EntrySpan;
  const kept = boundary.first <= after ? yield* shortened(boundary, after) : undefined;
  const floor = kept?.span.last ?? disk.log.newestBut(dropped.length)?.last ?? disk.checkpointZxid;
  const head = { generation: disk.head.generation + 1n, state: disk.head.state, floor };
  const ops: KvOp[] = dropped.map(({ first }) => ({ key: logKey(first), value: undefined }));
  if (kept !== undefined) ops[0] = kept.op;
  ops.push({ key: HEAD_KEY, value: packHead(head) });
  yield* write('log', ops);
  disk.log.dropNewest(dropped.length);
  if (kept !== undefined) disk.log.push(kept.span);
  disk.head = head;
  disk.lastZxid = floor;
  assert(
    disk.lastZxid >= disk.checkpointZxid,
    () => `S2: truncated to ${formatZxid(disk.lastZxid)}, before the checkpoint`,
  );
  disk.entriesPastBound = Number.POSITIVE_INFINITY;
}

/** The boundary entry, read back and verified, without its records after `after`. */
function* shortened(span: EntrySpan, after: Zxid): Plan<{ readonly op: KvOp; readonly span: EntrySpan }> {
  const key = logKey(span.first);
  const value = yield* read('log', key);
  if (value === undefined) throw new DamageError(`Log entry ${formatZxid(span.first)} is missing`);
  const entry = unpackEntry(key, value);
  const records = entry.records.filter(({ zxid }) => zxid <= after);
  const short = { committed: entry.committed, previous: entry.previous, records };
  const op = entryOp(short);
  return { op, span: spanOf(short, op) };
}

/**
 * Writes both epochs and the right to vote, atomically. None may go back, nor the current epoch pass the accepted one.
 */
export function* saveEpochs(disk: DiskState, command: StorageCommand & { readonly kind: 'saveEpochs' }): Plan {
  const { acceptedEpoch, currentEpoch, voteRight } = command;
  const now = disk.epochs;
  if (acceptedEpoch < now.acceptedEpoch || currentEpoch < now.currentEpoch || currentEpoch > acceptedEpoch) {
    throw new ContractError(
      `Cannot save accepted epoch ${acceptedEpoch} and current epoch ${currentEpoch}: ` +
        `they are ${now.acceptedEpoch} and ${now.currentEpoch}`,
    );
  }
  if (!mayBecome(now.voteRight, voteRight)) {
    throw new ContractError(`Cannot save the right to vote ${voteRight}: it is ${now.voteRight}`);
  }
  assert(acceptedEpoch <= EPOCH_MAX, () => `Epoch ${acceptedEpoch} is above ${EPOCH_MAX}`);
  const epochs = { acceptedEpoch, currentEpoch, voteRight };
  yield* write('log', [{ key: EPOCHS_KEY, value: packEpochs(epochs) }]);
  disk.epochs = epochs;
}

/** Takes note of what may be deleted; the deleting is done in slices, by `append` and `purgeSlice`. */
export function* purgeLog(disk: DiskState, through: Zxid): Plan {
  if (through > disk.checkpointZxid) {
    throw new ContractError(
      `Cannot purge the log through ${formatZxid(through)}: the checkpoint is at ${formatZxid(disk.checkpointZxid)}`,
    );
  }
  yield { kind: 'nothing' };
  if (through > disk.purgeThrough) disk.purgeThrough = through;
}

/** True when `purgeSlice` has something to do. */
export function purgeIsDue(disk: DiskState): boolean {
  return disk.log.oldest(disk.purgeThrough, 1).length > 0;
}

/** Deletes some entries that were given up, while nothing else waits for the disk. */
export function* purgeSlice(disk: DiskState): Plan {
  const purged = disk.log.oldest(disk.purgeThrough, PURGE_SLICE_ENTRIES);
  const ops = purged.map(({ first }) => ({ key: logKey(first), value: undefined }));
  yield* write('log', ops);
  forget(disk, purged);
}

function forget(disk: DiskState, purged: readonly EntrySpan[]): void {
  if (purged.length === 0) return;
  disk.log.dropOldest(purged.length);
  for (const { bytes } of purged) disk.purgedBytes += bytes;
}

/** True when enough was deleted that it is worth to take its space back: LevelDB keeps it until a compaction meets it. */
export function compactIsDue(disk: DiskState): boolean {
  return disk.purgedBytes >= COMPACT_EVERY_BYTES;
}

/** Takes back the space of what was deleted before the oldest entry. */
export function* compactLog(disk: DiskState): Plan {
  disk.purgedBytes = 0;
  const to = disk.log.oldestSpan?.first ?? disk.lastZxid;
  yield { kind: 'compact', db: 'log', from: LOG_RANGE.from, to: logKey(to) };
}

/** True when the lower bound has fallen behind. */
export function boundIsDue(disk: DiskState): boolean {
  return disk.entriesPastBound >= BOUND_EVERY_ENTRIES;
}

/** Notes the lower bound in the state database. */
export function* noteBound(disk: DiskState): Plan {
  const bound = { zxid: disk.lastZxid, generation: disk.head.generation };
  yield* write(disk.stateDb, [{ key: BOUND_KEY, value: packBound(bound) }]);
  disk.entriesPastBound = 0;
}
