import { ZERO_ZXID } from '@quorate/protocol';
import { expect, it } from 'vitest';
import { SimDisk } from './memory/sim-disk.ts';
import { openMemoryStore } from './memory-store.ts';
import { IDENTITY, records, state, z } from './testing/bench-rig.ts';

it('appends do not wait for a checkpoint that is being written, however long; the bound catches up behind it', () => {
  const tickets: number[] = [];
  const checkpoints: bigint[] = [];
  const none = (): void => undefined;
  const store = openMemoryStore(new SimDisk(), {
    identity: IDENTITY,
    events: {
      persisted: (ticket) => tickets.push(ticket),
      failed: (reason) => expect.fail(reason),
      checkpointReady: none,
      checkpointWritten: (zxid) => checkpoints.push(zxid),
      stateOpened: none,
      stateFailed: none,
    },
  });
  store.recoverNow({ state: none, log: none });
  let ticket = 0;
  const append = (from: number): void => {
    store.submit(++ticket, { kind: 'append', records: records(1, from, from), committed: ZERO_ZXID });
    for (const lane of ['log', 'watermark', 'log', 'watermark'] as const) store.pump(1, lane);
  };
  store.submit(++ticket, { kind: 'saveEpochs', acceptedEpoch: 1, currentEpoch: 1, voteRight: 'held' });
  for (const lane of ['log', 'watermark'] as const) store.pump(1, lane);
  append(1);
  store.checkpointPut(state({ nA: '1' }));
  store.pump(1, 'state');
  store.checkpointCommit(z(1, 1));
  const before = store.stats.syncs;
  for (let i = 2; i <= 80; i++) append(i);
  expect([tickets.at(-1), checkpoints]).toEqual([ticket, []]);
  expect(store.stats.syncs - before).toBe(79);
  while (store.pending('state') > 0) store.pump(1, 'state');
  expect(checkpoints).toEqual([z(1, 1)]);
  append(81);
  while (store.pending() > 0) store.pump();
  // The checkpoint, the append, and the bound.
  expect(store.stats.syncs - before).toBe(82);
});
