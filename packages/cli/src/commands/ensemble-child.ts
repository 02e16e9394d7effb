/**
 * One member of a local ensemble as a child process: started, told to stop, and what it says about itself. Its log goes to
 * a file. It is in a process group of its own, so that Ctrl-C reaches it once, by way of its parent.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EnsembleError, type Plan, type PlannedMember, serveArguments } from './ensemble-plan.ts';
import { type ChildReport, toReport } from './ensemble-report.ts';

/** src/commands and dist/commands are two levels below the package. */
const BIN = fileURLToPath(new URL('../../bin/quorate.mjs', import.meta.url));

/** A member that has not ended by then is killed, ms: longer than its own grace. */
const KILL_AFTER_MS = 15_000;

export interface ChildEvents {
  report(child: EnsembleChild, report: ChildReport): void;
  /** The process has ended. `wasStopped`: by `stop`. */
  exited(
    child: EnsembleChild,
    how: { readonly code: number | null; readonly signal: string | null; readonly wasStopped: boolean },
  ): void;
}

export class EnsembleChild {
  readonly member: PlannedMember;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  #wasStopped = false;

  constructor(plan: Plan, member: PlannedMember, events: ChildEvents) {
    this.member = member;
    const log = openLog(member.logFile);
    this.#process = spawn(process.execPath, [...process.execArgv, BIN, ...serveArguments(plan, member)], {
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
    });
    closeSync(log);
    this.#process.on('message', (message) => {
      const report = toReport(message);
      if (report !== undefined) events.report(this, report);
    });
    this.#process.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      // 'close' comes after the last message, 'exit' may come before it.
      this.#process.once('close', (code, signal) => {
        resolve();
        events.exited(this, { code, signal, wasStopped: this.#wasStopped });
      });
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Asks it to finish and waits for its end. Idempotent. */
  async stop(): Promise<void> {
    this.#wasStopped = true;
    this.#process.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), KILL_AFTER_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

function openLog(path: string): number {
  try {
    return openSync(path, 'a');
  } catch (error) {
    throw new EnsembleError(`Cannot write ${path}: ${(error as Error).message}`);
  }
}
