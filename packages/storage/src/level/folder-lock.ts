/**
 * One process a folder, before anything in it is looked at. Node cannot lock a file, LevelDB can: so the lock is that of a
 * LevelDB database of its own, which holds nothing. What is damaged in it is made anew.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../storage-error.ts';
import { type Database, openDatabase } from './database.ts';
import { storageErrorOf } from './level-error.ts';

export const LOCK = 'lock';

export class FolderLock {
  readonly #level: Database;

  private constructor(level: Database) {
    this.#level = level;
  }

  /** Takes the lock of a folder that exists. Rejects with StorageError LOCKED when another process, or this one, has it. */
  static async take(directory: string): Promise<FolderLock> {
    const path = join(directory, LOCK);
    try {
      return new FolderLock(await openLock(path));
    } catch (thrown) {
      const error = storageErrorOf(thrown, directory, 'lock');
      // Only what was found damaged was not held: LevelDB takes its lock before it reads. Anything else, such as too many open
      // files, says nothing, and to remove a lock that is held would let two processes in.
      if (error.code !== 'DAMAGED' && !isFileMissing(thrown)) throw notWritable(error);
    }
    try {
      await rm(path, { recursive: true, force: true });
      return new FolderLock(await openLock(path));
    } catch (thrown) {
      throw notWritable(storageErrorOf(thrown, directory, 'lock'));
    }
  }

  async release(): Promise<void> {
    await this.#level.close();
  }
}

/** LevelDB makes its lock when there is none: what it misses is a file that it reads later. */
function isFileMissing(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return thrown.message.endsWith(': No such file or directory') || isFileMissing(thrown.cause);
}

function notWritable(error: StorageError): StorageError {
  return error.code === 'LOCKED' ? error : new StorageError('NOT_WRITABLE', error.message, { cause: error });
}

async function openLock(path: string): Promise<Database> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  return openDatabase(path, { compression: false, writeBufferSize: 64 * 1024, cacheSize: 64 * 1024, create: true });
}
