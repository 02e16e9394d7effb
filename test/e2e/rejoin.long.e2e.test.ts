/**
 * A member that leaves and comes back again and again, far enough behind for a snapshot, while the leader takes writes and
 * makes checkpoints. `TEST_JOINS=100 npx vitest run --project long test/e2e/rejoin` for more rounds than the default. Needs Linux
 * (/proc).
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { connect, memberStatus } from '@quorate/client';
import { expect, it } from 'vitest';
import { digestsAtOneZxid } from './checks.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';
import { lines } from './member-log.ts';
import { Writer } from './writer.ts';

const JOINS = Number(process.env['TEST_JOINS'] ?? 6);
/** Rounds before anything is measured. */
const WARM = 2;

interface Use {
  readonly fds: number;
  readonly deleted: number;
  readonly files: number;
  readonly rssMb: number;
}

/** What a member's process holds open, and what is in its folder. */
function useOf(ensemble: EnsembleProcess, sid: number): Use {
  const pid = ensemble.member(sid).pid ?? 0;
  const open = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // Closed since it was listed.
      return [];
    }
  });
  const files = readdirSync(join(ensemble.data, `member-${sid}`), { recursive: true }).length;
  const rssKb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const deleted = open.filter((path) => path.endsWith(' (deleted)')).length;
  return { fds: open.length, deleted, files, rssMb: Math.round(rssKb / 1024) };
}

/** Waits until the member takes clients. Returns its zxid then, and one that was committed before it was declared up to date. */
async function firstServed(ensemble: EnsembleProcess, leader: number, sid: number): Promise<[bigint, bigint]> {
  let bound = 0n;
  let isSynced = false;
  const zxid = await until('the member to serve', async () => {
    const own = await memberStatus(ensemble.address(sid)).catch(() => undefined);
    if (own?.serving === true) return own.zxid;
    const { learners, committedZxid } = await memberStatus(ensemble.address(leader));
    isSynced ||= learners.some((learner) => learner.sid === sid && learner.synced);
    if (!isSynced) bound = committedZxid;
    return undefined;
  });
  return [zxid, bound];
}

it(`C052, C072: a member comes back ${JOINS} times by snapshot under load: never open too early, and nothing is left open`, async () => {
  const environment = { QUORATE_CHECKPOINT_TXNS: '300', QUORATE_HISTORY_BYTES_MAX: '10000' };
  await using ensemble = await EnsembleProcess.start({ members: 3, environment });
  const leader = await ensemble.leader();
  const [away = 0, other = 0] = ensemble.sids.filter((sid) => sid !== leader);
  await using client = await connect([ensemble.address(leader), ensemble.address(other)]);
  await client.create('/w');
  const uses: Use[] = [];
  const distances: number[] = [];
  for (let round = 0; round < JOINS + WARM; round++) {
    ensemble.kill(away);
    await ensemble.gone(away);
    const writers = Array.from({ length: 8 }, (_, i) => new Writer(client, `/w/${round}-${i}-`));
    for (const writer of writers) writer.start();
    const written = (): number => writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0);
    await until('800 writes that it misses', () => written() >= 800);
    const back = ensemble.restart(away);
    const [zxid, bound] = await firstServed(ensemble, leader, away);
    expect(zxid).toBeGreaterThanOrEqual(bound);
    distances.push(Number(zxid - bound));
    await back;
    for (const writer of writers) await writer.stop();
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
    if (round >= WARM - 1) uses.push(useOf(ensemble, leader));
  }
  const snapshots = lines(ensemble.data, leader, 'syncSnapshot').filter(({ learner }) => learner === away);
  expect(snapshots.length).toBeGreaterThanOrEqual(JOINS);
  console.log(
    `C052: first served this many txns after the bound: ${distances.join(' ')}; ${snapshots.length} snapshots`,
  );
  console.log(`C072: the leader after each round: ${JSON.stringify(uses)}`);
  const [first, last] = [uses[0]!, uses.at(-1)!];
  expect(last.fds - first.fds).toBeLessThanOrEqual(20);
  expect(last.files - first.files).toBeLessThanOrEqual(20);
  expect(last.deleted).toBeLessThanOrEqual(first.deleted + 2);
});
