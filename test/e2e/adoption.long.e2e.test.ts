/** In which order a member that comes back under a new leader puts things on its disk and is counted. A shim slows its disk. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, memberStatus, moveLeader } from '@quorate/client';
import { expect, it } from 'vitest';
import { FaultyDisk } from '../faulty-disk/faulty-disk.ts';
import { digestsAtOneZxid } from './checks.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';

/** Every sync takes this long, ms, so that whoever does not wait for it is early by as much. */
const SYNC_MS = 500;

it('C040: a follower has the history that it missed on its disk, then the epoch, and only then it is counted', async () => {
  const data = realpathSync(mkdtempSync(join(tmpdir(), 'quorate-adopt-')));
  using disk = new FaultyDisk(data);
  try {
    const environment = { ...disk.environment('C040-'), QUORATE_DISK_STALL_MS: '60000' };
    await using ensemble = await EnsembleProcess.start({ members: 3, data, environment });
    const [away = 0, other = 0] = ensemble.sids.filter((sid) => sid !== 3);
    await using client = await connect(ensemble.address(other));
    await client.create('/w');
    ensemble.kill(away);
    await ensemble.gone(away);
    const before = await ensemble.leader();
    const leader = ensemble.sids.find((sid) => sid !== away && sid !== before) ?? 0;
    await moveLeader([ensemble.address(before)], { to: leader, timeoutMs: 20_000 });
    const marks = Array.from({ length: 300 }, (_, i) => `C040-${String(i).padStart(6, '0')}`);
    await Promise.all(marks.map((mark, i) => client.create(`/w/${i}`, `${mark} ${mark}`, { timeoutMs: 20_000 })));
    const part = `member-${away}/log/`;
    disk.set({ op: 'sync', what: SYNC_MS, part });
    const startNs = process.hrtime.bigint();
    const back = ensemble.restart(away);
    await until('it to be counted', async () => {
      const { learners } = await memberStatus(ensemble.address(leader));
      return learners.some((learner) => learner.sid === away && learner.synced);
    });
    const countedNs = process.hrtime.bigint();
    disk.clear();
    await back;
    const calls = disk.calls().filter(({ path, ns }) => path.startsWith(part) && path.endsWith('.log') && ns > startNs);
    const history = calls.findLastIndex(({ op, marks: found }) => op === 'write' && found.length > 0);
    const order = calls.slice(history).map(({ op, ns }) => `${op}${ns < countedNs ? '' : ' (counted)'}`);
    console.log(`C040: from the last of the history on: ${order.slice(0, 8).join(', ')}`);
    const seen = new Set(calls.filter(({ ns }) => ns < countedNs).flatMap(({ marks: found }) => found));
    expect(marks.filter((mark) => !seen.has(mark))).toEqual([]);
    // LevelDB writes an entry in two when one of its blocks ends in it.
    expect(order.join(' ')).toMatch(/^(write )+sync (write )+sync\b(?! \(counted)/);
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});
