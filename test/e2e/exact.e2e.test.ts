/**
 * C013: a member whose sid makes session ids negative as signed numbers, and whose epoch makes zxids pass 2^53, shows both
 * exactly on every surface: client, command line, status, admin HTTP, log lines, and again after a restart.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, memberStatus } from '@quorate/client';
import { openLevelStore } from '@quorate/storage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './ensemble-process.ts';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));
const SID = 255 - 1;
const EPOCH = 0x0030_0000;
const FIRST_ZXID = (BigInt(EPOCH + 1) << 32n) + 1n;

let dataDir = '';
let member: ChildProcess | undefined;
let output = '';
let ports = { grpc: 0, admin: 0 };

/** Writes the epoch that a member of great age would have on its disk. */
async function age(): Promise<void> {
  const store = await openLevelStore({ directory: dataDir, identity: { clusterId: 'old', sid: SID }, events: EVENTS });
  await store.recover({ state: () => {}, log: () => {} });
  store.submit(1, { kind: 'saveEpochs', acceptedEpoch: EPOCH, currentEpoch: EPOCH, voteRight: 'held' });
  await store.close();
}

const EVENTS = {
  persisted: () => {},
  failed: (reason: string) => {
    throw new Error(reason);
  },
  checkpointReady: () => {},
  checkpointWritten: () => {},
  stateOpened: () => {},
  stateFailed: () => {},
};

async function serve(): Promise<void> {
  output = '';
  const identity = ['--data-dir', dataDir, '--cluster-id', 'old', '--sid', String(SID)];
  const listening = ['--zookeeper-port', '0', '--grpc-port', '0', '--peer-port', '0', '--admin-port', '0'];
  member = spawn(process.execPath, [BIN, 'serve', ...identity, ...listening], { stdio: ['ignore', 'pipe', 'pipe'] });
  member.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  member.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const found = await until('the ports', () => {
    if (member?.exitCode !== null) throw new Error(`quorate serve ended:\n${output}`);
    return /gRPC 127\.0\.0\.1:(\d+).*admin 127\.0\.0\.1:(\d+)/.exec(output) ?? undefined;
  });
  ports = { grpc: Number(found[1]), admin: Number(found[2]) };
}

async function end(): Promise<void> {
  member?.kill('SIGTERM');
  await until('the end of the member', () => member?.exitCode !== null);
}

function quorate(...args: string[]): Record<string, unknown> {
  const servers = ['--servers', `127.0.0.1:${ports.grpc}`, '-o', 'json'];
  return JSON.parse(execFileSync(process.execPath, [BIN, ...args, ...servers], { encoding: 'utf8' })) as never;
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'quorate-exact-'));
  await age();
  await serve();
});

afterEach(async () => {
  await end();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('C013: 64-bit values', () => {
  it('are exact on every surface, and after a restart', async () => {
    await using client = await connect(`127.0.0.1:${ports.grpc}`);
    const session = client.session.id;
    expect(session >> 56n).toBe(BigInt(SID));
    expect(BigInt.asIntN(64, session)).toBeLessThan(0n);
    const first = await client.create('/a', 'x');
    const held = await client.create('/held', '', { mode: 'ephemeral' });
    const next = await client.set('/a', 'y');
    expect(first.stat.czxid).toBe(FIRST_ZXID + 1n);
    expect(next.mzxid).toBe(FIRST_ZXID + 3n);
    expect(next.mzxid - first.stat.mzxid).toBe(2n);
    expect(held.stat.ephemeralOwner).toBe(session);

    const hexOf = (value: bigint): string => `0x${value.toString(16)}`;
    const stat = quorate('stat', '/held');
    expect(JSON.stringify(stat)).toContain(`"${hexOf(session)}"`);
    expect(JSON.stringify(stat)).toContain(`"${hexOf(held.stat.czxid)}"`);
    const { zxid, epoch } = await memberStatus(`127.0.0.1:${ports.grpc}`);
    expect(epoch).toBe(EPOCH + 1);
    expect(zxid).toBeGreaterThanOrEqual(next.mzxid);
    expect(JSON.stringify(quorate('status'))).toContain('0x3000010000000');
    const admin = await (await fetch(`http://127.0.0.1:${ports.admin}/status`)).text();
    expect(admin).toContain('"0x3000010000000');

    const before = await client.stat('/a');
    await client.close();
    await end();
    expect(output).toMatch(/"zxid":"0x3000010000000[0-9a-f]"/);
    await serve();
    await using again = await connect(`127.0.0.1:${ports.grpc}`);
    expect(await again.stat('/a')).toEqual(before);
    const later = await again.set('/a', 'z');
    expect(later.mzxid >> 32n).toBe(BigInt(EPOCH + 2));
  });
});
