/** Turns "these bytes are wrong" into the one line that an operator needs: where, what, and what to do about it. */
import type { DbName } from './io.ts';
import { StorageError } from './storage-error.ts';

/** What can be done about damage, of every kind: this package never repairs what it cannot explain. */
export const ADVICE = 'nothing was repaired; a member with healthy others can set it aside and copy their state';

/** `place` is the data folder, `what` a clause about one database, or the watermark file, of it. */
export function damaged(place: string, db: DbName | 'WATERMARK', what: string, cause?: unknown): StorageError {
  return new StorageError('DAMAGED', `Damaged data in ${place}/${db}: ${what}; ${ADVICE}`, { cause });
}
