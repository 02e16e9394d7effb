/** C075: a program that uses the client ends by itself after close, and nothing of the client escapes it before. */
import { spawn } from 'node:child_process';
import { TestEnsemble } from '@quorate/server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let ensemble: TestEnsemble;

beforeAll(async () => {
  ensemble = await TestEnsemble.start({ size: 1 });
});

afterAll(async () => {
  await ensemble.stop();
});

/** Runs a program with the built client; `servers` and `nobody` are in its scope. */
function program(body: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const source = `
    import { connect, isCode, memberStatus } from '@quorate/client';
    const servers = ${JSON.stringify(ensemble.servers)};
    const nobody = ['127.0.0.1:1'];
    ${body}`;
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', '--input-type=module', '-e', source], {
    cwd: new URL('../../packages/client/', import.meta.url),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

describe('C075: a program', () => {
  it('ends by itself after close', async () => {
    const ended = await program(`
      const client = await connect(servers, { timeoutMs: 60_000 });
      await client.create('/once', 'x', { timeoutMs: 60_000 });
      await client.close();
      await memberStatus(servers[0], { timeoutMs: 60_000 });
      console.log('closed');`);
    expect(ended).toEqual({ code: 0, stdout: 'closed\n', stderr: '' });
  });

  it('ends by itself after it could not connect', async () => {
    const ended = await program(`
      await connect(nobody, { timeoutMs: 200 }).catch((error) => console.log(error.code));
      await memberStatus(nobody[0], { timeoutMs: 200 }).catch((error) => console.log(error.code));`);
    expect(ended).toEqual({ code: 0, stdout: 'CONNECTION_LOST\nCONNECTION_LOST\n', stderr: '' });
  });

  it('that stops its event loop for longer than the session learns so once, and goes on with another', async () => {
    const ended = await program(`
      const client = await connect(servers, { timeoutMs: 60_000, sessionTimeoutMs: 4_000 });
      const { id, signal } = client.session;
      const states = [];
      client.session.onChange(({ state }) => states.push(state));
      const until = performance.now() + 2 * client.session.timeoutMs;
      while (performance.now() < until);
      const late = client.children('/', { timeoutMs: 60_000 }).catch((error) => error.code);
      await new Promise((resolve) => {
        const subscription = client.session.onChange(({ state }) => state === 'connected' && resolve(subscription[Symbol.dispose]()));
      });
      console.log(JSON.stringify([states, signal.aborted, client.session.id !== id, await late]));
      await client.close();`);
    const states = ['expired', 'connecting', 'connected'];
    expect(ended).toEqual({
      code: 0,
      stdout: `${JSON.stringify([states, true, true, 'SESSION_EXPIRED'])}\n`,
      stderr: '',
    });
  });
});
