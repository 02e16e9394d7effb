/** Paths under a chroot: what the caller names, and what the ensemble knows it by. */
import { pathFault } from '@quorate/protocol';
import { CoordinationError } from './errors.ts';

export class Chroot {
  /** '' for none. */
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /**
   * The ensemble's path for the caller's. A sequential create may name a parent and a slash.
   * Throws TypeError for anything but a string, INVALID_ARGUMENT for a path that is not legal.
   */
  inward(path: string, isSequential = false): string {
    if (typeof path !== 'string') throw new TypeError(`path must be a string, not ${typeof path}`);
    const fault = pathFault(isSequential ? `${path}0` : path);
    if (fault !== undefined) {
      throw new CoordinationError('INVALID_ARGUMENT', `${JSON.stringify(path)} is not a path: ${fault}`, { path });
    }
    if (path === '/' && !isSequential) return this.#prefix === '' ? '/' : this.#prefix;
    return this.#prefix + path;
  }

  /**
   * The first characters of the ensemble's paths for those of the caller's; '' is all below the chroot.
   * Throws INVALID_ARGUMENT for what no path begins with.
   */
  inwardPrefix(prefix: string): string {
    if (prefix === '') return `${this.#prefix}/`;
    if (prefix.startsWith('/')) return this.#prefix + prefix;
    throw new CoordinationError('INVALID_ARGUMENT', `No path begins with ${JSON.stringify(prefix)}`, { path: prefix });
  }

  /** The caller's path for the ensemble's; one outside of the chroot, which only an error can name, stays as it is. */
  outward(path: string): string {
    if (path === this.#prefix) return '/';
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : path;
  }
}
