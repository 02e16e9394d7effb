/** Watches of the client against real members, in this process: over kills, changes of member, and readers that are slow. */
import { type Client, connect, isCode, type WatchEvent } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let ensemble: TestEnsemble;

beforeAll(async () => {
  ensemble = await TestEnsemble.start({
    size: 3,
    config: { watchBytesMax: 400_000, watchStallMs: 200, watchProgressMs: 100 },
  });
});

afterAll(async () => {
  await ensemble.stop();
});

/** A client that knows only the members at these indexes. */
const clientOf = (...indexes: readonly number[]): Promise<Client> =>
  connect(
    indexes.map((index) => ensemble.servers[index] ?? ''),
    { timeoutMs: 20_000, sessionTimeoutMs: 8_000 },
  );

/** Reads a watch to its end, into an array. */
function record(watch: AsyncIterable<WatchEvent>): readonly WatchEvent[] {
  const events: WatchEvent[] = [];
  void (async () => {
    for await (const event of watch) events.push(event);
  })();
  return events;
}

const describeEvent = (event: WatchEvent): string => ('path' in event ? `${event.type} ${event.path}` : event.type);

describe('a watch', () => {
  it('tells the state, then every change with its zxid, stat and data', async () => {
    await using client = await clientOf(1);
    await using writer = await clientOf(0);
    await writer.create('/state', 'a');
    await writer.create('/state/b', 'b');
    await client.sync();
    await using watch = client.watch('/state', { recursive: true, data: true });
    const events = record(watch);
    await watch.ready;
    await vi.waitFor(() => expect(events.map(describeEvent)).toEqual(['current /state', 'current /state/b', 'ready']));
    const stat = await writer.set('/state', 'new');
    await writer.delete('/state/b');
    await vi.waitFor(() => expect(events).toHaveLength(5));
    expect(events[3]).toMatchObject({ type: 'changed', path: '/state', zxid: stat.mzxid, stat });
    expect(events[3]?.type === 'changed' && events[3].node?.text()).toBe('new');
    expect(events[4]).toMatchObject({ type: 'deleted', path: '/state/b' });
  });

  it('is of paths below the chroot', async () => {
    await using writer = await clientOf(0);
    await writer.create('/root');
    await using client = await connect(`${ensemble.servers[0]}/root`, { timeoutMs: 20_000 });
    await using watch = client.watch('/', { recursive: true, initial: false });
    await watch.ready;
    await writer.create('/outside');
    await writer.create('/root/in');
    const iterator = watch[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ type: 'ready' });
    expect((await iterator.next()).value).toMatchObject({ type: 'created', path: '/in' });
  });

  it('ends with its loop, its signal and its client', async () => {
    const client = await clientOf(0);
    for await (const event of client.watch('/')) if (event.type === 'ready') break;
    const controller = new AbortController();
    const aborted = client.watch('/', { signal: controller.signal });
    controller.abort();
    await expect(aborted[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'ABORTED' });
    expect(() => client.watch('bad')).toThrow('is not a path');
    const iterator = client.watch('/', { initial: false })[Symbol.asyncIterator]();
    await iterator.next();
    const last = iterator.next();
    await client.close();
    expect(await last).toMatchObject({ done: true });
    expect(() => client.watch('/')).toThrow('closed');
  });

  it('C037: misses nothing and gets nothing twice while the member that it is at is killed again and again', async () => {
    await using writer = await clientOf(0, 1, 2);
    await using client = await clientOf(0, 1, 2);
    await writer.create('/kills');
    await client.sync();
    await using watch = client.watch('/kills', { recursive: true });
    const events = record(watch);
    await watch.ready;
    const acknowledged = new Set<bigint>();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 40; i++) {
        if (i === 20) {
          await vi.waitFor(() => expect(client.session.current.state).toBe('connected'), 10_000);
          const { current } = client.session;
          await ensemble.kill(ensemble.servers.indexOf(current.state === 'connected' ? current.server : ''));
        }
        try {
          acknowledged.add((await writer.create(`/kills/${round}-${i}`, '')).stat.czxid);
        } catch (error) {
          if (!isCode(error, 'CONNECTION_LOST', 'UNAVAILABLE')) throw error;
        }
      }
      for (const index of [0, 1, 2]) if (!ensemble.running().includes(index)) await ensemble.restart(index);
      await ensemble.serving();
    }
    const last = await writer.set('/kills', 'end');
    await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: 'changed', zxid: last.mzxid }), 20_000);
    const zxids = events.flatMap((event) => (event.type === 'created' ? [event.zxid] : []));
    expect(events.some(({ type }) => type === 'gap')).toBe(false);
    expect(events.filter(({ type }) => type === 'ready')).toHaveLength(1);
    expect(zxids).toEqual([...new Set(zxids)].sort((a, b) => (a < b ? -1 : 1)));
    expect([...acknowledged].filter((zxid) => !zxids.includes(zxid))).toEqual([]);
    expect(zxids).toHaveLength((await writer.children('/kills')).length);
  }, 60_000);

  it('of a slow reader is not fetched further than it reads, and goes on, or says that there is a gap', async () => {
    await using writer = await clientOf(0);
    await using client = await clientOf(0);
    await writer.create('/slow');
    await client.sync();
    await using watch = client.watch('/slow', { recursive: true, data: true });
    await watch.ready;
    // Far more than the window of the members holds.
    for (let i = 0; i < 40; i++) await writer.create(`/slow/${String(i).padStart(2, '0')}`, 'x'.repeat(50_000));
    const known = new Map<string, bigint>();
    let gaps = 0;
    for await (const event of watch) {
      if (event.type === 'gap') {
        gaps++;
        known.clear();
      } else if ('stat' in event) known.set(event.path, event.stat.czxid);
      if (known.has('/slow/39')) break;
    }
    expect(known.size).toBe(41);
    expect(gaps).toBe(1);
  });
});
