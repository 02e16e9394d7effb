/** Listings of a client: pages are fetched while they are read, the rules of the caller are checked, and errors are his. */
import { type ListingOp, type ListingResult, toZxid } from '@quorate/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { CoordinationError } from './errors.ts';
import { type ListedZnode, PagedListing } from './listing.ts';
import { TinyEnsemble } from './testing/index.ts';

const ensembles: TinyEnsemble[] = [];

async function tiny(): Promise<TinyEnsemble> {
  const ensemble = await TinyEnsemble.start(1);
  ensembles.push(ensemble);
  return ensemble;
}

afterEach(async () => {
  for (const ensemble of ensembles.splice(0)) await ensemble[Symbol.asyncDispose]();
});

async function all(listing: AsyncIterable<ListedZnode>): Promise<ListedZnode[]> {
  const listed: ListedZnode[] = [];
  for await (const one of listing) listed.push(one);
  return listed;
}

const paths = async (listing: AsyncIterable<ListedZnode>): Promise<string[]> =>
  (await all(listing)).map(({ path }) => path);

describe('a listing', () => {
  it('has the children, or the subtree, in order over its pages, by the paths of its caller', async () => {
    const ensemble = await tiny();
    await using client = await connect(ensemble.servers);
    for (const path of ['/app', '/app/a', '/app/a/x', '/app/b', '/app/c', '/other']) await client.create(path, path);
    await using inApp = await connect(ensemble.servers, { chroot: '/app' });
    expect(await paths(inApp.list('/', { pageSize: 2 }))).toEqual(['/a', '/b', '/c']);
    expect(await paths(client.list('/app', { after: 'a' }))).toEqual(['/app/b', '/app/c']);
    expect(await paths(inApp.walk('/', { pageSize: 1 }))).toEqual(['/', '/a', '/a/x', '/b', '/c']);
    expect(await paths(inApp.walk('/', { depth: 1 }))).toEqual(['/', '/a', '/b', '/c']);
    const [named] = await all(client.list('/app'));
    expect([named?.name, named?.stat, named?.data]).toEqual(['a', undefined, undefined]);
    const [first] = await all(client.list('/app', { stat: true }));
    expect([first?.stat?.numChildren, first?.data]).toEqual([1, undefined]);
    const [whole] = await all(client.list('/app', { data: true, consistency: 'linearizable' }));
    expect([whole?.stat?.dataLength, new TextDecoder().decode(whole?.data)]).toEqual([6, '/app/a']);
  });

  it('rejects with the error of its caller, and takes no options of the wrong shape', async () => {
    const ensemble = await tiny();
    await using client = await connect(ensemble.servers, { chroot: '/app' });
    const error = await all(client.list('/none')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'NO_NODE', path: '/none' });
    expect(() => client.list('none')).toThrow(CoordinationError);
    for (const pageSize of [0, 4_097, 1.5]) expect(() => client.list('/', { pageSize })).toThrow(RangeError);
    for (const depth of [-1, 0.5]) expect(() => client.walk('/', { depth })).toThrow(RangeError);
    expect(() => client.list('/', { after: 7 as unknown as string })).toThrow(TypeError);
    expect(() => client.list('/', { timeoutMs: 0 })).toThrow(RangeError);
    const aborted = AbortSignal.abort();
    expect(await all(client.list('/', { signal: aborted })).catch((reason: unknown) => reason)).toMatchObject({
      code: 'ABORTED',
    });
  });
});

describe('all children of a znode', () => {
  it('come in pages when one answer does not carry them, and anew when the pages are lost on the way', async () => {
    const ensemble = await tiny();
    await using client = await connect(ensemble.servers, { chroot: '/app' });
    const names = Array.from({ length: 5_000 }, (_, index) => `n${String(index).padStart(4, '0')}`);
    await client.create('/');
    for (let from = 0; from < names.length; from += 1_000) {
      await Promise.all(names.slice(from, from + 1_000).map((name) => client.create(`/${name}`)));
    }
    ensemble.tree.childrenMax = 100;
    expect(await client.children('/')).toEqual(names);
    ensemble.tree.gaps = 2;
    expect(await client.children('/')).toEqual(names);
    expect(ensemble.tree.gaps).toBeLessThan(0);
    const absent = client.children('/none');
    await expect(absent).rejects.toMatchObject({ code: 'NO_NODE', path: '/none' });
  });
});

describe('its pages', () => {
  const OP: ListingOp = {
    kind: 'listChildren',
    path: '/p',
    after: '',
    withStat: false,
    withData: false,
    limit: 2,
    token: undefined,
    isEnd: false,
  };
  const page = (names: readonly string[], next?: number): ListingResult => ({
    kind: 'listChildren',
    at: toZxid(7n),
    top: undefined,
    entries: names.map((name) => ({ name, stat: undefined, data: undefined })),
    next: next === undefined ? undefined : new Uint8Array([next]),
  });

  function paged(...pages: readonly ListingResult[]): { listing: PagedListing; asked: string[] } {
    const asked: string[] = [];
    const left = [...pages];
    const ask = (op: ListingOp, isFirst: boolean): Promise<ListingResult> => {
      asked.push(`${isFirst ? 'first' : String(op.token)}${op.isEnd ? ' end' : ''}`);
      const next = left.shift();
      return next === undefined ? Promise.reject(new CoordinationError('GAP', 'Gone')) : Promise.resolve(next);
    };
    return { listing: new PagedListing(OP, ask, (path) => path), asked };
  }

  it('may be empty: only one that names no next is the last', async () => {
    const { listing, asked } = paged(page([], 1), page(['a'], 2), page([], 3), page(['b']));
    expect(listing.zxid).toBeUndefined();
    expect(await paths(listing)).toEqual(['/p/a', '/p/b']);
    expect([asked, listing.zxid]).toEqual([['first', '1', '2', '3'], 7n]);
  });

  it('are ended at the member when their reader leaves early, and not when he has them all', async () => {
    const { listing, asked } = paged(page(['a', 'b'], 1), page([]));
    for await (const { name } of listing) if (name === 'a') break;
    expect(asked).toEqual(['first', '1 end']);
    const whole = paged(page(['a']));
    for await (const { name } of whole.listing) if (name === 'a') break;
    expect(whole.asked).toEqual(['first']);
  });

  it('that are not kept any more are an error after those that came', async () => {
    const { listing } = paged(page(['a'], 1));
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { name } of listing) seen.push(name);
    };
    await expect(read()).rejects.toMatchObject({ code: 'GAP' });
    expect(seen).toEqual(['a']);
  });
});
