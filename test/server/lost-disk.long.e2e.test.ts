/**
 * Members whose disks are new or were lost, as real processes: who forms an ensemble, who may not count, and that what was
 * acknowledged is never voted away by a disk that has forgotten it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@quorate/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Command, freePorts } from './command.ts';

interface View {
  readonly role: string;
  readonly hasQuorum: boolean;
  readonly serving: boolean;
  readonly voteRight: string;
  readonly waiting: string;
}

const SIDS = [1, 2, 3] as const;
/** For a machine that does other things as well. */
const WITHIN = { timeout: 40_000, interval: 50 };
const SHORT = ['--sync-timeout-ms=1000', '--init-timeout-ms=2000'];

let folder: string;
/** Of each member in turn: peer, gRPC, admin. */
let ports: number[];
const running = new Map<number, Command>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-lost-'));
  ports = await freePorts(9);
});

afterEach(async () => {
  await kill(...running.keys());
  rmSync(folder, { recursive: true, force: true });
});

const portOf = (sid: number, which: 0 | 1 | 2): number => ports[(sid - 1) * 3 + which]!;
const servers = (...sids: readonly number[]): string[] => sids.map((sid) => `127.0.0.1:${portOf(sid, 1)}`);

function start(sids: readonly number[], ...more: readonly string[]): void {
  const ensemble = SIDS.map((sid) => `${sid}=127.0.0.1:${portOf(sid, 0)};127.0.0.1:${portOf(sid, 1)}`).join(',');
  for (const sid of sids) {
    const own = [`--sid=${sid}`, `--data-dir=${join(folder, String(sid))}`, `--ensemble=${ensemble}`];
    const listening = [
      '--bind=127.0.0.1',
      '--zookeeper-port=0',
      `--grpc-port=${portOf(sid, 1)}`,
      `--admin-port=${portOf(sid, 2)}`,
    ];
    running.set(sid, new Command(['serve', ...own, ...listening, ...SHORT, ...more]));
  }
}

async function kill(...sids: readonly number[]): Promise<void> {
  await Promise.all(
    sids.map(async (sid) => {
      const command = running.get(sid);
      running.delete(sid);
      await command?.[Symbol.asyncDispose]();
    }),
  );
}

function wipe(sid: number): void {
  rmSync(join(folder, String(sid)), { recursive: true });
}

async function view(sid: number): Promise<View> {
  const response = await fetch(`http://127.0.0.1:${portOf(sid, 2)}/status`);
  return (await response.json()) as View;
}

async function shows(sid: number, expected: Partial<Record<keyof View, unknown>>): Promise<void> {
  await vi.waitFor(async () => expect(await view(sid)).toMatchObject(expected), WITHIN);
}

/** All of them answer reads and writes, and count as voters. */
async function whole(sids: readonly number[] = SIDS): Promise<void> {
  for (const sid of sids) await shows(sid, { hasQuorum: true, serving: true, voteRight: 'held', waiting: '' });
}

async function write(path: string, ...sids: readonly number[]): Promise<void> {
  const client = await connect(servers(...sids));
  await client.create(path, 'x');
  await client.close();
}

async function exists(path: string, sid: number): Promise<boolean> {
  const client = await connect(servers(sid));
  await client.sync();
  const stat = await client.stat(path);
  await client.close();
  return stat !== undefined;
}

it('C058: a wiped member makes no quorum with one that missed a write; with the others back all is well', async () => {
  start(SIDS);
  await whole();
  await kill(1);
  // Acknowledged by 2 and 3.
  await write('/kept', 2, 3);
  await kill(2, 3);
  wipe(2);
  start([1, 2]);
  await shows(2, { role: 'looking', voteRight: 'recovering', waiting: expect.stringMatching(/there is no leader$/) });
  await vi.waitFor(() => expect(running.get(2)?.stdout).toMatch(/lost its data.*"msg":"waiting"/), WITHIN);
  expect(await view(1)).toMatchObject({ role: 'looking', hasQuorum: false });
  start([3]);
  await whole();
  for (const sid of SIDS) expect(await exists('/kept', sid)).toBe(true);
  expect(running.get(2)?.stdout).toMatch(/"voteRight":"held"/);
});

it('two of three wiped: there is no quorum, and every member says whose disks are missing', async () => {
  start(SIDS);
  await whole();
  await write('/kept', 1, 2, 3);
  await kill(...SIDS);
  for (const sid of [1, 2]) wipe(sid);
  start(SIDS);
  for (const sid of SIDS) {
    const waiting = expect.stringMatching(/^no quorum can be formed: voters 1, 2 lost data/) as string;
    await shows(sid, { role: 'looking', hasQuorum: false, waiting });
  }
});

it('two of three new members wait for the third, and say so; with --bootstrap they begin, and the third joins', async () => {
  start([1, 2]);
  const waiting = expect.stringMatching(/^waiting for voter 3: .* or with --bootstrap$/) as string;
  await shows(1, { role: 'looking', voteRight: 'unformed', waiting });
  await vi.waitFor(() => expect(running.get(1)?.stdout).toContain('waiting for voter 3'), WITHIN);
  await kill(1, 2);
  start([1, 2], '--bootstrap');
  await whole([1, 2]);
  await write('/first', 1, 2);
  start([3]);
  await whole();
  expect(await exists('/first', 3)).toBe(true);
  expect(running.get(3)?.stdout).toMatch(/"voteRight":"recovering"/);
});
