/** Looking after a disk that has failed: how often, what counts as mended, and what no waiting mends. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StorageError } from '@quorate/storage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWhenMended, type RepairOptions, RepairPauses } from './disk-repair.ts';
import { createLog } from './logging.ts';

let directory: string;
const lines: string[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quorate-repair-'));
  lines.length = 0;
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

class NoPauses extends RepairPauses {
  taken = 0;
  override next(): number {
    this.taken++;
    return 0;
  }
}

function mend(open: () => Promise<string>, more: Partial<RepairOptions<string>> = {}): Promise<string | undefined> {
  const log = createLog({ level: 'info', sid: 1, place: () => undefined, write: (line) => lines.push(line) });
  const { signal } = new AbortController();
  return openWhenMended({ directory, open, pauses: new NoPauses(), signal, log, ...more });
}

describe('a disk that has failed', () => {
  it('C056: is tried until it can be opened, and each reason is told once', async () => {
    const faults = ['full', 'full', 'gone'];
    const pauses = new NoPauses();
    const open = (): Promise<string> => {
      const fault = faults.shift();
      return fault === undefined ? Promise.resolve('open') : Promise.reject(new StorageError('IO', fault));
    };
    expect(await mend(open, { pauses })).toBe('open');
    expect(pauses.taken).toBe(4);
    expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual(['full', 'gone']);
    expect(await readdir(directory)).toEqual([]);
  });

  it('C056: is not opened before a file can be written and synced beside the data', async () => {
    const ending = new AbortController();
    let tries = 0;
    const pauses = new NoPauses();
    pauses.next = () => {
      if (++tries === 3) ending.abort();
      return 0;
    };
    const open = (): Promise<string> => Promise.reject(new Error('must not be asked'));
    const missing = join(directory, 'no', 'such', 'folder');
    expect(await mend(open, { directory: missing, pauses, signal: ending.signal })).toBeUndefined();
    expect(lines).toHaveLength(1);
  });

  it.each(['DAMAGED', 'LOCKED', 'WRONG_CLUSTER', 'WRONG_SID', 'FORMAT_UNKNOWN'] as const)(
    'is given up when what it holds is %s',
    async (code) => {
      await expect(mend(() => Promise.reject(new StorageError(code, 'no')))).rejects.toMatchObject({ code });
    },
  );

  it('is tried at once no more when the member ends while it waits', async () => {
    const ending = new AbortController();
    const pauses = new RepairPauses();
    pauses.next = () => 3_600_000;
    const mending = mend(() => Promise.reject(new Error('must not be asked')), { pauses, signal: ending.signal });
    ending.abort();
    expect(await mending).toBeUndefined();
  });
});

describe('the pauses between tries', () => {
  it('grow to 5 s, over failures that follow one another, and begin anew after a good minute', () => {
    let nowMs = 0;
    const pauses = new RepairPauses(() => nowMs);
    const next = (afterMs: number): number => {
      nowMs += afterMs;
      const pauseMs = pauses.next();
      nowMs += pauseMs;
      return pauseMs;
    };
    expect([0, 0, 0, 0, 0, 0].map(next)).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(next(30_000)).toBe(5_000);
    expect(next(60_001)).toBe(500);
  });
});
