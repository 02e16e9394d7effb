/** The one place that names the LevelDB package. */
import { Level } from 'level';

/** A LevelDB database of bytes. `level` types only what browsers have as well; under Node there is more. */
export type Database = Level<Uint8Array, Uint8Array> & {
  /** Rewrites a range without what was deleted from it. */
  compactRange(from: Uint8Array, to: Uint8Array): Promise<void>;
};

export interface DatabaseOptions {
  readonly compression: boolean;
  /** Bytes that gather in memory (and in LevelDB's own log) before they become a table. Up to two are held. */
  readonly writeBufferSize: number;
  readonly cacheSize: number;
}

/** Opens a database. Rejects with LevelDB's errors, among them that of a missing one unless it is to be made. */
export async function openDatabase(path: string, options: DatabaseOptions & { create: boolean }): Promise<Database> {
  const { create, ...rest } = options;
  const level = new Level<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' });
  await level.open({ ...rest, createIfMissing: create });
  return level as Database;
}
