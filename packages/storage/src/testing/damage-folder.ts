/**
 * Small data folders for the table of disk damage, and what a store that is opened on a changed copy of one of them may say.
 * A folder is held in memory, file by file, so that a copy costs little.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { formatZxid, type Zxid } from '@quorate/protocol';
import { setAside } from '../level/set-aside.ts';
import { StorageError } from '../storage-error.ts';
import { IDENTITY, type Recovered, Rig, state, textOf, z } from './bench-rig.ts';
import { levelHarnessAt } from './level-harness.ts';

/** Path inside the folder → bytes. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** How the folder was left. `in flight`: killed when the last entry was on disk and not reported. */
export type End = 'killed' | 'closed' | 'in flight';

export interface DamageFolder {
  readonly end: End;
  readonly files: Files;
  /** The folder as it was before the last three entries. */
  readonly earlier: Files;
  /** The last txn that was acknowledged, and the last that was written. */
  readonly acknowledged: Zxid;
  readonly written: Zxid;
}

/**
 * full: all that was acknowledged is there · cut: and what was in flight is gone · refused: DAMAGED, and set aside well ·
 * foreign: refused because it is another member's
 */
export type Outcome = 'full' | 'cut' | 'refused' | 'foreign';

/** Accepted epoch, and the last counters of the two epochs that the folders' logs hold. */
const ACCEPTED = 3;
const KEYS = 3;

/** What txn `counter` does: one of three znodes gets its number. */
function payloadOf(counter: number): Buffer {
  return Buffer.from(`n${counter % KEYS}=${counter}`);
}

function treeAt(counter: number): Map<string, string> {
  const tree = new Map<string, string>();
  for (let one = 1; one <= counter; one++) tree.set(`n${one % KEYS}`, String(one));
  return tree;
}

/** Where folders are put: in memory, if the machine has such a place, for thousands are opened. */
export async function workPlace(): Promise<string> {
  const shm = await stat('/dev/shm').catch(() => undefined);
  return mkdtemp(join(shm?.isDirectory() === true ? '/dev/shm' : tmpdir(), 'quorate-damage-'));
}

/** Makes a folder with tables and journals in both databases, a checkpoint and records after it. */
export async function makeFolder(place: string, end: End, identity = IDENTITY): Promise<DamageFolder> {
  const directory = join(place, `made-${end.replace(' ', '-')}-${identity.sid}`);
  const harness = levelHarnessAt(directory);
  const append = (rig: Rig, from: number, to: number): Promise<void> =>
    rig.done({
      kind: 'append',
      records: Array.from({ length: to - from + 1 }, (_, i) => ({
        zxid: z(1, from + i),
        payload: payloadOf(from + i),
      })),
      committed: z(1, 1),
    });
  let rig = await Rig.open(harness, identity);
  await rig.epochs(2);
  await append(rig, 1, 2);
  await append(rig, 3, 3);
  await rig.checkpoint(z(1, 2), state(Object.fromEntries(treeAt(2))));
  await rig.close();
  // Opening moves what the journals hold into tables.
  rig = await Rig.open(harness, identity);
  await append(rig, 4, 5);
  await rig.epochs(ACCEPTED);
  const earlier = await readFiles(directory);
  await append(rig, 6, 6);
  await rig.checkpoint(z(1, 5), state(Object.fromEntries(treeAt(5))));
  if (end === 'closed') await rig.done({ kind: 'purgeLog', through: z(1, 3) });
  await append(rig, 7, 7);
  const watermark = await readFile(join(directory, 'WATERMARK'));
  await append(rig, 8, 8);
  if (end === 'closed') await rig.close();
  else await rig.kill();
  if (end === 'in flight') await writeFile(join(directory, 'WATERMARK'), watermark);
  return {
    end,
    files: await readFiles(directory),
    earlier,
    acknowledged: z(1, end === 'in flight' ? 7 : 8),
    written: z(1, 8),
  };
}

async function readFiles(directory: string): Promise<Files> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = new Map<string, Uint8Array>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(relative(directory, path), await readFile(path));
  }
  return files;
}

/** Writes a folder. */
export async function writeFiles(directory: string, files: Files): Promise<void> {
  await mkdir(directory, { recursive: true });
  const folders = new Set([...files.keys()].map((path) => dirname(join(directory, path))));
  for (const folder of folders) await mkdir(folder, { recursive: true });
  for (const [path, bytes] of files) await writeFile(join(directory, path), bytes);
}

