/** `quorate ensemble` as a process: what people and scripts see of it, and that nothing is left behind. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@quorate/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Command, freePorts } from './command.ts';

interface Entry {
  readonly sid: number;
  readonly role: string;
  readonly pid?: number;
  readonly state: string;
  readonly ports: { readonly zookeeper: number; readonly grpc: number; readonly peer: number; readonly admin: number };
  readonly endpoints: { readonly grpc: string };
}

let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'quorate-local-')), 'data');
});

afterEach(() => {
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

function entries(): readonly Entry[] {
  return (JSON.parse(readFileSync(join(folder, 'ensemble.json'), 'utf8')) as { members: Entry[] }).members;
}

function entry(sid: number): Entry {
  const found = entries().find((one) => one.sid === sid);
  if (found === undefined) throw new Error(`No member ${sid}`);
  return found;
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function ready(command: Command): Promise<void> {
  await vi.waitFor(() => expect(command.stdout).toMatch(/^ready: /m), { timeout: 60_000 });
}

/** A base port with room for the four ranges. */
async function basePort(): Promise<number> {
  for (;;) {
    const [port = 0] = await freePorts(1);
    if (port > 1024 && port < 65_000) return port;
  }
}

describe('a local ensemble', () => {
  it('prints its members and a ready line, keeps ensemble.json current, and ends well', async () => {
    const base = await basePort();
    await using command = new Command([
      'ensemble',
      '--members=3',
      '--observers=1',
      `--data=${folder}`,
      `--base-port=${base}`,
    ]);
    await ready(command);
    expect(command.stdout.split('\n').filter((line) => /^\d +(leading|following|observing)/.test(line)).length).toBe(4);
    expect(entries().map(({ ports }) => ports)).toEqual(
      [0, 1, 2, 3].map((i) => ({
        zookeeper: base + i,
        grpc: base + 100 + i,
        peer: base + 200 + i,
        admin: base + 300 + i,
      })),
    );
    expect(
      entries()
        .map(({ role }) => role)
        .sort(),
    ).toEqual(['following', 'following', 'leading', 'observing']);
    expect(entries().every(({ pid, state }) => isAlive(pid) && state === 'running')).toBe(true);
    const pids = entries().map(({ pid }) => pid);
    command.process.kill('SIGINT');
    const { code, stderr } = await command.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(pids.some(isAlive)).toBe(false);
    expect(entries().map(({ state, role }) => `${state} ${role}`)).toEqual(Array(4).fill('stopped down'));
  });

  it('reports a killed member, starts it again with --only, and keeps its data over a restart', async () => {
    const base = await basePort();
    const args = ['ensemble', '--members=3', `--data=${folder}`, `--base-port=${base}`];
    {
      await using command = new Command(args);
      await ready(command);
      const client = await connect(entry(1).endpoints.grpc);
      await client.create('/kept', 'yes');
      await client.close();
      process.kill(entry(2).pid ?? 0, 'SIGKILL');
      await vi.waitFor(() => expect(command.stdout).toContain('Member 2'), { timeout: 10_000 });
      await vi.waitFor(() => expect(entry(2)).toMatchObject({ state: 'exited', role: 'down' }), { timeout: 10_000 });
      await using only = new Command(['ensemble', '--only=2', `--data=${folder}`]);
      await ready(only);
      expect(entry(2)).toMatchObject({ state: 'running', ports: { grpc: base + 101 } });
      expect(entry(2).role).toMatch(/following|leading/);
      only.process.kill('SIGTERM');
      expect((await only.ended).code).toBe(0);
      command.process.kill('SIGTERM');
      expect((await command.ended).code).toBe(0);
      expect(entries().every(({ state }) => state === 'stopped')).toBe(true);
    }
    await using again = new Command(['ensemble', `--data=${folder}`]);
    await ready(again);
    const client = await connect(entry(3).endpoints.grpc);
    expect((await client.get('/kept', { consistency: 'linearizable' })).text()).toBe('yes');
    await client.close();
  });

  it('starts a member again by itself with --restart', async () => {
    await using command = new Command([
      'ensemble',
      '--members=1',
      '--restart',
      `--data=${folder}`,
      `--base-port=${await basePort()}`,
    ]);
    await ready(command);
    const { pid } = entry(1);
    process.kill(pid ?? 0, 'SIGKILL');
    await vi.waitFor(
      () => {
        expect(entry(1)).toMatchObject({ state: 'running', role: 'leading' });
        expect(entry(1).pid).not.toBe(pid);
      },
      { timeout: 20_000 },
    );
  });

  it('takes its members with it when it is killed', async () => {
    await using command = new Command([
      'ensemble',
      '--members=1',
      `--data=${folder}`,
      `--base-port=${await basePort()}`,
    ]);
    await ready(command);
    const { pid } = entry(1);
    command.process.kill('SIGKILL');
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 20_000 });
  });
});

