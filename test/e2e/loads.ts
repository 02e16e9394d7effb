/** Loads on a few znodes that all writers share, as sharp on counters, versions and stats as writes can be. Judges nothing. */
import { type Client, CoordinationError } from '@quorate/client';

/** Creates, sets, deletes and sequential creates below `parent` by several loops at once. Any outcome will do. */
export class MixedLoad {
  /** Writes that were acknowledged. */
  acknowledged = 0;
  readonly #client: Client;
  readonly #parent: string;
  #isOver = false;
  #running: Promise<unknown>;

  constructor(client: Client, parent: string, loops = 8) {
    this.#client = client;
    this.#parent = parent;
    this.#running = Promise.all(Array.from({ length: loops }, (_, i) => this.#run(i)));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(loop: number): Promise<void> {
    const patient = { timeoutMs: 20_000 };
    for (let i = loop; !this.#isOver; i++) {
      const path = `${this.#parent}/${i % 5}`;
      const steps = [
        () => this.#client.create(path, `made ${i}`, patient),
        () => this.#client.set(path, `set ${i}`, patient),
        () => this.#client.create(`${path}/n-`, `${i}`, { sequential: true, ...patient }),
        () => this.#client.set(path, `set again ${i}`, patient),
        async () => {
          for (const name of await this.#client.children(path, patient)) {
            await this.#client.delete(`${path}/${name}`, patient);
          }
          await this.#client.delete(path, patient);
        },
      ];
      await this.#try(steps[Math.floor(i / 5) % steps.length]);
    }
  }

  async #try(step: (() => Promise<unknown>) | undefined): Promise<void> {
    try {
      await step?.();
      this.acknowledged++;
    } catch (error) {
      // Loops are in each other's way, and members are killed: both are meant.
      if (!(error instanceof CoordinationError)) throw error;
    }
  }
}
