/** Promises for what takes time: one that is resolved from outside, a timer that can be given up, a wait with an end. */

export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

export function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

export function timeout(ms: number): { readonly over: Promise<void>; readonly cancel: () => void } {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, ms);
  return { over: promise, cancel: () => clearTimeout(timer) };
}

/** Waits `ms`, or until `signal` is given. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { over, cancel } = timeout(ms);
  const { promise, resolve } = deferred();
  signal.addEventListener('abort', resolve, { once: true });
  return Promise.race([over, promise]).finally(() => {
    cancel();
    signal.removeEventListener('abort', resolve);
  });
}

/** True when the work was done within `ms`; false when it goes on. Rejects as the work does. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { over, cancel } = timeout(ms);
  try {
    return await Promise.race([work.then(() => true), over.then(() => false)]);
  } finally {
    cancel();
  }
}

/** The work's outcome, or a rejection as soon as `signal` is given; the work itself goes on then. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
