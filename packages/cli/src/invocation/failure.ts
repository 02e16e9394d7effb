/** What goes wrong in a command: its exit code, and its one line on standard error. */
import type { CoordinationError, ErrorCode } from '@quorate/client';

/** Exit codes; scripts rely on them. 130 and 143 are for a command that was interrupted. */
export const EXIT = {
  done: 0,
  failed: 1,
  'bad usage': 2,
  'no such znode': 3,
  'precondition failed': 4,
  'no usable ensemble': 5,
  'not allowed': 6,
  'timed out': 7,
} as const;

/** The caller's mistake; its message is the line that is shown. */
export class UsageError extends Error {}

/** A command was ended by a signal. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('Interrupted');
    this.exitCode = exitCode;
  }
}

/** Says on standard error what went wrong, in one line. Returns the exit code. */
export function sayFailure(error: unknown): number {
  process.stderr.write(`quorate: ${lineOf(error)}\n`);
  return exitCodeOf(error);
}

/** The exit code for what a command rejected with. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof UsageError || error instanceof TypeError || error instanceof RangeError)
    return EXIT['bad usage'];
  return isCoordinationError(error) ? EXIT[EXIT_OF_CODE[error.code]] : EXIT.failed;
}

const EXIT_OF_CODE = {
  NO_NODE: 'no such znode',
  NODE_EXISTS: 'precondition failed',
  BAD_VERSION: 'precondition failed',
  NOT_EMPTY: 'precondition failed',
  NO_CHILDREN_FOR_EPHEMERALS: 'precondition failed',
  INVALID_ARGUMENT: 'bad usage',
  UNIMPLEMENTED: 'failed',
  SESSION_EXPIRED: 'no usable ensemble',
  SESSION_MOVED: 'no usable ensemble',
  UNAVAILABLE: 'no usable ensemble',
  SERVER_BEHIND: 'no usable ensemble',
  CONNECTION_LOST: 'no usable ensemble',
  GUARD_FAILED: 'precondition failed',
  INVALID_ACL: 'bad usage',
  AUTH_FAILED: 'not allowed',
  THROTTLED: 'failed',
  QUOTA_EXCEEDED: 'precondition failed',
  NO_AUTH: 'not allowed',
  TIMEOUT: 'timed out',
  ABORTED: 'failed',
  CLOSED: 'failed',
  INTERNAL: 'failed',
  OUT_OF_ORDER: 'failed',
  GAP: 'failed',
  NO_WATCHER: 'failed',
} as const satisfies Record<ErrorCode, keyof typeof EXIT>;

function isCoordinationError(error: unknown): error is CoordinationError {
  // By name: the class itself would load gRPC.
  return error instanceof Error && error.name === 'CoordinationError' && 'code' in error;
}

function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // NUL: a mark of arguments.ts, in what yargs says of them.
  const line = message
    .replaceAll('\0', '')
    .replaceAll(/\s*\n\s*/g, '; ')
    .trim();
  if (!isCoordinationError(error)) return line;
  return `${line} (${error.code}${error.outcome === 'unknown' ? '; it may have taken effect' : ''})`;
}
