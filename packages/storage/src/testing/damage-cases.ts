/**
 * Every way in which the table damages a folder: each byte flipped, each length cut, and files that are missing, exchanged,
 * old, foreign or too long. Pure: from a folder's files to changed ones.
 */
import type { Files } from './damage-folder.ts';

export interface DamageCase {
  /** Row of the table. */
  readonly row: string;
  /** For messages. */
  readonly name: string;
  readonly files: Files;
}

/** What else there is to damage a folder with. */
export interface Others {
  /** A folder of another member with the same history. */
  readonly member: Files;
  /** The same folder, some acknowledged writes ago. */
  readonly earlier: Files;
}

/** Bytes between the two slots of the watermark, which nobody reads: each 64th of them is tried. */
const GAP = { from: 64, to: 4096 };
const GAP_STEP = 64;
/** LevelDB writes texts for people; nobody reads them: each 16th byte is tried. */
const TEXT_STEP = 16;

/** Kind of a file, by its name. */
export function kindOf(path: string): string {
  const [database, name = ''] = path.split('/');
  if (database === undefined || name === '') return path;
  const where = database.startsWith('state') ? 'state' : database;
  if (name.startsWith('LOG')) return 'LOG (text)';
  if (where === 'lock') return 'lock/*';
  if (name.endsWith('.log')) return `${where}/*.log`;
  if (name.endsWith('.ldb')) return `${where}/*.ldb`;
  return name.startsWith('MANIFEST') ? `${where}/MANIFEST` : `${where}/${name}`;
}

function positions(path: string, length: number): number[] {
  const step = kindOf(path) === 'LOG (text)' ? TEXT_STEP : 1;
  const all: number[] = [];
  for (let at = 0; at < length; at += step) {
    if (path === 'WATERMARK' && at > GAP.from && at < GAP.to && at % GAP_STEP !== 0) continue;
    all.push(at);
  }
  return all;
}

/** Every byte of every file, one bit of it. */
export function* flips(files: Files): Generator<DamageCase> {
  for (const [path, bytes] of files) {
    for (const at of positions(path, bytes.length)) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] as number) ^ (1 << (at % 8));
      yield one(files, `${kindOf(path)}: a byte flipped`, `${path} byte ${at} flipped`, [path, changed]);
    }
  }
}

/** Every length shorter than what it was. */
export function* cuts(files: Files): Generator<DamageCase> {
  for (const [path, bytes] of files) {
    for (const at of positions(path, bytes.length)) {
      yield one(files, `${kindOf(path)}: cut`, `${path} cut to ${at} bytes`, [path, bytes.subarray(0, at)]);
    }
  }
}

/** Whole files. */
export function* wholes(files: Files, others: Others): Generator<DamageCase> {
  for (const [path, bytes] of files) {
    yield one(files, 'a file is missing', `${path} is missing`, [path, undefined]);
    for (const [more, byte] of [
      [1, 0],
      [7, 0],
      [100, 0],
      [40_000, 0],
      [1, 1],
      [100, 0xff],
    ] as const) {
      const longer = Buffer.concat([bytes, Buffer.alloc(more, byte)]);
      yield one(files, 'bytes behind a file', `${path} with ${more} bytes of ${byte} behind it`, [path, longer]);
    }
    yield one(files, 'a file of zeros', `${path} all zeros`, [path, Buffer.alloc(bytes.length)]);
  }
  yield* exchanged(files);
  yield* foreign(files, others);
}

/** What lies in one database, in the place of its like in the other. */
function* exchanged(files: Files): Generator<DamageCase> {
  const databases = ['log', 'state-1'] as const;
  for (const [a, b] of [databases, [...databases].reverse()] as const) {
    const of = (database: string): [string, Uint8Array][] =>
      [...files].filter(([path]) => path.startsWith(`${database}/`));
    for (const [path, bytes] of of(a as string)) {
      const twin = of(b as string).find(([other]) => kindOf(other).split('/')[1] === kindOf(path).split('/')[1]);
      if (twin === undefined || Buffer.compare(bytes, twin[1]) === 0) continue;
      yield one(files, 'a file of the other database', `${twin[0]} is ${path}`, [twin[0], bytes]);
      const added = `${b}/${path.split('/')[1]}`;
      if (!files.has(added)) yield one(files, 'a file of the other database', `${added} as well`, [added, bytes]);
    }
    yield database(files, 'a database in place of the other', `${b} is ${a}`, {
      to: b as string,
      from: files,
      of: a as string,
    });
    yield database(files, 'a database is missing', `${a} is missing`, {
      to: a as string,
      from: new Map(),
      of: a as string,
    });
  }
}

function* foreign(files: Files, { member, earlier }: Others): Generator<DamageCase> {
  for (const [path, bytes] of member) {
    if (path.startsWith('lock/') || kindOf(path) === 'LOG (text)') continue;
    const mine = files.get(path);
    if (mine !== undefined && Buffer.compare(mine, bytes) === 0) continue;
    yield one(files, 'a file of another member', `${path} of another member`, [path, bytes]);
  }
  for (const [path, bytes] of earlier) {
    if (path.startsWith('lock/') || kindOf(path) === 'LOG (text)') continue;
    yield one(files, 'a file of an earlier time', `${path} as it was`, [path, bytes]);
  }
  for (const name of ['log', 'state-1']) {
    yield database(files, 'a database of an earlier time', `${name} as it was`, { to: name, from: earlier, of: name });
  }
  const junk = Buffer.from('of somebody else');
  for (const path of [
    'notes.txt',
    'log/notes.txt',
    'log/000999.ldb',
    'log/000999.log',
    'state-1/000999.log',
    'state-9/x',
    'log.old/x',
  ]) {
    yield one(files, 'a foreign file', `${path} lies there`, [path, junk]);
    yield one(files, 'a foreign file', `${path} lies there, empty`, [path, new Uint8Array()]);
  }
}

function database(
  files: Files,
  row: string,
  name: string,
  { to, from, of }: { readonly to: string; readonly from: Files; readonly of: string },
): DamageCase {
  const changed = new Map([...files].filter(([path]) => !path.startsWith(`${to}/`)));
  for (const [path, bytes] of from) if (path.startsWith(`${of}/`)) changed.set(`${to}${path.slice(of.length)}`, bytes);
  return { row, name, files: changed };
}

function one(
  files: Files,
  row: string,
  name: string,
  [path, bytes]: readonly [string, Uint8Array | undefined],
): DamageCase {
  const changed = new Map(files);
  if (bytes === undefined) changed.delete(path);
  else changed.set(path, bytes);
  return { row, name, files: changed };
}
