/** Members that stand still for 200 ms (SIGSTOP, SIGCONT), as a long garbage collection makes them: nothing changes. */
import { memberStatus } from '@quorate/client';
import { expect, it } from 'vitest';
import { Crowd } from '../e2e/crowd.ts';
import { EnsembleProcess, momentAfter, until } from '../e2e/ensemble-process.ts';

it('C141: leader and followers stand still for 200 ms, in turn: no session is lost, no write fails, the leader stays', async () => {
  await using ensemble = await EnsembleProcess.start({ members: 3 });
  const leader = await ensemble.leader();
  const { epoch } = await memberStatus(ensemble.address(leader));
  const crowd = await Crowd.start(ensemble.addresses, '/held', 6);
  for (const sid of ensemble.sids) {
    for (let round = 0; round < 3; round++) {
      const pid = ensemble.member(sid).pid ?? 0;
      process.kill(pid, 'SIGSTOP');
      await momentAfter(performance.now(), 200);
      process.kill(pid, 'SIGCONT');
      const since = performance.now();
      await until('writes of all', () => crowd.hasWrittenSince(since));
    }
  }
  await crowd.finish();
  expect(crowd.faults).toEqual([]);
  const after = await Promise.all(ensemble.addresses.map((address) => memberStatus(address)));
  expect(after.map((status) => [status.leader, status.epoch])).toEqual(Array(3).fill([leader, epoch]));
});
