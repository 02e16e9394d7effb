/**
 * kill -9 inside every phase of the disk's life: first creation, appends, epochs, checkpoint, purge, truncate, SNAP install,
 * setting aside. A process of its own is killed in the middle of each step on the disk and after it; what it reported must be
 * there, whole, and nothing that was never asked for.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSame, KILL_SCRIPT, type KillMoment, openFolder } from '@quorate/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CHILD = fileURLToPath(new URL('../../packages/storage/dist/testing/kill-child.js', import.meta.url));
/** Children at a time. */
const AT_ONCE = 3;

let place: string;

beforeAll(async () => {
  const shm = await stat('/dev/shm').catch(() => undefined);
  place = await mkdtemp(join(shm?.isDirectory() === true ? '/dev/shm' : tmpdir(), 'quorate-killed-'));
});

afterAll(async () => {
  await rm(place, { recursive: true, force: true });
});

interface Run {
  /** Number of the last command that was reported; -1: none. */
  readonly done: number;
  /** Steps on the disk, when it came to its end. */
  readonly steps: number | undefined;
  readonly signal: string | undefined;
}

function runChild(directory: string, step: number, mode: 'middle' | 'after'): Promise<Run> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [CHILD, directory, String(step), mode], (error, stdout, stderr) => {
      const signal = error?.signal ?? undefined;
      if (error !== null && signal !== 'SIGKILL') {
        reject(new Error(`Step ${step}, ${mode}: ${stderr || error.message}`));
        return;
      }
      const done = [...stdout.matchAll(/^done (\d+)$/gm)].length - 1;
      const steps = /^steps (\d+)$/m.exec(stdout)?.[1];
      resolve({ done, steps: steps === undefined ? undefined : Number(steps), signal });
    });
  });
}

/** Which moments the disk may be at: the last that was reported, or the command that was under way. */
function possible({ done }: Run): readonly KillMoment[] {
  return KILL_SCRIPT.slice(Math.max(0, done), done + 2).map(({ after }) => after);
}

function text(moment: KillMoment): string {
  const { last, accepted, current, voteRight, tree } = moment;
  return `0x${last.toString(16)} ${accepted} ${current} ${voteRight} ${JSON.stringify([...tree].toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
}

/** What is wrong with what a killed process left behind, or undefined. */
async function faultOf(directory: string, run: Run): Promise<string | undefined> {
  const found = await openFolder(directory);
  const expected = possible(run);
  const next = KILL_SCRIPT[run.done + 1]?.name ?? 'the end';
  if (!expected.some((moment) => isSame(moment, found))) {
    return `killed in "${next}": found ${text(found)}, expected ${expected.map(text).join(' or ')}`;
  }
  const again = await openFolder(directory);
  if (!isSame(found, again)) return `killed in "${next}": found ${text(found)}, then ${text(again)}`;
  const aside = (await readdir(directory)).filter((name) => name.startsWith('damaged-'));
  if (found.voteRight !== 'recovering' && found.accepted === 0 && aside.length > 0)
    return 'it forgot what it set aside';
  if (next !== 'set aside' || found.voteRight !== 'recovering') return undefined;
  // What was set aside is the whole of it.
  const copy = `${directory}-back`;
  await cp(join(directory, aside.at(-1) ?? ''), copy, { recursive: true });
  const before = await openFolder(copy);
  return isSame(before, expected[0] as KillMoment) ? undefined : `set aside was ${text(before)}`;
}

describe('C060: a process that is killed', () => {
  it.each(['middle', 'after'] as const)('%s each step on the disk has lost nothing that it reported', async (mode) => {
    const whole = await runChild(join(place, `whole-${mode}`), 0, mode);
    expect(whole.done).toBe(KILL_SCRIPT.length - 1);
    const faults: string[] = [];
    const phases = new Map<string, number>();
    let step = 0;
    const worker = async (): Promise<void> => {
      for (;;) {
        const mine = ++step;
        if (mine > (whole.steps as number)) return;
        const directory = join(place, `${mode}-${mine}`);
        const run = await runChild(directory, mine, mode);
        const phase = KILL_SCRIPT[run.done + 1]?.name ?? 'the end';
        phases.set(phase, (phases.get(phase) ?? 0) + 1);
        if (run.signal === undefined && mode === 'after' && mine < (whole.steps as number) - 10) {
          faults.push(`step ${mine}: it was not killed`);
        }
        const fault = await faultOf(directory, run).catch((error: unknown) => `killed in "${phase}": ${String(error)}`);
        if (fault !== undefined) faults.push(`step ${mine}: ${fault}`);
        await rm(directory, { recursive: true, force: true });
        await rm(`${directory}-back`, { recursive: true, force: true });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(faults).toEqual([]);
    for (const { name } of KILL_SCRIPT) expect([...phases.keys()], 'a phase that nobody was killed in').toContain(name);
    if (process.env['DAMAGE_TABLE'] !== undefined) process.stdout.write(`${mode}: ${JSON.stringify([...phases])}\n`);
  });
});
