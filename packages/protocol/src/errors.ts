/**
 * The one table of errors: our code, ZooKeeper's number, the gRPC status, and whether sending the same call again is safe.
 * Callers switch on `code`, never on text. Source of the numbers: ZooKeeper `KeeperException.Code`, reference §4.1.
 */

/** One row of the table. */
export interface ErrorRow {
  /** Number on the ZooKeeper wire; 0 for errors that only our own API has. */
  readonly zookeeper: number;
  /** gRPC status number. */
  readonly grpc: number;
  /** Number of the code in `quorate.v1.ErrorCode`. */
  readonly proto: number;
  /** True when the call surely took no effect and the same call may succeed later or elsewhere. */
  readonly retryable: boolean;
}

const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;
const UNIMPLEMENTED = 12;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

export const ERRORS = {
  /** The znode, or the parent of one to be created, does not exist. */
  NO_NODE: { zookeeper: -101, grpc: NOT_FOUND, proto: 1, retryable: false },
  /** A znode of that path exists already. */
  NODE_EXISTS: { zookeeper: -110, grpc: ALREADY_EXISTS, proto: 2, retryable: false },
  /** The expected version is not the current one. */
  BAD_VERSION: { zookeeper: -103, grpc: ABORTED, proto: 3, retryable: false },
  /** The znode to be deleted has children. */
  NOT_EMPTY: { zookeeper: -111, grpc: FAILED_PRECONDITION, proto: 4, retryable: false },
  /** The parent is ephemeral and cannot have children. */
  NO_CHILDREN_FOR_EPHEMERALS: { zookeeper: -108, grpc: FAILED_PRECONDITION, proto: 5, retryable: false },
  /** A path, mode, size or option is not legal. */
  INVALID_ARGUMENT: { zookeeper: -8, grpc: INVALID_ARGUMENT, proto: 6, retryable: false },
  /** The request could not be decoded. */
  MARSHALLING_ERROR: { zookeeper: -5, grpc: INVALID_ARGUMENT, proto: 7, retryable: false },
  /** The operation is not known here. */
  UNIMPLEMENTED: { zookeeper: -6, grpc: UNIMPLEMENTED, proto: 8, retryable: false },
  /** The session has ended, or never was. */
  SESSION_EXPIRED: { zookeeper: -112, grpc: FAILED_PRECONDITION, proto: 9, retryable: false },
  /** The session is now attached to another member; this connection is stale. */
  SESSION_MOVED: { zookeeper: -118, grpc: FAILED_PRECONDITION, proto: 10, retryable: false },
  /** The ensemble could not take the call in time and surely did not apply it (no quorum, no leader, shutting down). */
  UNAVAILABLE: { zookeeper: -4, grpc: UNAVAILABLE, proto: 11, retryable: true },
  /** The answer to a write was lost: whether it took effect is not known. */
  OUTCOME_UNKNOWN: { zookeeper: -4, grpc: UNAVAILABLE, proto: 12, retryable: false },
  /** A bounded queue is full; nothing was done. */
  THROTTLED: { zookeeper: -127, grpc: RESOURCE_EXHAUSTED, proto: 13, retryable: true },
  /** The caller's rights do not cover the operation. */
  NO_AUTH: { zookeeper: -102, grpc: PERMISSION_DENIED, proto: 14, retryable: false },
  /** This member has not yet seen what the client has seen; another member may have. */
  SERVER_BEHIND: { zookeeper: 0, grpc: UNAVAILABLE, proto: 15, retryable: true },
  /** The call's own deadline passed before it was answered. */
  DEADLINE_EXCEEDED: { zookeeper: -7, grpc: DEADLINE_EXCEEDED, proto: 16, retryable: false },
  /** The write would take a subtree past a hard limit of its quota. */
  QUOTA_EXCEEDED: { zookeeper: -125, grpc: RESOURCE_EXHAUSTED, proto: 19, retryable: false },
  /** A bug in the member; it stops itself rather than carry on. */
  INTERNAL: { zookeeper: -1, grpc: INTERNAL, proto: 17, retryable: false },
  /** A numbered write came after a later one of its session was taken: it is not applied, and never will be under its number. */
  OUT_OF_ORDER: { zookeeper: 0, grpc: ABORTED, proto: 25, retryable: true },
  /** What was to be gone on with is not kept here any more: begin anew. */
  GAP: { zookeeper: 0, grpc: ABORTED, proto: 24, retryable: false },
  /** The znode that the write was bound to is no more, or is another one of that path. */
  GUARD_FAILED: { zookeeper: 0, grpc: FAILED_PRECONDITION, proto: 18, retryable: false },
  /** The connection has no such watch of that path. */
  NO_WATCHER: { zookeeper: -121, grpc: NOT_FOUND, proto: 22, retryable: false },
  /** An ACL is empty, or has an entry that nobody can match. */
  INVALID_ACL: { zookeeper: -114, grpc: INVALID_ARGUMENT, proto: 20, retryable: false },
  /** What was shown to prove an identity proves none. */
  AUTH_FAILED: { zookeeper: -115, grpc: UNAUTHENTICATED, proto: 21, retryable: false },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** All codes, in the table's order. */
export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** False when a write that failed with this code may have taken effect all the same. */
export function isOutcomeKnown(code: ErrorCode): boolean {
  return code !== 'OUTCOME_UNKNOWN' && code !== 'DEADLINE_EXCEEDED' && code !== 'INTERNAL';
}

/**
 * An expected failure that is part of the contract.
 * The message says the action and the values; it is for people and may change.
 */
export class KeeperError extends Error {
  readonly code: ErrorCode;
  /** Path of the znode that the failure is about. */
  readonly path: string | undefined;

  constructor(code: ErrorCode, message: string, options?: { readonly path?: string; readonly cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'KeeperError';
    this.code = code;
    this.path = options?.path;
  }
}

/** The code of a proto number, or undefined when this build does not know it. */
export function errorCodeOfProto(proto: number): ErrorCode | undefined {
  return ERROR_CODES.find((code) => ERRORS[code].proto === proto);
}
