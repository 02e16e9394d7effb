/** Conformance: replacing the whole state, with a crash at every step, and beside the state lane. */
import assert from 'node:assert/strict';
import { ZERO_ZXID } from '@quorate/protocol';
import { Rig, records, type StorageHarness, state, z } from './bench-rig.ts';
import type { ConformanceCase } from './conformance.ts';

const OLD = { nA: 'old', nB: 'old', sS: 'old' };
const NEW = { nB: 'new', nC: 'new' };

/** A store at txn 1.20 with a checkpoint at 1.5. */
async function opened(harness: StorageHarness): Promise<Rig> {
  const rig = await Rig.open(harness);
  await rig.epochs(3);
  for (let i = 0; i < 4; i++) {
    await rig.done({ kind: 'append', records: records(1, i * 5 + 1, i * 5 + 5), committed: ZERO_ZXID });
  }
  await rig.checkpoint(z(1, 5), state(OLD));
  return rig;
}

export const INSTALL_CASES: readonly ConformanceCase[] = [
  {
    name: 'C071: an installed state replaces the old one, merged with nothing, and the log goes on after it',
    async run(harness) {
      const rig = await opened(harness);
      await rig.install(z(2, 30), state(NEW));
      assert.equal(rig.store.stats.logEntries, 0);
      await rig.done({ kind: 'append', records: records(2, 31, 33), committed: z(2, 31) });
      const again = await rig.killAndReopen();
      assert.deepEqual([...again.recovered.state], Object.entries(NEW));
      assert.deepEqual([...again.recovered.log.keys()], [z(2, 31), z(2, 32), z(2, 33)]);
      assert.deepEqual(again.recovered.summary.checkpointZxid, z(2, 30));
      await again.install(z(3, 7), state({ nD: 'third' }));
      const third = await again.killAndReopen();
      assert.deepEqual([...third.recovered.state], [['nD', 'third']]);
      assert.equal(third.recovered.summary.lastZxid, z(3, 7));
      await third.close();
    },
  },
  {
    name: 'what waits for the disk is counted in bytes, parts of a new state too',
    async run(harness) {
      const rig = await opened(harness);
      assert.equal(rig.store.stats.queuedBytes, 0);
      rig.submit({ kind: 'installBegin' });
      for (let i = 0; i < 3; i++)
        rig.submit({ kind: 'installChunk', records: state({ [`n${i}`]: 'x'.repeat(1_000) }) });
      assert.equal(rig.store.stats.queuedBytes, 3 * 1_002);
      rig.submit({ kind: 'installAbort' });
      await rig.settled();
      assert.equal(rig.store.stats.queuedBytes, 0);
      await rig.close();
    },
  },
  {
    name: 'a crash at any step of an install leaves the old state and log or the new ones, and no rest of the other',
    async run(harness) {
      await (await opened(harness)).close();
      let completed = false;
      for (let budget = 0; !completed; budget++) {
        const rig = await Rig.open(harness);
        const before = rig.recovered;
        const zxid = z(2, budget + 1);
        const installed = { [`n${budget}`]: 'new', nB: `new ${budget}` };
        rig.gate.budget = budget;
        rig.submit({ kind: 'installBegin' });
        rig.submit({ kind: 'installChunk', records: state({ [`n${budget}`]: 'new' }) });
        rig.submit({ kind: 'installChunk', records: state({ nB: `new ${budget}` }) });
        const ticket = rig.submit({ kind: 'installCommit', zxid });
        await rig.settled();
        completed = rig.tickets.at(-1) === ticket;
        const again = await rig.killAndReopen();
        const { summary, state: found, log } = again.recovered;
        if (summary.checkpointZxid === zxid) {
          assert.deepEqual([[...found], [...log]], [Object.entries(installed), []]);
        } else {
          assert.ok(!completed);
          assert.deepEqual(again.recovered, before);
        }
        assert.ok(budget < 40);
        await again.close();
      }
    },
  },
  {
    name: 'an aborted install leaves nothing, and another can begin',
    async run(harness) {
      const rig = await opened(harness);
      rig.submit({ kind: 'installBegin' });
      rig.submit({ kind: 'installChunk', records: state({ nLost: '1' }) });
      await rig.done({ kind: 'installAbort' });
      await rig.done({ kind: 'installAbort' });
      await rig.done({ kind: 'append', records: records(1, 21, 21), committed: ZERO_ZXID });
      rig.submit({ kind: 'installBegin' });
      rig.submit({ kind: 'installChunk', records: state({ nHalf: '1' }) });
      await rig.install(z(2, 1), state(NEW));
      const again = await rig.killAndReopen();
      assert.deepEqual([...again.recovered.state], Object.entries(NEW));
      await again.close();
    },
  },
  {
    name: 'a half-received state does not show after a restart',
    async run(harness) {
      const rig = await opened(harness);
      rig.submit({ kind: 'installBegin' });
      await rig.done({ kind: 'installChunk', records: state({ nLost: '1' }) });
      const again = await rig.killAndReopen();
      assert.deepEqual([...again.recovered.state], Object.entries(OLD));
      assert.equal(again.recovered.log.size, 15);
      await again.install(z(2, 1), state(NEW));
      const third = await again.reopen();
      assert.deepEqual([...third.recovered.state], Object.entries(NEW));
      await third.close();
    },
  },
  {
    name: 'an install before the end of the log is refused: it would lose what was acknowledged',
    async run(harness) {
      const rig = await opened(harness);
      rig.submit({ kind: 'installBegin' });
      rig.submit({ kind: 'installChunk', records: state(NEW) });
      rig.submit({ kind: 'installCommit', zxid: z(1, 19) });
      await rig.until(() => rig.failures.length > 0);
      assert.match(rig.failures[0] ?? '', /Cannot install the state at 0x100000013: the log ends at 0x100000014/);
      const again = await rig.reopen();
      assert.deepEqual([...again.recovered.state], Object.entries(OLD));
      await again.close();
    },
  },
  {
    name: 'what was asked of the state lane before an install is done before it, what comes after concerns the new state',
    async run(harness) {
      const rig = await opened(harness);
      rig.store.openState(1);
      await rig.until(() => rig.opened.length === 1);
      rig.submit({ kind: 'installBegin' });
      rig.submit({ kind: 'installChunk', records: state(NEW) });
      rig.store.checkpointPut(state({ nA: 'checkpoint before' }));
      rig.store.checkpointCommit(z(1, 9));
      rig.store.checkpointPut(state({ nLost: 'gathered before' }));
      rig.submit({ kind: 'installCommit', zxid: z(2, 30) });
      rig.append(records(2, 31, 31));
      rig.store.checkpointPut(state({ nD: 'checkpoint after' }));
      rig.store.checkpointCommit(z(2, 30));
      rig.store.openState(2);
      await rig.until(() => rig.opened.length === 2);
      assert.deepEqual(rig.written.slice(1), [z(1, 9), z(2, 30)]);
      assert.equal(rig.opened[1]?.zxid, z(2, 30));
      await assert.rejects(rig.store.readState(1, 1000));
      const expected = { ...NEW, nD: 'checkpoint after' };
      assert.deepEqual([...(await rig.drain(2, 1000))], Object.entries(expected));
      await rig.settled();
      const again = await rig.killAndReopen();
      assert.deepEqual([...again.recovered.state], Object.entries(expected));
      assert.deepEqual([...again.recovered.log.keys()], [z(2, 31)]);
      await again.close();
    },
  },
  {
    name: 'truncate and purge after an install start from its zxid',
    async run(harness) {
      const rig = await opened(harness);
      await rig.install(z(2, 30), state(NEW));
      await rig.done({ kind: 'append', records: records(2, 31, 40), committed: ZERO_ZXID });
      await rig.done({ kind: 'truncate', after: z(2, 30) });
      assert.equal(rig.store.stats.lastZxid, z(2, 30));
      await rig.done({ kind: 'append', records: records(2, 31, 32), committed: ZERO_ZXID });
      await rig.checkpoint(z(2, 32), state({ nE: '1' }));
      await rig.done({ kind: 'purgeLog', through: z(2, 32) });
      await rig.until(() => rig.store.stats.logEntries === 0);
      const again = await rig.reopen();
      assert.deepEqual([again.recovered.summary.lastZxid, again.recovered.log.size], [z(2, 32), 0]);
      await again.done({ kind: 'append', records: records(2, 33, 33), committed: ZERO_ZXID });
      await again.close();
    },
  },
];
