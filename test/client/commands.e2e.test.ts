/** The data commands as processes against real members: what they print, where, and how they exit. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { connect } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

let ensemble: TestEnsemble;
let servers: string;

beforeAll(async () => {
  ensemble = await TestEnsemble.start({ size: 3 });
  servers = ensemble.servers.join(',');
});

afterAll(async () => {
  await ensemble.stop();
});

interface RunOptions {
  readonly input?: Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  /** Called when it runs. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void, child: ChildProcess) => void;
}

function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const environment = { QUORATE_SERVERS: servers, QUORATE_TIMEOUT: '60s', ...options.environment };
  const child = spawn(process.execPath, [...(options.node ?? []), BIN, ...args], {
    env: { PATH: process.env['PATH'], ...environment },
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  options.meanwhile?.((signal) => child.kill(signal), child);
  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** Runs a command that must succeed; returns what it printed. */
async function good(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout.toString();
}

const json = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await good(...args, '-o', 'json')) as Record<string, unknown>;

describe('C149: a data command as a process', () => {
  it('keeps every byte from standard input to standard output, and from a file', async () => {
    const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => index % 256);
    expect(await run(['create', '/bytes', '-'], { input: bytes })).toMatchObject({ code: 0, stderr: '' });
    expect(Buffer.compare((await run(['get', '/bytes', '-o', 'raw'])).stdout, bytes)).toBe(0);
    await good('set', '/bytes', `@${BIN}`);
    expect(await good('get', '/bytes', '-o', 'raw')).toBe(readFileSync(BIN, 'utf8'));
  });

  it('refuses data larger than any znode, whatever its size', async () => {
    const ended = await run(['set', '/a', '-'], { input: new Uint8Array(10_000_000) });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/^quorate: standard input holds more than [^\n]+\n$/);
  });

  it('exits as interrupted on a signal', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const ended = await run(['get', '/a', '--servers', `127.0.0.1:${port}`], {
        meanwhile: (kill) => void silent.once('connection', () => kill(signal)),
      });
      expect(ended.code).toBe(code);
    }
    silent.close();
  });

  it('does not mind a reader that has gone', async () => {
    const ended = await run(['get', '/bytes', '-o', 'raw'], { meanwhile: (_, child) => child.stdout?.destroy() });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('znodes with what is above and below them', () => {
  it('are made with -p, set or made with --create, and deleted with -r', async () => {
    expect(await good('create', '/deep/a/b', 'x', '-p')).toBe('/deep/a/b\n');
    expect(await json('set', '/deep/c', 'y', '--create')).toMatchObject({ path: '/deep/c', stat: { version: 0 } });
    expect(await json('set', '/deep/c', 'z', '--create')).toMatchObject({ stat: { version: 1 } });
    expect(await run(['delete', '/deep'])).toMatchObject({ code: 4 });
    expect(await run(['delete', '/deep', '-r', '--version', '0'])).toMatchObject({ code: 2 });
    expect(await json('delete', '/deep', '-r')).toEqual({ path: '/deep', deleted: 4 });
    expect(await run(['delete', '/deep', '-r'])).toMatchObject({ code: 3 });
    expect(await good('delete', '/deep', '-r', '--if-exists')).toBe('0\n');
  });
});

describe('C013: JSON', () => {
  it('shows session ids and zxids as exact hex strings', async () => {
    await using client = await connect(servers, { timeoutMs: 60_000 });
    const { stat } = await client.create('/held', '', { mode: 'ephemeral', timeoutMs: 60_000 });
    const hex = (value: bigint) => `0x${value.toString(16)}`;
    const seen = await json('stat', '/held');
    expect(seen['stat']).toMatchObject({
      ephemeralOwner: hex(client.session.id),
      czxid: hex(stat.czxid),
      mzxid: hex(stat.mzxid),
      ctime: new Date(stat.ctimeMs).toISOString(),
    });
    expect(BigInt((await json('sync'))['zxid'] as string)).toBeGreaterThanOrEqual(stat.czxid);
  });
});

describe('status', () => {
  it('shows how each member stands, also when one does not answer', async () => {
    const { members } = (await json('status')) as { members: { sid: number; role: string; zxid: string }[] };
    expect(members.map(({ sid }) => sid)).toEqual([1, 2, 3]);
    expect(members.filter(({ role }) => role === 'leading').length).toBe(1);
    expect(members[0]?.zxid).toMatch(/^0x[0-9a-f]+$/);
    const text = await good('status', '--servers', `${ensemble.servers[0]},127.0.0.1:1`);
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/ {2}sid 1 {2}/),
      expect.stringMatching(/^127.0.0.1:1 {2}no answer: /),
      '',
    ]);
  });
});

