/** Clients that die: processes with sessions and ephemerals that are killed, over and over. Their sessions must end. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Random } from '@quorate/sim';

const SCRIPT = fileURLToPath(new URL('departing-clients.mjs', import.meta.url));
const PAUSE_MS = 4_000;

export class Departures {
  /** Sessions that were open when their process was killed. */
  sessions = 0;
  readonly #addresses: readonly string[];
  readonly #random: Random;
  #isStopping = false;
  #running: Promise<void>;
  #wake = (): void => undefined;

  constructor(addresses: readonly string[], random: Random) {
    this.#addresses = addresses;
    this.#random = random;
    this.#running = this.#run();
  }

  /** The last one is killed, too. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let i = 0; !this.#isStopping; i++) {
      const child = spawn(
        'setpriv',
        ['--pdeathsig', 'KILL', process.execPath, SCRIPT, `gone${i}`, ...this.#random.shuffle(this.#addresses)],
        { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NODE_OPTIONS: '' } },
      );
      let open = 0;
      child.stdout?.on('data', (chunk: Buffer) => (open += chunk.toString().split('\n').length - 1));
      await this.#rest(this.#random.between(1_000, 2 * PAUSE_MS));
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      this.sessions += open;
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
