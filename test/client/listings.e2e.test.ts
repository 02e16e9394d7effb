/** Listings by the client against real members in this process: while others write, with rights, and of more children than one answer holds. */
import { type Client, connect, type ListedZnode } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let ensemble: TestEnsemble;

beforeAll(async () => {
  ensemble = await TestEnsemble.start({ size: 3 });
});

afterAll(async () => {
  await ensemble.stop();
});

const clientOf = (index: number, credential?: string) => {
  const auth = credential === undefined ? [] : [{ scheme: 'digest', credential }];
  return connect(ensemble.servers[index] ?? '', { auth, timeoutMs: 20_000 });
};

/** So many children in as few transactions as it takes. */
async function crowd(client: Client, parent: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${String(index).padStart(8, '0')}-${'x'.repeat(31)}`);
  await client.create(parent);
  for (let from = 0; from < count; from += 8_000) {
    const transaction = client.transaction();
    // Not in order.
    for (const name of names.slice(from, from + 8_000).reverse()) transaction.create(`${parent}/${name}`);
    await transaction.commit({ timeoutMs: 60_000 });
  }
  return names;
}

async function all(listing: AsyncIterable<ListedZnode>): Promise<ListedZnode[]> {
  const listed: ListedZnode[] = [];
  for await (const one of listing) listed.push(one);
  return listed;
}

describe('a listing', () => {
  it('is the same at every member, of one moment, while others create, set and delete', async () => {
    await using writer = await clientOf(0);
    const names = await crowd(writer, '/busy', 6_000);
    const before = await writer.stat('/busy');
    const readers = await Promise.all([0, 1, 2].map((index) => clientOf(index)));
    await Promise.all(readers.map((reader) => reader.sync()));
    // The first znode of each has come before anything changes; the rest is read while it does.
    const listings = readers.map((reader, index) =>
      index === 1 ? reader.walk('/busy', { data: true }) : reader.list('/busy', { data: true, pageSize: 500 }),
    );
    const iterators = listings.map((listing) => listing[Symbol.asyncIterator]());
    const firsts = await Promise.all(iterators.map((one) => one.next()));
    const changing = (async () => {
      for (let index = 0; index < 200; index++) {
        const name = names[(index * 29) % names.length] ?? '';
        if (index % 3 === 0) await writer.delete(`/busy/${name}`, { ifExists: true });
        else if (index % 3 === 1) await writer.create(`/busy/new-${index}`);
        else await writer.set(`/busy/${name}`, 'later').catch(() => undefined);
      }
      await Promise.all(readers.map((reader) => reader.sync()));
    })();
    const lists = await Promise.all(
      iterators.map(async (iterator, index) => {
        const listed = firsts[index]?.done === true ? [] : [firsts[index]?.value as ListedZnode];
        await changing;
        for (let one = await iterator.next(); one.done !== true; one = await iterator.next()) listed.push(one.value);
        return listed;
      }),
    );
    const after = await writer.stat('/busy');
    for (const [index, listed] of lists.entries()) {
      const children = index === 1 ? listed.slice(1) : listed;
      expect(children.map(({ name }) => name)).toEqual(names);
      expect(children.every(({ stat, data }) => stat?.version === 0 && data === undefined)).toBe(true);
      expect(listings[index]?.zxid).toBeGreaterThanOrEqual(before?.pzxid ?? 0n);
      expect(listings[index]?.zxid).toBeLessThan(after?.pzxid ?? 0n);
    }
    expect(after?.cversion).toBeGreaterThan(before?.cversion ?? 0);
    for (const reader of readers) await reader.close();
  });

  it('C123: tells of what may not be read its name, as its parent does, and nothing else', async () => {
    await using alice = await clientOf(0, 'alice:secret');
    await using bob = await clientOf(1, 'bob:secret');
    for (const path of ['/shared', '/shared/a']) await alice.create(path, 'x');
    await alice.create('/shared/hers', 'x', { acl: 'creator' });
    await alice.create('/shared/hers/below', 'x');
    await bob.sync();
    const told = async (client: Client) => {
      const listed = await all(client.walk('/shared', { data: true }));
      return listed.map(({ path, stat, data }) => [path, stat !== undefined, data !== undefined]);
    };
    expect(await told(bob)).toEqual([
      ['/shared', true, true],
      ['/shared/a', true, true],
      ['/shared/hers', false, false],
    ]);
    expect((await told(alice)).map(([path]) => path)).toContain('/shared/hers/below');
    await expect(all(bob.list('/shared/hers'))).rejects.toMatchObject({ code: 'NO_AUTH' });
    await expect(all(bob.list('/none'))).rejects.toMatchObject({ code: 'NO_NODE', path: '/none' });
  });

  it('that was begun at a member that is no more is a gap, and is begun anew', async () => {
    await using two = await TestEnsemble.start({ size: 3 });
    await using client = await connect(two.servers, { timeoutMs: 20_000 });
    await client.create('/p');
    for (const name of ['a', 'b', 'c']) await client.create(`/p/${name}`);
    const iterator = client.list('/p', { pageSize: 1, timeoutMs: 20_000 })[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ name: 'a' });
    for (const index of two.running()) await two.kill(index);
    for (const index of [0, 1, 2]) await two.restart(index);
    await expect(iterator.next()).rejects.toMatchObject({ code: 'GAP', path: '/p' });
    const listed = await all(client.list('/p', { after: 'a', timeoutMs: 20_000 }));
    expect(listed.map(({ name }) => name)).toEqual(['b', 'c']);
  });
});

it('C136: more children than an answer carries are listed in pages, in full and in order, and counted', async () => {
  await using one = await TestEnsemble.start({ size: 1 });
  await using client = await connect(one.servers, { timeoutMs: 20_000 });
  const names = await crowd(client, '/big', 112_000);
  const [whole] = await client.readAll([{ op: 'children', path: '/big' }]).catch((error: unknown) => [error]);
  expect(whole).toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(await client.children('/big', { timeoutMs: 20_000 })).toEqual(names);
  const listed: string[] = [];
  for await (const { name } of client.list('/big', { pageSize: 4_096, timeoutMs: 20_000 })) listed.push(name);
  expect(listed).toEqual(names);
  expect(await client.countDescendants('/big', { timeoutMs: 20_000 })).toBe(names.length);
});
