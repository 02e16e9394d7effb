/**
 * One member as a real `quorate serve` process in its namespace: started, killed, stopped and asked how it stands.
 * It dies with the runner, whatever happens to that. Its log lines and its clock file stand beside its data.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FaultyDisk, type Rule } from '../faulty-disk/faulty-disk.ts';
import type { Network } from './network.ts';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));
const GRPC_PORT = 2281;
const PEER_PORT = 2381;
const ADMIN_PORT = 2481;

/** Debian's libfaketime: the wall clock follows a file, the monotonic clock is left alone. */
export const FAKETIME = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`;

/** What a member says of itself under /status; zxids and the digest as hex. */
export interface MemberView {
  readonly sid: number;
  readonly role: string;
  readonly phase: string;
  readonly epoch: number;
  readonly leader?: number;
  readonly zxid: string;
  readonly digest: string;
  readonly serving: boolean;
  readonly hasQuorum: boolean;
  readonly sessions: number;
  readonly voteRight?: string;
}

export interface MemberOptions {
  readonly sid: number;
  readonly sids: readonly number[];
  readonly network: Network;
  /** Folder of the run. */
  readonly folder: string;
  /** Flags of `quorate serve` beyond those that the run needs. */
  readonly flags: readonly string[];
}

export class MemberProcess {
  readonly sid: number;
  readonly data: string;
  readonly log: string;
  readonly #options: MemberOptions;
  readonly #clock: string;
  readonly disk: FaultyDisk;
  #process: ChildProcess | undefined;
  #isPaused = false;
  #isDiskBad = false;
  /** The disk was bad at some moment of this run of the process. */
  #hadBadDisk = false;
  /** It did not start, for its disk was bad: as documented, with one line and code 1. */
  #isToBeStarted = false;
  /** Ends that nobody asked for, in words. */
  readonly unexpected: string[] = [];

  constructor(options: MemberOptions) {
    this.#options = options;
    this.sid = options.sid;
    this.data = join(options.folder, `member-${options.sid}`);
    this.log = join(options.folder, `member-${options.sid}.log`);
    this.#clock = join(options.folder, `clock-${options.sid}`);
    mkdirSync(options.folder, { recursive: true });
    this.stepClock(0);
    this.disk = new FaultyDisk(this.data);
  }

  /** Where clients find it. */
  get address(): string {
    return `${this.#options.network.address(this.sid)}:${GRPC_PORT}`;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Starts the process; does nothing when it runs. */
  start(): void {
    if (this.#process !== undefined) return;
    const { network, sids, flags } = this.#options;
    const host = network.address(this.sid);
    const ensemble = sids.map((sid) => {
      const address = network.address(sid);
      return `${sid}=${address}:${PEER_PORT};${address}:${GRPC_PORT}`;
    });
    const log = openSync(this.log, 'a');
    const begin = fstatSync(log).size;
    this.#hadBadDisk = this.#isDiskBad;
    this.#isToBeStarted = false;
    const child = spawn(
      'setpriv',
      [
        ...['--pdeathsig', 'KILL', 'ip', 'netns', 'exec', network.space(this.sid)],
        ...[process.execPath, BIN, 'serve', '--sid', String(this.sid), '--ensemble', ensemble.join(',')],
        ...['--bind', host, '--grpc-port', String(GRPC_PORT)],
        ...['--admin-bind', host, '--admin-port', String(ADMIN_PORT), '--data-dir', this.data, ...flags],
      ],
      { stdio: ['ignore', log, log], env: this.#environment() },
    );
    closeSync(log);
    this.#process = child;
    child.once('exit', (code, signal) => {
      if (this.#process !== child) return;
      this.#process = undefined;
      const hasStarted = readFileSync(this.log).subarray(begin).includes('listens:');
      if (code === 1 && this.#hadBadDisk && !hasStarted) return this.#notStarted();
      this.unexpected.push(`member ${this.sid} ended by itself with ${signal ?? `code ${code}`}`);
    });
  }

  /** Its disk obeys these rules, until it is mended. */
  breakDisk(...rules: readonly Rule[]): void {
    this.#isDiskBad = true;
    this.#hadBadDisk = true;
    this.disk.set(...rules);
  }

  /** The disk works again; a member that could not start without it is started. */
  mendDisk(): void {
    this.#isDiskBad = false;
    this.disk.clear();
    if (this.#isToBeStarted) this.start();
  }

  #notStarted(): void {
    this.#isToBeStarted = true;
    if (!this.#isDiskBad) this.start();
  }

  /** Its disk obeys the rules of the test; its wall clock follows the file, where libfaketime is installed. */
  #environment(): NodeJS.ProcessEnv {
    const disk = this.disk.environment();
    const base = { ...process.env, NODE_OPTIONS: '', ...disk };
    if (!existsSync(FAKETIME)) return base;
    return {
      ...base,
      LD_PRELOAD: `${disk['LD_PRELOAD']}:${FAKETIME}`,
      FAKETIME_TIMESTAMP_FILE: this.#clock,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Puts its wall clock `seconds` off the true one; it takes up to a second to be felt. */
  stepClock(seconds: number): void {
    writeFileSync(this.#clock, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`);
  }

  /** SIGSTOP: it is silent, and its sockets stay open. */
  pause(): void {
    if (this.#process?.kill('SIGSTOP') === true) this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#process?.kill('SIGCONT');
  }

  /** SIGKILL, as a power cut for the process. Resolves when it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGTERM, and waits for the end; SIGKILL when that takes too long. Returns whether it ended by itself. */
  async terminate(withinMs = 20_000): Promise<boolean> {
    return this.#end('SIGTERM', withinMs);
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM', withinMs?: number): Promise<boolean> {
    const child = this.#process;
    if (child === undefined) return true;
    this.#process = undefined;
    this.#isPaused = false;
    let isInTime = true;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const late = (): void => {
      isInTime = false;
      child.kill('SIGKILL');
    };
    const timer = withinMs === undefined ? undefined : setTimeout(late, withinMs);
    child.kill(signal);
    await gone;
    clearTimeout(timer);
    return isInTime;
  }

  /** For the end of a run: kills the process and forgets its disk. */
  async discard(): Promise<void> {
    await this.kill();
    this.disk[Symbol.dispose]();
  }

  /** The member comes back with nothing. Only while it does not run. */
  wipe(): void {
    if (this.isRunning) throw new Error(`Member ${this.sid} runs: its data cannot be wiped`);
    rmSync(this.data, { recursive: true, force: true });
  }

  /** How it stands by its own word; undefined when it does not answer in time. */
  view(timeoutMs = 1_000): Promise<MemberView | undefined> {
    const { network } = this.#options;
    return new Promise((resolve) => {
      const asked = request(
        {
          host: network.address(this.sid),
          port: ADMIN_PORT,
          path: '/status',
          localAddress: network.controlAddress,
          agent: false,
        },
        (response) => {
          let body = '';
          response.on('data', (chunk: Buffer) => (body += chunk.toString()));
          response.on('error', () => resolve(undefined));
          response.on('end', () => resolve(response.statusCode === 200 ? (JSON.parse(body) as MemberView) : undefined));
        },
      );
      const timer = setTimeout(() => asked.destroy(), timeoutMs);
      asked.on('error', () => resolve(undefined));
      asked.on('close', () => {
        clearTimeout(timer);
        resolve(undefined);
      });
      asked.end();
    });
  }
}
