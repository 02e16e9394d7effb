/** Disks that are full: a file system of its own under each member's folder, filled to the last byte and freed again. */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, connect, isCode, memberStatus } from '@quorate/client';
import { describe, expect, it } from 'vitest';
import { SmallDisk } from '../faulty-disk/small-disk.ts';
import { digestsAtOneZxid, missing } from './checks.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';
import { told } from './member-log.ts';
import { Writer } from './writer.ts';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));

const MIB = 1024 * 1024;

/** Three members, each on a disk of 64 MiB, and writers that never pause. */
class Rig implements AsyncDisposable {
  readonly data = realpathSync(mkdtempSync(join(tmpdir(), 'quorate-full-')));
  readonly disks = new Map([1, 2, 3].map((sid) => [sid, new SmallDisk(join(this.data, `member-${sid}`), 64 * MIB)]));
  readonly writers: Writer[] = [];
  ensemble!: EnsembleProcess;
  #client: Client | undefined;

  static async start(): Promise<Rig> {
    const rig = new Rig();
    rig.ensemble = await EnsembleProcess.start({ members: 3, data: rig.data });
    rig.#client = await connect(rig.ensemble.addresses);
    await rig.#client.create('/w');
    return rig;
  }

  load(prefix: string): void {
    for (let i = 0; i < 8; i++) {
      const writer = new Writer(this.#client!, `/w/${prefix}-${i}-`);
      this.writers.push(writer);
      writer.start();
    }
  }

  get written(): number {
    return this.writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  }

  async moreWrites(what: string): Promise<void> {
    const before = this.written;
    await until(what, () => this.written >= before + 50);
  }

  /** Fills the disks of those members and waits until each has said so. */
  async fill(...sids: number[]): Promise<void> {
    const before = sids.map((sid) => this.count(sid, 'diskFailed'));
    for (const sid of sids) this.disks.get(sid)!.fill();
    for (const [i, sid] of sids.entries()) {
      await until(`member ${sid} to say that its disk is full`, () => this.count(sid, 'diskFailed') > before[i]!);
    }
  }

  /** Frees the disks and waits until the members take part again. Nothing else is done for them. */
  async free(...sids: number[]): Promise<void> {
    for (const sid of sids) this.disks.get(sid)!.free();
    for (const sid of sids) {
      const status = (): Promise<{ hasQuorum: boolean } | undefined> =>
        memberStatus(this.ensemble.address(sid)).catch(() => undefined);
      await until(`member ${sid} to take part`, async () => (await status())?.hasQuorum);
    }
  }

  /** Waits until the members have looked whether their disks work again, and found that they do not. */
  async triedInVain(...sids: number[]): Promise<void> {
    for (const sid of sids) {
      const isTold = (): boolean => {
        const names = told(this.data, sid);
        return names.lastIndexOf('diskStillFails') > names.lastIndexOf('diskFailed');
      };
      await until(`member ${sid} to try its disk in vain`, isTold);
    }
  }

  count(sid: number, name: string): number {
    return told(this.data, sid).filter((one) => one === name).length;
  }

  async check(): Promise<void> {
    for (const writer of this.writers) await writer.stop();
    const acknowledged = this.writers.flatMap((writer) => writer.acknowledged.map(({ path }) => path));
    const unknown = this.writers.flatMap((writer) => writer.unknown);
    const refused = this.writers.flatMap((writer) => writer.refused);
    expect(await missing(this.ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(this.ensemble.addresses)).size).toBe(1);
    const there = new Set((await this.#client!.children('/w')).map((name) => `/w/${name}`));
    expect(refused.filter((path) => there.has(path))).toEqual([]);
    console.log(`${acknowledged.length} acknowledged, ${unknown.length} unknown, ${refused.length} refused`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const disk of this.disks.values()) disk.free();
    for (const writer of this.writers) void writer.stop();
    await this.#client?.close();
    await this.ensemble.stop();
    for (const disk of this.disks.values()) disk[Symbol.dispose]();
    rmSync(this.data, { recursive: true, force: true });
  }
}

describe('C056: a full disk', () => {
  it('of a follower, then of the leader: the others go on, reads are served, and it comes back by itself', async () => {
    await using rig = await Rig.start();
    const { ensemble } = rig;
    rig.load('one');
    for (const role of ['follower', 'leader']) {
      const leader = await ensemble.leader();
      const victim = role === 'leader' ? leader : ensemble.sids.find((sid) => sid !== leader)!;
      await using reader = await connect(ensemble.address(victim), { sessionTimeoutMs: 40_000 });
      await rig.fill(victim);
      const fullAt = performance.now();
      await rig.moreWrites('the others to go on');
      expect((await reader.children('/w')).length).toBeGreaterThan(0);
      // It is told to go elsewhere, and knows of no other member: in its time there is none that takes the write.
      const refused = await reader.create('/no', '', { timeoutMs: 2_000 }).catch((error: unknown) => error);
      expect(isCode(refused, 'TIMEOUT')).toBe(true);
      const status = await memberStatus(ensemble.address(victim));
      expect(status).toMatchObject({ role: 'looking', hasQuorum: false });
      expect(status.diskFailed).toContain('No space left on device');
      expect(rig.count(victim, 'diskSpaceLow')).toBe(1);
      await rig.triedInVain(victim);
      await rig.moreWrites('the others to go on');
      const pauses = rig.writers.map((writer) => (writer.firstAfter(fullAt)?.ackedAt ?? Number.NaN) - fullAt);
      console.log(`${role} full: next writes acknowledged after ${pauses.map(Math.round).join(' ')} ms`);
      await rig.free(victim);
      expect(await ensemble.leader()).not.toBe(victim);
    }
    await rig.moreWrites('all to go on');
    await rig.check();
  });

  it('of all members: nothing is acknowledged, reads go on, and when space is freed all come back without hands', async () => {
    await using rig = await Rig.start();
    const { ensemble } = rig;
    const [one, two, three] = ensemble.sids as [number, number, number];
    await using reader = await connect(ensemble.address(one), { sessionTimeoutMs: 40_000 });
    rig.load('all');
    await rig.moreWrites('some writes');
    await rig.fill(one, two, three);
    const before = rig.written;
    expect((await reader.children('/w')).length).toBeGreaterThanOrEqual(before);
    await rig.triedInVain(one, two, three);
    expect(rig.written).toBe(before);
    await rig.free(one, two, three);
    await rig.moreWrites('the writes to go on');
    await rig.check();
    for (const sid of ensemble.sids) expect(rig.count(sid, 'failed')).toBe(0);
  });

  it('does not keep a member from stopping on SIGTERM', async () => {
    await using rig = await Rig.start();
    const { ensemble } = rig;
    const leader = await ensemble.leader();
    const victim = ensemble.sids.find((sid) => sid !== leader)!;
    rig.load('stop');
    await rig.fill(victim);
    const { pid } = ensemble.member(victim);
    process.kill(pid!, 'SIGTERM');
    await until('the end of the member', () => !isAlive(pid!), 15_000);
    expect(told(rig.data, victim)).toContain('stopped');
    await rig.moreWrites('the others to go on');
    rig.disks.get(victim)!.free();
    await ensemble.restart(victim);
    await rig.check();
  });

  it('at a start is one clear line and exit code 1, and the data is as it was', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quorate-full-')));
    using disk = new SmallDisk(join(folder, 'data'), 32 * MIB);
    const first = await serve(disk.directory, true);
    expect(first.code).toBe(0);
    disk.fill();
    const full = await serve(disk.directory, false);
    expect(full).toMatchObject({ code: 1 });
    expect(full.errors.trim().split('\n')).toHaveLength(1);
    expect(full.errors).toContain('No space left on device');
    disk.free();
    expect((await serve(disk.directory, true)).code).toBe(0);
  });
});

/** Runs a single member to its end; `stop`: ends it with SIGTERM as soon as it listens. */
async function serve(dataDir: string, stop: boolean): Promise<{ code: number | null; errors: string }> {
  const ports = ['--zookeeper-port', '0', '--grpc-port', '0', '--admin-port', '0'];
  const child = spawn(process.execPath, [BIN, 'serve', '--data-dir', dataDir, ...ports], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  if (stop) {
    await until('the member to listen', () => errors.includes('listens'));
    child.kill('SIGTERM');
  }
  await until('the end of the member', () => child.exitCode !== null);
  return { code: child.exitCode, errors };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
