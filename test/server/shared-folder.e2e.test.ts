/** One data folder and two processes; a folder whose process was killed; a copy of a folder in use. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@quorate/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Writer } from '../e2e/writer.ts';
import { Command, freePorts } from './command.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-shared-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const serve = (data: string, port: number): string[] => [
  'serve',
  `--data-dir=${join(folder, data)}`,
  `--grpc-port=${port}`,
  '--zookeeper-port=0',
  '--admin-port=0',
];

async function started(command: Command): Promise<void> {
  await vi.waitFor(() => expect(command.stdout).toContain('"role":"leading"'), { timeout: 20_000 });
}

describe('C065: a folder in use', () => {
  it('is refused to a second process by name; the first one goes on, and after SIGKILL a start needs no help', async () => {
    const [port = 0, second = 0] = await freePorts(2);
    await using first = new Command(serve('data', port));
    await started(first);
    const client = await connect(`127.0.0.1:${port}`);
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    const { code, stderr } = await new Command(serve('data', second)).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(join(folder, 'data'));
    expect(stderr).toContain('another process uses it');
    const before = writer.acknowledged.length;
    await vi.waitFor(() => expect(writer.acknowledged.length).toBeGreaterThan(before + 20), { timeout: 20_000 });
    await writer.stop();
    expect([writer.refused, writer.unknown]).toEqual([[], []]);
    first.process.kill('SIGKILL');
    await using again = new Command(serve('data', port));
    await started(again);
    await client.sync({ timeoutMs: 20_000 });
    expect(await client.children('/w')).toHaveLength(writer.acknowledged.length);
    await client.close();
  });

  it('copied under load starts with a prefix of what was written, or is refused', async () => {
    const [port = 0, other = 0] = await freePorts(2);
    await using first = new Command(serve('data', port));
    await started(first);
    await using client = await connect(`127.0.0.1:${port}`);
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    for (let copy = 0; copy < 3; copy++) {
      const before = writer.acknowledged.length;
      await vi.waitFor(() => expect(writer.acknowledged.length).toBeGreaterThan(before + 50), { timeout: 20_000 });
      cpSync(join(folder, 'data'), join(folder, `copy-${copy}`), { recursive: true });
    }
    await writer.stop();
    const all = (await client.children('/w')).toSorted();
    for (let copy = 0; copy < 3; copy++) {
      await using second = new Command(serve(`copy-${copy}`, other));
      const end = await Promise.race([second.ended, started(second)]);
      if (end !== undefined) {
        expect(end).toMatchObject({ code: 1, stderr: expect.stringContaining(join(folder, `copy-${copy}`)) });
        continue;
      }
      await using reader = await connect(`127.0.0.1:${other}`);
      const there = (await reader.children('/w')).toSorted();
      expect(there).toEqual(all.slice(0, there.length));
      expect(there.length).toBeGreaterThan(0);
    }
  });
});