describe('mistakes', () => {
  it('a taken port is one line that names it, and nothing is started', async () => {
    const base = await basePort();
    await using other = new Command([
      'serve',
      `--data-dir=${folder}-other`,
      `--grpc-port=${base + 101}`,
      '--zookeeper-port=0',
      '--admin-port=0',
    ]);
    await vi.waitFor(() => expect(other.stderr).toContain('listens'), { timeout: 20_000 });
    const { code, stderr } = await new Command(['ensemble', `--data=${folder}`, `--base-port=${base}`]).ended;
    expect([code, stderr]).toEqual([
      1,
      `quorate ensemble: Port ${base + 101} (gRPC of member 2) is taken; stop what uses it, or choose other ports with --base-port\n`,
    ]);
    expect(existsSync(join(folder, 'member-1'))).toBe(false);
  });

  it('an ensemble that runs is not started once more, on whatever ports, and goes on as it was', async () => {
    const base = await basePort();
    await using command = new Command(['ensemble', '--members=1', `--data=${folder}`, `--base-port=${base}`]);
    await ready(command);
    const before = readFileSync(join(folder, 'ensemble.json'), 'utf8');
    const cluster = readFileSync(join(folder, 'cluster.json'), 'utf8');
    for (const more of [`--base-port=${await basePort()}`, '--only=1']) {
      const { code, stdout, stderr } = await new Command(['ensemble', `--data=${folder}`, more]).ended;
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        `quorate ensemble: Member 1 of ${folder} runs already (pid ${entry(1).pid}, gRPC port ${base + 100}); stop it first\n`,
      ]);
    }
    expect(readFileSync(join(folder, 'ensemble.json'), 'utf8')).toBe(before);
    expect(readFileSync(join(folder, 'cluster.json'), 'utf8')).toBe(cluster);
  });

  it.each([
    [['--members=0'], 'Bad --members 0: must be 1 or more'],
    [['--members=x'], 'Bad --members x: must be a whole number'],
    [['--members=30', '--observers=3'], 'together at most 32'],
    [['--base-port=65500'], 'Bad --base-port 65500: must be in 1..'],
    [['--only=1'], 'holds no ensemble'],
    [['--member=3'], 'Unknown flag --member; did you mean --members?'],
  ])('%j is refused', async (args, line) => {
    const { code, stderr } = await new Command(['ensemble', `--data=${folder}`, ...args]).ended;
    expect(stderr).toContain(line);
    expect(stderr.trimEnd().split('\n').length).toBe(1);
    expect(code).toBe(1);
  });

  it('other numbers of members than the data has, and a folder that cannot be written, are refused', async () => {
    writeFileSync(join(folder, '..', 'file'), '');
    for (const data of [join(folder, '..', 'file', 'x'), '/proc/nope/x']) {
      const blocked = await new Command(['ensemble', `--data=${data}`]).ended;
      expect([blocked.code, blocked.stderr]).toEqual([1, expect.stringContaining('choose a folder you may write to')]);
    }
    const args = ['ensemble', '--members=1', `--data=${folder}`, `--base-port=${await basePort()}`];
    await using command = new Command(args);
    await ready(command);
    command.process.kill('SIGTERM');
    await command.ended;
    const { code, stderr } = await new Command(['ensemble', '--members=3', `--data=${folder}`]).ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('holds an ensemble of 1 members and 0 observers')]);
  });
});

describe('garbage on any port of a member', () => {
  it('ends its own connection only (C167)', async () => {
    await using command = new Command([
      'ensemble',
      '--members=1',
      `--data=${folder}`,
      `--base-port=${await basePort()}`,
    ]);
    await ready(command);
    const { ports, endpoints, pid } = entry(1);
    const client = await connect(endpoints.grpc);
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const inputs = [
      'GET / HTTP/1.0\r\n\r\n',
      '\x16\x03\x01\x02\0',
      '\0'.repeat(5000),
      `${preface}\xff\xff\xff\xff\xff\xff\xff\xff\xff`,
    ];
    for (const port of [ports.grpc, ports.peer, ports.admin]) {
      for (const input of inputs) await throwAt(port, input);
    }
    await client.create('/still-here');
    expect(isAlive(pid)).toBe(true);
    await client.close();
  });
});

/** Sends bytes and waits until the other side, or the end of what was sent, closes the connection. */
function throwAt(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    socket.resume();
    socket.end(Buffer.from(bytes, 'latin1'));
  });
}
