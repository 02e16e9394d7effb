/**
 * What all unary calls have in common: the deadline, the cancellation, and how a failure becomes a gRPC status with our
 * detail beside it.
 */
import { Metadata, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import type { OpFailure, Zxid } from '@quorate/protocol';
import { ERROR_DETAIL_KEY } from '@quorate/protocol/frames';
import { asBuffer, toUnaryFailure, type UnaryFailure } from '@quorate/protocol/grpc';
import type { Caller } from '../../calls.ts';
import { type CoreAccess, deadlineAfter } from './core-access.ts';

/** The core answers this much before the caller's own deadline, so that its reason arrives; at most a tenth of the time. */
const ANSWER_AHEAD_MS = 100;

/** The handler of one unary method. */
export type UnaryHandler<Request, Response> = (
  call: ServerUnaryCall<Request, Response>,
  callback: sendUnaryData<Response>,
) => void;

/** Monotonic deadline of a unary call: that of the RPC, or the default. */
export function deadlineOf(call: ServerUnaryCall<unknown, unknown>): number {
  const deadline = call.getDeadline();
  const atMs = deadline instanceof Date ? deadline.getTime() : deadline;
  if (!Number.isFinite(atMs)) return deadlineAfter(0);
  const left = Math.max(1, atMs - Date.now());
  return deadlineAfter(Math.max(1, left - Math.min(ANSWER_AHEAD_MS, left / 10)));
}

/** Registers the caller, and forgets it when the client cancels: nobody waits for the answer then. */
export function waitFor(core: CoreAccess, call: ServerUnaryCall<unknown, unknown>, caller: Caller): number {
  const callId = core.calls.add(caller);
  call.once('cancelled', () => core.calls.forget(callId));
  return callId;
}

export function fail(callback: sendUnaryData<never>, failure: UnaryFailure): void {
  const metadata = new Metadata();
  metadata.set(ERROR_DETAIL_KEY, asBuffer(failure.detail));
  callback({ code: failure.status, details: failure.details, metadata });
}

export function failWith(callback: sendUnaryData<never>, failure: Omit<OpFailure, 'kind'>, zxid: Zxid): void {
  fail(callback, toUnaryFailure(failure, zxid));
}

/** Ends the call when the member takes none. True when it did. */
export function isRefused(core: CoreAccess, callback: sendUnaryData<never>): boolean {
  const message = core.refusal();
  if (message === undefined) return false;
  failWith(callback, { code: 'UNAVAILABLE', path: undefined, message }, core.appliedZxid());
  return true;
}
