/** A small file system of its own, which can be filled to the last byte and freed again. Needs root; throws without. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BALLAST = 'ballast';

export class SmallDisk implements Disposable {
  readonly directory: string;

  /** Mounts it at `directory`, which is made. */
  constructor(directory: string, bytes: number) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'quorate-small-disk', directory]);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.directory);
    return bavail * bsize;
  }

  /** Uses space up until `leave` bytes are free. */
  fill(leave = 0): void {
    const file = openSync(join(this.directory, BALLAST), 'a');
    try {
      for (let left = this.freeBytes - leave; left > 0; left = this.freeBytes - leave) {
        writeSync(file, new Uint8Array(Math.min(left, 1024 * 1024)));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Gives back what `fill` used up. */
  free(): void {
    rmSync(join(this.directory, BALLAST), { force: true });
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.directory]);
  }
}
