/**
 * The file UNFINISHED: databases are being made in this folder, for the first time or after others were set aside. It is there
 * from before the first step until after the last, so that a start after a crash goes on where that stopped, and never takes
 * what is half made for a folder that was never used. Each state of it is on disk whole before the next step begins.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreIdentity, VoteRight } from '../contract.ts';
import { VOTE_RIGHTS } from '../log-meta.ts';
import { syncDirectory } from './level-engine.ts';

const UNFINISHED = 'UNFINISHED';

export interface Unfinished {
  readonly identity: StoreIdentity;
  /** What the new databases say of the right to vote. */
  readonly voteRight: VoteRight;
  /** Name of the folder that what was here is being moved to; undefined: all is moved, the new databases are being made. */
  readonly movingTo: string | undefined;
}

/** What is unfinished; `unreadable` when the file is damaged; undefined when it is missing. */
export async function readUnfinished(directory: string): Promise<Unfinished | 'unreadable' | undefined> {
  let text: string;
  try {
    text = await readFile(join(directory, UNFINISHED), 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
  return parse(text) ?? 'unreadable';
}

function parse(text: string): Unfinished | undefined {
  try {
    const found: unknown = JSON.parse(text);
    const fields: Readonly<Record<string, unknown>> = typeof found === 'object' && found !== null ? { ...found } : {};
    const { clusterId, sid, voteRight, movingTo } = fields as Readonly<
      Record<'clusterId' | 'sid' | 'voteRight' | 'movingTo', unknown>
    >;
    const right = VOTE_RIGHTS.find((one) => one === voteRight);
    if (typeof clusterId !== 'string' || typeof sid !== 'number' || right === undefined) return undefined;
    if (movingTo !== null && !(typeof movingTo === 'string' && /^damaged-[\w-]+$/.test(movingTo))) return undefined;
    return { identity: { clusterId, sid }, voteRight: right, movingTo: movingTo ?? undefined };
  } catch {
    return undefined;
  }
}

export async function writeUnfinished(directory: string, unfinished: Unfinished): Promise<void> {
  const { identity, voteRight, movingTo } = unfinished;
  await writeWhole(directory, UNFINISHED, JSON.stringify({ ...identity, voteRight, movingTo: movingTo ?? null }));
}

/** All is done. */
export async function removeUnfinished(directory: string): Promise<void> {
  await rm(join(directory, UNFINISHED), { force: true });
  await syncDirectory(directory);
}

/** Writes a small file: all of it or nothing, durable when done. */
export async function writeWhole(directory: string, name: string, text: string): Promise<void> {
  const path = join(directory, name);
  const handle = await open(`${path}.tmp`, 'w', 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${path}.tmp`, path);
  await syncDirectory(directory);
}
