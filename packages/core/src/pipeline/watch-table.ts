/**
 * Who watches which path, as compact as it goes: one watcher of a path is a number in a map. Knows nothing of what happens to
 * znodes. A connection has at most one entry a path, with a bit for each mode. Source: ZooKeeper `WatchManager`.
 */

/** Modes, as bits. STANDARD is used up by what it tells; RECURSIVE is about all below the path too. */
export const STANDARD = 1;
export const PERSISTENT = 2;
export const RECURSIVE = 4;
export const ANY_MODE = STANDARD | PERSISTENT | RECURSIVE;

const MODES = 8;

/** Attachments that are told of one thing: one, or the keys of a map that is theirs alone from now on. */
export type Recipients = number | Map<number, number>;

/** Several watchers of one path. */
class Crowd {
  /** Modes by attachment. */
  readonly modes = new Map<number, number>();
  /** How many have STANDARD, and how many something that lasts. */
  standard = 0;
  lasting = 0;

  set(attachment: number, modes: number): void {
    this.#count(this.modes.get(attachment) ?? 0, -1);
    this.#count(modes, 1);
    if (modes === 0) this.modes.delete(attachment);
    else this.modes.set(attachment, modes);
  }

  #count(modes: number, by: number): void {
    if ((modes & STANDARD) !== 0) this.standard += by;
    if ((modes & ~STANDARD) !== 0) this.lasting += by;
  }
}

export class WatchTable {
  /** An attachment and its modes in one number, or many of them. */
  readonly #byPath = new Map<string, number | Crowd>();

  /** Paths that are watched. */
  get size(): number {
    return this.#byPath.size;
  }

  modesOf(path: string, attachment: number): number {
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) return 0;
    if (typeof watchers !== 'number') return watchers.modes.get(attachment) ?? 0;
    return attachmentOf(watchers) === attachment ? watchers % MODES : 0;
  }

  /** 0 takes the watcher out. */
  setModes(path: string, attachment: number, modes: number): void {
    const watchers = this.#byPath.get(path);
    if (watchers === undefined || (typeof watchers === 'number' && attachmentOf(watchers) === attachment)) {
      if (modes === 0) this.#byPath.delete(path);
      else this.#byPath.set(path, attachment * MODES + modes);
      return;
    }
    if (typeof watchers !== 'number') {
      watchers.set(attachment, modes);
      if (watchers.modes.size === 0) this.#byPath.delete(path);
    } else if (modes !== 0) {
      const crowd = new Crowd();
      crowd.set(attachmentOf(watchers), watchers % MODES);
      crowd.set(attachment, modes);
      this.#byPath.set(path, crowd);
    }
  }

  /** All who watch exactly that path; what is used up by it is taken out. */
  take(path: string): Recipients | undefined {
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) return undefined;
    if (typeof watchers === 'number') {
      const attachment = attachmentOf(watchers);
      if (watchers % 2 === STANDARD) this.setModes(path, attachment, (watchers % MODES) & ~STANDARD);
      return attachment;
    }
    if (watchers.lasting > 0) return takenFrom(watchers);
    this.#byPath.delete(path);
    return watchers.modes;
  }

  /** Every path that is watched, and by whom. */
  *entries(): Iterable<{ readonly path: string; readonly attachments: readonly number[] }> {
    for (const [path, watchers] of this.#byPath) {
      const attachments = typeof watchers === 'number' ? [attachmentOf(watchers)] : [...watchers.modes.keys()];
      yield { path, attachments };
    }
  }

  /** Calls `found` for each who has that mode at the path. */
  forMode(path: string, mode: number, found: (attachment: number) => void): void {
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) return;
    if (typeof watchers === 'number') {
      if (((watchers % MODES) & mode) !== 0) found(attachmentOf(watchers));
      return;
    }
    if (watchers.lasting === 0 && mode !== STANDARD) return;
    for (const [attachment, modes] of watchers.modes) if ((modes & mode) !== 0) found(attachment);
  }
}

function attachmentOf(watcher: number): number {
  return Math.floor(watcher / MODES);
}

/** A copy of all; those who lasted only for this are taken out of the crowd. */
function takenFrom(crowd: Crowd): Map<number, number> {
  const all = new Map(crowd.modes);
  if (crowd.standard === 0) return all;
  for (const [attachment, modes] of all) {
    if ((modes & STANDARD) !== 0) crowd.set(attachment, modes & ~STANDARD);
  }
  return all;
}
