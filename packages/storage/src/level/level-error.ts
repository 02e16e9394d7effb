/** The one place where errors of LevelDB and of the file system become StorageErrors. */
import { reasonOf, StorageError } from '../storage-error.ts';

/** What LevelDB or `fs` threw, as a StorageError that names the folder. A StorageError is handed through. */
export function storageErrorOf(thrown: unknown, place: string, action: string): StorageError {
  if (thrown instanceof StorageError) return thrown;
  const options = { cause: thrown };
  const codes = codesOf(thrown);
  if (codes.includes('LEVEL_LOCKED')) {
    return new StorageError(
      'LOCKED',
      `Cannot open ${place}: another process uses it; stop that process or choose another data folder`,
      options,
    );
  }
  if (codes.includes('LEVEL_CORRUPTION')) {
    return new StorageError('DAMAGED', `Damaged data in ${place}: ${reasonOf(thrown)}`, options);
  }
  return new StorageError('IO', `Cannot ${action} ${place}: ${reasonOf(thrown)}`, options);
}

function codesOf(thrown: unknown): readonly string[] {
  if (!(thrown instanceof Error)) return [];
  const own = 'code' in thrown && typeof thrown.code === 'string' ? [thrown.code] : [];
  return [...own, ...codesOf(thrown.cause)];
}
