/** StreamChildren and StreamSubtree of a member on its own, over real gRPC. */
import { type ClientReadableStream, type ServiceError, status } from '@grpc/grpc-js';
import { loadProtos, serviceOf, ZNODE_SERVICE } from '@quorate/protocol/grpc';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call, detailOf, Standalone } from './front.fixture.ts';

let standalone: Standalone;

beforeAll(async () => {
  standalone = await Standalone.start({ listingsMax: 2 });
  for (const path of ['/p', '/p/b', '/p/a', '/p/c', '/p/a/x']) {
    await call(standalone.client(), ZNODE_SERVICE, 'Create', { path, data: Buffer.from(path) });
  }
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

interface Page {
  readonly children?: readonly { readonly name: string; readonly data?: Buffer }[];
  readonly znodes?: readonly { readonly name: string }[];
  readonly listingZxid: bigint;
}

class Reading {
  readonly call: ClientReadableStream<{ readonly page: Page }>;
  readonly pages: Page[] = [];
  error: ServiceError | undefined;
  hasEnded = false;

  constructor(method: 'StreamChildren' | 'StreamSubtree', list: object | undefined) {
    const definition = serviceOf(loadProtos(), ZNODE_SERVICE)[method]!;
    const decode = definition.responseDeserialize as (bytes: Buffer) => { readonly page: Page };
    const { path, requestSerialize } = definition;
    const request = list === undefined ? {} : { list };
    this.call = standalone.client().makeServerStreamRequest(path, requestSerialize, decode, request);
    this.call.on('data', ({ page }: { readonly page: Page }) => this.pages.push(page));
    this.call.on('end', () => {
      this.hasEnded = true;
    });
    this.call.on('error', (error: ServiceError) => {
      this.error = error;
    });
  }

  get names(): readonly (readonly string[])[] {
    return this.pages.map(({ children, znodes }) => [...(children ?? []), ...(znodes ?? [])].map(({ name }) => name));
  }
}

describe('a listing on a stream of its own', () => {
  it('has all pages, one after another, of one moment, and ends', async () => {
    const children = new Reading('StreamChildren', { path: '/p', limit: 2, withData: true, linearizable: true });
    const subtree = new Reading('StreamSubtree', { path: '/p', limit: 2, maxDepth: 1 });
    await vi.waitFor(() => expect([children.hasEnded, subtree.hasEnded]).toEqual([true, true]));
    expect(children.names).toEqual([['a', 'b'], ['c']]);
    expect(children.pages[0]?.children?.[0]?.data).toEqual(Buffer.from('/p/a'));
    expect(subtree.names).toEqual([['/p', '/p/a'], ['/p/b', '/p/c'], []]);
    expect(new Set(subtree.pages.map(({ listingZxid }) => listingZxid)).size).toBe(1);
    expect([children.error, subtree.error]).toEqual([undefined, undefined]);
  });

  it('ends with the error that the page would have', async () => {
    const absent = new Reading('StreamChildren', { path: '/none' });
    const bad = new Reading('StreamSubtree', { path: 'none' });
    const nothing = new Reading('StreamSubtree', undefined);
    const readings = [absent, bad, nothing];
    await vi.waitFor(() => expect(readings.map(({ error }) => error?.code)).not.toContain(undefined));
    expect(absent.error?.code).toBe(status.NOT_FOUND);
    expect(detailOf(absent.error).failure).toMatchObject({ code: 'NO_NODE', path: '/none' });
    expect([bad.error?.code, nothing.error?.code]).toEqual([status.INVALID_ARGUMENT, status.INVALID_ARGUMENT]);
  });

  it('is not made further than its reader takes it, and leaves nothing open at the member when he goes', async () => {
    await call(standalone.client(), ZNODE_SERVICE, 'Create', { path: '/big' });
    for (let number = 0; number < 20; number++) {
      const request = { path: `/big/${number}`, data: Buffer.alloc(500_000) };
      await call(standalone.client(), ZNODE_SERVICE, 'Create', request);
    }
    // Two may be open at a time: a third would be refused.
    for (let round = 0; round < 3; round++) {
      const readings = [1, 2].map(() => new Reading('StreamChildren', { path: '/big', limit: 1, withData: true }));
      for (const reading of readings) reading.call.once('data', () => reading.call.pause());
      await vi.waitFor(() => expect(readings.map(({ pages }) => pages.length > 0)).toEqual([true, true]));
      expect(readings.map(({ error, hasEnded }) => error ?? hasEnded)).toEqual([false, false]);
      for (const reading of readings) reading.call.cancel();
      await vi.waitFor(async () => {
        const request = { path: '/p', limit: 1 };
        const page = await call<Page>(standalone.client(), ZNODE_SERVICE, 'ListChildren', request);
        const pageToken = (page as unknown as { nextPageToken: Buffer }).nextPageToken;
        await call(standalone.client(), ZNODE_SERVICE, 'ListChildren', { ...request, pageToken, end: true });
      });
    }
  });
});
