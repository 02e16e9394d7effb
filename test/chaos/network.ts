/**
 * A network of its own for one run: a namespace for each member, joined by a bridge that stands in a further namespace,
 * and one foot in the namespace of the runner for clients. Rules that drop, by source and destination, stand in the
 * member's namespace; so traffic between members and that of clients are cut apart. Knows nothing of what runs in it.
 * Needs root, iproute2 and nftables. Everything carries the name of this run, and only that is ever removed.
 */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A sid, or everything that is no member. */
export type End = number | 'clients';

/** Share of packets that are lost on the way from `from` to `to`; 100 cuts it. */
export interface Drop {
  readonly from: End;
  readonly to: End;
  readonly percent: number;
}

let networks = 0;

export class Network {
  readonly name: string;
  readonly #sids: readonly number[];
  readonly #net: string;
  readonly #drops = new Map<number, readonly Drop[]>();
  readonly #slow = new Set<number>();
  #nextId = 1;
  /** Rules are set one after the other: the last caller's view wins. */
  #setting: Promise<unknown> = Promise.resolve();

  private constructor(name: string, net: string, sids: readonly number[]) {
    this.name = name;
    this.#net = net;
    this.#sids = sids;
  }

  /** Makes namespaces and links for `sids`. What a crashed run of the same process id left is removed first. */
  static create(sids: readonly number[]): Network {
    const name = `qc${process.pid}-${++networks}`;
    const network = new Network(name, freeNet(), sids);
    network.remove();
    process.once('exit', () => network.remove());
    const hub = `${name}h`;
    ip(['netns', 'add', hub]);
    ip(['-n', hub, 'link', 'add', 'br0', 'type', 'bridge']);
    ip(['-n', hub, 'link', 'set', 'br0', 'up']);
    ip(['link', 'add', `${name}c`, 'type', 'veth', 'peer', 'name', 'clients', 'netns', hub]);
    ip(['-n', hub, 'link', 'set', 'clients', 'master', 'br0', 'up']);
    for (const address of [network.clientAddress, network.controlAddress]) {
      ip(['addr', 'add', `${address}/24`, 'dev', `${name}c`]);
    }
    ip(['link', 'set', `${name}c`, 'up']);
    for (const sid of sids) {
      const space = network.space(sid);
      ip(['netns', 'add', space]);
      ip(['-n', hub, 'link', 'add', `m${sid}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space]);
      ip(['-n', hub, 'link', 'set', `m${sid}`, 'master', 'br0', 'up']);
      ip(['-n', space, 'addr', 'add', `${network.address(sid)}/24`, 'dev', 'eth0']);
      ip(['-n', space, 'link', 'set', 'eth0', 'up']);
      ip(['-n', space, 'link', 'set', 'lo', 'up']);
    }
    return network;
  }

  /** Name of the member's namespace. */
  space(sid: number): string {
    return `${this.name}m${sid}`;
  }

  address(sid: number): string {
    return `${this.#net}.${10 + sid}`;
  }

  /** Where clients come from. */
  get clientAddress(): string {
    return `${this.#net}.1`;
  }

  /** Where the runner asks members how they stand: never cut. */
  get controlAddress(): string {
    return `${this.#net}.2`;
  }

  /** Drops packets until the returned function is called. */
  async drop(drops: readonly Drop[]): Promise<() => Promise<void>> {
    const id = this.#nextId++;
    this.#drops.set(id, drops);
    await this.#apply();
    return async () => {
      this.#drops.delete(id);
      await this.#apply();
    };
  }

  /** Lets a member send no more than `kbit` a second, so that what it says waits in line, until called back. */
  async slow(sid: number, kbit: number): Promise<() => Promise<void>> {
    this.#slow.add(sid);
    await tc(this.space(sid), ['replace', 'dev', 'eth0', 'root', 'tbf', ...limits(kbit)]);
    return async () => {
      if (this.#slow.delete(sid)) await tc(this.space(sid), ['del', 'dev', 'eth0', 'root']);
    };
  }

  /** Everything flows again. */
  async heal(): Promise<void> {
    this.#drops.clear();
    for (const sid of this.#slow) await tc(this.space(sid), ['del', 'dev', 'eth0', 'root']);
    this.#slow.clear();
    await this.#apply();
  }

  /** Removes what `create` made; idempotent, and never throws. */
  remove(): void {
    const spaces = [`${this.name}h`, ...this.#sids.map((sid) => this.space(sid))];
    const there = new Set(listSpaces());
    for (const space of spaces) if (there.has(space)) quietly(['netns', 'del', space]);
    if (there.has(`${this.name}h`)) quietly(['link', 'del', `${this.name}c`]);
  }

  #apply(): Promise<void> {
    const next = this.#setting.then(async () => {
      for (const sid of this.#sids) await nft(this.space(sid), this.#rules(sid));
    });
    this.#setting = next.catch(() => undefined);
    return next;
  }

  /** All rules of one member's namespace. Packets between members are dropped where they arrive. */
  #rules(sid: number): string {
    const drops = [...this.#drops.values()].flat();
    const rule = (field: string, end: End, percent: number): string => {
      const address = end === 'clients' ? this.clientAddress : this.address(end);
      const chance = percent >= 100 ? '' : `numgen random mod 100 < ${percent} `;
      return `ip ${field} ${address} ${chance}drop`;
    };
    const into = drops.filter(({ to }) => to === sid).map(({ from, percent }) => rule('saddr', from, percent));
    const out = drops
      .filter(({ from, to }) => from === sid && to === 'clients')
      .map(({ percent }) => rule('daddr', 'clients', percent));
    const chain = (hook: string, rules: readonly string[]): string =>
      `chain ${hook} { type filter hook ${hook} priority 0; policy accept; ${rules.join('; ')}${rules.length > 0 ? ';' : ''} }`;
    return `add table ip chaos\ndelete table ip chaos\ntable ip chaos {\n${chain('input', into)}\n${chain('output', out)}\n}\n`;
  }
}

/** A token bucket: packets wait up to 400 ms for their turn, and past that are lost. */
function limits(kbit: number): string[] {
  return ['rate', `${kbit}kbit`, 'burst', '4kb', 'latency', '400ms'];
}

async function nft(space: string, rules: string): Promise<void> {
  const done = run('ip', ['netns', 'exec', space, 'nft', '-f', '-'], { timeout: 30_000 });
  done.child.stdin?.end(rules);
  await done;
}

async function tc(space: string, args: readonly string[]): Promise<void> {
  await run('ip', ['netns', 'exec', space, 'tc', 'qdisc', ...args], { timeout: 30_000 });
}

function ip(args: readonly string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 });
}

function quietly(args: readonly string[]): void {
  try {
    ip(args);
  } catch {
    // Gone already, with the namespace that held its other end.
  }
}

function listSpaces(): string[] {
  return ip(['netns', 'list'])
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '');
}

/** The first three numbers of a network of the block for benchmarks (RFC 2544) that no interface here has. */
function freeNet(): string {
  const taken = ip(['-o', '-4', 'addr', 'show']);
  for (let i = 0; i < 512; i++) {
    const net = `198.${18 + (((process.pid + i) >> 8) & 1)}.${(process.pid + i) & 255}`;
    if (!taken.includes(` ${net}.`)) return net;
  }
  throw new Error('No network of 198.18.0.0/15 is free');
}
