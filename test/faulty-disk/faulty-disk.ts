/**
 * A disk that fails on command, for processes that tests start: builds the shim (shim.c says what it can do), gives the
 * environment that puts it in front of their files, changes its rules while they run, and reads what they did.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('./shim.c', import.meta.url));

export interface Rule {
  readonly op: 'write' | 'sync' | 'open' | 'rename' | 'unlink';
  /** The error that the call ends with, or for how many ms it is held. */
  readonly what: 'EIO' | 'ENOSPC' | number;
  /** So many calls pass first. Default 0. */
  readonly after?: number;
  /** It holds for so many calls. Default 0: for all. */
  readonly times?: number;
  /** Only for paths, below the folder, that contain this. */
  readonly part: string;
}

/** One call that the disk carried out. */
export interface DiskCall {
  /** When it was done, on the clock of process.hrtime. */
  readonly ns: bigint;
  readonly op: string;
  /** Below the folder. */
  readonly path: string;
  /** Words of the data that begin with the mark. */
  readonly marks: readonly string[];
}

export class FaultyDisk implements Disposable {
  readonly #folder: string;
  readonly #own = mkdtempSync(join(tmpdir(), 'quorate-faulty-'));

  /** For files below `folder`, an absolute path without symbolic links. Throws when the shim cannot be built. */
  constructor(folder: string) {
    this.#folder = folder;
    this.clear();
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-Wall', '-Werror', '-o', this.#path('shim.so'), SOURCE, '-ldl']);
  }

  /** For the processes whose disk it is. `mark`: words that begin with it are found in what is written. */
  environment(mark = ''): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#path('shim.so'),
      FAULTY_DISK_DIR: this.#folder,
      FAULTY_DISK_CONTROL: this.#path('control'),
      FAULTY_DISK_LOG: this.#path('log'),
      FAULTY_DISK_MARK: mark,
      // Calls that go round libc cannot be stepped in front of.
      UV_USE_IO_URING: '0',
    };
  }

  /** From now on these rules hold, and no earlier ones. */
  set(...rules: readonly Rule[]): void {
    const lines = rules.map(({ op, what, after = 0, times = 0, part }) => `${op} ${what} ${after} ${times} ${part}\n`);
    writeFileSync(this.#path('control.new'), lines.join(''));
    renameSync(this.#path('control.new'), this.#path('control'));
  }

  clear(): void {
    this.set();
  }

  /** All calls that were carried out, in the order in which they were done. */
  calls(): readonly DiskCall[] {
    const text = readFileSync(this.#path('log'), 'utf8');
    const calls = text.split('\n').flatMap((line): DiskCall[] => {
      const [ns = '', op = '', path = '', , marks = ''] = line.split(' ');
      return op === '' ? [] : [{ ns: BigInt(ns), op, path, marks: marks.split(',').filter((mark) => mark !== '') }];
    });
    return calls.sort((a, b) => (a.ns < b.ns ? -1 : 1));
  }

  [Symbol.dispose](): void {
    rmSync(this.#own, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.#own, name);
  }
}
