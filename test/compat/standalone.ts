/** A member on its own in this process, for tests of its ZooKeeper port. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Member, startMember } from '@quorate/server';
import { configOf } from '@quorate/server/config';

export type Settings = Parameters<typeof configOf>[0];

export class Standalone implements AsyncDisposable {
  readonly member: Member;
  readonly #folder: string;

  private constructor(member: Member, folder: string) {
    this.member = member;
    this.#folder = folder;
  }

  static async start(settings: Settings = {}): Promise<Standalone> {
    const folder = await mkdtemp(join(tmpdir(), 'quorate-compat-'));
    const ports = { zookeeperPort: 0, grpcPort: 0, adminPort: 0 };
    const config = configOf({ dataDir: join(folder, 'data'), ...ports, logLevel: 'silent', ...settings });
    const member = await startMember(config);
    await member.ready;
    return new Standalone(member, folder);
  }

  get port(): number {
    return this.member.ports.zookeeper;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.member.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
