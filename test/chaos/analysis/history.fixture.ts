/** Histories written by hand, for tests of the checks: short ways to say a call that succeeded, and states at the end. */
import { type Call, type CallKind, isWrite } from '../history.ts';
import type { FinalState } from './final.ts';

let calls = 0;

/** A call that was answered with success; `over` says what matters. Its times are `[invokedAt, completedAt]`. */
export function call(kind: CallKind, path: string, times: readonly [number, number], over: Partial<Call> = {}): Call {
  return {
    id: calls++,
    client: 'c',
    session: 0n,
    kind,
    path,
    value: undefined,
    expected: undefined,
    linearizable: false,
    invokedAt: times[0],
    completedAt: times[1],
    outcome: 'ok',
    code: undefined,
    version: undefined,
    zxid: undefined,
    seen: undefined,
    created: isWrite(kind) ? path : undefined,
    owner: undefined,
    ...over,
  };
}

export function write(
  path: string,
  version: number,
  zxid: bigint,
  times: readonly [number, number],
  over: Partial<Call> = {},
): Call {
  return call(version === 0 ? 'create' : 'set', path, times, { version, zxid, value: `v${version}`, ...over });
}

export function read(
  path: string,
  version: number,
  zxid: bigint,
  times: readonly [number, number],
  over: Partial<Call> = {},
): Call {
  return call('get', path, times, { version, zxid, seen: `v${version}`, ...over });
}

export function finalState(sid: number, over: Partial<FinalState> = {}): FinalState {
  return { sid, zxid: '0x9', digest: '0xd', registers: new Map(), queue: new Map(), ephemerals: new Map(), ...over };
}
