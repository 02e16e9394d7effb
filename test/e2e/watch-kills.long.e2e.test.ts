/**
 * Watches over a real ensemble whose members are killed and started again while it is written to: every watch is told every change,
 * once and in the order of the history, and all are told the same.
 */
import { type Client, connect, isCode, type WatchEvent } from '@quorate/client';
import { expect, it } from 'vitest';
import { EnsembleProcess, until } from './ensemble-process.ts';

const ROUNDS = 12;
const WATCHES = 6;
const WRITERS = 4;

/** What a watch was told, and the state that follows from it. */
class Witness {
  readonly changes: string[] = [];
  readonly state = new Map<string, string>();
  gaps = 0;
  position = 0n;
  readonly ready: Promise<void>;
  readonly over: Promise<void>;

  constructor(client: Client) {
    const watch = client.watch('/w', { recursive: true, data: true });
    this.ready = watch.ready;
    this.over = (async () => {
      for await (const event of watch) {
        this.#take(event);
        this.position = watch.position;
      }
    })();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'gap') {
      this.gaps++;
      this.state.clear();
      return;
    }
    if (event.type === 'ready') return;
    if (event.type === 'deleted') this.state.delete(event.path);
    else this.state.set(event.path, `${event.stat.czxid} ${event.stat.mzxid} ${event.node?.text()}`);
    if (event.type !== 'current') this.changes.push(`${event.zxid} ${event.type} ${event.path}`);
  }
}

/** Writes until told to stop: creates, sets and deletes of its own znodes. Returns what was acknowledged. */
async function write(client: Client, name: string, isOver: () => boolean): Promise<bigint[]> {
  const acknowledged: bigint[] = [];
  for (let i = 0; !isOver(); i++) {
    const path = `/w/${name}-${i % 20}`;
    try {
      const turn = Math.floor(i / 20) % 3;
      if (turn === 0) acknowledged.push((await client.create(path, String(i))).stat.czxid);
      else if (turn === 1) acknowledged.push((await client.set(path, String(i))).mzxid);
      else await client.delete(path, { ifExists: true });
    } catch (error) {
      // One whose outcome was not known may have been carried out, so that the next finds what it does not expect.
      if (!isCode(error, 'CONNECTION_LOST', 'UNAVAILABLE', 'TIMEOUT', 'NODE_EXISTS', 'NO_NODE')) throw error;
    }
  }
  return acknowledged;
}

it('every watch is told every change once, in order, while members are killed', async () => {
  await using ensemble = await EnsembleProcess.start({ members: 3, environment: { QUORATE_CHECKPOINT_TXNS: '300' } });
  const open = () => connect(ensemble.addresses, { timeoutMs: 30_000, sessionTimeoutMs: 20_000 });
  const clients = await Promise.all(Array.from({ length: WATCHES + WRITERS }, open));
  const [first] = clients as [Client];
  await first.create('/w', 'root');
  await Promise.all(clients.map((client) => client.sync()));
  const witnesses = clients.slice(0, WATCHES).map((client) => new Witness(client));
  // All from the same position on.
  await Promise.all(witnesses.map(({ ready }) => ready));
  let isOver = false;
  const writers = clients.slice(WATCHES).map((client, i) => write(client, String(i), () => isOver));
  for (let round = 0; round < ROUNDS; round++) {
    const sid = round % 3 === 0 ? await ensemble.leader() : (round % 3) + 1;
    const seen = witnesses[0]?.position ?? 0n;
    ensemble.kill(sid);
    await ensemble.gone(sid);
    await until('changes while it is down', () => (witnesses[0]?.position ?? 0n) > seen);
    await ensemble.restart(sid);
  }
  isOver = true;
  const acknowledged = (await Promise.all(writers)).flat();
  const end = (await first.set('/w', 'end')).mzxid;
  await until('the last change at every watch', () => witnesses.every(({ position }) => position >= end));
  const [witness] = witnesses as [Witness];
  console.log(
    `${witness.changes.length} changes, ${acknowledged.length} acknowledged creates and sets, ${WATCHES} watches`,
  );
  for (const { gaps, changes, state } of witnesses) {
    expect(gaps).toBe(0);
    expect(changes).toEqual(witness.changes);
    expect(state).toEqual(witness.state);
  }
  const zxids = witness.changes.map((change) => BigInt(change.split(' ')[0] ?? ''));
  expect(zxids).toEqual([...new Set(zxids)].sort((a, b) => (a < b ? -1 : 1)));
  const told = new Set(zxids);
  expect(acknowledged.filter((zxid) => !told.has(zxid))).toEqual([]);
  for (const [path, known] of witness.state) {
    const { stat, ...node } = await first.get(path);
    expect(known).toBe(`${stat.czxid} ${stat.mzxid} ${node.text()}`);
  }
  expect(witness.state.size).toBe((await first.children('/w')).length + 1);
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(witnesses.map(({ over }) => over));
});
