/** WatchService of a member on its own, over real gRPC, with the codec of the protos and with our own. */
import { status } from '@grpc/grpc-js';
import { ByteWriter, type Stat, toSessionId, toZxid } from '@quorate/protocol';
import { writeWatchPiece } from '@quorate/protocol/frames';
import { loadProtos, serviceOf, WATCH_SERVICE } from '@quorate/protocol/grpc';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call, detailOf, Standalone } from './front.fixture.ts';
import { WatchStream } from './watch-stream.fixture.ts';

const ZNODES = 'quorate.v1.ZnodeService';

let standalone: Standalone;

beforeAll(async () => {
  standalone = await Standalone.start({ watchProgressMs: 50, watchStallMs: 1_000, watchBytesMax: 2_000_000 });
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

async function create(path: string, data = Buffer.from(path)): Promise<bigint> {
  const created = await call<{ zxid: bigint }>(standalone.client(), ZNODES, 'Create', { path, data });
  return created.zxid;
}

describe('WatchService', () => {
  it('tells the state, then changes, and goes on from the last position over another connection', async () => {
    await create('/a');
    const first = new WatchStream(standalone.client(), { path: '/a' });
    await vi.waitFor(() => expect(first.words).toEqual(['current /a', 'ready']));
    const zxid = await create('/a/1');
    await vi.waitFor(() => expect(first.told).toBe(zxid));
    expect(first.events.at(-1)).toMatchObject({ kind: 'created', path: '/a/1', zxid, stat: { czxid: zxid } });
    expect(Buffer.from(first.events.at(-1)?.data ?? [])).toEqual(Buffer.from('/a/1'));
    first.call.cancel();
    await create('/elsewhere');
    const missed = await create('/a/2');
    const second = new WatchStream(standalone.client(), { path: '/a', from: first.told });
    await vi.waitFor(() => expect(second.told).toBe(missed));
    expect(second.words).toEqual(['ready', 'created /a/2']);
    second.call.cancel();
  });

  it('says how far it is while nothing happens', async () => {
    const watch = new WatchStream(standalone.client(), { path: '/nothing', initial: false });
    await vi.waitFor(() => expect(watch.pieces.length).toBeGreaterThan(2));
    expect(watch.pieces.slice(1).every(({ events, zxid }) => events.length === 0 && zxid > 0n)).toBe(true);
    watch.call.cancel();
  });

  it('refuses a bad path and a position that it has not reached, with our own detail', async () => {
    const bad = new WatchStream(standalone.client(), { path: 'a' });
    const ahead = new WatchStream(standalone.client(), { from: toZxid(1n << 40n) });
    await vi.waitFor(() => expect([bad.error?.code, ahead.error?.code]).not.toContain(undefined));
    expect(bad.error?.code).toBe(status.INVALID_ARGUMENT);
    expect(ahead.error?.code).toBe(status.UNAVAILABLE);
    expect(detailOf(ahead.error).failure.code).toBe('SERVER_BEHIND');
  });

  it('a reader that takes nothing is told and dropped, and others are not held up', async () => {
    const slow = new WatchStream(standalone.client(), { path: '/', initial: false });
    const quick = new WatchStream(standalone.client(), { path: '/', initial: false });
    await vi.waitFor(() => expect([...slow.words, ...quick.words]).toEqual(['ready', 'ready']));
    slow.call.pause();
    for (let i = 0; i < 30; i++) {
      const last = await create(`/big${i}`, Buffer.alloc(500_000));
      // Not further behind than what is kept: that reader would be told of a gap, however quick it is.
      await vi.waitFor(() => expect(quick.told).toBe(last));
    }
    expect(quick.words).toHaveLength(31);
    await create('/after');
    await vi.waitFor(() => expect(quick.words).toHaveLength(32));
    slow.call.resume();
    await vi.waitFor(() => expect(slow.error).toBeDefined());
    expect(slow.error?.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(detailOf(slow.error).failure.code).toBe('THROTTLED');
    expect(slow.words.length).toBeLessThan(32);
    quick.call.cancel();
  });
});

it('our own bytes of a response are those of the protos', () => {
  const stat: Stat = {
    czxid: toZxid(1n << 40n),
    mzxid: toZxid(2n),
    pzxid: toZxid(3n),
    ctimeMs: 4,
    mtimeMs: 5,
    version: -6,
    cversion: 7,
    aversion: 8,
    ephemeralOwner: toSessionId((1n << 64n) - 1n),
    dataLength: 0,
    numChildren: 9,
  };
  const writer = new ByteWriter();
  const empty = new Uint8Array(0);
  const events = [
    { kind: 'gap', zxid: toZxid(9n), path: '', stat: undefined, data: undefined },
    { kind: 'current', zxid: toZxid(10n), path: '/ä', stat, data: empty },
    { kind: 'dataChanged', zxid: toZxid(10n), path: '/b', stat, data: undefined },
    { kind: 'deleted', zxid: toZxid(11n), path: '/ä', stat: undefined, data: undefined },
  ] as const;
  writeWatchPiece(writer, { zxid: toZxid(12n), events }, true);
  const decode = serviceOf(loadProtos(), WATCH_SERVICE)['Watch']?.responseDeserialize;
  const read = decode?.(Buffer.from(writer.finish())) as { events: Record<string, unknown>[]; zxid: bigint };
  expect(read.zxid).toBe(12n);
  expect(read.events.map(({ kind, zxid, path }) => [kind, zxid, path])).toEqual([
    ['WATCH_EVENT_KIND_GAP', 9n, ''],
    ['WATCH_EVENT_KIND_CURRENT', 10n, '/ä'],
    ['WATCH_EVENT_KIND_CHANGED', 10n, '/b'],
    ['WATCH_EVENT_KIND_DELETED', 11n, '/ä'],
  ]);
  const [gap, current, changed] = read.events;
  expect(current?.['stat']).toEqual({ ...stat, ctimeMs: 4n, mtimeMs: 5n });
  expect([gap?.['stat'], 'data' in (current ?? {}), 'data' in (changed ?? {})]).toEqual([null, true, false]);
});
