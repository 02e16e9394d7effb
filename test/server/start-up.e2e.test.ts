/** `quorate serve` as a process: what goes wrong at the start is one clear line and exit code 1, and SIGTERM ends it well. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, memberStatus } from '@quorate/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Command, type Ended, freePorts, occupy } from './command.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-start-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function flags(more: Readonly<Record<string, string | number>> = {}): Promise<string[]> {
  const [grpc, admin] = await freePorts(2);
  const all = {
    'data-dir': join(folder, 'data'),
    'zookeeper-port': 0,
    'grpc-port': grpc,
    'admin-port': admin,
    ...more,
  };
  return ['serve', ...Object.entries(all).map(([name, value]) => `--${name}=${value}`)];
}

/** Runs a member until it listens, then ends it by SIGTERM. */
async function runOnce(args: readonly string[]): Promise<Ended> {
  await using command = new Command(args);
  await vi.waitFor(() => expect(command.stderr).toContain('listens'), { timeout: 20_000 });
  command.process.kill('SIGTERM');
  return await command.ended;
}

function expectOneLine(ended: Ended, ...parts: readonly string[]): void {
  for (const part of parts) expect(ended.stderr).toContain(part);
  expect(ended.stderr.trimEnd().split('\n').length).toBe(1);
  expect(ended.stderr).toMatch(/^quorate serve: /);
  expect(ended.code).toBe(1);
}

describe('a member that cannot start', () => {
  it('names the port that is taken, and touches no data', async () => {
    await using other = await occupy();
    const ended = await new Command(await flags({ 'grpc-port': other.port })).ended;
    expectOneLine(ended, `127.0.0.1:${other.port}`, 'the port is taken', 'grpcPort');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('names the folder that it cannot make (C108)', async () => {
    writeFileSync(join(folder, 'file'), '');
    const directory = join(folder, 'file', 'data');
    expectOneLine(await new Command(await flags({ 'data-dir': directory })).ended, directory);
  });

  it('refuses the data of another cluster and of another member (C108)', async () => {
    expect((await runOnce(await flags({ 'cluster-id': 'one', sid: 3 }))).code).toBe(0);
    expectOneLine(await new Command(await flags({ 'cluster-id': 'two', sid: 3 })).ended, 'one', 'two');
    expectOneLine(await new Command(await flags({ 'cluster-id': 'one', sid: 4 })).ended, '3', '4');
  });

  it('refuses a folder that another process uses', async () => {
    await using first = new Command(await flags());
    await vi.waitFor(() => expect(first.stderr).toContain('listens'), { timeout: 20_000 });
    expectOneLine(await new Command(await flags()).ended, join(folder, 'data'));
  });

  it('refuses damaged data', async () => {
    const args = await flags();
    expect((await runOnce(args)).code).toBe(0);
    const data = join(folder, 'data');
    for (const path of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      if (path.endsWith('CURRENT')) writeFileSync(join(data, path), 'nonsense\n');
    }
    expectOneLine(await new Command(args).ended, data);
  });

  it.each([
    [{ 'grpc-prot': 1 }, 'Unknown flag --grpc-prot; did you mean --grpc-port?'],
    [{ sid: 'abc' }, 'Bad sid "abc" (from flag --sid)'],
    [{ 'session-timeout-min-ms': 90_000 }, 'it is greater than sessionTimeoutMaxMs'],
    [{ ensemble: '1=0.0.0.0:2381' }, 'which others cannot dial'],
    [{ config: '/nowhere.yaml' }, 'Cannot read the config file /nowhere.yaml'],
  ])('refuses %j', async (more, line) => {
    expectOneLine(await new Command(await flags(more as Record<string, string | number>)).ended, line);
  });

  it('refuses a variable that it does not know', async () => {
    const ended = await new Command(await flags(), { QUORATE_DATADIR: '/x' }).ended;
    expectOneLine(ended, 'QUORATE_DATADIR; did you mean QUORATE_DATA_DIR?');
  });
});

describe('a member on its own', () => {
  it('takes calls, and SIGTERM, SIGINT and SIGHUP end it with code 0 (C110)', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const args = await flags();
      await using command = new Command(args);
      await vi.waitFor(() => expect(command.stdout).toContain('"role":"leading"'), { timeout: 20_000 });
      await vi.waitFor(() => expect(command.stderr).toContain('standalone'), { timeout: 20_000 });
      command.process.kill(signal);
      const { code } = await command.ended;
      expect([signal, code]).toEqual([signal, 0]);
    }
  });

  it('C110: a second signal ends a member at once that still waits for calls in flight', async () => {
    const [grpc, ...peers] = await freePorts(4);
    const ensemble = peers.map((port, index) => `${index + 1}=127.0.0.1:${port}`).join(',');
    const args = await flags({ sid: 1, ensemble, 'grpc-port': grpc ?? 0, 'stop-grace-ms': 60_000 });
    for (const [first, second, code] of [
      ['SIGTERM', 'SIGTERM', 143],
      ['SIGTERM', 'SIGINT', 130],
    ] as const) {
      await using command = new Command(args);
      await vi.waitFor(() => expect(command.stderr).toContain('listens'), { timeout: 20_000 });
      // Without a quorum no session can be opened: the attempt is in flight until its deadline.
      const attempt = connect(`127.0.0.1:${grpc}`, { timeoutMs: 30_000 }).catch(() => undefined);
      await vi.waitFor(async () => {
        const status = await memberStatus(`127.0.0.1:${grpc}`);
        expect(status.outstanding).toBeGreaterThan(0);
      });
      command.process.kill(first);
      await vi.waitFor(() => expect(command.stdout).toContain('"stopping"'), { timeout: 20_000 });
      expect(command.process.exitCode).toBeNull();
      command.process.kill(second);
      expect((await command.ended).code).toBe(code);
      expect(command.stdout).not.toContain('"stopped"');
      void attempt;
    }
  });

  it('shows its configuration with origins, and checks it, without starting', async () => {
    const shown = await new Command(['serve', '--print-config', '--sid', '9'], { QUORATE_GRPC_PORT: '77' }).ended;
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('sid: 9 # flag --sid');
    expect(shown.stdout).toContain('grpcPort: 77 # environment QUORATE_GRPC_PORT');
    expect((await new Command(['serve', '--check-config']).ended).code).toBe(0);
  });
});
