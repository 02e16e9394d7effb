/** Looks at the free space of the data folder's file system, and says so before it is used up. Changes nothing. */
import { statfs } from 'node:fs/promises';
import type { Log } from './logging.ts';

/** The space is looked at this often, ms. */
const LOOK_MS = 5_000;

export interface DiskSpaceOptions {
  readonly directory: string;
  /** Less than this is worth a warning, bytes; 0 never is. */
  readonly warnBytes: number;
  readonly log: Log;
}

export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  #freeBytes: number | undefined;
  #isLow = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  /** Free for this process at the last look, bytes; undefined while it is not known. */
  get freeBytes(): number | undefined {
    return this.#freeBytes;
  }

  /** Looks once, then again and again until `stop`. */
  async start(): Promise<void> {
    await this.look();
    this.#timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One look. A file system that does not answer is not this file's subject: the store will say so. */
  async look(): Promise<void> {
    const { directory, warnBytes, log } = this.#options;
    try {
      const { bavail, bsize } = await statfs(directory);
      this.#freeBytes = bavail * bsize;
    } catch {
      this.#freeBytes = undefined;
      return;
    }
    const isLow = this.#freeBytes < warnBytes;
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    const fields = { directory, freeBytes: this.#freeBytes, warnBytes };
    if (isLow) log.warn('diskSpaceLow', fields);
    else log.info('diskSpaceBack', fields);
  }
}
