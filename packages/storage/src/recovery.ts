/**
 * Reading everything back: the state, then the log after it, each record verified before it is handed out. Cuts a torn
 * tail; stops with a named reason at anything that cannot be what was acknowledged. The rules for the log are in
 * log-verifier.ts.
 */
import { epochOf, formatZxid } from '@quorate/protocol';
import { meta } from './boot.ts';
import type { LogRecord, RecoveredSummary, RecoverySink, StateRecord } from './contract.ts';
import { damaged } from './damage.ts';
import type { DiskState } from './disk-state.ts';
import { type DbName, type KvPair, type Plan, scanAll, write } from './io.ts';
import { type LogEnd, LogVerifier } from './log-verifier.ts';
import { LOG_RANGE } from './record-codec.ts';
import { DamageError } from './sealed.ts';
import { BOUND_KEY, keyText, readStateRecord, STATE_RANGE, unpackBound } from './state-format.ts';
import { checkEpochs, noteWatermark, watermarkHolds } from './watermark.ts';

/** Reads a booted store. Throws StorageError DAMAGED. */
export function* recover(disk: DiskState, place: string, sink: RecoverySink): Plan<RecoveredSummary> {
  yield* readState(disk, place, sink);
  const end = yield* readLog(disk, place, sink);
  const { lastZxid, committed, torn } = end;
  const { acceptedEpoch, currentEpoch, voteRight } = disk.epochs;
  if (epochOf(lastZxid) > acceptedEpoch) {
    throw damaged(
      place,
      'log',
      `the accepted epoch is ${acceptedEpoch}, expected at least that of the last record, ${formatZxid(lastZxid)}`,
    );
  }
  if (torn !== undefined) yield* write('log', [{ key: torn.key, value: undefined }]);
  disk.lastZxid = lastZxid;
  // What is read now counts as acknowledged from now on.
  if (!watermarkHolds(disk)) yield* noteWatermark(disk);
  return {
    checkpointZxid: disk.checkpointZxid,
    acceptedEpoch,
    currentEpoch,
    voteRight,
    committed,
    lastZxid,
    tornTail: torn === undefined ? undefined : `Cut the end of the log after ${formatZxid(lastZxid)}: ${torn.reason}`,
  };
}

function* readState(disk: DiskState, place: string, sink: RecoverySink): Plan {
  const db = disk.stateDb;
  yield* scanAll(db, STATE_RANGE, (pairs) => {
    sink.state(stateRecords(pairs, place, db));
  });
}

/** Verified records of a state database. Throws StorageError DAMAGED. */
export function stateRecords(pairs: readonly KvPair[], place: string, db: DbName): readonly StateRecord[] {
  return pairs.map(([key, value]) => {
    try {
      return readStateRecord(key, value);
    } catch (thrown) {
      if (!(thrown instanceof DamageError)) throw thrown;
      throw damaged(place, db, `record ${keyText(key)} is bad: ${thrown.message}`, thrown);
    }
  });
}

function* readLog(disk: DiskState, place: string, sink: RecoverySink): Plan<LogEnd> {
  const bound = yield* meta(place, disk.stateDb, { key: BOUND_KEY, name: 'lower bound', unpack: unpackBound });
  const { checkpointZxid } = disk;
  const { generation, floor } = disk.head;
  const bounds = [bound, { generation, zxid: floor }];
  if (disk.watermark !== undefined) bounds.push(disk.watermark);
  const verifier = new LogVerifier({ checkpointZxid, generation, bounds });
  try {
    if (disk.watermark !== undefined) checkEpochs(disk.epochs, disk.watermark);
    yield* scanAll('log', LOG_RANGE, (pairs) => {
      const page: LogRecord[] = [];
      for (const [key, value] of pairs) {
        const added = verifier.add(key, value);
        if (added === undefined) continue;
        disk.log.push(added.span);
        for (const record of added.records) page.push(record);
      }
      if (page.length > 0) sink.log(page);
    });
    disk.entriesPastBound = disk.log.after(bound.zxid).length;
    return verifier.end();
  } catch (thrown) {
    if (!(thrown instanceof DamageError)) throw thrown;
    throw damaged(place, 'log', thrown.message, thrown);
  }
}
