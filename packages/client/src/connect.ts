/** `connect`: checks the options, opens the first session, hands out the client. */
import type { Client } from './api.ts';
import { SessionClient } from './client.ts';
import { Connection } from './connection.ts';
import { CoordinationError } from './errors.ts';
import { type ConnectOptions, checkConnectOptions, type FullOptions } from './options.ts';
import { formatServer } from './servers.ts';
import { type Dial, dialGrpc } from './stream.ts';

/**
 * Opens a session with the ensemble at `servers`: `host:port,host:port/chroot`, or an array of `host:port`. Members are
 * tried in a random order; any will do.
 *
 * Throws TypeError or RangeError at once for options that are not legal. Rejects with CONNECTION_LOST when no member
 * opened a session within `timeoutMs`, with AUTH_FAILED when one does not take what `auth` shows, and with ABORTED when `signal` was aborted.
 */
export function connect(servers: string | readonly string[], options: ConnectOptions = {}): Promise<Client> {
  return open(checkConnectOptions(servers, options), dialGrpc);
}

/** `connect` over another transport, for tests. */
export async function open(options: FullOptions, dial: Dial, random?: () => number): Promise<Client> {
  const connection = new Connection(options, dial, random);
  connection.start();
  try {
    await firstSession(connection, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return new SessionClient(connection, options.chroot);
}

function firstSession(connection: Connection, options: FullOptions): Promise<void> {
  const { connectTimeoutMs, signal } = options;
  const { promise, settle, fail } = settleable();
  connection.onAuthFailed = (reason) => {
    fail(new CoordinationError('AUTH_FAILED', `Cannot open a session: ${reason}`, { outcome: 'not-applied' }));
  };
  const subscription = connection.session.onChange(({ state }) => {
    if (state === 'connected') settle();
  });
  const names = options.servers.map(formatServer).join(',');
  const giveUp = (): void => {
    const message = `Cannot open a session at ${names} within ${connectTimeoutMs} ms: ${connection.lastFailure}`;
    fail(new CoordinationError('CONNECTION_LOST', message));
  };
  const onAbort = (): void => {
    const message = `Aborted opening a session at ${names}: ${connection.lastFailure}`;
    fail(new CoordinationError('ABORTED', message, { cause: signal?.reason }));
  };
  const timer = setTimeout(giveUp, connectTimeoutMs);
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort);
  return promise.finally(() => {
    subscription[Symbol.dispose]();
    connection.onAuthFailed = undefined;
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  });
}

function settleable(): { promise: Promise<void>; settle: () => void; fail: (error: Error) => void } {
  let settle = (): void => {};
  let fail = (_error: Error): void => {};
  const promise = new Promise<void>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { promise, settle, fail };
}
