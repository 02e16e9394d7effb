/**
 * What all unary calls have in common: the deadline, the cancellation, and how a failure becomes a gRPC status with our
 * detail beside it.
 */
import { Metadata, type MetadataValue, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import type { Identity, OpFailure, Zxid } from '@quorate/protocol';
import { type Credential, ERROR_DETAIL_KEY } from '@quorate/protocol/frames';
import { asBuffer, toUnaryFailure, type UnaryFailure } from '@quorate/protocol/grpc';
import type { Caller } from '../../calls.ts';
import { type CoreAccess, deadlineAfter } from '../core-access.ts';
import { CredentialError } from '../identities.ts';

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

/** Metadata key of a credential: scheme, a blank, the proof. May come several times. */
const AUTH_KEY = 'quorate-auth-bin';

/** What the caller is taken for; undefined when the call was ended because something that he shows proves nothing. */
export function identitiesOfCall(
  core: CoreAccess,
  call: ServerUnaryCall<unknown, unknown>,
  callback: sendUnaryData<never>,
): readonly Identity[] | undefined {
  const shown = identitiesShown(core, call);
  if (!('code' in shown)) return shown;
  failWith(callback, shown, core.appliedZxid());
  return undefined;
}

/** What the caller is taken for, or why what he shows proves nothing. */
export function identitiesShown(
  core: CoreAccess,
  call: { getPeer(): string; readonly metadata: Metadata },
): readonly Identity[] | { readonly code: 'AUTH_FAILED'; readonly path: undefined; readonly message: string } {
  try {
    return core.identitiesOf(call.getPeer(), call.metadata.get(AUTH_KEY).map(toCredential));
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    return { code: 'AUTH_FAILED', path: undefined, message: error.message };
  }
}

function toCredential(value: MetadataValue): Credential {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  const blank = bytes.indexOf(0x20);
  if (blank < 1) throw new CredentialError(`The metadata ${AUTH_KEY} is not a scheme, a blank and a proof`);
  return { scheme: bytes.toString('utf8', 0, blank), proof: new Uint8Array(bytes.subarray(blank + 1)) };
}
