/** Turns "these bytes are wrong" into the one line that an operator needs: where, what, and what to do about it. */
import type { DbName } from './io.ts';
import { StorageError } from './storage-error.ts';

/** What to do about damage. The same for every kind: this package never repairs what it cannot explain. */
export const ADVICE =
  'nothing was changed; if the other members are healthy, move the folder away and start this member with an empty one, ' +
  'so that it copies their state';

/** `place` is the data folder, `what` a clause about one database, or the watermark file, of it. */
export function damaged(place: string, db: DbName | 'WATERMARK', what: string, cause?: unknown): StorageError {
  return new StorageError('DAMAGED', `Damaged data in ${place}/${db}: ${what}; ${ADVICE}`, { cause });
}
