/**
 * The history of registers and of the shared parent, as the simulator's checker of linearizability reads it: what clients
 * saw, without the versions and zxids that the other checks lean on.
 */

import type { ErrorCode, OpFailure } from '@quorate/protocol';
import { checkLinearizable, type HistoryCall } from '@quorate/sim';
import type { Call } from '../history.ts';

const encoder = new TextEncoder();

/** Refusals by the tree, which are facts about it; all others only say that nothing was done. */
const FACTS: ReadonlySet<string> = new Set<ErrorCode>(['BAD_VERSION', 'NO_NODE', 'NODE_EXISTS']);

/** What is not linearizable, in words; none when all is. */
export function linearizabilityFaults(calls: readonly Call[]): string[] {
  const parents = ['/r', '/s', '/q'];
  const history = calls
    .filter(
      ({ path, kind }) =>
        kind !== 'exists' && (kind === 'sync' || parents.some((parent) => path.startsWith(`${parent}/`))),
    )
    .flatMap((call) => convert(call) ?? []);
  const verdict = checkLinearizable([...parents.map(made), ...history]);
  switch (verdict.kind) {
    case 'linearizable':
      return [];
    case 'violation':
      return [verdict.message];
    case 'undecided':
      return [`cannot tell: ${verdict.message}`];
  }
}

/** A parent, made before any client began. */
function made(path: string): HistoryCall {
  const op: HistoryCall['op'] = { kind: 'create', path, data: undefined, mode: 'persistent', sequential: false };
  const base = { process: 'setup', session: 0n, stream: undefined, linearizable: false };
  return { ...base, op, invokedAt: -2, returnedAt: -1, result: { kind: 'create', path } };
}

function convert(call: Call): HistoryCall | undefined {
  const { client, session, linearizable, invokedAt, completedAt, outcome } = call;
  const op = opOf(call);
  const isFact = call.code !== undefined && FACTS.has(call.code);
  if (op === undefined || outcome === 'failed' || (outcome === 'refused' && !isFact)) return undefined;
  const stream = session === 0n ? undefined : session.toString(16);
  const base = { process: client, session, stream, op, linearizable, invokedAt };
  if (outcome === 'unknown') return { ...base, returnedAt: undefined, result: undefined };
  const zxid = call.kind === 'get' || call.zxid === undefined ? {} : { zxid: call.zxid };
  return { ...base, returnedAt: completedAt, result: resultOf(call), ...zxid };
}

function opOf({ kind, path, value, expected }: Call): HistoryCall['op'] | undefined {
  const data = value === undefined ? undefined : encoder.encode(value);
  switch (kind) {
    case 'create':
      return { kind, path, data, mode: 'persistent', sequential: path.endsWith('-') };
    case 'set':
      return { kind: 'setData', path, data, expectedVersion: expected };
    case 'get':
      return { kind: 'getData', path };
    case 'sync':
      return { kind, path };
    case 'delete':
    case 'exists':
      return undefined;
  }
}

function resultOf({ kind, path, created, version, seen, code }: Call): HistoryCall['result'] {
  if (code !== undefined) return { kind: 'error', code: code as ErrorCode, path, message: '' } satisfies OpFailure;
  const stat = version === undefined ? {} : { stat: { version } };
  switch (kind) {
    case 'create':
      return { kind, path: created ?? path, ...stat };
    case 'set':
      return { kind: 'setData', ...stat };
    case 'get':
      return { kind: 'getData', data: seen === undefined ? undefined : encoder.encode(seen), ...stat };
    case 'sync':
    case 'delete':
      return { kind };
    case 'exists':
      return { kind, ...stat };
  }
}
