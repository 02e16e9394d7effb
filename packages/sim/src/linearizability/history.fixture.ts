/** Short ways to write histories of clients by hand, for the tests of the linearizability checker. */
import type { ErrorCode } from '@quorate/protocol';
import type { HistoryCall, SeenResult } from './history.ts';

type Op = HistoryCall['op'];

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

type Outcome = SeenResult | ErrorCode | undefined;

/** A call in the interval `[from, to]`; without `to` no result came. */
export function call(
  op: Op,
  [from, to]: readonly [number, number?],
  outcome?: Outcome,
  more: Partial<HistoryCall> = {},
): HistoryCall {
  const result = typeof outcome === 'string' ? failure(outcome) : outcome;
  const base = { process: 'p', session: 0n, stream: undefined, linearizable: true };
  return { ...base, op, invokedAt: from, returnedAt: to, result, ...more };
}

function failure(code: ErrorCode): HistoryCall['result'] {
  return { kind: 'error', code, path: undefined, message: '' };
}

export const create = (path: string, value: string, options: { ephemeral?: true; sequential?: true } = {}): Op => ({
  kind: 'create',
  path,
  data: bytes(value),
  mode: options.ephemeral === true ? 'ephemeral' : 'persistent',
  sequential: options.sequential === true,
});

export const set = (path: string, value: string, expectedVersion?: number): Op => ({
  kind: 'setData',
  path,
  data: bytes(value),
  expectedVersion,
});

export const remove = (path: string, expectedVersion?: number): Op => ({ kind: 'delete', path, expectedVersion });

export const get = (path: string): Op => ({ kind: 'getData', path });
export const sync = (path: string): Op => ({ kind: 'sync', path });
export const close: Op = { kind: 'closeSession' };

export const made = (path: string): SeenResult => ({ kind: 'create', path });
export const changed = (version: number): SeenResult => ({ kind: 'setData', stat: { version } });
export const removed: SeenResult = { kind: 'delete' };
export const synced: SeenResult = { kind: 'sync' };
export const closed: SeenResult = { kind: 'closeSession' };
export const shown = (value: string, version?: number): SeenResult => ({
  kind: 'getData',
  data: bytes(value),
  ...(version === undefined ? {} : { stat: { version } }),
});
