/**
 * The face for tests: a whole ensemble in this process, on free ports and temporary folders, whose members can be killed
 * and started again. `await using ensemble = await TestEnsemble.start({ size: 3 })`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QuorumPeer } from '@quorate/core';
import { configOf, type KeyName, type KeyValue, type MemberAddress } from './config/index.ts';
import { type Member, startMember } from './member.ts';

export interface TestEnsembleOptions {
  /** Voters. Default 3. */
  readonly size?: number;
  /** Default 0. */
  readonly observers?: number;
  /** Keys of the configuration for every member: shorter timeouts, small limits. */
  readonly config?: Partial<{ readonly [N in KeyName]: KeyValue<N> }>;
  /** A member's core was made from its disk and has taken no event yet. */
  readonly onCore?: (index: number, core: QuorumPeer) => void;
  /** Takes the log lines of all members. Default: none are written. */
  readonly writeLog?: (line: string) => void;
}

interface Place {
  readonly address: MemberAddress;
  readonly directory: string;
  member: Member | undefined;
  core: QuorumPeer | undefined;
}

/** How often a condition is looked at while it is waited for, ms. */
const POLL_MS = 5;

export class TestEnsemble implements AsyncDisposable {
  readonly #options: TestEnsembleOptions;
  readonly #folder: string;
  readonly #places: readonly Place[];
  /** What members reported before they ended by themselves: a test that expects none can look here. */
  readonly failures: string[] = [];

  private constructor(options: TestEnsembleOptions, folder: string, places: readonly Place[]) {
    this.#options = options;
    this.#folder = folder;
    this.#places = places;
  }

  /** Starts all members; resolves when a leader is established and all serve. */
  static async start(options: TestEnsembleOptions = {}): Promise<TestEnsemble> {
    const size = options.size ?? 3;
    const count = size + (options.observers ?? 0);
    const folder = await mkdtemp(join(tmpdir(), 'quorate-test-'));
    const ports = await freePorts(count * 2);
    const places = Array.from({ length: count }, (_, index): Place => {
      const address: MemberAddress = {
        sid: index + 1,
        peer: { host: '127.0.0.1', port: ports[index] ?? 0 },
        observer: index >= size,
        client: { host: '127.0.0.1', port: ports[count + index] ?? 0 },
      };
      return { address, directory: join(folder, `member-${index + 1}`), member: undefined, core: undefined };
    });
    const ensemble = new TestEnsemble(options, folder, places);
    try {
      await Promise.all(places.map((_, index) => ensemble.restart(index)));
      await ensemble.serving();
    } catch (error) {
      await ensemble.stop();
      throw error;
    }
    return ensemble;
  }

  /** Addresses of all members' gRPC ports, for `connect`. */
  get servers(): readonly string[] {
    return this.#places.map(({ address }) => `127.0.0.1:${address.client?.port}`);
  }

  /** Number of members, running or not. */
  get count(): number {
    return this.#places.length;
  }

  /** The member at `index` (sid − 1). Throws when it does not run. */
  member(index: number): Member {
    const member = this.#places[index]?.member;
    if (member === undefined) throw new Error(`Member ${index + 1} does not run`);
    return member;
  }

  /** What the member at `index` holds in memory now, to be looked at or altered: it is another object after a start anew. */
  tree(index: number): QuorumPeer['tree'] {
    this.member(index);
    const core = this.#places[index]?.core;
    if (core === undefined) throw new Error(`Member ${index + 1} has no core yet`);
    return core.tree;
  }

  /** Indexes of the members that run. */
  running(): readonly number[] {
    return this.#places.flatMap(({ member }, index) => (member === undefined ? [] : [index]));
  }

  /** Index of the established leader; waits for one. */
  async leader(): Promise<number> {
    let found = -1;
    await this.until(() => {
      found = this.running().find((index) => this.#isLeader(index)) ?? -1;
      return found >= 0;
    }, 'a leader');
    return found;
  }

  /** Waits until every running member serves and knows a quorum. */
  async serving(): Promise<void> {
    const isUp = (index: number): boolean => {
      const status = this.member(index).status();
      return status !== undefined && status.serving && status.hasQuorum;
    };
    await this.until(() => this.running().every(isUp), 'all members to serve');
  }

  /** Waits until all running members have applied the same history and hold the same tree. Returns its digest. */
  async converged(): Promise<bigint> {
    const marks = (): Set<string> =>
      new Set(
        this.running().map((index) => `${this.member(index).status()?.zxid} ${this.member(index).status()?.digest}`),
      );
    await this.until(() => marks().size === 1, 'all members to hold the same tree');
    return this.member(this.running()[0] ?? 0).status()?.digest ?? 0n;
  }

  /** Drops a member at once: connections end, nothing is said. Its folder stays. */
  async kill(index: number): Promise<void> {
    await this.#take(index).kill();
  }

  /** Stops a member as SIGTERM does. Its folder stays. */
  async stopMember(index: number): Promise<void> {
    await this.#take(index).stop();
  }

  /** The data folder of a member, running or not. */
  directory(index: number): string {
    const place = this.#places[index];
    if (place === undefined) throw new Error(`There is no member ${index + 1}`);
    return place.directory;
  }

  /** Empties the folder of a member that does not run: a new disk. */
  async wipe(index: number): Promise<void> {
    const place = this.#places[index];
    if (place === undefined || place.member !== undefined) throw new Error(`Member ${index + 1} runs, or is none`);
    await rm(place.directory, { recursive: true, force: true });
  }

  /** Starts a member again, with its folder and ports. */
  async restart(index: number): Promise<void> {
    const place = this.#places[index];
    if (place === undefined || place.member !== undefined) throw new Error(`Member ${index + 1} runs, or is none`);
    const { address, directory } = place;
    const config = configOf({
      bind: '127.0.0.1',
      zookeeperPort: 0,
      adminPort: 0,
      logLevel: this.#options.writeLog === undefined ? 'silent' : 'info',
      clusterId: 'test',
      ...this.#options.config,
      ensemble: this.#places.map((other) => other.address),
      sid: address.sid,
      dataDir: directory,
      grpcPort: address.client?.port ?? 0,
    });
    place.member = await startMember(config, {
      onFatal: (reason) => this.failures.push(reason),
      onCore: (core) => {
        place.core = core;
        this.#options.onCore?.(index, core);
      },
      ...(this.#options.writeLog === undefined ? {} : { writeLog: this.#options.writeLog }),
    });
  }

  /** Ends all members and removes their folders. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(this.running().map((index) => this.kill(index)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Waits for a condition. Rejects after 20 s with what was waited for. */
  async until(condition: () => boolean, what: string): Promise<void> {
    const endMs = performance.now() + 20_000;
    while (!condition()) {
      if (performance.now() > endMs) throw new Error(`Waited 20 s for ${what}: ${JSON.stringify(this.#summary())}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  #isLeader(index: number): boolean {
    const status = this.member(index).status();
    return status?.role === 'leading' && status.phase === 'broadcast';
  }

  #take(index: number): Member {
    const member = this.member(index);
    const place = this.#places[index];
    if (place !== undefined) place.member = undefined;
    return member;
  }

  #summary(): unknown {
    return this.#places.map(({ member }) => {
      const status = member?.status();
      if (status === undefined) return member === undefined ? 'down' : 'recovering';
      return `${status.role} ${status.phase} epoch ${status.epoch} zxid ${status.zxid} serving ${status.serving}`;
    });
  }
}

/** Ports that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen({ host: '127.0.0.1', port: 0 }, () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
