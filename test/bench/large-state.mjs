/**
 * Data folders of members that hold a large tree, written as a snapshot from a leader would be: quicker than a million writes,
 * and no part of what is measured. Used by pauses.mjs.
 */
import { openLevelStore } from '@quorate/storage';
// Not for anybody outside of core: a tree alone, to have its records made.
import { DataTree } from '../../packages/core/dist/tree/data-tree.js';

const EPOCH = 1;

/** Makes a folder for each of `sids` in which a tree with `count` znodes of `bytes` bytes below `parents` parents stands. */
export async function writeLargeState(folders, { clusterId, count, parents, bytes }) {
  const stores = [];
  for (const { sid, directory } of folders) stores.push(await openEmpty(directory, { clusterId, sid }));
  let ticket = 0;
  const submit = async (command) => {
    ticket++;
    for (const { store } of stores) store.submit(ticket, command);
    await Promise.all(stores.map(({ done }) => done(ticket)));
  };
  const { tree, zxid } = largeTree(count, parents, bytes);
  await submit({ kind: 'saveEpochs', acceptedEpoch: EPOCH, currentEpoch: EPOCH, voteRight: 'held' });
  await submit({ kind: 'installBegin' });
  tree.beginCheckpoint();
  for (let done = false; !done; ) {
    const part = tree.nextCheckpointRecords(256 * 1024);
    done = part.done;
    await submit({ kind: 'installChunk', records: part.records });
  }
  await submit({ kind: 'installCommit', zxid });
  await Promise.all(stores.map(({ store }) => store.close()));
}

/** Path of znode `i`. */
export function pathOf(i, parents) {
  return `/p${i % parents}/n${String(i).padStart(10, '0')}`;
}

function largeTree(count, parents, bytes) {
  const tree = DataTree.empty();
  const data = new Uint8Array(bytes).fill(0x61);
  const creates = new Map();
  let zxid = BigInt(EPOCH) << 32n;
  const create = (parent, path) => {
    const parentCreates = (creates.get(parent) ?? 0) + 1;
    creates.set(parent, parentCreates);
    const body = { kind: 'create', path, data, ephemeralOwner: 0n, parentCreates };
    tree.apply(++zxid, { origin: { sid: 0, incarnation: 0, seq: 0 }, session: 0n, timeMs: 1, body });
  };
  for (let p = 0; p < parents; p++) create('/', `/p${p}`);
  for (let i = 0; i < count; i++) create(`/p${i % parents}`, pathOf(i, parents));
  return { tree, zxid };
}

/** A store on a new folder, and a way to wait for a ticket. */
async function openEmpty(directory, identity) {
  let persisted = 0;
  let wake = () => undefined;
  const events = {
    persisted: (ticket) => {
      persisted = ticket;
      wake();
    },
    failed: (reason) => {
      throw new Error(reason);
    },
    checkpointReady: () => undefined,
    checkpointWritten: () => undefined,
    stateOpened: () => undefined,
    stateFailed: () => undefined,
  };
  const store = await openLevelStore({ directory, identity, events });
  await store.recover({ state: () => undefined, log: () => undefined });
  const done = async (ticket) => {
    while (persisted < ticket) await new Promise((resolve) => (wake = resolve));
  };
  return { store, done };
}
