/**
 * The one class of errors that the client rejects with, and what each failure of the wire becomes in it.
 * Mistakes of the caller in the shape of an argument are TypeError or RangeError instead.
 */
import { ERRORS, isOutcomeKnown, type OpFailure, type ErrorCode as ProtocolCode } from '@quorate/protocol';

/**
 * What went wrong; switch on this. Those of the ensemble are explained in its error table. Those of the client:
 * `CONNECTION_LOST`: the connection broke under a write that was sent, or no member could be reached.
 * `TIMEOUT`: the call's time was over before its answer came.
 * `ABORTED`: the call's own signal was aborted.
 * `CLOSED`: the client was closed.
 */
export type ErrorCode =
  | Exclude<ProtocolCode, 'MARSHALLING_ERROR' | 'DEADLINE_EXCEEDED' | 'OUTCOME_UNKNOWN'>
  | 'CONNECTION_LOST'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'CLOSED';

/** `not-applied`: surely without effect. `unknown`: only for writes that were sent and whose answer never came. */
export type Outcome = 'not-applied' | 'unknown';

/** A call that failed. */
export class CoordinationError extends Error {
  readonly code: ErrorCode;
  /** The znode that the failure is about, as the caller named it. */
  readonly path: string | undefined;
  /** True when the call had no effect and the same call may succeed later. */
  readonly retryable: boolean;
  readonly outcome: Outcome;
  /** Index of the part of a transaction that failed. */
  readonly part: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      readonly path?: string | undefined;
      readonly outcome?: Outcome;
      readonly cause?: unknown;
      readonly part?: number | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CoordinationError';
    this.code = code;
    this.path = options.path;
    this.outcome = options.outcome ?? 'not-applied';
    this.part = options.part;
    this.retryable = this.outcome === 'not-applied' && isRetryable(code);
  }
}

/** True when `error` is a CoordinationError with one of `codes`. Works across two copies of this library. */
export function isCode<const C extends ErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is CoordinationError & { readonly code: C } {
  if (!(error instanceof Error) || error.name !== 'CoordinationError') return false;
  return (codes as readonly unknown[]).includes((error as { code?: unknown }).code);
}

/** The error for a failure that the ensemble answered. A read has no effect, whatever became of it. */
export function errorOfFailure(failure: OpFailure, isWrite: boolean, known?: Outcome): CoordinationError {
  const outcome = known ?? (isWrite && !isOutcomeKnown(failure.code) ? 'unknown' : 'not-applied');
  const { code, message, path, part } = failure;
  return new CoordinationError(clientCode(code), message, { path, outcome, part });
}

function clientCode(code: ProtocolCode): ErrorCode {
  switch (code) {
    case 'MARSHALLING_ERROR':
      return 'INVALID_ARGUMENT';
    case 'DEADLINE_EXCEEDED':
      return 'TIMEOUT';
    case 'OUTCOME_UNKNOWN':
      return 'CONNECTION_LOST';
    default:
      return code;
  }
}

function isRetryable(code: ErrorCode): boolean {
  switch (code) {
    case 'CONNECTION_LOST':
    case 'TIMEOUT':
      return true;
    case 'ABORTED':
    case 'CLOSED':
      return false;
    default:
      return ERRORS[code].retryable;
  }
}
