/** Conformance: the state lane. Checkpoints and streams, beside the log and beside each other. */
import assert from 'node:assert/strict';
import { ZERO_ZXID } from '@quorate/protocol';
import { StorageError } from '../storage-error.ts';
import { Rig, records, type StorageHarness, state, z } from './bench-rig.ts';
import type { ConformanceCase } from './conformance.ts';

/** A store with twenty txns of epoch 1. */
async function opened(harness: StorageHarness): Promise<Rig> {
  const rig = await Rig.open(harness);
  await rig.epochs(3);
  await rig.done({ kind: 'append', records: records(1, 1, 20), committed: z(1, 20) });
  return rig;
}

function values(prefix: string, count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`${prefix}${String(i).padStart(6, '0')}`, `value ${i}`]),
  );
}

export const STATE_CASES: readonly ConformanceCase[] = [
  {
    name: 'a checkpoint puts, overwrites and deletes, and the log after it follows',
    async run(harness) {
      const rig = await opened(harness);
      await rig.checkpoint(z(1, 5), state({ 'n/a': '1', 'n/b': '1', sX: '' }));
      await rig.checkpoint(z(1, 12), state({ 'n/a': undefined, 'n/b': '2', 'n/c': '1' }));
      const again = await rig.killAndReopen();
      assert.deepEqual([...again.recovered.state], Object.entries({ 'n/b': '2', 'n/c': '1', sX: '' }));
      assert.equal(again.recovered.summary.checkpointZxid, z(1, 12));
      assert.deepEqual(
        [...again.recovered.log.keys()],
        Array.from({ length: 8 }, (_, i) => z(1, 13 + i)),
      );
      await again.close();
    },
  },
  {
    name: 'a checkpoint is gathered in parts, each answered, and is on disk wholly or not at all',
    async run(harness) {
      for (const budget of [0, 1, 2, 3, 4]) {
        const rig = await Rig.open(harness);
        if (rig.recovered.summary.lastZxid === ZERO_ZXID) {
          await rig.epochs(3);
          await rig.done({ kind: 'append', records: records(1, 1, 20), committed: z(1, 20) });
        }
        const had = rig.recovered.state.size;
        rig.gate.budget = budget;
        for (let part = 0; part < 3; part++) {
          const before = rig.ready;
          rig.store.checkpointPut(state(values(`n${budget}${part}`, 40)));
          await rig.until(() => rig.ready > before || rig.gate.isShut);
        }
        rig.store.checkpointCommit(z(1, 5 + budget));
        await rig.until(() => rig.written.length > 0 || rig.gate.isShut);
        const again = await rig.killAndReopen();
        assert.equal(again.recovered.state.size, had + (budget === 4 ? 120 : 0));
        await again.close();
      }
    },
  },
  {
    name: 'an aborted checkpoint leaves nothing, and the next one does not carry it',
    async run(harness) {
      const rig = await opened(harness);
      rig.store.checkpointPut(state({ nLost: '1' }));
      rig.store.checkpointAbort();
      await rig.checkpoint(z(1, 9), state({ nKept: '1' }));
      assert.deepEqual(rig.written, [z(1, 9)]);
      const again = await rig.killAndReopen();
      assert.deepEqual([...again.recovered.state.keys()], ['nKept']);
      await again.close();
    },
  },
  {
    name: 'a stream shows the state at its checkpoint, whatever checkpoints come while it is read',
    async run(harness) {
      const rig = await opened(harness);
      const first = values('n', 500);
      await rig.checkpoint(z(1, 5), state(first));
      rig.store.checkpointPut(state({ n000001: 'gathered' }));
      rig.store.openState(1);
      await rig.until(() => rig.opened.length === 1);
      const page = await rig.store.readState(1, 1000);
      assert.ok(page.records.length > 0 && !page.done);
      rig.store.checkpointPut(state({ n000002: undefined, n000499: 'later', nNew: 'later' }));
      rig.store.checkpointCommit(z(1, 8));
      await rig.until(() => rig.written.length === 2);
      rig.store.openState(2);
      await rig.until(() => rig.opened.length === 2);
      assert.deepEqual(
        rig.opened.map(({ zxid }) => zxid),
        [z(1, 5), z(1, 8)],
      );
      const rest = await rig.drain(1, 1000);
      assert.equal(page.records.length + rest.size, 500);
      assert.equal(rest.get('n000499'), 'value 499');
      const second = await rig.drain(2, 100_000);
      assert.deepEqual([second.size, second.get('n000499'), second.get('n000001')], [500, 'later', 'gathered']);
      await rig.close();
    },
  },
  {
    name: 'a page has about the bytes that were asked for, and at least one record',
    async run(harness) {
      const rig = await opened(harness);
      await rig.checkpoint(z(1, 5), state({ nA: 'x'.repeat(300_000), nB: 'y', nC: 'z'.repeat(100_000) }));
      rig.store.openState(1);
      await rig.until(() => rig.opened.length === 1);
      const page = await rig.store.readState(1, 1);
      assert.ok(page.records.length >= 1);
      const rest = await rig.drain(1, 1);
      assert.equal(page.records.length + rest.size, 3);
      await rig.close();
    },
  },
  {
    name: 'a stream of an empty state ends at once; one that is not open, or closed, is refused',
    async run(harness) {
      const rig = await Rig.open(harness);
      rig.store.openState(1);
      await rig.until(() => rig.opened.length === 1);
      assert.deepEqual(rig.opened, [{ stream: 1, zxid: ZERO_ZXID }]);
      assert.deepEqual(await rig.store.readState(1, 1000), { records: [], done: true });
      const closed = (thrown: unknown): boolean => thrown instanceof StorageError && thrown.code === 'CLOSED';
      await assert.rejects(rig.store.readState(1, 1000), closed);
      await assert.rejects(rig.store.readState(9, 1000), closed);
      rig.store.openState(2);
      rig.store.closeState(2);
      rig.store.closeState(77);
      rig.store.openState(3);
      await rig.until(() => rig.opened.length === 2);
      assert.equal(rig.opened[1]?.stream, 3);
      rig.store.closeState(3);
      await assert.rejects(rig.store.readState(3, 1000), closed);
      await rig.close();
    },
  },
  {
    name: 'there is a limit to open streams, and closing one makes room',
    async run(harness) {
      const rig = await opened(harness);
      for (let i = 1; i <= 65; i++) rig.store.openState(i);
      await rig.until(() => rig.opened.length + rig.refused.length === 65);
      assert.deepEqual(
        rig.refused.map(({ stream }) => stream),
        [65],
      );
      rig.store.closeState(7);
      rig.store.openState(66);
      await rig.until(() => rig.opened.length === 65);
      rig.store.openState(66);
      await rig.until(() => rig.refused.length === 2);
      await rig.close();
    },
  },
  {
    name: 'closing finishes what was handed over, ends streams, and is done once',
    async run(harness) {
      const rig = await opened(harness);
      rig.store.openState(1);
      await rig.until(() => rig.opened.length === 1);
      rig.append(records(1, 21, 25));
      rig.store.checkpointPut(state({ nA: '1' }));
      rig.store.checkpointCommit(z(1, 7));
      const ticket = rig.submit({ kind: 'saveEpochs', acceptedEpoch: 9, currentEpoch: 9, voteRight: 'held' });
      await rig.close();
      await rig.store.close();
      assert.equal(rig.tickets.at(-1), ticket);
      assert.deepEqual(rig.written, [z(1, 7)]);
      await assert.rejects(rig.store.readState(1, 1));
      rig.append(records(1, 26, 26));
      assert.equal(rig.failures.length, 0);
      const again = await Rig.open(harness);
      const { lastZxid, checkpointZxid, currentEpoch } = again.recovered.summary;
      assert.deepEqual([lastZxid, checkpointZxid, currentEpoch], [z(1, 25), z(1, 7), 9]);
      await again.close();
    },
  },
  {
    name: 'a record of the state under a key of the store stops it',
    async run(harness) {
      const rig = await opened(harness);
      rig.store.checkpointPut([{ key: Uint8Array.of(0, 0x63), value: Uint8Array.of(1) }]);
      await rig.until(() => rig.failures.length > 0);
      assert.match(rig.failures[0] ?? '', /Cannot store a state record under \\x00c/);
      await rig.close();
    },
  },
];
