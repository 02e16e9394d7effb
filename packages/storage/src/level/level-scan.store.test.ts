import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Io, IoResult } from '../io.ts';
import { openDatabase } from './database.ts';
import { LevelEngine } from './level-engine.ts';

const DB = 'state-1';
const KEYS = Array.from({ length: 40 }, (_, i) => `k${String(i).padStart(3, '0')}`);

let directory: string;
let engine: LevelEngine;
let iterators = 0;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quorate-scan-'));
  iterators = 0;
  engine = new LevelEngine(directory, undefined, async (path, options) => {
    const level = await openDatabase(path, options);
    const iterator = level.iterator.bind(level) as (...args: unknown[]) => unknown;
    return Object.assign(level, {
      iterator: (...args: unknown[]) => {
        iterators++;
        return iterator(...args);
      },
    });
  });
  await run({ kind: 'open', db: DB, create: true });
  await put(...KEYS);
});

afterEach(async () => {
  await engine.close();
  await rm(directory, { recursive: true, force: true });
});

function run(io: Io): Promise<IoResult> {
  return new Promise((resolve, reject) => engine.start('log', io, resolve, reject));
}

function put(...keys: readonly string[]): Promise<IoResult> {
  const ops = keys.map((key) => ({ key: Buffer.from(key), value: Buffer.from(key) }));
  return run({ kind: 'write', db: DB, ops, gathered: false });
}

/** A page of some ten pairs, after the last of `before` or from the start. */
async function page(before: readonly Uint8Array[] = []): Promise<readonly Uint8Array[]> {
  const from = before.at(-1);
  const result = await run({
    kind: 'scan',
    db: DB,
    from: from ?? Buffer.from('k'),
    after: from !== undefined,
    to: undefined,
    maxBytes: 80,
  });
  if (result.kind !== 'pairs') throw new Error(`A scan answered with ${result.kind}`);
  return result.pairs.map(([key]) => key);
}

function text(...pages: readonly (readonly Uint8Array[])[]): string[] {
  return pages.flat().map((key) => Buffer.from(key).toString());
}

describe('a scan', () => {
  it('goes on with one iterator from the first page to the end', async () => {
    const pages = [await page()];
    for (let last = pages[0]; last !== undefined && last.length > 0; ) pages.push((last = await page(last)));
    expect(pages.length).toBeGreaterThan(3);
    expect(text(...pages)).toEqual(KEYS);
    expect(iterators).toBe(1);
  });

  it('shows what was written since the last page', async () => {
    const first = await page();
    const next = KEYS[first.length] as string;
    await put(`${next}-0`);
    await run({ kind: 'write', db: DB, ops: [{ key: Buffer.from(next), value: undefined }], gathered: false });
    expect(text(await page(first))[0]).toBe(`${next}-0`);
  });

  it('may begin anew anywhere, before the last one is at its end', async () => {
    const first = await page();
    const second = await page(first);
    expect(text(await page())).toEqual(text(first));
    expect(text(await page([Buffer.from(text(first).at(-1) as string)]))).toEqual(text(second));
  });

  it('does not hold up the removal of its database', async () => {
    await page();
    await run({ kind: 'remove', db: DB });
    expect(await run({ kind: 'open', db: DB, create: false })).toEqual({ kind: 'opened', opened: false });
  });
});
