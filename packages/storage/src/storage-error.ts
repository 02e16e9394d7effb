/**
 * The one error that this package lets out, and its codes. Each message is one line for an operator: what was tried, on
 * which folder, what was found, what to do.
 */

export type StorageErrorCode =
  /** The folder was written by a newer (or unknown) version. */
  | 'FORMAT_UNKNOWN'
  /** The folder holds data of another cluster. */
  | 'WRONG_CLUSTER'
  /** The folder holds data of another member. */
  | 'WRONG_SID'
  /** Another process uses the folder. */
  | 'LOCKED'
  /** The folder cannot be made, read or written. */
  | 'NOT_WRITABLE'
  /** What is on disk cannot be what was acknowledged. Nothing was changed. */
  | 'DAMAGED'
  /** The disk failed. */
  | 'IO'
  /** The store, or a stream, is not open. */
  | 'CLOSED';

export class StorageError extends Error {
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StorageError';
    this.code = code;
  }
}

/** Message of anything that was thrown, with its cause: LevelDB hides the reason there. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message}: ${thrown.cause.message}` : thrown.message;
}