/** How long a store may take to open, ms; far more than it takes. */
const HANG_MS = 30_000;

/**
 * Opens a changed copy and says what came of it. Rejects with what is forbidden: content that was never written, the loss of
 * what was acknowledged, another error than DAMAGED, no end. `deep`: sets what was refused aside and begins anew, or writes on.
 */
export async function outcomeOf(
  directory: string,
  folder: DamageFolder,
  files: Files,
  options: { readonly deep: boolean },
): Promise<Outcome> {
  await writeFiles(directory, files);
  const timer = new AbortController();
  const hang = new Promise<never>((_, reject) => {
    const timeout = setTimeout(() => reject(new Error(`It hangs: no answer for ${HANG_MS} ms`)), HANG_MS);
    timer.signal.addEventListener('abort', () => clearTimeout(timeout));
  });
  try {
    return await Promise.race([opened(directory, folder, options.deep), hang]);
  } finally {
    timer.abort();
    await rm(directory, { recursive: true, force: true });
  }
}

async function opened(directory: string, folder: DamageFolder, deep: boolean): Promise<Outcome> {
  const harness = levelHarnessAt(directory);
  let rig: Rig;
  try {
    rig = await Rig.open(harness);
  } catch (thrown) {
    if (thrown instanceof StorageError && thrown.code === 'WRONG_SID') return 'foreign';
    if (!(thrown instanceof StorageError) || thrown.code !== 'DAMAGED') throw thrown;
    if (deep) await beginAnew(directory, thrown.message);
    return 'refused';
  }
  const { recovered } = rig;
  if (deep) {
    const counter = Number(recovered.summary.lastZxid & 0xffffn) + 1;
    await rig.done({
      kind: 'append',
      records: [{ zxid: z(1, counter), payload: payloadOf(counter) }],
      committed: z(1, 1),
    });
  }
  await rig.kill();
  check(folder, recovered);
  if (deep) {
    const again = await Rig.open(harness);
    await again.kill();
    check({ ...folder, written: z(1, Number(folder.written & 0xffffn) + 1) }, again.recovered);
  }
  return recovered.summary.lastZxid < folder.written ? 'cut' : 'full';
}

async function beginAnew(directory: string, reason: string): Promise<void> {
  await setAside({ directory, identity: IDENTITY, reason });
  const rig = await Rig.open(levelHarnessAt(directory));
  const { summary, log } = rig.recovered;
  await rig.kill();
  if (summary.voteRight !== 'recovering' || log.size > 0)
    throw new Error(`After it was set aside: ${summary.voteRight}`);
}

/** Throws unless what was recovered is a prefix of what was written, and holds all that was acknowledged. */
function check(folder: DamageFolder, { summary, state: found, log }: Recovered): void {
  const { lastZxid, acceptedEpoch, currentEpoch, voteRight, checkpointZxid } = summary;
  if (lastZxid < folder.acknowledged) throw new Error(`Silent loss: it ends at ${formatZxid(lastZxid)}`);
  if (lastZxid > folder.written) throw new Error(`Never written: it ends at ${formatZxid(lastZxid)}`);
  if (acceptedEpoch !== ACCEPTED || currentEpoch !== ACCEPTED || voteRight !== 'held') {
    throw new Error(`A promise is lost: epochs ${acceptedEpoch} and ${currentEpoch}, ${voteRight}`);
  }
  const base = Number(checkpointZxid & 0xffffn);
  const counter = Number(lastZxid & 0xffffn);
  expectSame('state', found, treeAt(base));
  const wanted = new Map<string, string>();
  for (let one = base + 1; one <= counter; one++) wanted.set(String(z(1, one)), textOf(payloadOf(one)));
  expectSame('log', new Map([...log].map(([zxid, payload]) => [String(zxid), payload])), wanted);
}

function expectSame(what: string, found: ReadonlyMap<string, string>, wanted: ReadonlyMap<string, string>): void {
  const text = (map: ReadonlyMap<string, string>): string =>
    JSON.stringify(Object.fromEntries([...map].toSorted(([a], [b]) => (a < b ? -1 : 1))));
  if (text(found) !== text(wanted)) throw new Error(`Wrong ${what}: ${text(found)}, expected ${text(wanted)}`);
}
