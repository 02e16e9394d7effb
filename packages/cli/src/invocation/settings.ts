/** Settings that all data commands share: flag > environment > default. */
import { UsageError } from './failure.ts';

export const SERVERS_DEFAULT = '127.0.0.1:2281,127.0.0.1:2282,127.0.0.1:2283';
export const TIMEOUT_DEFAULT = '5s';

export type Output = 'text' | 'json' | 'raw';

/** The shared flags as yargs hands them over. */
export interface SharedFlags {
  readonly servers: string | undefined;
  readonly timeout: string | undefined;
  readonly output: string;
}

export interface Settings {
  /** As the client takes it: `host:port,host:port/chroot`. */
  readonly servers: string;
  /** For the whole command, ms. */
  readonly timeoutMs: number;
  readonly output: Output;
}

/** Settles the settings. Throws UsageError that names the flag or variable. */
export function settle(flags: SharedFlags, environment: NodeJS.ProcessEnv): Settings {
  const timeout = pick('--timeout', flags.timeout, 'QUORATE_TIMEOUT', environment, TIMEOUT_DEFAULT);
  return {
    servers: pick('--servers', flags.servers, 'QUORATE_SERVERS', environment, SERVERS_DEFAULT).value,
    timeoutMs: parseDuration(timeout.value, timeout.origin),
    output: flags.output as Output,
  };
}

function pick(
  flagName: string,
  flag: string | undefined,
  variable: string,
  environment: NodeJS.ProcessEnv,
  fallback: string,
): { value: string; origin: string } {
  if (flag !== undefined) return { value: flag, origin: flagName };
  const value = environment[variable];
  return value === undefined || value === '' ? { value: fallback, origin: 'default' } : { value, origin: variable };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const TIMER_MAX_MS = 0x7fff_ffff;

/** `500ms`, `5s`, `1.5m`, `1h` in ms. Throws UsageError that names `origin`. */
export function parseDuration(text: string, origin: string, maxMs = TIMER_MAX_MS): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim());
  const ms = match === null ? Number.NaN : Math.round(Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN));
  if (!(ms >= 1 && ms <= maxMs)) {
    throw new UsageError(`${origin} is ${JSON.stringify(text)}, which is not a time such as 500ms, 5s or 1m`);
  }
  return ms;
}
