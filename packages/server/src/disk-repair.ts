/**
 * What a member does while its disk has failed: it looks whether the disk works again, in growing intervals, and then opens
 * it anew. Whether it works is found out by writing and syncing a file beside the data; the data is not touched before
 * that has succeeded. It decides nothing about what the member serves meanwhile; that is the core's.
 */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf, StorageError } from '@quorate/storage';
import type { Log } from './logging.ts';
import { pause } from './waiting.ts';

/** Name of the file in the data folder. It is removed after each try, and overwritten when a crash left it behind. */
export const PROBE_NAME = 'disk-probe';

/** What must be free and work, bytes: opening LevelDB writes about as much as its journals hold. */
const PROBE_BYTES = 4 * 1024 * 1024;

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 5_000;

/** A disk that worked for this long has a new history: the next failure is answered quickly again. */
const GOOD_MS = 60_000;

/** The pauses before each try; they grow over failures that follow one another, also when the disk worked in between. */
export class RepairPauses {
  readonly #nowMs: () => number;
  #pauseMs = PAUSE_MIN_MS;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  next(): number {
    if (this.#nowMs() - this.#lastMs > GOOD_MS) this.#pauseMs = PAUSE_MIN_MS;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
    this.#lastMs = this.#nowMs() + pauseMs;
    return pauseMs;
  }
}

export interface RepairOptions<T> {
  readonly directory: string;
  /** Opens the data folder anew. */
  readonly open: () => Promise<T>;
  readonly pauses: RepairPauses;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Tries until the disk could be opened. Undefined when `signal` ended it. Rejects with what no waiting mends. */
export async function openWhenMended<T>({
  directory,
  open,
  pauses,
  signal,
  log,
}: RepairOptions<T>): Promise<T | undefined> {
  for (let told = ''; ; ) {
    await pause(pauses.next(), signal);
    if (signal.aborted) return undefined;
    try {
      await probe(directory);
      if (signal.aborted) return undefined;
      return await open();
    } catch (error) {
      if (!isOfTheDisk(error)) throw error;
      const reason = reasonOf(error);
      if (reason !== told) log.warn('diskStillFails', { reason });
      told = reason;
    }
  }
}

/** Writes and syncs a file in the folder. Rejects as the disk does. */
export async function probe(directory: string): Promise<void> {
  const path = join(directory, PROBE_NAME);
  try {
    const file = await open(path, 'w', 0o600);
    try {
      const part = new Uint8Array(PROBE_BYTES / 4).fill(0x5a);
      for (let i = 0; i < 4; i++) await file.write(part);
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(path, { force: true });
  }
}

/** False for what the disk's working again does not change: damage, another process, a fault of ours. */
function isOfTheDisk(error: unknown): boolean {
  if (error instanceof StorageError) return error.code === 'IO' || error.code === 'NOT_WRITABLE';
  return error instanceof Error && 'syscall' in error;
}
