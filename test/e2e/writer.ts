/**
 * A client that writes without pause and remembers exactly what it was told: every acknowledged create with the moments
 * of its sending and of its answer. One write at a time, so that the next acknowledgement after a fault tells how long the
 * fault was felt.
 */
import { type Client, CoordinationError } from '@quorate/client';

export interface Acknowledged {
  readonly path: string;
  readonly sentAt: number;
  readonly ackedAt: number;
}

export class Writer {
  readonly acknowledged: Acknowledged[] = [];
  /** Paths whose outcome is not known: they may be there or not. */
  readonly unknown: string[] = [];
  readonly refused: string[] = [];
  readonly #client: Client;
  readonly #prefix: string;
  #count = 0;
  #isStopping = false;
  #running: Promise<void> | undefined;

  constructor(client: Client, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const path = `${this.#prefix}${String(this.#count++).padStart(7, '0')}`;
      const sentAt = performance.now();
      try {
        await this.#client.create(path, path, { timeoutMs: 20_000 });
        this.acknowledged.push({ path, sentAt, ackedAt: performance.now() });
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        (error.outcome === 'unknown' ? this.unknown : this.refused).push(path);
      }
    }
  }

  /** The first write sent after `moment` and acknowledged, once there is one. */
  firstAfter(moment: number): Acknowledged | undefined {
    return this.acknowledged.find(({ sentAt }) => sentAt >= moment);
  }

  /** The first acknowledgement that came after `moment` for a write that was not already on its way back then. */
  firstAckAfter(moment: number): Acknowledged | undefined {
    return this.acknowledged.find(({ ackedAt }) => ackedAt >= moment + 2);
  }
}
