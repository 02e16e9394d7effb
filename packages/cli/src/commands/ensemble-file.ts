/**
 * DIR/ensemble.json: who runs, where and as what, kept current for scripts. Two commands may write it at once (the
 * ensemble, and `--only` for a member that had died): each changes only the members that it runs, under a lock, and the
 * file is replaced as a whole, so that a reader never sees half of one.
 */
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ports } from '@quorate/server/config';
import { endpointsOf, type Plan } from './ensemble-plan.ts';

/** What scripts read of one member. */
export interface MemberEntry {
  readonly sid: number;
  /** looking, following, leading, observing; down when it does not run. */
  readonly role: string;
  /** Undefined when it does not run. */
  readonly pid: number | undefined;
  readonly state: 'starting' | 'running' | 'exited' | 'stopped';
  readonly ports: Ports;
  readonly endpoints: Record<keyof Ports, string>;
}

export interface EnsembleFile {
  readonly clusterId: string;
  readonly basePort: number;
  /** sid of the leader; undefined while none is known. */
  readonly leader: number | undefined;
  readonly members: readonly MemberEntry[];
  readonly updatedAt: string;
}

/** A lock this old was left behind by a command that died with it, ms. */
const LOCK_STALE_MS = 2_000;

export class EnsembleFileWriter {
  readonly #plan: Plan;
  readonly #path: string;
  /** The members that this command runs. */
  readonly #own = new Map<number, MemberEntry>();
  #timer: NodeJS.Immediate | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#path = join(plan.directory, 'ensemble.json');
  }

  /** Changes what is said of a member that this command runs. The file follows in the next turn of the loop. */
  set(sid: number, change: Pick<MemberEntry, 'role' | 'pid' | 'state'>): void {
    const ports = this.#plan.members.find((member) => member.sid === sid)?.ports;
    if (ports === undefined) return;
    this.#own.set(sid, { sid, ...change, ports, endpoints: endpointsOf(ports) });
    this.#timer ??= setImmediate(() => this.flush());
  }

  /** Writes now what has changed. */
  flush(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    const unlock = lock(`${this.#path}.lock`);
    try {
      const members = this.#merged();
      const leader = members.find(({ role }) => role === 'leading')?.sid;
      const { clusterId, basePort } = this.#plan;
      const updatedAt = new Date().toISOString();
      const file: EnsembleFile = { clusterId, basePort, leader, members, updatedAt };
      writeFileSync(`${this.#path}.new`, `${JSON.stringify(file, undefined, 2)}\n`);
      renameSync(`${this.#path}.new`, this.#path);
    } finally {
      unlock();
    }
    // A member that has ended may be run by another command from here on.
    for (const [sid, { state }] of this.#own) if (state === 'exited' || state === 'stopped') this.#own.delete(sid);
  }

  /** What others wrote, with our own members over it; a member whose process is gone is down, whoever ran it. */
  #merged(): MemberEntry[] {
    const others = new Map(readEnsembleFile(this.#plan.directory)?.members.map((member) => [member.sid, member]));
    return this.#plan.members.map(({ sid, ports }) => {
      const own = this.#own.get(sid);
      if (own !== undefined) return own;
      const other = others.get(sid);
      if (other !== undefined && (other.pid === undefined || isAlive(other.pid))) return other;
      const state = other === undefined ? 'stopped' : 'exited';
      return { sid, role: 'down', pid: undefined, state, ports, endpoints: endpointsOf(ports) };
    });
  }
}

/** What the file says; undefined when there is none that can be read. */
export function readEnsembleFile(directory: string): EnsembleFile | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, 'ensemble.json'), 'utf8')) as EnsembleFile;
  } catch {
    return undefined;
  }
}

/** True while a process with that id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Held for a few file operations: the others wait in place. */
function lock(path: string): () => void {
  for (;;) {
    try {
      closeSync(openSync(path, 'wx'));
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return () => undefined;
      if (isStale(path)) rmSync(path, { force: true });
    }
  }
}

function isStale(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs > LOCK_STALE_MS;
  } catch {
    return false;
  }
}
