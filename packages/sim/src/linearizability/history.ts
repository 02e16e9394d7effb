/**
 * What clients did and were told, and nothing else: the input of the linearizability checker. The simulator makes it from
 * its observations, tests on real processes from what their clients wrote down.
 */
import { ERRORS, type ListingOp, type Op, type OpFailure, type Stat, type WatchOp } from '@quorate/protocol';
import { fateOfResult, partsText } from '../calls.ts';

/** Parts of a Stat that are compared when they are known. */
export type SeenStat = Partial<Pick<Stat, 'version' | 'ephemeralOwner'>>;

/** The result of one part of a multi, or of a write that is none. */
export type SeenPart =
  | { readonly kind: 'create'; readonly path: string; readonly stat?: SeenStat }
  | { readonly kind: 'setData'; readonly stat?: SeenStat }
  | { readonly kind: 'createOrSet'; readonly created: boolean; readonly stat?: SeenStat }
  /** `stat` undefined: there was no znode. */
  | { readonly kind: 'exists'; readonly stat: SeenStat | undefined }
  | { readonly kind: 'getData'; readonly data: Uint8Array | undefined; readonly stat?: SeenStat }
  | { readonly kind: 'delete' | 'check' | 'setAcl' };

/** The result of one part of a multiRead, or of a read that is none. */
export type SeenRead =
  | { readonly kind: 'exists' | 'getChildren'; readonly stat?: SeenStat }
  | { readonly kind: 'getData'; readonly data: Uint8Array | undefined; readonly stat?: SeenStat };

/** A successful result, as far as the client has it: what is absent is not checked. */
export type SeenResult =
  | SeenPart
  | SeenRead
  | { readonly kind: 'multi'; readonly results: readonly SeenPart[] }
  | { readonly kind: 'deleteSubtree'; readonly more: boolean }
  | { readonly kind: 'multiRead'; readonly results: readonly (SeenRead | OpFailure)[] }
  | {
      readonly kind: 'sync' | 'closeSession' | 'getEphemerals' | 'getAllChildrenNumber' | 'getAcl';
    };

/** What is not looked at: it must not be in a history, for the checker would not see what it does. */
export type UnmodelledOp = ListingOp | WatchOp;

/** One call of one client. */
export interface HistoryCall {
  /** Who called, for messages. */
  readonly process: string;
  /** The session of the call; 0n when it has none. Ephemerals belong to it. */
  readonly session: bigint;
  /**
   * The line of calls that are promised to see what the ones before them saw: a session on streams. Undefined for a client
   * that has no such promise (unary calls to any member): its ordinary reads are then not checked.
   */
  readonly stream: string | undefined;
  readonly op: Exclude<Op, UnmodelledOp>;
  /** Znodes that had to be there for the write to be done. */
  readonly guards?: readonly { readonly path: string }[];
  /** A read that asked to be linearizable. Writes and syncs always are. */
  readonly linearizable: boolean;
  /** When the call was made and when its result came, by one clock, in any unit that tells all moments apart. */
  readonly invokedAt: number;
  /** Undefined: no result came, and the call may take effect at any time after `invokedAt`, or never. */
  readonly returnedAt: number | undefined;
  /** What came; undefined with `returnedAt`. An error that leaves the outcome open counts like no result. */
  readonly result: SeenResult | OpFailure | undefined;
  /** Position in the history that the result reflects, when the client was told. */
  readonly zxid?: bigint;
}

export function isModelled(op: Op): op is Exclude<Op, UnmodelledOp> {
  switch (op.kind) {
    case 'listChildren':
    case 'getSubtree':
    case 'addWatch':
    case 'checkWatches':
    case 'removeWatches':
    case 'setWatches':
      return false;
    default:
      return true;
  }
}

/** All calls of all clients, in any order. */
export type History = readonly HistoryCall[];

/** See `Fate`: done, refused by the tree, surely not done, or unknown. */
export function fateOfCall({ result, returnedAt }: HistoryCall): ReturnType<typeof fateOfResult> {
  return returnedAt === undefined ? 'unknown' : fateOfResult(result);
}

/** A call in words, for messages. */
export function describeHistoryCall(call: HistoryCall): string {
  const { process, op, invokedAt, returnedAt, result } = call;
  const path = 'path' in op ? ` ${op.path}` : 'parts' in op ? ` ${partsText(op)}` : '';
  const expected = 'expectedVersion' in op && op.expectedVersion !== undefined ? ` if ${op.expectedVersion}` : '';
  const data = 'data' in op ? ` ${textOf(op.data)}` : '';
  return `${process}: ${op.kind}${path}${expected}${data} [${invokedAt}..${returnedAt ?? ''}] -> ${outcomeOf(result)}`;
}

function outcomeOf(result: HistoryCall['result']): string {
  if (result === undefined) return '?';
  if (result.kind === 'error') return result.code in ERRORS ? result.code : 'error';
  const path = 'path' in result ? ` ${result.path}` : '';
  const data = 'data' in result ? ` ${textOf(result.data)}` : '';
  const version = 'stat' in result && result.stat?.version !== undefined ? ` version ${result.stat.version}` : '';
  return `ok${path}${data}${version}`;
}

function textOf(data: Uint8Array | undefined): string {
  return data === undefined ? 'no data' : `"${String.fromCharCode(...data.subarray(0, 40))}"`;
}
