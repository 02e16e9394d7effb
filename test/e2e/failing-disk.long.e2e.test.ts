/** Writes and syncs that fail while members run: a shim in front of libc says which (test/faulty-disk). */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, memberStatus } from '@quorate/client';
import { describe, expect, it } from 'vitest';
import { FaultyDisk } from '../faulty-disk/faulty-disk.ts';
import { Command, freePorts } from '../server/command.ts';
import { digestsAtOneZxid, missing } from './checks.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';
import { told } from './member-log.ts';
import { Writer } from './writer.ts';

/** Three members whose files are behind the shim. */
class Rig implements AsyncDisposable {
  readonly data = realpathSync(mkdtempSync(join(tmpdir(), 'quorate-disk-')));
  readonly disk = new FaultyDisk(this.data);
  ensemble!: EnsembleProcess;

  static async start(mark?: string, settings: Readonly<Record<string, string>> = {}): Promise<Rig> {
    const rig = new Rig();
    const environment = { ...rig.disk.environment(mark), ...settings };
    rig.ensemble = await EnsembleProcess.start({ members: 3, data: rig.data, environment });
    return rig;
  }

  told(sid: number): string[] {
    return told(this.data, sid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disk.clear();
    await this.ensemble.stop();
    this.disk[Symbol.dispose]();
    rmSync(this.data, { recursive: true, force: true });
  }
}

describe('a write that fails once', () => {
  it.each(['follower', 'leader'] as const)(
    'C057: on a %s: the member leaves, comes back from its disk without a gap, and nothing acknowledged is lost',
    async (role) => {
      await using rig = await Rig.start();
      const { ensemble, disk } = rig;
      const leader = await ensemble.leader();
      const victim = role === 'leader' ? leader : ensemble.sids.find((sid) => sid !== leader)!;
      await using client = await connect(ensemble.addresses);
      await client.create('/w');
      const writers = Array.from({ length: 8 }, (_, i) => new Writer(client, `/w/${i}-`));
      for (const writer of writers) writer.start();
      const written = (): number => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
      await until('100 writes', () => written() >= 100);
      disk.set({ op: 'write', what: 'EIO', after: 20, times: 1, part: `member-${victim}/log/` });
      await until('the failure is told', () => rig.told(victim).includes('diskFailed'));
      disk.clear();
      const before = written();
      await until('the load goes on', () => written() >= before + 100);
      await until('the disk is opened anew', () => rig.told(victim).includes('diskMended'));
      await until('it follows again', async () => (await memberStatus(ensemble.address(victim))).hasQuorum);
      const back = written();
      await until('the load goes on with it', () => written() >= back + 100);
      for (const writer of writers) await writer.stop();
      ensemble.kill(victim);
      await ensemble.gone(victim);
      await ensemble.restart(victim);
      const acknowledged = writers.flatMap((writer) => writer.acknowledged.map(({ path }) => path));
      expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
      expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
      expect(rig.told(victim).filter((name) => name === 'diskFailed')).toHaveLength(1);
      expect(rig.told(victim)).not.toContain('failed');
    },
  );
});

describe('a disk that is full only while a checkpoint is written', () => {
  it('C056: no half checkpoint counts: the member comes back from what it had, also after SIGKILL', async () => {
    await using rig = await Rig.start('', { QUORATE_CHECKPOINT_TXNS: '200' });
    const { ensemble, disk } = rig;
    const leader = await ensemble.leader();
    const victim = ensemble.sids.find((sid) => sid !== leader)!;
    await using client = await connect(ensemble.address(leader));
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    const failures = (): number => rig.told(victim).filter((name) => name === 'diskFailed').length;
    await until('a checkpoint', () => rig.told(victim).includes('checkpointWritten'));
    disk.set({ op: 'write', what: 'ENOSPC', part: `member-${victim}/state-` });
    await until('a checkpoint that fails', () => failures() >= 1);
    // It opens its disk anew in vain, or comes back and fails at the next checkpoint; the others go on.
    const before = writer.acknowledged.length;
    await until('the others to go on', () => writer.acknowledged.length >= before + 300);
    ensemble.kill(victim);
    await ensemble.gone(victim);
    disk.clear();
    await ensemble.restart(victim);
    await until(
      'another checkpoint',
      () => rig.told(victim).lastIndexOf('checkpointWritten') > rig.told(victim).lastIndexOf('started'),
    );
    await writer.stop();
    const acknowledged = writer.acknowledged.map(({ path }) => path);
    expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
    expect(rig.told(victim)).not.toContain('failed');
  });
});

describe('a disk that is full only when LevelDB begins a new file', () => {
  it('C056: the member leaves, tries in vain, and comes back when it is freed', async () => {
    await using rig = await Rig.start();
    const { ensemble, disk } = rig;
    const leader = await ensemble.leader();
    const victim = ensemble.sids.find((sid) => sid !== leader)!;
    await using client = await connect(ensemble.address(leader));
    await client.create('/w');
    disk.set({ op: 'open', what: 'ENOSPC', part: `member-${victim}/log/` });
    // More than the journal of the log holds before LevelDB turns it into a table.
    const paths = Array.from({ length: 24 }, (_, i) => `/w/${i}`);
    for (const path of paths) await client.create(path, 'x'.repeat(900_000), { timeoutMs: 30_000 });
    await until('the failure is told', () => rig.told(victim).includes('diskFailed'));
    await until('a try in vain', () => rig.told(victim).includes('diskStillFails'));
    disk.clear();
    await until('the disk is opened anew', () => rig.told(victim).includes('diskMended'));
    expect(await missing(ensemble.addresses, '/w', paths)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });
});

describe('a disk that hangs', () => {
  it('of a follower, for 5 s: the others go on, its own clients wait, and it catches up', async () => {
    await using rig = await Rig.start();
    const { ensemble, disk } = rig;
    const leader = await ensemble.leader();
    const [slow, other] = ensemble.sids.filter((sid) => sid !== leader) as [number, number];
    await using client = await connect(ensemble.address(other));
    await using waiting = await connect(ensemble.address(slow));
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    disk.set({ op: 'sync', what: 5_000, times: 1, part: `member-${slow}/log/` });
    const own = waiting.create('/w/own', '', { timeoutMs: 20_000 });
    const before = writer.acknowledged.length;
    await until('the others to go on', () => writer.acknowledged.length >= before + 100, 4_000);
    await own;
    await writer.stop();
    expect(rig.told(slow)).not.toContain('diskFailed');
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('of a leader: it leads on for less than diskStallMs, then another one does, and it comes back when the disk does', async () => {
    await using rig = await Rig.start('', { QUORATE_DISK_STALL_MS: '6000' });
    const { ensemble, disk } = rig;
    const leader = await ensemble.leader();
    const [other = 0] = ensemble.sids.filter((sid) => sid !== leader);
    await using client = await connect(ensemble.address(other));
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    disk.set({ op: 'sync', what: 600_000, part: `member-${leader}/log/` });
    await until('20 writes', () => writer.acknowledged.length >= 20);
    await client.sync();
    expect((await memberStatus(ensemble.address(leader))).role).toBe('leading');
    await until('the leader to say that its disk fails', () => rig.told(leader).includes('diskFailed'));
    await until('another leader', async () => (await memberStatus(ensemble.address(other))).leader !== leader);
    const before = writer.acknowledged.length;
    await until('the writes to go on', () => writer.acknowledged.length >= before + 100);
    disk.clear();
    await until('the disk is opened anew', () => rig.told(leader).includes('diskMended'));
    await writer.stop();
    const acknowledged = writer.acknowledged.map(({ path }) => path);
    expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('only when a checkpoint is written: the member leaves, and comes back when the disk does', async () => {
    const settings = { QUORATE_DISK_STALL_MS: '1000', QUORATE_CHECKPOINT_TXNS: '200' };
    await using rig = await Rig.start('', settings);
    const { ensemble, disk } = rig;
    const victim = await ensemble.leader();
    await using client = await connect(ensemble.addresses);
    await client.create('/w');
    const writer = new Writer(client, '/w/');
    writer.start();
    disk.set({ op: 'sync', what: 600_000, part: `member-${victim}/state-` });
    await until('it to say that its disk fails', () => rig.told(victim).includes('diskFailed'));
    const before = writer.acknowledged.length;
    await until('the writes to go on', () => writer.acknowledged.length >= before + 100);
    disk.clear();
    await until('the disk is opened anew', () => rig.told(victim).includes('diskMended'));
    await writer.stop();
    const acknowledged = writer.acknowledged.map(({ path }) => path);
    expect(await missing(ensemble.addresses, '/w', acknowledged)).toEqual({});
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('does not keep a member from ending on SIGTERM', async () => {
    await using rig = await Rig.start('', { QUORATE_STOP_GRACE_MS: '1000' });
    const { ensemble, disk } = rig;
    const leader = await ensemble.leader();
    const victim = ensemble.sids.find((sid) => sid !== leader)!;
    disk.set({ op: 'sync', what: 600_000, part: `member-${victim}/` });
    await using client = await connect(ensemble.address(leader));
    await client.create('/w');
    const { pid } = ensemble.member(victim);
    process.kill(pid!, 'SIGTERM');
    await until('the end of the member', () => ensemble.member(victim).state !== 'running', 20_000);
    expect(rig.told(victim).at(-2)).toBe('diskNotClosed');
  });
});

describe('a disk that hangs while a member starts', () => {
  it.each([
    { held: 'for good', heldMs: 600_000, code: null },
    { held: 'for 2 s', heldMs: 2_000, code: 0 },
  ])('$held: SIGTERM ends it, by an exit as soon as the disk answers, else by SIGKILL', async ({ heldMs, code }) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quorate-disk-')));
    using disk = new FaultyDisk(folder);
    disk.set({ op: 'sync', what: heldMs, times: 1, part: 'data/log/' });
    const [grpc, admin] = await freePorts(2);
    const flags = [
      '--zookeeper-port=0',
      `--data-dir=${join(folder, 'data')}`,
      `--grpc-port=${grpc}`,
      `--admin-port=${admin}`,
    ];
    await using command = new Command(['serve', ...flags], disk.environment());
    await until('it to be alive', () =>
      fetch(`http://127.0.0.1:${admin}/livez`).then(
        () => true,
        () => false,
      ),
    );
    await until('the log to be begun', () => readdirSync(folder, { recursive: true }).join().includes('data/log/'));
    expect(command.stderr).toBe('');
    command.process.kill('SIGTERM');
    expect(await command.ended).toMatchObject({ code, stderr: '' });
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('the disk under what is acknowledged', () => {
  it('C062: the entry of every acknowledged write was written, then synced, at a quorum and at the member that answered', async () => {
    await using rig = await Rig.start('C062-');
    const { ensemble, disk } = rig;
    const leader = await ensemble.leader();
    const asked = ensemble.sids.find((sid) => sid !== leader)!;
    await using client = await connect(ensemble.address(asked));
    await client.create('/w');
    const acked = new Map<string, bigint>();
    const write = async (number: number): Promise<void> => {
      const mark = `C062-${String(number).padStart(6, '0')}`;
      // Twice, for LevelDB cuts entries where its blocks end.
      await client.create(`/w/${number}`, `${mark} ${mark}`);
      acked.set(mark, process.hrtime.bigint());
    };
    for (let number = 0; number < 50; number++) await write(number);
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => write(100 + i)));
    const durable = ensemble.sids.map((sid) => ({ sid, at: syncedAt(disk, `member-${sid}/log/`) }));
    const wrong: string[] = [];
    for (const [mark, ackNs] of acked) {
      const sids = durable.filter(({ at }) => (at.get(mark) ?? ackNs) < ackNs).map(({ sid }) => sid);
      if (sids.length < 2 || !sids.includes(asked)) wrong.push(`${mark}: synced at ${sids.join()} of those`);
    }
    expect(acked.size).toBe(1_050);
    expect(wrong).toEqual([]);
  });
});

/** When the entry with each mark had been synced to a journal below `part`. */
function syncedAt(disk: FaultyDisk, part: string): ReadonlyMap<string, bigint> {
  const synced = new Map<string, bigint>();
  const waiting = new Map<string, string[]>();
  for (const { op, path, marks, ns } of disk.calls()) {
    if (!path.startsWith(part) || !path.endsWith('.log')) continue;
    if (op === 'write') waiting.set(path, [...(waiting.get(path) ?? []), ...marks]);
    if (op !== 'sync') continue;
    for (const mark of waiting.get(path) ?? []) if (!synced.has(mark)) synced.set(mark, ns);
    waiting.delete(path);
  }
  return synced;
}
