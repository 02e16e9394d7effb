/**
 * A real ensemble for tests: `quorate ensemble` as a process, members as its children, killed and started again as an
 * operator would. Knows nothing of clients. What it waits for it reads from ensemble.json, as scripts do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));

export interface MemberEntry {
  readonly sid: number;
  readonly role: string;
  readonly pid: number | undefined;
  readonly state: string;
  readonly ports: { readonly zookeeper: number; readonly grpc: number; readonly peer: number; readonly admin: number };
}

export interface EnsembleFile {
  readonly members: readonly MemberEntry[];
  readonly leader: number | undefined;
}

export interface EnsembleOptions {
  readonly members: number;
  readonly observers?: number;
  /** Goes on with the data of an earlier run. */
  readonly data?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Polls until `condition` gives something other than undefined or false. Throws with `what` after `withinMs`. */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 30_000,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await delay(10);
  }
}

/** For faults that come or last a given time: resolves `ms` after `since`. */
export async function momentAfter(since: number, ms: number): Promise<number> {
  await until(`${ms} ms`, () => performance.now() >= since + ms);
  return performance.now();
}

export class EnsembleProcess implements AsyncDisposable {
  readonly data: string;
  readonly basePort: number;
  readonly #options: EnsembleOptions;
  #process: ChildProcess | undefined;
  #restarted: ChildProcess[] = [];
  #output = '';

  private constructor(options: EnsembleOptions, data: string, basePort: number) {
    this.#options = options;
    this.data = data;
    this.basePort = basePort;
  }

  /** Starts an ensemble and waits for its ready line. */
  static async start(options: EnsembleOptions): Promise<EnsembleProcess> {
    const data = options.data ?? mkdtempSync(join(tmpdir(), 'quorate-e2e-'));
    const ensemble = new EnsembleProcess(options, data, await freeBasePort(options.members + (options.observers ?? 0)));
    await ensemble.launch();
    return ensemble;
  }

  async launch(): Promise<void> {
    const { members, observers = 0 } = this.#options;
    this.#output = '';
    this.#process = this.#spawn([
      ...['--members', String(members), '--observers', String(observers)],
      ...['--data', this.data, '--base-port', String(this.basePort)],
    ]);
    await until(`the ready line; printed so far:\n${this.#output}`, () => {
      if (this.#process?.exitCode !== null) throw new Error(`quorate ensemble ended:\n${this.#output}`);
      return /\bready\b/i.test(this.#output);
    });
  }

  #spawn(args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [BIN, 'ensemble', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...this.#options.environment },
    });
    child.stdout?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    return child;
  }

  get output(): string {
    return this.#output;
  }

  /** What ensemble.json says now. */
  get file(): EnsembleFile {
    return JSON.parse(readFileSync(join(this.data, 'ensemble.json'), 'utf8')) as EnsembleFile;
  }

  member(sid: number): MemberEntry {
    const member = this.file.members.find((entry) => entry.sid === sid);
    if (member === undefined) throw new Error(`No member ${sid} in ensemble.json`);
    return member;
  }

  get sids(): number[] {
    return this.file.members.map(({ sid }) => sid);
  }

  address(sid: number): string {
    return `127.0.0.1:${this.member(sid).ports.grpc}`;
  }

  get addresses(): string[] {
    return this.sids.map((sid) => this.address(sid));
  }

  /** The sid of the member that says it leads. */
  leader(withinMs?: number): Promise<number> {
    return until('a leader', () => this.file.members.find(({ role }) => role === 'leading')?.sid, withinMs);
  }

  /** SIGKILL, as a power cut for the process. Returns the moment, on performance.now's clock. */
  kill(...sids: number[]): number {
    const pids = sids.map((sid) => this.member(sid).pid);
    const at = performance.now();
    for (const pid of pids) if (pid !== undefined) process.kill(pid, 'SIGKILL');
    return at;
  }

  /** SIGTERM, as a rollout sends it. */
  terminate(sid: number): void {
    const { pid } = this.member(sid);
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
  }

  /** Waits until ensemble.json no longer shows the member as running. */
  async gone(sid: number): Promise<void> {
    await until(`member ${sid} gone`, () => this.member(sid).state !== 'running');
  }

  /** Starts a killed member again, by the command that an operator uses, and waits until it serves clients: it follows earlier. */
  async restart(...sids: number[]): Promise<void> {
    for (const sid of sids) {
      this.#restarted.push(this.#spawn(['--only', String(sid), '--data', this.data]));
    }
    for (const sid of sids) {
      await until(`member ${sid} following`, () => /leading|following|observing/.test(this.member(sid).role), 60_000);
      await until(`member ${sid} serving`, () => this.serves(sid), 60_000);
    }
  }

  /** Does the member say that it takes clients? */
  async serves(sid: number): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.member(sid).ports.admin}/readyz`).catch(() => undefined);
    return answer?.ok === true;
  }

  /** Ctrl-C, and waits for the end. Returns the exit code. */
  async stop(): Promise<number | null> {
    const processes = [...this.#restarted, this.#process].filter((child) => child !== undefined);
    for (const child of processes) if (child.exitCode === null) child.kill('SIGINT');
    await until('the end of the ensemble', () =>
      processes.every((child) => child.exitCode !== null || child.signalCode),
    );
    this.#restarted = [];
    return this.#process?.exitCode ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    if (this.#options.data === undefined) rmSync(this.data, { recursive: true, force: true });
  }
}

let nextBase = 20_000 + (process.pid % 200) * 50;

/** A base port whose four ranges of `members` ports are free now. */
async function freeBasePort(members: number): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const base = nextBase;
    nextBase += 10;
    const ports = [0, 100, 200, 300].flatMap((range) => Array.from({ length: members }, (_, i) => base + range + i));
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return base;
  }
  throw new Error('No free ports');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
