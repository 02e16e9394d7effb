/** An error that nobody foresaw, in any stage of a member: the process ends, and never lives on half alive. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@quorate/client';
import { expect, it, vi } from 'vitest';
import { Command, freePorts } from './command.ts';

const BREAKS = fileURLToPath(new URL('./breaks-on-purpose.mjs', import.meta.url));

it.each(['order', 'prepare', 'propose', 'append', 'commit', 'apply', 'answer', 'read'])(
  'C167: an exception in %s ends the member with code 1 and a line that says why',
  async (stage) => {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-broken-'));
    try {
      const [grpc = 0] = await freePorts(1);
      const args = [
        'serve',
        `--data-dir=${join(folder, 'data')}`,
        `--grpc-port=${grpc}`,
        '--zookeeper-port=0',
        '--admin-port=0',
      ];
      const environment = { NODE_OPTIONS: `--import=${BREAKS}`, BREAK_AT: stage };
      await using command = new Command(args, environment);
      await vi.waitFor(() => expect(command.stdout).toContain('"role":"leading"'), { timeout: 20_000 });
      const client = await connect(`127.0.0.1:${grpc}`);
      const outcome = await client.create('/poison').then(
        () => client.get('/poison').catch((error: unknown) => error),
        (error: unknown) => error,
      );
      expect(outcome).toMatchObject({ name: 'CoordinationError' });
      const { code, stderr } = await command.ended;
      expect(code).toBe(1);
      expect(stderr).toContain('cannot go on');
      expect(stderr).toContain(`broken on purpose in ${stage}`);
      await client.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
