/**
 * Log lines: pino, JSON, to standard output. A static event name and fields; every line says where the member stood.
 * zxids and session ids are bigint in the process and hex in the line. Tokens and data never come here.
 */
import { formatZxid, type Sid } from '@quorate/protocol';
import { destination, type Logger, pino } from 'pino';
import type { LogLevel } from './config/index.ts';

export type LogFields = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** Where the member stands, for every line; undefined until its core runs. */
export type Place = { readonly role: string; readonly epoch: number; readonly zxid: bigint } | undefined;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  fatal(event: string, fields?: LogFields): void;
  /**
   * A warning that may come very often: one line for each event and `key` in REPEAT_MS, with the number of those left
   * out since the last.
   */
  warnRarely(event: string, key: string | number, fields?: LogFields): void;
  /** The same log for another part of the member. */
  child(component: string): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly sid: Sid;
  readonly place: () => Place;
  /** Takes the lines instead of standard output: for tests. */
  readonly write?: (line: string) => void;
}

/** A repeated warning is written once in this time. */
const REPEAT_MS = 10_000;

/** Keys whose repeats are counted. Past it the oldest is forgotten, and may be written early. */
const REPEAT_KEYS_MAX = 1_000;

export function createLog({ level, sid, place, write }: LogOptions): Log {
  // Synchronous: the line that tells why the process ends must be out before it ends.
  const stream = write === undefined ? destination({ dest: 1, sync: true }) : { write };
  // A reader that went away (a closed pipe) is no reason to stop serving.
  if ('on' in stream) stream.on('error', () => undefined);
  const logger = pino(
    {
      level,
      base: { sid },
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => hexed(place() ?? {}),
    },
    stream,
  );
  return new PinoLog(logger, new Map());
}

interface Repeat {
  readonly sinceMs: number;
  leftOut: number;
}

class PinoLog implements Log {
  readonly #logger: Logger;
  readonly #repeats: Map<string, Repeat>;

  constructor(logger: Logger, repeats: Map<string, Repeat>) {
    this.#logger = logger;
    this.#repeats = repeats;
  }

  debug(event: string, fields?: LogFields): void {
    if (this.#logger.isLevelEnabled('debug')) this.#logger.debug(hexed(fields), event);
  }

  info(event: string, fields?: LogFields): void {
    this.#logger.info(hexed(fields), event);
  }

  warn(event: string, fields?: LogFields): void {
    this.#logger.warn(hexed(fields), event);
  }

  error(event: string, fields?: LogFields): void {
    this.#logger.error(hexed(fields), event);
  }

  fatal(event: string, fields?: LogFields): void {
    this.#logger.fatal(hexed(fields), event);
  }

  warnRarely(event: string, key: string | number, fields?: LogFields): void {
    const name = `${event} ${key}`;
    const nowMs = performance.now();
    const repeat = this.#repeats.get(name);
    if (repeat !== undefined && nowMs - repeat.sinceMs < REPEAT_MS) {
      repeat.leftOut++;
      return;
    }
    this.#repeats.delete(name);
    if (this.#repeats.size >= REPEAT_KEYS_MAX) {
      for (const oldest of this.#repeats.keys()) {
        this.#repeats.delete(oldest);
        break;
      }
    }
    this.#repeats.set(name, { sinceMs: nowMs, leftOut: 0 });
    this.warn(event, repeat === undefined || repeat.leftOut === 0 ? fields : { ...fields, leftOut: repeat.leftOut });
  }

  child(component: string): Log {
    return new PinoLog(this.#logger.child({ component }), this.#repeats);
  }
}

/** JSON has no 64-bit numbers: hex, as ZooKeeper prints them, is exact (C013). */
function hexed(fields: LogFields = {}): Record<string, string | number | boolean | undefined> {
  const out: Record<string, string | number | boolean | undefined> = {};
  for (const [name, value] of Object.entries(fields)) out[name] = typeof value === 'bigint' ? formatZxid(value) : value;
  return out;
}