describe('without a quorum', () => {
  it('a command that writes says so, and that nothing was done; one that reads reads from a member, and says that', async () => {
    await using alone = await TestEnsemble.start({ size: 3 });
    const leader = await alone.leader();
    await using client = await connect(alone.servers);
    await client.create('/a', 'kept');
    for (const index of alone.running().filter((each) => each !== leader)) await alone.kill(index);
    const args = ['set', '/a', 'x', '--servers', String(alone.servers[leader]), '--timeout', '1s'];
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toMatch(/^quorate: The ensemble has no quorum \(member \d is [a-z]+\).*nothing was read or written/);
    expect([code, stdout.toString()]).toEqual([5, '']);
    const old = { '/a': ['get', '/a'], zookeeper: ['ls', '/'], config: ['tree'], dataLength: ['stat', '/a'] };
    const note =
      /^quorate: The ensemble has no quorum \(member \d is [a-z]+\).*; read from one member, whose state may be old\n$/;
    for (const [shown, command] of Object.entries(old)) {
      const read = await run([...command, ...args.slice(3, 5), '--timeout', '4s']);
      expect([read.code, read.stderr]).toEqual([0, expect.stringMatching(note)]);
      expect(read.stdout.toString()).toContain(shown === '/a' ? 'kept' : shown);
    }
    const fresh = await run(['get', '/a', '--linearizable', ...args.slice(3, 5), '--timeout', '2s']);
    expect([fresh.code, fresh.stdout.toString()]).toEqual([5, '']);
  });
});

describe('--help', () => {
  it('lists every command and loads neither gRPC nor LevelDB', async () => {
    const report = `process.on('exit', () => console.error(process.moduleLoadList.filter((name) => / http2$/.test(name)).length))`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(report)}`];
    const help = await run(['--help'], { node });
    expect(help.code).toBe(0);
    for (const name of 'create get set delete ls tree stat sync status serve ensemble'.split(' ')) {
      expect(help.stdout.toString()).toContain(`quorate ${name}`);
    }
    expect(help.stderr).toBe('0\n');
    // The check itself can fail.
    expect((await run(['ls'], { node })).stderr).not.toBe('0\n');
  });
});

describe('quorate move-leader', () => {
  it('moves the lead to the member that is named, or to any, without a failed write', async () => {
    await using client = await connect(ensemble.servers);
    await client.create('/moved', '');
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      for (; !isOver; written++) await client.set('/moved', `${written}`);
    })();
    const old = (await ensemble.leader()) + 1;
    const to = old === 1 ? 2 : 1;
    expect(await good('move-leader', '--to', String(to))).toBe(`Member ${to} leads, after member ${old}\n`);
    expect(await ensemble.leader()).toBe(to - 1);
    // Any one member knows who leads and where it is.
    const other = ensemble.servers[old - 1]!;
    const moved = await json('move-leader', '--servers', other);
    expect(moved).toMatchObject({ from: to });
    expect(await ensemble.leader()).toBe(Number(moved['to']) - 1);
    isOver = true;
    await writing;
    expect(written).toBeGreaterThan(0);
    expect((await client.get('/moved')).text()).toBe(`${written - 1}`);
  });

  it('says what is wrong', async () => {
    const leader = (await ensemble.leader()) + 1;
    const said = async (...args: string[]): Promise<[number | null, string]> => {
      const { code, stderr } = await run(['move-leader', ...args]);
      return [code, stderr];
    };
    expect(await said('--to', '77')).toEqual([2, expect.stringContaining('no such member (INVALID_ARGUMENT)')]);
    expect(await said('--to', String(leader))).toEqual([2, expect.stringContaining('leads already')]);
    expect(await said('--to', 'x')).toEqual([2, expect.stringContaining('not a sid')]);
    expect(await said('--servers', '127.0.0.1:1')).toEqual([5, expect.stringContaining('CONNECTION_LOST')]);
  });
});
