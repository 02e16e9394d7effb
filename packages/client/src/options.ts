/** The options of `connect` and of single calls: their meaning, their defaults, and the one function that checks each. */
import { CALL_TIMEOUT_DEFAULT_MS, CALL_TIMEOUT_MAX_MS, toZxid, type Zxid } from '@quorate/protocol';
import type { Credential } from '@quorate/protocol/frames';
import { parseChroot, parseServers, type Server } from './servers.ts';

/** Options of every call. */
export interface CallOptions {
  /**
   * Ends the call early with ABORTED (TIMEOUT for a signal of AbortSignal.timeout). Aborting a read just forgets it;
   * the outcome of a write that was already sent is then `unknown`.
   */
  readonly signal?: AbortSignal | undefined;
  /** Longest time for the answer, ms, 1..2^31-1; more than 10 minutes is cut to that. Default 5000. */
  readonly timeoutMs?: number | undefined;
}

/** Where log lines go; pino's shape. */
export type Logger = Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message?: string) => void>;

/** How attempts to connect are spaced: after n failures a random part of min(maxMs, baseMs * 2^n). */
export interface RetryOptions {
  /** Default 50. */
  readonly baseMs?: number | undefined;
  /** Default 3000. */
  readonly maxMs?: number | undefined;
}

/** What a connection shows for itself: of scheme `digest`, `user:password`. A secret. */
export interface Auth {
  readonly scheme: string;
  readonly credential: string | Uint8Array;
}

/** Options of `connect`. `signal` and `timeoutMs` are for the first connection only. */
export interface ConnectOptions extends CallOptions {
  /** All paths are below this one. Another way to say it is the end of the list of servers. */
  readonly chroot?: string | undefined;
  /** Wanted session timeout, ms, 1..2^31-1. The ensemble cuts it to what it allows. Default 10000. */
  readonly sessionTimeoutMs?: number | undefined;
  /** After the end of a session: open a new one (default), or close the client. */
  readonly onSessionLost?: 'renew' | 'close' | undefined;
  /** What every connection shows for itself, for ACLs. One that proves nothing: AUTH_FAILED. */
  readonly auth?: readonly Auth[] | undefined;
  readonly retry?: RetryOptions | undefined;
  /** Told of connections and sessions; of paths and data never. */
  readonly logger?: Logger | undefined;
}

/** ConnectOptions, checked and complete. */
export interface FullOptions {
  readonly servers: readonly Server[];
  /** '' for none. */
  readonly chroot: string;
  readonly sessionTimeoutMs: number;
  readonly onSessionLost: 'renew' | 'close';
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
  readonly connectTimeoutMs: number;
  readonly credentials: readonly Credential[];
  readonly signal: AbortSignal | undefined;
  readonly logger: Logger | undefined;
}

/** Longest delay that a timer can hold; a longer one would fire at once. */
const TIMER_MAX_MS = 0x7fff_ffff;

const SESSION_TIMEOUT_DEFAULT_MS = 10_000;
const RETRY_BASE_DEFAULT_MS = 50;
const RETRY_MAX_DEFAULT_MS = 3_000;

/** Checks everything that `connect` was given. Throws TypeError or RangeError that names the option. */
export function checkConnectOptions(servers: string | readonly string[], options: ConnectOptions = {}): FullOptions {
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  const list = parseServers(servers);
  if (list.chroot !== undefined && options.chroot !== undefined) {
    throw new TypeError('chroot is given twice: in servers and as an option');
  }
  const retry = options.retry ?? {};
  const retryBaseMs = checkMs('retry.baseMs', retry.baseMs, RETRY_BASE_DEFAULT_MS);
  const retryMaxMs = checkMs('retry.maxMs', retry.maxMs, Math.max(RETRY_MAX_DEFAULT_MS, retryBaseMs));
  if (retryMaxMs < retryBaseMs) throw new RangeError(`retry.maxMs ${retryMaxMs} is below retry.baseMs ${retryBaseMs}`);
  const onSessionLost = options.onSessionLost ?? 'renew';
  if (onSessionLost !== 'renew' && onSessionLost !== 'close') {
    throw new TypeError(`onSessionLost must be 'renew' or 'close', not ${JSON.stringify(onSessionLost)}`);
  }
  return {
    servers: list.servers,
    chroot: parseChroot(list.chroot ?? options.chroot),
    sessionTimeoutMs: checkMs('sessionTimeoutMs', options.sessionTimeoutMs, SESSION_TIMEOUT_DEFAULT_MS),
    onSessionLost,
    retryBaseMs,
    retryMaxMs,
    connectTimeoutMs: checkTimeout(options.timeoutMs),
    credentials: checkAuth(options.auth),
    signal: checkSignal(options.signal),
    logger: options.logger,
  };
}

function checkAuth(auth: ConnectOptions['auth'] = []): readonly Credential[] {
  if (!Array.isArray(auth)) throw new TypeError('auth must be an array of { scheme, credential }');
  return auth.map(checkCredential);
}

/** Throws TypeError unless it is an Auth. */
export function checkCredential(auth: unknown): Credential {
  const { scheme, credential } = (auth ?? {}) as { readonly scheme?: unknown; readonly credential?: unknown };
  const proof = typeof credential === 'string' ? new TextEncoder().encode(credential) : credential;
  if (typeof scheme === 'string' && proof instanceof Uint8Array) return { scheme, proof: proof.slice() };
  throw new TypeError('auth must be { scheme, credential }, a string, and a string or bytes');
}

/** The timeout of a call, ms. Throws TypeError or RangeError that names it. */
export function checkTimeout(timeoutMs: number | undefined): number {
  return Math.min(checkMs('timeoutMs', timeoutMs, CALL_TIMEOUT_DEFAULT_MS), CALL_TIMEOUT_MAX_MS);
}

/** Throws TypeError when `signal` is something else. */
export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal must be an AbortSignal');
  return signal;
}

/** The version that a write expects: a 32-bit integer. Throws TypeError or RangeError. */
export function checkVersion(version: number | undefined): number | undefined {
  if (version === undefined) return undefined;
  if (typeof version !== 'number') throw new TypeError(`version must be a number, not ${typeof version}`);
  if ((version | 0) !== version) throw new RangeError(`version must be a 32-bit integer, not ${version}`);
  return version;
}

function checkMs(name: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number of ms, not ${typeof value}`);
  if (!Number.isInteger(value) || value < 1 || value > TIMER_MAX_MS) {
    throw new RangeError(`${name} must be an integer from 1 to ${TIMER_MAX_MS} ms, not ${value}`);
  }
  return value;
}

/** A position of the history. Throws TypeError or RangeError. */
export function checkZxid(zxid: bigint | undefined): Zxid | undefined {
  if (zxid === undefined) return undefined;
  if (typeof zxid !== 'bigint') throw new TypeError(`a zxid must be a bigint, not ${typeof zxid}`);
  return toZxid(zxid);
}
