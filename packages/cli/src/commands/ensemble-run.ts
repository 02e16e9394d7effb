/**
 * A local ensemble while it runs: its children, what they report, and the end. Says on standard output what a person
 * wants to see, and keeps ensemble.json current for scripts. A child that ends by itself is reported; it is started again
 * only with `restart`.
 */
import { basename, relative } from 'node:path';
import { EnsembleChild } from './ensemble-child.ts';
import { EnsembleFileWriter, readEnsembleFile } from './ensemble-file.ts';
import { endpointsOf, type Plan, type PlannedMember } from './ensemble-plan.ts';
import type { ChildReport, Role } from './ensemble-report.ts';

export interface RunOptions {
  readonly plan: Plan;
  /** The members to run here: all, or one. */
  readonly members: readonly PlannedMember[];
  /** Start a child again that ended by itself. */
  readonly restart: boolean;
  readonly print: (line: string) => void;
}

interface Running {
  child: EnsembleChild | undefined;
  role: Role;
  isReady: boolean;
  /** The line that it gave for its end, if it did. */
  failure: string | undefined;
}

const RESTART_PAUSE_MS = 1_000;
/** Without a quorum by then, a line says who is awaited, ms. */
const WAITING_LINE_MS = 10_000;

export class EnsembleRun {
  readonly #options: RunOptions;
  readonly #file: EnsembleFileWriter;
  readonly #running = new Map<number, Running>();
  readonly #finished: { readonly promise: Promise<number>; readonly resolve: (code: number) => void };
  #isReady = false;
  #isStopping = false;
  #waitingTimer: NodeJS.Timeout | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#file = new EnsembleFileWriter(options.plan);
    let resolve: (code: number) => void = () => undefined;
    const promise = new Promise<number>((done) => {
      resolve = done;
    });
    this.#finished = { promise, resolve };
  }

  /** Starts the members. The exit code comes when all have ended. Throws EnsembleError. */
  start(): Promise<number> {
    for (const member of this.#options.members) {
      this.#running.set(member.sid, { child: undefined, role: 'looking', isReady: false, failure: undefined });
      this.#spawn(member);
    }
    this.#waitingTimer = setInterval(() => this.#sayWhoIsAwaited(), WAITING_LINE_MS);
    return this.#finished.promise;
  }

  /** Stops all members and waits for their end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const children = [...this.#running.values()].flatMap(({ child }) => (child === undefined ? [] : [child]));
    await Promise.all(children.map((child) => child.stop()));
    this.#finish(0);
  }

  /** Ends all members at once. */
  kill(): void {
    this.#isStopping = true;
    for (const { child } of this.#running.values()) child?.kill();
  }

  #spawn(member: PlannedMember): void {
    const running = this.#running.get(member.sid);
    if (running === undefined) return;
    running.failure = undefined;
    running.role = 'looking';
    running.child = new EnsembleChild(this.#options.plan, member, {
      report: (child, report) => this.#report(child, running, report),
      exited: (child, how) => this.#exited(child, running, how),
    });
    this.#file.set(member.sid, { role: 'looking', pid: running.child.pid, state: 'starting' });
  }

  #report({ member, pid }: EnsembleChild, running: Running, report: ChildReport): void {
    if (report.kind === 'failed') {
      running.failure = report.message;
      return;
    }
    if (report.kind === 'status') {
      running.role = report.role;
      running.isReady = report.isReady;
    }
    this.#file.set(member.sid, { role: running.role, pid, state: 'running' });
    this.#sayWhenReady();
  }

  /** Ready: all members that run here are. One that could not start was reported, and does not hold the others up. */
  #sayWhenReady(): void {
    const living = [...this.#running.values()].filter(({ child }) => child !== undefined);
    if (!this.#isReady && living.length > 0 && living.every(({ isReady }) => isReady)) this.#ready();
  }

  #exited(
    { member, pid }: EnsembleChild,
    running: Running,
    how: { readonly code: number | null; readonly signal: string | null; readonly wasStopped: boolean },
  ): void {
    const { sid, logFile } = member;
    running.child = undefined;
    running.isReady = false;
    this.#file.set(sid, { role: 'down', pid: undefined, state: how.wasStopped ? 'stopped' : 'exited' });
    if (this.#isStopping) return;
    const { print, plan, restart } = this.#options;
    const why = running.failure ?? (how.signal === null ? `it ended with code ${how.code}` : `${how.signal} ended it`);
    print(`Member ${sid} (pid ${pid}) is down: ${why} (log: ${logFile})`);
    if (restart && this.#isReady) {
      setTimeout(() => this.#isStopping || this.#spawn(member), RESTART_PAUSE_MS);
      return;
    }
    if ([...this.#running.values()].every(({ child }) => child === undefined)) this.#finish(1);
    else {
      print(`  Start it again: ${commandName()} ensemble --only ${sid} --data ${plan.directory}`);
      this.#sayWhenReady();
    }
  }

  #ready(): void {
    this.#isReady = true;
    clearInterval(this.#waitingTimer);
    const { plan, print, members } = this.#options;
    this.#file.flush();
    const roles = new Map(readEnsembleFile(plan.directory)?.members.map(({ sid, role }) => [sid, role]));
    print(row(['member', 'role', 'gRPC', 'peers', 'admin HTTP', 'pid']));
    for (const { sid, ports } of members) {
      const { grpc, peer, admin } = endpointsOf(ports);
      const pid = String(this.#running.get(sid)?.child?.pid ?? '');
      print(row([String(sid), roles.get(sid) ?? '', grpc, peer, admin, pid]));
    }
    const servers = plan.members.map(({ ports }) => endpointsOf(ports).grpc).join(',');
    print(`ready: data in ${plan.directory}; try: ${commandName()} --servers ${servers} create /hello world`);
  }

  #sayWhoIsAwaited(): void {
    const awaited = [...this.#running].filter(([, { isReady }]) => !isReady).map(([sid]) => sid);
    this.#options.print(`Still waiting for member ${awaited.join(', ')}; logs are in ${this.#options.plan.directory}`);
  }

  #finish(code: number): void {
    clearInterval(this.#waitingTimer);
    this.#file.flush();
    this.#finished.resolve(code);
  }
}

/** How the person who started this can call the command: not by way of npx, which asks the registry where it is not installed. */
function commandName(): string {
  const script = process.argv[1] ?? 'quorate';
  return basename(script) === 'quorate' ? 'quorate' : `node ${relative(process.cwd(), script)}`;
}

const WIDTHS = [8, 11, 17, 17, 17, 0];

function row(cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0))
    .join('')
    .trimEnd();
}
