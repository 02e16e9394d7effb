/** The `quorate` command as a process, for tests: its output, its exit, its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly elapsedMs: number;
}

export class Command implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const startedMs = performance.now();
    this.process = spawn(process.execPath, [BIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...environment },
    });
    this.process.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.process.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.process.once('close', (code) => {
        resolve({ code, stdout: this.stdout, stderr: this.stderr, elapsedMs: performance.now() - startedMs });
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}

/** Something else that uses a port. */
export async function occupy(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Those that `freePorts` has given: a member must not get one of them for two things because it was asked twice. */
const given = new Set<number>();

/** Ports that were free a moment ago, and that this file gave to nobody before. */
export async function freePorts(count: number): Promise<number[]> {
  const taken = await Promise.all(Array.from({ length: count }, () => occupy()));
  await Promise.all(taken.map((one) => one[Symbol.asyncDispose]()));
  const fresh = taken.map(({ port }) => port).filter((port) => !given.has(port));
  for (const port of fresh) given.add(port);
  return fresh.length === count ? fresh : [...fresh, ...(await freePorts(count - fresh.length))];
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
