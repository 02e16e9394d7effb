/**
 * The key-value engine on LevelDB: one folder a database under the data folder. Synced writes are LevelDB's own
 * (`sync: true` is an fdatasync of its log file). Knows nothing of what the keys mean.
 */
import { mkdir, open as openFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { assert, unreachable } from '@quorate/protocol';
import {
  type Cursor,
  type DbName,
  DONE,
  type Engine,
  type Io,
  type IoResult,
  type KvOp,
  type KvPair,
  type LaneName,
} from '../io.ts';
import { type Database, openDatabase } from './database.ts';
import { checkDatabase } from './database-check.ts';
import type { FolderLock } from './folder-lock.ts';
import { LevelCursor } from './level-cursor.ts';
import { storageErrorOf } from './level-error.ts';
import { LevelScan } from './level-scan.ts';
import { WatermarkFile } from './watermark-file.ts';

type Batch = ReturnType<typeof batchOf>;

interface OpenDb {
  readonly level: Database;
  gathered: Batch | undefined;
  /** The last scan, until it is at its end or something is written. */
  scan: LevelScan | undefined;
  /** The last write. The next waits for it here, for what waits inside LevelDB is written also when the one before failed. */
  written: Promise<void>;
}

const MIB = 1024 * 1024;

/**
 * The log: what is written is read again only at a start, and is deleted soon, so it is neither compressed nor cached, and
 * most of it should die in memory. (Up to two write buffers are held.)
 */
const LOG_OPTIONS = { compression: false, writeBufferSize: 16 * MIB, cacheSize: MIB } as const;

/** The state: overwritten here and there, read in whole. */
const STATE_OPTIONS = { compression: true, writeBufferSize: 8 * MIB, cacheSize: 4 * MIB } as const;

export class LevelEngine implements Engine {
  readonly #directory: string;
  readonly #openDatabase: typeof openDatabase;
  readonly #open = new Map<DbName, OpenDb>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #watermark: WatermarkFile;
  readonly #lock: FolderLock | undefined;
  #syncs = 0;

  /** `lock` is released at `close`; `open` is LevelDB's, save in tests. */
  constructor(directory: string, lock?: FolderLock, open: typeof openDatabase = openDatabase) {
    this.#directory = directory;
    this.#lock = lock;
    this.#openDatabase = open;
    this.#watermark = new WatermarkFile(directory);
  }

  /** Writes so far, each of them synced. */
  get syncs(): number {
    return this.#syncs;
  }

  start(_lane: LaneName, io: Io, done: (result: IoResult) => void, failed: (thrown: unknown) => void): void {
    const running = this.#run(io);
    this.#running.add(running);
    void this.#answer(running, io, done, failed);
  }

  openCursor(db: DbName, range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined }): Cursor {
    return new LevelCursor(this.#db(db).level, range, join(this.#directory, db));
  }

  async close(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const db of open) {
      await endScan(db);
      await db.level.close();
    }
    await this.#watermark.close();
    await this.#lock?.release();
  }

  /** What `done` or `failed` throw is not caught: it ends the process. */
  async #answer(
    running: Promise<IoResult>,
    io: Io,
    done: (result: IoResult) => void,
    failed: (thrown: unknown) => void,
  ): Promise<void> {
    let result: IoResult;
    try {
      result = await running;
    } catch (thrown) {
      failed(storageErrorOf(thrown, this.#placeOf(io), io.kind));
      return;
    } finally {
      this.#running.delete(running);
    }
    done(result);
  }

  async #run(io: Io): Promise<IoResult> {
    switch (io.kind) {
      case 'write':
        await this.#write(io);
        return DONE;
      case 'gather':
        this.#gather(io.db, io.ops);
        // In its own turn, so that other events come in between two parts of a checkpoint.
        await setImmediate();
        return DONE;
      case 'discard':
        await this.#discard(io.db);
        return DONE;
      case 'read':
        return { kind: 'value', value: await this.#db(io.db).level.get(io.key) };
      case 'scan':
        return { kind: 'pairs', pairs: await this.#scan(io) };
      case 'open':
        return { kind: 'opened', opened: await this.#openDb(io.db, io.create) };
      case 'remove':
        await this.#remove(io.db);
        return DONE;
      case 'list':
        return { kind: 'names', names: await this.#list() };
      case 'compact':
        await this.#db(io.db).level.compactRange(io.from, io.to);
        return DONE;
      case 'note':
        await this.#watermark.write(io.slot, io.value, io.sync);
        return DONE;
      case 'slots':
        return { kind: 'slots', slots: await this.#watermark.read() };
      case 'nothing':
        await setImmediate();
        return DONE;
      default:
        return unreachable(io);
    }
  }

  async #write(io: Io & { readonly kind: 'write' }): Promise<void> {
    const db = this.#db(io.db);
    db.written = db.written.then(() => this.#writeNext(db, io));
    await db.written;
    this.#syncs++;
  }

  /** Not begun when the write before it has failed: it would lie behind a torn one, which nobody could tell from damage. */
  async #writeNext(db: OpenDb, io: Io & { readonly kind: 'write' }): Promise<void> {
    const { ops } = io;
    if (db.scan !== undefined) await endScan(db);
    const [first] = ops;
    if (first?.value !== undefined && ops.length === 1 && !io.gathered) {
      await db.level.put(first.key, first.value, SYNC);
    } else {
      if (io.gathered) this.#gather(io.db, ops);
      const batch = io.gathered ? db.gathered : fill(batchOf(db.level), ops);
      if (io.gathered) db.gathered = undefined;
      await batch?.write(SYNC);
    }
  }

  /** A chained batch: its operations cost 2 µs each, those of an array 8 µs and more (baselines §2.2). */
  #gather(name: DbName, ops: readonly KvOp[]): void {
    const db = this.#db(name);
    db.gathered ??= batchOf(db.level);
    fill(db.gathered, ops);
  }

  async #discard(name: DbName): Promise<void> {
    const db = this.#db(name);
    const { gathered } = db;
    db.gathered = undefined;
    await gathered?.close();
    await setImmediate();
  }

  async #scan(io: Io & { readonly kind: 'scan' }): Promise<readonly KvPair[]> {
    const db = this.#db(io.db);
    if (db.scan?.goesOn(io) !== true) {
      await endScan(db);
      db.scan = new LevelScan(db.level, io);
    }
    const page = await db.scan.next();
    if (page.length === 0) await endScan(db);
    return page;
  }

  async #openDb(name: DbName, create: boolean): Promise<boolean> {
    const path = join(this.#directory, name);
    if (create) await mkdir(path, { recursive: true, mode: 0o700 });
    else if (!(await exists(join(path, 'CURRENT')))) return false;
    if (this.#open.has(name)) return true;
    if (!create) await checkDatabase(path);
    const options = name === 'log' ? LOG_OPTIONS : STATE_OPTIONS;
    const level = await this.#openDatabase(path, { ...options, create });
    this.#open.set(name, { level, gathered: undefined, scan: undefined, written: Promise.resolve() });
    if (create) {
      await syncDirectory(path);
      await syncDirectory(this.#directory);
    }
    return true;
  }

  async #remove(name: DbName): Promise<void> {
    const open = this.#open.get(name);
    this.#open.delete(name);
    if (open !== undefined) {
      await endScan(open);
      await open.level.close();
    }
    await rm(join(this.#directory, name), { recursive: true, force: true });
  }

  async #list(): Promise<DbName[]> {
    const entries = await readdir(this.#directory);
    return entries.filter((name): name is `state-${number}` => /^state-\d+$/.test(name));
  }

  #db(name: DbName): OpenDb {
    const db = this.#open.get(name);
    assert(db !== undefined, () => `Database ${name} is not open`);
    return db;
  }

  #placeOf(io: Io): string {
    return 'db' in io ? join(this.#directory, io.db) : this.#directory;
  }
}

/** C062: LevelDB answers from the system's cache unless it is told not to. */
const SYNC = { sync: true } as const;

/** What was scanned is told anew after this. */
async function endScan(db: OpenDb): Promise<void> {
  const { scan } = db;
  db.scan = undefined;
  await scan?.close();
}

/** An empty chained batch. */
function batchOf(level: Database) {
  return level.batch();
}

function fill(batch: Batch, ops: readonly KvOp[]): Batch {
  for (const { key, value } of ops) {
    if (value === undefined) batch.del(key);
    else batch.put(key, value);
  }
  return batch;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await openFile(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
