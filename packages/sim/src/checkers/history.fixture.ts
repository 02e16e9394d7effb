/** Histories written by hand, for the tests of the checkers: short ways to say what happened, with sensible rest. */
import {
  encodeTxn,
  type LogRecord,
  type Origin,
  type PeerMessage,
  type StorageCommand,
  type TxnBody,
} from '@quorate/core';
import {
  type Answer,
  type ErrorCode,
  makeZxid,
  NO_SESSION,
  type Op,
  type OpResult,
  type SessionId,
  type Sid,
  type Stat,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import type { CallView, Observation, StatusView } from '../observation.ts';
import { type Checker, Judge } from './checker.ts';

/** zxid `counter` of epoch 1, or of another. */
export function at(counter: number, epoch = 1): Zxid {
  return counter === 0 ? ZERO_ZXID : makeZxid(epoch, counter);
}

export function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export const session = (number: number): SessionId => BigInt(number) as SessionId;

export function create(path: string, value: string, options: { owner?: SessionId; creates?: number } = {}): TxnBody {
  const { owner = NO_SESSION, creates = 1 } = options;
  return { kind: 'create', path, data: bytes(value), ephemeralOwner: owner, parentCreates: creates };
}

const ANY_ORIGIN: Origin = { sid: 1, incarnation: 1, seq: 1 };

export function record(
  zxid: Zxid,
  body: TxnBody,
  of: SessionId = NO_SESSION,
  origin = ANY_ORIGIN,
  timeMs = 5,
): LogRecord {
  const txn = { origin, session: of, timeMs, body };
  return { zxid, payload: encodeTxn(txn) };
}

export function refusal(zxid: Zxid, code: ErrorCode = 'NO_NODE'): LogRecord {
  return record(zxid, { kind: 'error', code, path: undefined, message: '' });
}

export const ensemble: Observation = {
  kind: 'ensemble',
  voters: [1, 2, 3],
  observers: [4],
  clocks: { driftMax: 0.1, reapIntervalMs: 900 },
};

export function issued(sid: Sid, command: StorageCommand): Observation {
  return { kind: 'issued', sid, command };
}

export function durable(sid: Sid, command: StorageCommand): Observation {
  return { kind: 'durable', sid, command };
}

export function append(...records: LogRecord[]): StorageCommand {
  return { kind: 'append', records, committed: ZERO_ZXID };
}

/** The records are logged and durable at these members. */
export function logged(sids: readonly Sid[], ...records: LogRecord[]): Observation[] {
  return sids.flatMap((sid) => [issued(sid, append(...records)), durable(sid, append(...records))]);
}

export function status(sid: Sid, view: Partial<StatusView> = {}, run = 1): Observation {
  return { kind: 'status', sid, run, status: viewOf(view) };
}

export function viewOf(view: Partial<StatusView> = {}): StatusView {
  return {
    role: 'following',
    phase: 'broadcast',
    epoch: 1,
    leader: 1,
    lastZxid: ZERO_ZXID,
    committed: ZERO_ZXID,
    digest: 0n,
    serving: true,
    hasQuorum: true,
    voteRight: 'held',
    ...view,
  };
}

export function applied(sid: Sid, lastZxid: Zxid, digest = lastZxid as bigint): Observation {
  return status(sid, { lastZxid, digest });
}

export function settled(atMs: number): Observation {
  return { kind: 'settled', atUs: atMs * 1_000, members: [], failures: [] };
}

export function sent(from: Sid, to: Sid, message: PeerMessage, run = 1): Observation {
  return { kind: 'sent', from, run, to, message };
}

export function started(
  sid: Sid,
  disk: { base?: Zxid; records?: LogRecord[]; epochs?: [number, number] },
  view: Partial<StatusView> = {},
): Observation {
  const [acceptedEpoch, currentEpoch] = disk.epochs ?? [0, 0];
  const { base: baseZxid = ZERO_ZXID, records = [] } = disk;
  return {
    kind: 'started',
    sid,
    run: 2,
    disk: { baseZxid, records, acceptedEpoch, currentEpoch, voteRight: 'held' },
    status: viewOf(view),
  };
}

export function called(
  callId: number,
  op: Op,
  where: Partial<Pick<CallView, 'sid' | 'session' | 'attachment' | 'linearizable' | 'guards' | 'identities'>> = {},
): Observation {
  return {
    kind: 'called',
    call: { callId, sid: 1, session: NO_SESSION, attachment: 0, linearizable: false, op, ...where },
  };
}

export function answered(callId: number, zxid: Zxid, result: OpResult | ErrorCode): Observation {
  const answer: Answer = {
    zxid,
    result: typeof result === 'string' ? { kind: 'error', code: result, path: undefined, message: '' } : result,
  };
  return { kind: 'answered', callId, answer };
}

export const anyStat: Stat = {
  czxid: ZERO_ZXID,
  mzxid: ZERO_ZXID,
  pzxid: ZERO_ZXID,
  ctimeMs: 5,
  mtimeMs: 5,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: NO_SESSION,
  dataLength: 1,
  numChildren: 0,
};

export function creating(path: string, value: string): Op {
  return { kind: 'create', path, data: bytes(value), mode: 'persistent', sequential: false };
}

/** Observations, and parts of a history, in order. */
export type History = readonly (Observation | History)[];

function flat(history: History): Observation[] {
  return history.flatMap((part) => ('kind' in part ? [part] : flat(part)));
}

/** Shows the history to one checker, to its end. Throws what it finds. */
export function check(checker: Checker, history: History, end = true): void {
  const judge = new Judge([checker]);
  for (const observation of [ensemble, ...flat(history)]) judge.observe(observation);
  if (end) judge.finish();
}
