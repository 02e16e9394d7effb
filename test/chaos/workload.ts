/**
 * What clients do during a run: registers, a shared parent with sequential creates, ephemerals, and the side channel of
 * C047. Each loop goes on through failures until told to stop. Locks: locks.ts. Judges nothing.
 */
import type { Random } from '@quorate/sim';
import type { Recording, RecordingClient } from './recording-client.ts';

/** Registers of one generation. */
const REGISTERS = 5;
/** A new set of registers this often, so that the history of one stays short enough to be checked in full. */
const GENERATION_MS = 15_000;

export const PARENTS = ['/r', '/q', '/e', '/l', '/f', '/s'] as const;

/** Loops that run until `stop`; what one of them throws comes out of `stop`. */
export class Loops {
  #isStopping = false;
  readonly #running: Promise<void>[] = [];
  /** Pause between two calls of a loop, ms, mean. */
  readonly #pauseMs: number;
  readonly #random: Random;

  constructor(random: Random, pauseMs: number) {
    this.#random = random;
    this.#pauseMs = pauseMs;
  }

  add(step: () => Promise<void>): void {
    this.#running.push(this.#run(step));
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  async #run(step: () => Promise<void>): Promise<void> {
    while (!this.#isStopping) {
      await step();
      await this.pause();
    }
  }

  async pause(): Promise<void> {
    const ms = this.#random.between(0, 2 * this.#pauseMs);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }
}

/** The paths of the registers in use, made as time goes. */
export class Registers {
  readonly paths: string[] = [];
  readonly #maker: RecordingClient;
  #making: Promise<void> = Promise.resolve();
  #current: string[] = [];
  #generation = 0;
  #madeAt = Number.NEGATIVE_INFINITY;

  constructor(maker: RecordingClient) {
    this.#maker = maker;
  }

  /** Makes the next generation when it is time. */
  async renew(): Promise<void> {
    if (performance.now() - this.#madeAt < GENERATION_MS) return this.#making;
    this.#madeAt = performance.now();
    this.#making = this.#make(this.#generation++);
    return this.#making;
  }

  async #make(generation: number): Promise<void> {
    const next: string[] = [];
    this.#current = next;
    for (let i = 0; i < REGISTERS; i++) {
      const path = `/r/${generation}-${i}`;
      if ((await this.#maker.create(path, `${path}=new`)) === undefined) return;
      next.push(path);
      this.paths.push(path);
    }
  }

  pick(random: Random): string | undefined {
    return this.#current.length === 0 ? undefined : random.pick(this.#current);
  }
}

/** One register operation: sets, sets that expect what was read, reads of both kinds, and sync with a read. */
export function registerStep(client: Recording, registers: Registers, random: Random): () => Promise<void> {
  let count = 0;
  const next = (): string => `${client.name}.${count++}`;
  return async () => {
    const path = registers.pick(random);
    if (path === undefined) return;
    switch (random.weighted({ set: 25, conditional: 20, read: 30, linearizable: 25 })) {
      case 'set':
        await client.set(path, next());
        break;
      case 'conditional': {
        const read = await client.get(path, { linearizable: random.chance(0.5) });
        if (read !== undefined) await client.set(path, next(), { expected: read.version });
        break;
      }
      case 'read':
        await client.get(path);
        break;
      case 'linearizable':
        await client.get(path, { linearizable: true });
        break;
    }
  };
}

/** One sequential create in the parent that all share. */
export function queueStep(client: RecordingClient): () => Promise<void> {
  let count = 0;
  return async () => {
    await client.create('/q/n-', `${client.name}.${count++}`, { sequential: true });
  };
}

/** Ephemerals of one client: makes some, looks whether they are there, deletes some. */
export function ephemeralStep(client: RecordingClient, random: Random): () => Promise<void> {
  const mine: string[] = [];
  let count = 0;
  return async () => {
    const some = mine.length === 0 ? undefined : random.pick(mine);
    if (some === undefined || (mine.length < 4 && random.chance(0.5))) {
      const path = `/e/${client.name}-${count++}`;
      if ((await client.create(path, path, { ephemeral: true })) !== undefined) mine.push(path);
    } else if (random.chance(0.3)) {
      mine.splice(mine.indexOf(some), 1);
      await client.delete(some);
    } else if ((await client.exists(some)) === false) {
      mine.splice(mine.indexOf(some), 1);
    }
  };
}

/** A round of the side channel that is done: what was told, and what the reader then saw. */
export interface SideChannelRound {
  readonly path: string;
  readonly how: 'sync' | 'linearizable';
  readonly told: number;
  readonly seen: number;
  readonly at: number;
}

/**
 * C047: the writer writes n and waits for the answer, then tells the reader, which reads at another member after a sync,
 * or with a linearizable read. Rounds in which the write or the read did not succeed are not counted.
 */
export function sideChannelStep(
  writer: RecordingClient,
  reader: RecordingClient,
  path: string,
  rounds: SideChannelRound[],
  random: Random,
): () => Promise<void> {
  let n = 0;
  return async () => {
    n += 1;
    const written = n === 1 ? await writer.create(path, '1') : await writer.set(path, String(n));
    if (written === undefined) {
      // Whether it is there now nobody knows; if it is not, begin anew.
      if (n === 1 && (await writer.exists(path)) === false) n = 0;
      return;
    }
    const how = random.chance(0.5) ? 'sync' : 'linearizable';
    if (how === 'sync' && (await reader.sync()) === undefined) return;
    const read = await reader.get(path, { linearizable: how === 'linearizable' });
    if (read !== undefined) rounds.push({ path, how, told: n, seen: Number(read.value), at: performance.now() });
  };
}
