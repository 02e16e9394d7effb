// Threads that run seeds beside each other: the processes of `--jobs`.
import { Worker } from 'node:worker_threads';

export class Pool {
  #idle = [];
  #waiting = [];
  #workers = [];

  constructor(size) {
    for (let i = 0; i < size; i += 1) {
      const worker = new Worker(new URL('worker.mjs', import.meta.url));
      this.#workers.push(worker);
      this.#idle.push(worker);
    }
  }

  /** Runs a seed on an idle thread, or on the first that becomes idle. Rejects when the simulator itself breaks. */
  run(task) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#next();
    });
  }

  async close() {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #next() {
    if (this.#idle.length === 0 || this.#waiting.length === 0) return;
    const worker = this.#idle.pop();
    const { task, resolve, reject } = this.#waiting.shift();
    const broken = (error) =>
      reject(new Error(`Seed ${task.seed} broke the simulator: ${error.message}`, { cause: error }));
    worker.once('error', broken);
    worker.once('message', (result) => {
      worker.off('error', broken);
      this.#idle.push(worker);
      resolve(result);
      this.#next();
    });
    worker.postMessage(task);
  }
}
