/** `quorate sessions` and its calls, against real members: who is there, where, how long still, and the end of one. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect, describeSession, endSession, listSessions } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));

let ensemble: TestEnsemble;
let servers: readonly string[];

beforeAll(async () => {
  ensemble = await TestEnsemble.start({ size: 3 });
  servers = ensemble.servers;
});

afterAll(() => ensemble.stop());

async function quorate(...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], QUORATE_SERVERS: servers.join(), QUORATE_TIMEOUT: '30s' };
  return (await promisify(execFile)(process.execPath, [BIN, ...args], { env })).stdout;
}

const hex = (id: bigint): string => `0x${id.toString(16)}`;

describe('sessions', () => {
  it('are listed, shown by id and by ephemeral, and closed by an operator; the client is told', async () => {
    const follower = ((await ensemble.leader()) + 1) % 3;
    await using client = await connect(servers[follower] ?? '', { sessionTimeoutMs: 9_000 });
    await using other = await connect(servers);
    await client.create('/mine', '', { mode: 'ephemeral' });
    const { id } = client.session;
    const wanted = { id: hex(id), timeoutMs: 9_000, ephemerals: 1, member: follower + 1 };

    const listed = JSON.parse(await quorate('sessions', '-o', 'json')) as { sessions: { id: string }[] };
    expect(listed.sessions).toHaveLength(2);
    expect(listed.sessions.find((one) => one.id === hex(id))).toMatchObject(wanted);
    for (const which of [hex(id), String(id), '/mine']) {
      const shown = JSON.parse(await quorate('sessions', 'show', which, '-o', 'json')) as { expiresInMs: number };
      expect(shown).toMatchObject({ ...wanted, paths: ['/mine'] });
      expect(shown.expiresInMs).toBeGreaterThan(0);
      expect(shown.expiresInMs).toBeLessThanOrEqual(11_000);
    }
    const expired = new Promise<void>((resolve) => {
      client.session.onChange((state) => {
        if (state.state === 'expired') resolve();
      });
    });
    expect(await quorate('sessions', 'close', hex(id))).toBe(`Session ${hex(id)} is closed\n`);
    await expired;
    expect(await other.stat('/mine', { consistency: 'linearizable' })).toBeUndefined();
    await expect(endSession(servers, id)).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
    await expect(describeSession(servers, id)).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
    for (const action of ['show', 'close']) {
      const stderr = expect.stringMatching(/^quorate: .*\(NO_NODE\)\n$/) as string;
      await expect(quorate('sessions', action, hex(id))).rejects.toMatchObject({ code: 3, stderr });
    }
    await expect(describeSession(servers, '/mine')).rejects.toMatchObject({ code: 'NO_NODE', path: '/mine' });
    await expect(describeSession(servers, 'mine')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(endSession(servers, 0n)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('come page by page when they are many, each once, in the order of their ids', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, (_, i) => connect(servers[i % 3] ?? '')));
    const ids: bigint[] = [];
    for await (const session of listSessions(servers)) ids.push(session.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)));
    for (const client of clients) expect(ids).toContain(client.session.id);
    await Promise.all(clients.map((client) => client.close()));
  });
});
