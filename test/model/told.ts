/** What a watch told, in the words of the model. */
import type { Watch } from '@quorate/client';
import { toZxid } from '@quorate/protocol';
import type { ModelChange } from './reference.ts';

export class Told {
  readonly watch: Watch;
  readonly #done: Promise<void>;
  #changes: ModelChange[] = [];
  #fault: Error | undefined;

  constructor(watch: Watch) {
    this.watch = watch;
    this.#done = this.#listen().catch((error: unknown) => {
      this.#fault = new Error('The watch ended', { cause: error });
    });
  }

  get ready(): Promise<void> {
    return this.watch.ready;
  }

  /** The changes since the last time. */
  take(): ModelChange[] {
    if (this.#fault !== undefined) throw this.#fault;
    const taken = this.#changes;
    this.#changes = [];
    return taken;
  }

  async stop(): Promise<void> {
    await this.watch[Symbol.asyncDispose]();
    await this.#done;
  }

  async #listen(): Promise<void> {
    for await (const event of this.watch) {
      if (event.type === 'ready' || event.type === 'current') continue;
      if (event.type === 'gap') throw new Error(`A gap after ${event.afterZxid}, though nobody was away for long`);
      const kind = event.type === 'changed' ? 'dataChanged' : event.type;
      this.#changes.push({ kind, path: event.path, zxid: toZxid(event.zxid) });
    }
  }
}
