/**
 * Failovers that clients do not notice: 20 clients with sessions at the members that stay, while the lead is lost or moves, and
 * 20 at all members while one stops. No call may fail, no session may change its state but to move once from a member that stops, no acknowledged write may be lost or doubled; how long writes paused is printed.
 * `TEST_KILLS=50 npx vitest run --project long test/e2e/unnoticed` for more kills than the default.
 */
import { moveLeader } from '@quorate/client';
import { describe, expect, it } from 'vitest';
import { digestsAtOneZxid, distribution, median } from './checks.ts';
import { Crowd } from './crowd.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';

const KILLS = Number(process.env['TEST_KILLS'] ?? 10);

const worst = (values: readonly number[]): number => Math.max(...values);

/** The numbers of all clients of all faults, and of the worst client of each fault. */
function report(what: string, pauses: readonly (readonly number[])[]): void {
  const all = pauses.flat().sort((a, b) => a - b);
  const p90 = all[Math.floor(0.9 * (all.length - 1))] ?? Number.NaN;
  console.log(
    `${what}: write pause of a client: median ${Math.round(median(all))}, p90 ${Math.round(p90)}, max ${Math.round(worst(all))} ms over ${all.length}\n` +
      `${what}: longest of the clients, for each: ${distribution(pauses.map(worst))}`,
  );
}

/** Has `sid` lead, by handing over if it does not; all members follow it afterwards. */
async function lead(ensemble: EnsembleProcess, sid: number): Promise<void> {
  if ((await ensemble.leader()) !== sid) await moveLeader(ensemble.addresses, { to: sid, timeoutMs: 20_000 });
  await until(`member ${sid} leads, the others follow`, () =>
    ensemble.file.members.every(({ sid: one, role }) => role === (one === sid ? 'leading' : 'following')),
  );
}

/** Runs `fault` under load, and waits until every client writes again. Returns the pauses. */
async function under(crowd: Crowd, fault: () => Promise<void> | void): Promise<number[]> {
  const before = performance.now();
  await until('writes of all before', () => crowd.hasWrittenSince(before));
  const from = performance.now();
  await fault();
  const to = performance.now();
  await until('writes of all after', () => crowd.hasWrittenSince(to + 1));
  return crowd.pauses(from, to);
}

describe('20 clients at the members that stay', () => {
  it(`the leader is killed ${KILLS} times, a different member in turn: no error, no disconnect, no lost write`, async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const pauses: number[][] = [];
    let written = 0;
    for (const [turn, victim] of [3, 1, 2].entries()) {
      const survivors = ensemble.sids.filter((sid) => sid !== victim).map((sid) => ensemble.address(sid));
      const crowd = await Crowd.start(survivors, `/kill-${victim}`);
      for (let kill = turn; kill < KILLS; kill += 3) {
        await lead(ensemble, victim);
        pauses.push(await under(crowd, () => void ensemble.kill(victim)));
        await ensemble.gone(victim);
        await ensemble.restart(victim);
      }
      await crowd.finish();
      written += crowd.written;
      expect(crowd.faults).toEqual([]);
    }
    report(`SIGKILL of the leader, ${written} writes`, pauses);
    expect(pauses).toHaveLength(KILLS);
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('C110: SIGTERM of a loaded leader: it hands over and exits with 0', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const pauses: number[][] = [];
    for (const victim of [3, 2, 1]) {
      const survivors = ensemble.sids.filter((sid) => sid !== victim).map((sid) => ensemble.address(sid));
      const crowd = await Crowd.start(survivors, `/stop-${victim}`);
      await lead(ensemble, victim);
      const { pid } = ensemble.member(victim);
      pauses.push(await under(crowd, () => ensemble.terminate(victim)));
      await ensemble.gone(victim);
      const end = `Member ${victim} (pid ${pid}) is down: `;
      await until('its end is reported', () => ensemble.output.includes(end));
      expect(ensemble.output).toContain(`${end}it ended with code 0`);
      await ensemble.restart(victim);
      await crowd.finish();
      expect(crowd.faults).toEqual([]);
    }
    report('SIGTERM of the leader', pauses);
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('C110: SIGTERM of a loaded leader or follower with clients of its own: they move once, and no call fails', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const pauses: number[][] = [];
    for (const [turn, victim] of [3, 2, 1, 1].entries()) {
      const address = ensemble.address(victim);
      await lead(ensemble, turn === 3 ? 2 : victim);
      const crowd = await Crowd.start(ensemble.addresses, `/leave-${turn}`, 20, true);
      const itsOwn = crowd.countAt(address);
      expect(itsOwn).toBeGreaterThan(0);
      pauses.push(await under(crowd, () => ensemble.terminate(victim)));
      await ensemble.gone(victim);
      await until('all have moved', () => crowd.moved === itsOwn && crowd.countAt(address) === 0);
      await ensemble.restart(victim);
      await crowd.finish();
      expect(crowd.faults).toEqual([]);
    }
    report('SIGTERM of a member with clients', pauses);
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });

  it('the lead moves 20 times, and comes to every member that clients are at', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3 });
    const crowd = await Crowd.start(ensemble.addresses, '/moves');
    const pauses: number[][] = [];
    for (let move = 0; move < 20; move++) {
      const leader = await ensemble.leader();
      const to = (leader % 3) + 1;
      pauses.push(
        await under(crowd, async () => {
          expect(await moveLeader(ensemble.addresses, { to, timeoutMs: 20_000 })).toEqual({ from: leader, to });
        }),
      );
      await lead(ensemble, to);
    }
    await crowd.finish();
    expect(crowd.faults).toEqual([]);
    report('move-leader', pauses);
    expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
  });
});
