/** The disk does not grow: a folder under load, with checkpoints and purging, stays near what it keeps. C063, one hundredth of its size. */
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appendLoad } from '@quorate/storage/testing';
import { expect, it } from 'vitest';

const MIB = 1024 * 1024;

/** Bytes of all files below a folder. A file may go while it is looked for. */
async function bytesOf(directory: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    if (found?.isFile() === true) sum += found.size;
  }
  return sum;
}

it('C063: the disk keeps what is retained, however much was written, and a start reads no more than that', async () => {
  const load = await appendLoad();
  try {
    let most = 0;
    const startBytes: number[] = [];
    // 16 rounds of 24 MiB: a checkpoint of 1 MiB after each, and everything before it is purged.
    for (let round = 0; round < 16; round++) {
      await load.round({ entries: 96, entryBytes: MIB / 4, stateBytes: MIB });
      most = Math.max(most, await bytesOf(load.directory));
      if (round % 5 === 4) startBytes.push(await load.reopen());
    }
    expect(load.writtenBytes).toBeGreaterThan(380 * MIB);
    const retained = 24 * MIB + MIB;
    expect(most).toBeLessThan(2 * retained + 64 * MIB);
    for (const bytes of startBytes) expect(bytes).toBeLessThan(2 * MIB);
  } finally {
    await load.close();
    await rm(dirname(load.directory), { recursive: true, force: true });
  }
});
