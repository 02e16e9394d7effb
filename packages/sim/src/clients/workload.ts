/**
 * What clients do: writes and reads over a small set of znodes that everybody fights over, sequential znodes, ephemerals,
 * conditional changes with versions that may be old. Every write that carries data carries a value of its own, by
 * which it can be found in the history. All drawn from the seed.
 */
import { type Op, TTL_MAX_MS, unreachable, type WriteOp } from '@quorate/protocol';
import type { ClientKnobs } from '../knobs.ts';
import type { Random } from '../random.ts';
import type { Reply } from './front.ts';

/** The parent of everything; also the queue of sequential znodes. */
export const ROOT = '/w';
export const QUEUE = '/w/q';

export interface Draw {
  readonly op: Op;
  readonly linearizable: boolean;
}

/** One client's mind: what it knows of versions and names, and what it will do next. */
export class Workload {
  readonly #random: Random;
  readonly #name: string;
  readonly #paths: readonly string[];
  readonly #hasSession: boolean;
  /** How often a read asks to be linearizable. */
  readonly #linearizableChance: number;
  readonly #valueBytesMax: number;
  /** The last version seen of a path. */
  readonly #versions = new Map<string, number>();
  /** Znodes that this client has created in the queue. */
  readonly #own: string[] = [];
  #values = 0;
  #begun = 0;

  constructor(
    random: Random,
    options: { readonly name: string; readonly knobs: ClientKnobs; readonly hasSession: boolean },
  ) {
    this.#random = random;
    this.#name = options.name;
    this.#hasSession = options.hasSession;
    this.#valueBytesMax = options.knobs.valueBytesMax;
    this.#linearizableChance = options.hasSession ? 0.25 : 0.6;
    this.#paths = Array.from({ length: options.knobs.contended }, (_, index) => `${ROOT}/c${index}`);
  }

  /** The next call. The first ones make the parents, which others may have made already. */
  next(): Draw {
    this.#begun += 1;
    if (this.#begun === 1) return { op: this.#create(ROOT, false, false), linearizable: false };
    if (this.#begun === 2) return { op: this.#create(QUEUE, false, false), linearizable: false };
    return { op: this.#draw(), linearizable: this.#random.chance(this.#linearizableChance) };
  }

  /** Takes what an answer teaches. */
  learn(op: Op, reply: Reply): void {
    if (reply.kind !== 'answer') return;
    const { result } = reply.answer;
    if (result.kind === 'error' || !('stat' in result)) return;
    const path = result.kind === 'create' ? result.path : 'path' in op ? op.path : '';
    this.#versions.set(path, result.stat.version);
    if (result.kind === 'create' && path.startsWith(`${QUEUE}/`)) this.#own.push(path);
    if (result.kind === 'getChildren' && path === QUEUE) {
      const name = result.children[this.#random.between(0, Math.max(0, result.children.length - 1))];
      if (name !== undefined) this.#own.push(`${QUEUE}/${name}`);
    }
  }

  #draw(): Op {
    const random = this.#random;
    const kind = random.weighted({
      create: 14,
      sequential: 14,
      child: 4,
      setData: 18,
      delete: 10,
      deleteOwn: 8,
      getData: 14,
      exists: 6,
      getChildren: 6,
      sync: 6,
      bad: 1,
    });
    const path = random.pick(this.#paths);
    switch (kind) {
      case 'create':
        return this.#create(path, random.chance(0.3), false);
      case 'sequential':
        return this.#create(`${QUEUE}/${random.pick(['a-', 'b-', ''])}`, random.chance(0.4), true);
      case 'child':
        return this.#create(`${path}/x`, false, false);
      case 'setData':
        return {
          kind: 'setData',
          path: this.#anyPath(path),
          data: this.#value(),
          expectedVersion: this.#version(path),
        };
      case 'delete':
        return { kind: 'delete', path: random.chance(0.2) ? `${path}/x` : path, expectedVersion: this.#version(path) };
      case 'deleteOwn':
        return { kind: 'delete', path: this.#own.shift() ?? path, expectedVersion: undefined };
      case 'getData':
      case 'exists':
        return { kind, path: this.#anyPath(path) };
      case 'getChildren':
        return { kind, path: random.pick([ROOT, QUEUE, path]) };
      case 'sync':
        return { kind, path };
      case 'bad':
        return this.#create(`${path}/${random.pick(['', '.', '../x', '\u0000'])}`, false, false);
      default:
        return unreachable(kind);
    }
  }

  #create(path: string, isEphemeral: boolean, sequential: boolean): WriteOp {
    const data = this.#random.chance(0.05) ? undefined : this.#value();
    if (isEphemeral && this.#hasSession) return { kind: 'create', path, data, mode: 'ephemeral', sequential };
    // A TTL that no run lives to see: that the ensemble deletes a znode by itself is not in what clients are checked against.
    if (this.#values % 5 === 0) return { kind: 'create', path, data, mode: 'ttl', ttlMs: TTL_MAX_MS, sequential };
    return { kind: 'create', path, data, mode: 'persistent', sequential };
  }

  #anyPath(path: string): string {
    const own = this.#own[0];
    return own !== undefined && this.#random.chance(0.2) ? own : path;
  }

  /** Half of the time no version, else the one seen last, seldom a wrong one. */
  #version(path: string): number | undefined {
    const seen = this.#versions.get(path);
    if (seen === undefined || this.#random.chance(0.5)) return undefined;
    return this.#random.chance(0.1) ? seen + 1 : seen;
  }

  #value(): Uint8Array {
    this.#values += 1;
    const padding = this.#random.chance(0.1) ? '.'.repeat(this.#random.between(1, this.#valueBytesMax)) : '';
    return asciiBytes(`${this.#name}:${this.#values}${padding}`);
  }
}

function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
