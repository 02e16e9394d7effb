/**
 * The end of an epoch: the lower half of the zxid is nearly used up, here after 3,000 txns, while clients with sessions write
 * at every member, an observer among them. The leader begins another epoch; nobody may notice but for a pause, which is printed.
 * `TEST_EPOCHS=100 npx vitest run --project long test/e2e/epoch-end` for more epochs than the default.
 */
import { memberStatus } from '@quorate/client';
import { expect, it } from 'vitest';
import { digestsAtOneZxid, distribution } from './checks.ts';
import { Crowd } from './crowd.ts';
import { EnsembleProcess, until } from './ensemble-process.ts';
import { lines } from './member-log.ts';

const EPOCHS = Number(process.env['TEST_EPOCHS'] ?? 4);
const EPOCH_TXNS = 3_000;

it(`C049: the counter comes to its end ${EPOCHS} times: no wrong epoch, no session lost, nothing lost or doubled`, async () => {
  const environment = { QUORATE_EPOCH_TXNS_MAX: String(EPOCH_TXNS) };
  await using ensemble = await EnsembleProcess.start({ members: 3, observers: 1, environment });
  const epochOf = async (): Promise<number> => (await memberStatus(ensemble.addresses[0] ?? '')).epoch;
  const first = await epochOf();
  const crowd = await Crowd.start(ensemble.addresses, '/epochs');
  await until(
    `${EPOCHS} more epochs`,
    async () => {
      expect(crowd.faults).toEqual([]);
      return (await epochOf()) >= first + EPOCHS;
    },
    120_000,
  );
  const since = performance.now();
  await until('writes of all', () => crowd.hasWrittenSince(since));
  await crowd.finish();
  expect(crowd.faults).toEqual([]);

  const zxids = crowd.zxids;
  expect(new Set(zxids).size).toBe(zxids.length);
  // A turn in which the limit is reached may bring more than one write.
  const counters = zxids.map((zxid) => Number(zxid & 0xffff_ffffn));
  expect(Math.max(...counters)).toBeLessThan(EPOCH_TXNS + 1_000);
  expect(Math.min(...counters)).toBeGreaterThan(0);
  expect(new Set(zxids.map((zxid) => zxid >> 32n)).size).toBeGreaterThan(EPOCHS);
  const pauses = [...crowd.pausesByEpoch().values()].map((ofEpoch) => Math.max(...ofEpoch));
  console.log(
    `C049: ${zxids.length} writes; longest pause of the clients at each epoch's end: ${distribution(pauses)}`,
  );

  const warnings = ensemble.sids.flatMap((sid) => lines(ensemble.data, sid, 'epochNearlyUsedUp'));
  expect(warnings.length).toBeGreaterThanOrEqual(EPOCHS);
  for (const { level, epochTxnsLeft } of warnings) {
    expect(level).toBe('warn');
    expect(epochTxnsLeft).toBeGreaterThan(0);
    expect(epochTxnsLeft).toBeLessThanOrEqual(EPOCH_TXNS / 10);
  }
  for (const address of ensemble.addresses) {
    expect((await memberStatus(address)).epochTxnsLeft).toBeLessThan(EPOCH_TXNS);
  }
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
});
