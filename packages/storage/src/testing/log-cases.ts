/** Conformance: the ordered lane. Append, group commit, order of completion, truncate, epochs, purge, failed writes. */
import assert from 'node:assert/strict';
import { ZERO_ZXID } from '@quorate/protocol';
import type { Io } from '../io.ts';
import { IDENTITY, Rig, records, type StorageHarness, state, z } from './bench-rig.ts';
import type { ConformanceCase } from './conformance.ts';

/** The synced writes to the log that put an entry. */
export function entryWrites(started: readonly Io[]): readonly (Io & { readonly kind: 'write' })[] {
  return started.filter(
    (io): io is Io & { readonly kind: 'write' } =>
      io.kind === 'write' && io.db === 'log' && io.ops.some(({ key, value }) => key[0] === 0x6c && value !== undefined),
  );
}

async function opened(harness: StorageHarness): Promise<Rig> {
  const rig = await Rig.open(harness);
  await rig.epochs(3);
  return rig;
}

export const LOG_CASES: readonly ConformanceCase[] = [
  {
    name: 'a new store is empty, and stays so when opened again',
    async run(harness) {
      const rig = await Rig.open(harness);
      const empty = {
        checkpointZxid: ZERO_ZXID,
        acceptedEpoch: 0,
        currentEpoch: 0,
        voteRight: 'unformed' as const,
        committed: ZERO_ZXID,
        lastZxid: ZERO_ZXID,
        tornTail: undefined,
      };
      assert.deepEqual(rig.recovered.summary, empty);
      const again = await rig.killAndReopen();
      assert.deepEqual(again.recovered, { summary: empty, state: new Map(), log: new Map() });
      await again.close();
    },
  },
  {
    name: 'C114: a log without any checkpoint is read back in full after a kill',
    async run(harness) {
      const rig = await opened(harness);
      await rig.done({ kind: 'append', records: records(1, 1, 100), committed: z(1, 90) });
      const again = await rig.killAndReopen();
      const { summary, log } = again.recovered;
      assert.deepEqual([summary.checkpointZxid, summary.committed, summary.lastZxid], [0n, z(1, 90), z(1, 100)]);
      assert.deepEqual(
        [...log.keys()],
        Array.from({ length: 100 }, (_, i) => z(1, i + 1)),
      );
      assert.equal(log.get(z(1, 57)), 'txn 1.57');
      await again.close();
    },
  },
  {
    name: 'completions are cumulative and in order, and appends that wait share one write',
    async run(harness) {
      const rig = await opened(harness);
      const before = rig.tickets.length;
      for (let i = 1; i <= 50; i++) rig.append(records(1, i, i));
      await rig.settled();
      const reported = rig.tickets.slice(before);
      assert.equal(reported.at(-1), 51);
      assert.deepEqual(
        [...reported].sort((a, b) => a - b),
        reported,
      );
      // The first starts at once and alone, the other 49 gather behind it.
      assert.deepEqual(reported, [2, 51]);
      assert.equal(entryWrites(rig.gate.started).length, 2);
      const again = await rig.killAndReopen();
      assert.equal(again.recovered.log.size, 50);
      await again.close();
    },
  },
  {
    name: 'a group commit is bounded in bytes, and so is an entry; a record larger than the bound is stored alone',
    async run(harness) {
      const rig = await opened(harness);
      const mib = 1024 * 1024;
      rig.append(records(1, 1, 1));
      for (let i = 2; i <= 7; i++) rig.append(records(1, i, i, 1.5 * mib));
      rig.append(records(1, 8, 14, mib));
      rig.append(records(1, 15, 15, 5 * mib));
      await rig.settled();
      const sizes = entryWrites(rig.gate.started).map(({ ops }) => ops.map(({ value }) => value?.length ?? 0));
      assert.ok(sizes.flat().every((bytes) => bytes < 4 * mib + 4096 || Math.abs(bytes - 5 * mib) < 4096));
      // One; three times two of 1.5 MiB; seven of 1 MiB as three, three and one in one write; one of 5 MiB.
      assert.deepEqual(
        sizes.map((write) => write.length),
        [1, 1, 1, 1, 3, 1],
      );
      const again = await rig.killAndReopen();
      assert.deepEqual(
        [...again.recovered.log.keys()],
        Array.from({ length: 15 }, (_, i) => z(1, i + 1)),
      );
      await again.close();
    },
  },
  {
    name: 'C062: nothing is reported before its write is done',
    async run(harness) {
      const rig = await opened(harness);
      rig.append(records(1, 1, 3));
      rig.submit({ kind: 'saveEpochs', acceptedEpoch: 4, currentEpoch: 3, voteRight: 'held' });
      rig.append(records(1, 4, 9));
      rig.submit({ kind: 'truncate', after: z(1, 5) });
      await rig.settled();
      await rig.checkpoint(z(1, 3), state({ nA: '1' }));
      rig.submit({ kind: 'purgeLog', through: z(1, 3) });
      rig.append(records(1, 6, 7));
      await rig.settled();
      assert.ok(rig.gate.started.filter((io) => io.kind === 'write').length >= 6);
      // A shut gate lets no write through: then no ticket may come.
      const reported = rig.tickets.length;
      rig.gate.budget = 0;
      rig.append(records(1, 8, 8));
      await rig.settled();
      assert.equal(rig.tickets.length, reported);
      const again = await rig.killAndReopen();
      assert.equal(again.recovered.summary.lastZxid, z(1, 7));
      await again.close();
    },
  },
  {
    name: 'C040: history, then epochs, each durable, in the order in which they were asked for',
    async run(harness) {
      for (let budget = 0; budget <= 3; budget++) {
        const rig = await Rig.open(harness);
        const start = rig.recovered.summary.lastZxid;
        const first = Number(start & 0xffff_ffffn) + 1;
        const epoch = rig.recovered.summary.acceptedEpoch + 1;
        await rig.epochs(epoch, epoch - 1);
        rig.gate.budget = budget;
        rig.append(records(1, first, first + 9));
        rig.submit({ kind: 'saveEpochs', acceptedEpoch: epoch, currentEpoch: epoch, voteRight: 'held' });
        await rig.settled();
        const again = await rig.killAndReopen();
        const { lastZxid, currentEpoch } = again.recovered.summary;
        const adopted = currentEpoch === epoch;
        const kept = lastZxid > start;
        assert.deepEqual([kept, adopted], [budget >= 1, budget >= 2]);
        await again.close();
      }
    },
  },
  {
    name: 'truncate drops whole entries and cuts the one on the boundary; the log goes on from there',
    async run(harness) {
      const rig = await opened(harness);
      for (let i = 0; i < 5; i++)
        await rig.done({ kind: 'append', records: records(1, i * 10 + 1, i * 10 + 10), committed: z(1, 5) });
      await rig.done({ kind: 'truncate', after: z(1, 23) });
      assert.equal(rig.store.stats.lastZxid, z(1, 23));
      const cut = await rig.killAndReopen();
      assert.deepEqual(
        [...cut.recovered.log.keys()],
        Array.from({ length: 23 }, (_, i) => z(1, i + 1)),
      );
      await cut.done({ kind: 'append', records: records(2, 1, 2), committed: z(1, 23) });
      await cut.done({ kind: 'truncate', after: z(1, 20) });
      await cut.done({ kind: 'append', records: records(3, 1, 1), committed: z(1, 20) });
      const again = await cut.killAndReopen();
      assert.deepEqual([...again.recovered.log.keys()].slice(-2), [z(1, 20), z(3, 1)]);
      await again.done({ kind: 'truncate', after: ZERO_ZXID });
      const none = await again.killAndReopen();
      assert.equal(none.recovered.summary.lastZxid, ZERO_ZXID);
      await none.close();
    },
  },
  {
    name: 'truncate is atomic: a crash leaves the old end or the new one',
    async run(harness) {
      const rig = await opened(harness);
      for (let i = 0; i < 4; i++)
        await rig.done({ kind: 'append', records: records(1, i * 5 + 1, i * 5 + 5), committed: z(1, 1) });
      await rig.close();
      for (let budget = 0; budget <= 3; budget++) {
        const cutting = await Rig.open(harness);
        const before = cutting.recovered.summary.lastZxid;
        const after = before - 2n;
        cutting.gate.budget = budget;
        cutting.submit({ kind: 'truncate', after: z(1, Number(after & 0xffffn)) });
        await cutting.settled();
        const again = await cutting.killAndReopen();
        assert.equal(again.recovered.summary.lastZxid, budget >= 2 ? after : before);
        await again.close();
      }
    },
  },
  {
    name: 'a truncate after the end changes nothing',
    async run(harness) {
      const rig = await opened(harness);
      await rig.done({ kind: 'append', records: records(1, 1, 4), committed: z(1, 1) });
      await rig.done({ kind: 'truncate', after: z(1, 4) });
      await rig.done({ kind: 'truncate', after: z(2, 9) });
      await rig.done({ kind: 'append', records: records(1, 5, 5), committed: z(1, 1) });
      const again = await rig.reopen();
      assert.equal(again.recovered.log.size, 5);
      await again.close();
    },
  },
  {
    name: 'epochs are kept, up to the largest',
    async run(harness) {
      const rig = await Rig.open(harness);
      await rig.epochs(5, 4);
      const next = await rig.killAndReopen();
      assert.deepEqual([next.recovered.summary.acceptedEpoch, next.recovered.summary.currentEpoch], [5, 4]);
      await next.epochs(0x7fff_ffff);
      await next.done({ kind: 'append', records: records(0x7fff_ffff, 1, 1), committed: ZERO_ZXID });
      const last = await next.killAndReopen();
      assert.equal(last.recovered.summary.currentEpoch, 0x7fff_ffff);
      assert.equal(last.recovered.summary.lastZxid, 0x7fff_ffff_0000_0001n);
      await last.close();
    },
  },
  {
    name: 'the right to vote is kept beside the epochs; fresh databases have what they were made with',
    async run(harness) {
      const rig = await Rig.open(harness, IDENTITY, 'recovering');
      assert.equal(rig.recovered.summary.voteRight, 'recovering');
      const again = await rig.killAndReopen();
      assert.equal(again.recovered.summary.voteRight, 'recovering');
      await again.epochs(7, 7, 'held');
      const last = await again.killAndReopen();
      const { acceptedEpoch, currentEpoch, voteRight } = last.recovered.summary;
      assert.deepEqual([acceptedEpoch, currentEpoch, voteRight], [7, 7, 'held']);
      await last.close();
    },
  },
  {
    name: 'purge frees whole entries up to the checkpoint, beside appends and when idle, and loses nothing after it',
    async run(harness) {
      const rig = await opened(harness);
      for (let i = 1; i <= 300; i++)
        await rig.done({ kind: 'append', records: records(1, i, i), committed: ZERO_ZXID });
      await rig.checkpoint(z(1, 290), state({ nA: '290' }));
      rig.submit({ kind: 'purgeLog', through: z(1, 200) });
      await rig.until(() => rig.store.stats.logEntries === 100);
      rig.submit({ kind: 'purgeLog', through: z(1, 290) });
      rig.append(records(1, 301, 301));
      await rig.until(() => rig.store.stats.logEntries === 11);
      const again = await rig.killAndReopen();
      assert.deepEqual(
        [...again.recovered.log.keys()],
        Array.from({ length: 11 }, (_, i) => z(1, 291 + i)),
      );
      await again.close();
    },
  },
  {
    name: 'purge keeps the entry that the checkpoint lies in',
    async run(harness) {
      const rig = await opened(harness);
      await rig.done({ kind: 'append', records: records(1, 1, 10), committed: ZERO_ZXID });
      await rig.done({ kind: 'append', records: records(1, 11, 20), committed: ZERO_ZXID });
      await rig.checkpoint(z(1, 15), state({ nA: '15' }));
      await rig.done({ kind: 'purgeLog', through: z(1, 15) });
      await rig.until(() => rig.store.stats.logEntries === 1);
      const again = await rig.killAndReopen();
      assert.deepEqual(
        [...again.recovered.log.keys()],
        Array.from({ length: 5 }, (_, i) => z(1, 16 + i)),
      );
      await again.close();
    },
  },
  ...breaches(),
  {
    name: 'C057: after a failed write nothing more is done or reported, and what was reported is on disk',
    async run(harness) {
      for (const failing of ['log', 'state'] as const) {
        const rig = await Rig.open(harness);
        if (rig.recovered.summary.acceptedEpoch === 0) await rig.epochs(3);
        const first = Number(rig.recovered.summary.lastZxid & 0xffff_ffffn) + 1;
        await rig.done({ kind: 'append', records: records(1, first, first + 4), committed: ZERO_ZXID });
        rig.gate.fault = (io) => (io.kind === 'write' && io.db.startsWith(failing) ? 'EIO: i/o error' : undefined);
        if (failing === 'log') rig.append(records(1, first + 5, first + 5));
        else {
          rig.store.checkpointPut(state({ nA: 'lost' }));
          rig.store.checkpointCommit(z(1, first + 2));
        }
        await rig.until(() => rig.failures.length > 0);
        rig.gate.fault = () => undefined;
        const [reported, started] = [rig.tickets.length, rig.gate.started.length];
        rig.append(records(1, first + 6, first + 6));
        rig.store.checkpointPut(state({ nA: 'late' }));
        rig.store.openState(1);
        await rig.close();
        assert.deepEqual([rig.tickets.length, rig.gate.started.length], [reported, started]);
        assert.deepEqual([rig.failures.length, rig.written, rig.opened], [1, [], []]);
        assert.match(rig.failures[0] ?? '', /EIO/);
        const again = await Rig.open(harness);
        assert.equal(again.recovered.summary.lastZxid, z(1, first + 4));
        await again.close();
      }
    },
  },
];

