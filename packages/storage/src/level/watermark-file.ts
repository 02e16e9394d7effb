/** The file of the watermark: two slots at fixed places, written in turn with one call each. What they say is watermark.ts's. */

import { write } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SLOT_BYTES, SLOT_OFFSETS } from '../watermark.ts';

export const WATERMARK = 'WATERMARK';

/** Of the callback kind: half the time of a FileHandle's on this thread. */
const writeAt = promisify(write);

export class WatermarkFile {
  readonly #path: string;
  #handle: FileHandle | undefined;

  constructor(directory: string) {
    this.#path = join(directory, WATERMARK);
  }

  /** The slots as they are, cut short where the file is; undefined when it is missing. */
  async read(): Promise<readonly Uint8Array[] | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = await readFile(this.#path);
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
      throw thrown;
    }
    return SLOT_OFFSETS.map((at) => bytes.subarray(at, at + SLOT_BYTES));
  }

  /** Writes a slot; makes the file when it is missing. Durable when done only with `sync`. */
  async write(slot: 0 | 1, value: Uint8Array, sync: boolean): Promise<void> {
    this.#handle ??= await openOrMake(this.#path);
    const bytes = Buffer.alloc(SLOT_BYTES);
    bytes.set(value);
    const { bytesWritten } = await writeAt(this.#handle.fd, bytes, 0, SLOT_BYTES, SLOT_OFFSETS[slot]);
    if (bytesWritten !== SLOT_BYTES) throw new Error(`Wrote ${bytesWritten} bytes of ${SLOT_BYTES} to ${this.#path}`);
    if (sync) await this.#handle.sync();
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

async function openOrMake(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')) throw thrown;
    return open(path, 'wx+', 0o600);
  }
}
