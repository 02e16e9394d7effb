/**
 * Many clients at the same few members, each with a session, an ephemeral and a register that it sets without pause. Every set
 * must raise the register's version by exactly one, so a lost or doubled write shows at once; every failed call, every change of
 * a session's state and the time between two acknowledgements is kept. Clients that may move have every address, and may do so once.
 */
import { type Client, connect } from '@quorate/client';

interface Acknowledged {
  readonly value: number;
  readonly at: number;
  readonly zxid: bigint;
}

class Setter {
  readonly client: Client;
  readonly #path: string;
  readonly #faults: string[];
  readonly acknowledged: Acknowledged[] = [];
  /** The states of its session after the first, which a client that stays has none of. */
  readonly states: string[] = [];
  #version: number;
  #isOver = false;
  #running: Promise<void> | undefined;

  constructor(client: Client, path: string, version: number, faults: string[], mayMove: boolean) {
    this.client = client;
    this.#path = path;
    this.#version = version;
    this.#faults = faults;
    client.session.onChange((state) => {
      if (this.#isOver) return;
      this.states.push(state.state);
      const isMove = mayMove && ['suspended', 'suspended,connected'].includes(this.states.join());
      if (!isMove) faults.push(`${path}: the session is ${JSON.stringify(state)}`);
    });
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Ends the loop, checks the register and the ephemeral, and closes the session. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    const last = this.acknowledged.at(-1)?.value ?? -1;
    const { stat, ...znode } = await this.client.get(this.#path, { consistency: 'linearizable' });
    const text = new TextDecoder().decode(znode.data);
    if (text !== String(last)) this.#faults.push(`${this.#path}: holds ${text}, acknowledged was ${last}`);
    if (stat.version !== this.#version)
      this.#faults.push(`${this.#path}: version ${stat.version}, not ${this.#version}`);
    const ephemeral = await this.client.stat(`${this.#path}/alive`);
    if (ephemeral === undefined) this.#faults.push(`${this.#path}: its ephemeral is gone`);
    await this.client.close();
  }

  async #run(): Promise<void> {
    for (let value = 0; !this.#isOver; value++) {
      try {
        const { version, mzxid: zxid } = await this.client.set(this.#path, String(value), { timeoutMs: 20_000 });
        if (version !== this.#version + 1)
          this.#faults.push(`${this.#path}: version ${version} after ${this.#version}`);
        this.#version = version;
        const before = this.acknowledged.at(-1)?.zxid ?? 0n;
        if (zxid <= before)
          this.#faults.push(`${this.#path}: zxid 0x${zxid.toString(16)} after 0x${before.toString(16)}`);
        this.acknowledged.push({ value, at: performance.now(), zxid });
      } catch (error) {
        this.#faults.push(`${this.#path}: ${String(error)}`);
        return;
      }
    }
  }
}

export class Crowd {
  /** What must not be: failed calls, changed sessions, lost or doubled writes. */
  readonly faults: string[] = [];
  readonly #setters: Setter[] = [];

  /**
   * `count` clients, spread over `addresses`, one address each, or all when they may move; `name` is the parent of their
   * registers.
   */
  static async start(addresses: readonly string[], name: string, count = 20, mayMove = false): Promise<Crowd> {
    const crowd = new Crowd();
    await using first = await connect(addresses);
    await first.create(name);
    const join = async (_: unknown, i: number): Promise<void> => {
      const client = await connect(mayMove ? addresses : (addresses[i % addresses.length] ?? ''));
      const path = `${name}/${i}`;
      const { stat } = await client.create(path, '');
      await client.create(`${path}/alive`, '', { mode: 'ephemeral' });
      crowd.#setters.push(new Setter(client, path, stat.version, crowd.faults, mayMove));
    };
    await Promise.all(Array.from({ length: count }, join));
    for (const setter of crowd.#setters) setter.start();
    return crowd;
  }

  /** Writes acknowledged so far. */
  get written(): number {
    return this.#setters.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  }

  /** Clients whose session is attached to the member at `address`. */
  countAt(address: string): number {
    return this.#setters.filter(
      ({ client: { session } }) => 'server' in session.current && session.current.server === address,
    ).length;
  }

  /** Clients that have moved to another member. */
  get moved(): number {
    return this.#setters.filter(({ states }) => states.length > 0).length;
  }

  /** True once every client has had an acknowledgement after `moment`. */
  hasWrittenSince(moment: number): boolean {
    return this.#setters.every(({ acknowledged }) => (acknowledged.at(-1)?.at ?? 0) > moment);
  }

  /**
   * The longest time that each client went without an acknowledgement, of all that ended between the two moments: how long the
   * fault between them was felt.
   */
  pauses(from: number, to: number): number[] {
    return this.#setters.map(({ acknowledged }) => {
      let longest = 0;
      for (let i = acknowledged.length - 1; i > 0; i--) {
        const [before, after] = [acknowledged[i - 1]?.at ?? 0, acknowledged[i]?.at ?? 0];
        if (after < from) break;
        if (before <= to) longest = Math.max(longest, after - before);
      }
      return longest;
    });
  }

  /** The zxids of all acknowledged writes, in no order. */
  get zxids(): bigint[] {
    return this.#setters.flatMap(({ acknowledged }) => acknowledged.map(({ zxid }) => zxid));
  }

  /** How long each client waited between the last write of an epoch and its first of the next, epoch by epoch. */
  pausesByEpoch(): Map<bigint, number[]> {
    const pauses = new Map<bigint, number[]>();
    for (const { acknowledged } of this.#setters) {
      acknowledged.forEach(({ zxid, at }, i) => {
        const before = acknowledged[i - 1];
        if (before === undefined || before.zxid >> 32n === zxid >> 32n) return;
        pauses.set(zxid >> 32n, [...(pauses.get(zxid >> 32n) ?? []), at - before.at]);
      });
    }
    return pauses;
  }

  async finish(): Promise<void> {
    await Promise.all(this.#setters.map((setter) => setter.finish()));
  }
}