/** Commands that break the contract stop the store, and change nothing. */
function breaches(): readonly ConformanceCase[] {
  const rows: readonly [string, (rig: Rig) => void, RegExp][] = [
    [
      'an append with a gap',
      (rig) => rig.append(records(1, 12, 12)),
      /append txn 0x10000000c: last zxid is 0x10000000a/,
    ],
    ['an append again', (rig) => rig.append(records(1, 10, 10)), /Cannot append/],
    ['a gap inside an append', (rig) => rig.append([...records(1, 11, 11), ...records(1, 13, 13)]), /Cannot append/],
    ['a truncate before the checkpoint', (rig) => rig.submit({ kind: 'truncate', after: z(1, 3) }), /Cannot truncate/],
    ['a purge after the checkpoint', (rig) => rig.submit({ kind: 'purgeLog', through: z(1, 6) }), /Cannot purge/],
    [
      'an accepted epoch that goes back',
      (rig) => rig.submit({ kind: 'saveEpochs', acceptedEpoch: 2, currentEpoch: 2, voteRight: 'held' }),
      /Cannot save/,
    ],
    [
      'a right to vote that goes back',
      (rig) => rig.submit({ kind: 'saveEpochs', acceptedEpoch: 3, currentEpoch: 3, voteRight: 'recovering' }),
      /Cannot save the right to vote recovering: it is held/,
    ],
    [
      'a current epoch above the accepted one',
      (rig) => rig.submit({ kind: 'saveEpochs', acceptedEpoch: 3, currentEpoch: 4, voteRight: 'held' }),
      /Cannot save/,
    ],
    [
      'a checkpoint of what is not on disk',
      (rig) => rig.store.checkpointCommit(z(1, 11)),
      /Cannot write the checkpoint/,
    ],
    ['a checkpoint that goes back', (rig) => rig.store.checkpointCommit(z(1, 4)), /Cannot write the checkpoint/],
    ['a part of no install', (rig) => rig.submit({ kind: 'installChunk', records: [] }), /Cannot add to/],
    ['the end of no install', (rig) => rig.submit({ kind: 'installCommit', zxid: z(2, 1) }), /Cannot commit/],
  ];
  return rows.map(([what, breach, message]) => ({
    name: `${what} stops the store and changes nothing`,
    async run(harness) {
      const rig = await opened(harness);
      await rig.done({ kind: 'append', records: records(1, 1, 10), committed: ZERO_ZXID });
      await rig.checkpoint(z(1, 5), state({ nA: '5' }));
      breach(rig);
      await rig.until(() => rig.failures.length > 0);
      assert.match(rig.failures[0] ?? '', message);
      const again = await rig.reopen();
      const { lastZxid, checkpointZxid, acceptedEpoch } = again.recovered.summary;
      assert.deepEqual([lastZxid, checkpointZxid, acceptedEpoch], [z(1, 10), z(1, 5), 3]);
      await again.close();
    },
  }));
}
