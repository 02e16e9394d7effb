/**
 * A member's disk over all runs of its core: opened at the start, opened anew when it failed or when memory is not to be trusted,
 * watched for space, closed at the end, also when it hangs. What a core is to do with it is not known here.
 */
import { type MemberStore, reasonOf, type StoreEvents } from '@quorate/storage';
import type { ServerConfig } from './config/index.ts';
import { openWhenMended, RepairPauses } from './disk-repair.ts';
import { DiskSpace } from './disk-space.ts';
import type { Log } from './logging.ts';
import { giveUpData, type Opened, openCore } from './opening.ts';
import { within } from './waiting.ts';

/** At a stop: how long the disk may take to close, ms. Nothing acknowledged depends on it, and a disk that hangs never ends. */
const CLOSE_MS = 5_000;

export interface MemberDiskOptions {
  readonly config: ServerConfig;
  readonly log: Log;
  /** Where the store that is opened next reports to; no earlier one is listened to from then on. */
  readonly newRun: () => StoreEvents;
  /** The data cannot be opened anew, and no waiting mends it. */
  readonly onFatal: (reason: string) => void;
}

export class MemberDisk {
  readonly #options: MemberDiskOptions;
  readonly #space: DiskSpace;
  readonly #pauses = new RepairPauses();
  /** Given when the member ends: no repair goes on. */
  readonly #ending = new AbortController();
  #store: MemberStore | undefined;
  /** What opens it at present, the first time or anew. Never rejects. */
  #opening: Promise<unknown> | undefined;
  #isHung = false;

  constructor(options: MemberDiskOptions) {
    this.#options = options;
    const { dataDir: directory, diskFreeWarnBytes: warnBytes } = options.config;
    this.#space = new DiskSpace({ directory, warnBytes, log: options.log.child('disk') });
  }

  /** Free space at the last look, bytes; undefined while it is not known. */
  get freeBytes(): number | undefined {
    return this.#space.freeBytes;
  }

  /** After `close`: the disk did not answer in time, and a call to it still hangs in this process. */
  get isHung(): boolean {
    return this.#isHung;
  }

  /** The first time. Rejects with one clear line; nothing stays open then. */
  open(): Promise<Opened> {
    const opening = this.#openFirst();
    this.#opening = opening.catch(() => undefined);
    return opening;
  }

  /**
   * Closes what is open and opens it anew as soon as the disk works; `enter` takes what was found, unless the member ends before.
   * With `setAside`, the reason why, the data is set aside first. One at a time.
   */
  openAnew(enter: (opened: Opened) => void, setAside?: string): void {
    this.#opening = this.#openAnew(enter, setAside).catch((error: unknown) => {
      if (!this.#ending.signal.aborted) this.#options.onFatal(`Cannot open the disk anew: ${reasonOf(error)}`);
    });
  }

  /** Gives up what opens it at present, and closes what is open; a disk that hangs is left after 5 s. */
  async close(): Promise<void> {
    this.#space.stop();
    this.#ending.abort();
    const closing = (async () => {
      await this.#opening;
      await this.#store?.close();
    })();
    this.#isHung = !(await within(CLOSE_MS, closing));
    if (this.#isHung) this.#options.log.warn('diskNotClosed', { reason: 'The disk does not answer' });
  }

  async #openFirst(): Promise<Opened> {
    const opened = await this.#open();
    await this.#space.start();
    return opened;
  }

  async #open(): Promise<Opened> {
    const { config, newRun, log } = this.#options;
    const opened = await openCore(config, newRun(), log, this.#ending.signal);
    this.#store = opened.store;
    return opened;
  }

  async #openAnew(enter: (opened: Opened) => void, setAside: string | undefined): Promise<void> {
    const { config, log } = this.#options;
    const { signal } = this.#ending;
    await this.#store?.close();
    this.#store = undefined;
    let wrong = setAside;
    const open = async (): Promise<Opened> => {
      if (wrong !== undefined) await giveUpData(config, wrong, log);
      wrong = undefined;
      return await this.#open();
    };
    const opened = await openWhenMended({
      directory: config.dataDir,
      open,
      pauses: this.#pauses,
      signal,
      log: log.child('disk'),
    });
    if (opened !== undefined && !signal.aborted) enter(opened);
  }
}
