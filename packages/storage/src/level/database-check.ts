/**
 * Looks at the files of a LevelDB database before LevelDB does. LevelDB skips what it cannot read in a journal, takes a
 * manifest that was cut for an earlier one, deletes the files that are not in it, and says nothing; and what it looked at it
 * has rewritten. So this comes first, and changes nothing. What passes is a prefix of the database's writes, without a hole
 * and with no byte wrong:
 *
 * 1. CURRENT names a manifest, whose records are whole up to a torn end.
 * 2. The journal that the manifest goes on with is there. (LevelDB deletes a journal only when a later edit of the manifest
 *    is on disk; so a manifest that lost that edit is found out here.)
 * 3. Every table of the manifest is there, in its size, and every block of it is whole.
 * 4. The writes in the journals from there on have consecutive sequence numbers, beginning no later than after the manifest's
 *    last one. Only the last of them may be torn: each write of this package is synced before the next begins.
 *
 * The journals need not reach the manifest's last number: LevelDB counts a write that failed (a full disk), and a compaction
 * that ends before the database is closed notes the number. That nothing acknowledged is missing at the end is for the
 * watermark and the lower bound to say.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ADVICE } from '../damage.ts';
import { DamageError } from '../sealed.ts';
import { StorageError } from '../storage-error.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { type CanFollow, readRecordLog } from './record-log.ts';
import { checkTable } from './table-check.ts';

/** Sequence number (8) and count (4), in front of every write in a journal. */
const BATCH_HEAD_BYTES = 12;

/** Throws StorageError DAMAGED, with the file's name, unless the database is a prefix of what was written to it. */
export async function checkDatabase(path: string): Promise<void> {
  const names = await readdir(path);
  const manifest = await checkManifest(path, names);
  for (const [number, bytes] of manifest.tables) await checkTableFile(path, names, { number, bytes });
  await checkJournals(path, names, manifest);
}

async function checkManifest(path: string, names: readonly string[]): Promise<Manifest> {
  const current = await readFile(join(path, 'CURRENT'), 'latin1');
  const name = /^(MANIFEST-\d+)\n$/.exec(current)?.[1];
  if (name === undefined || !names.includes(name)) {
    throw bad(path, 'CURRENT', 'it does not name a manifest that is there');
  }
  const log = readRecordLog(await readFile(join(path, name)));
  if (log.nextAt !== undefined) {
    throw bad(path, name, `the record at byte ${log.badAt} is bad, and another follows at byte ${log.nextAt}`);
  }
  return named(path, name, () => readManifest(log.records));
}

async function checkTableFile(
  path: string,
  names: readonly string[],
  table: { readonly number: number; readonly bytes: number },
): Promise<void> {
  const name = `${padded(table.number)}.ldb`;
  if (!names.includes(name)) throw bad(path, name, 'it is missing');
  const bytes = await readFile(join(path, name));
  if (bytes.length !== table.bytes) throw bad(path, name, `it has ${bytes.length} bytes, expected ${table.bytes}`);
  named(path, name, () => checkTable(bytes));
}

async function checkJournals(path: string, names: readonly string[], manifest: Manifest): Promise<void> {
  const counted = names
    .filter((name) => /^\d+\.log$/.test(name))
    .map((name) => ({ name, number: Number.parseInt(name, 10) }))
    .filter(({ number }) => number >= manifest.journal)
    .sort((a, b) => a.number - b.number);
  if (manifest.journal > 0 && counted[0]?.number !== manifest.journal) {
    throw bad(path, `${padded(manifest.journal)}.log`, 'it is missing, or the end of the manifest is');
  }
  let next: bigint | undefined;
  let torn: string | undefined;
  for (const { name } of counted) {
    const log = readRecordLog(await readFile(join(path, name)), laterWrite(next, manifest));
    if (log.nextAt !== undefined) {
      throw bad(
        path,
        name,
        `the record at byte ${log.badAt} is bad, and it was acknowledged before the one at byte ${log.nextAt}`,
      );
    }
    for (const record of log.records) {
      if (torn !== undefined) throw bad(path, torn, `its end is bad, and it was acknowledged before ${name}`);
      next = named(path, name, () => follow(record, next, manifest.lastSequence));
    }
    if (log.badAt !== undefined) torn = name;
  }
}

/**
 * Tells a write behind a bad one from a znode's data that looks like a write, which is torn: by its sequence number. The bad one
 * held at least one operation, and not more than it has bytes. `next` is the number of the journal's first write, when known.
 */
function laterWrite(next: bigint | undefined, { before: floor, lastSequence }: Manifest): CanFollow {
  return (found, before, gap) => {
    if (found.length < BATCH_HEAD_BYTES) return false;
    const bad = before === undefined ? next : head(before).next;
    const { first } = head(found);
    return first > (bad ?? floor + 1n) && first <= (bad ?? lastSequence + 1n) + BigInt(gap);
  };
}

/** The sequence number of a write, and that of the next. */
function head(record: Uint8Array): { readonly first: bigint; readonly next: bigint } {
  if (record.length < BATCH_HEAD_BYTES) throw new DamageError(`a write in it has ${record.length} bytes`);
  const view = new DataView(record.buffer, record.byteOffset, record.length);
  const first = view.getBigUint64(0, true);
  return { first, next: first + BigInt(view.getUint32(8, true)) };
}

/** The sequence number after this write. Throws DamageError when the write does not follow. */
function follow(record: Uint8Array, expected: bigint | undefined, lastSequence: bigint): bigint {
  const { first, next } = head(record);
  if (expected === undefined ? first > lastSequence + 1n : first !== expected) {
    throw new DamageError(
      `writes before it are missing: it goes on with ${first}, expected ${expected ?? lastSequence + 1n}`,
    );
  }
  return next;
}

function named<T>(path: string, name: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof DamageError)) throw thrown;
    throw bad(path, name, thrown.message);
  }
}

function bad(path: string, name: string, what: string): StorageError {
  return new StorageError('DAMAGED', `Damaged data in ${join(path, name)}: ${what}; ${ADVICE}`);
}

function padded(number: number): string {
  return String(number).padStart(6, '0');
}
