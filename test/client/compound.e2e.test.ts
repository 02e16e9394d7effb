/** Calls that do several things at once, by the client against three real members in this process. */
import { type Client, connect, isCode, type ReadResult, type Znode } from '@quorate/client';
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

function nodeOf(result: ReadResult | undefined): Znode {
  if (result?.error !== undefined || result?.op !== 'get') throw new Error('The read failed', { cause: result });
  return result.node;
}

describe('several reads', () => {
  it('show one moment, at every member, while others write', async () => {
    await using writer = await clientOf(0);
    await writer.create('/pair', 'x');
    await Promise.all(['a', 'b'].map((name) => writer.create(`/pair/${name}`, '0')));
    const readers: Client[] = await Promise.all([0, 1, 2].map((index) => clientOf(index)));
    let isOver = false;
    const writing = (async () => {
      for (let i = 1; i <= 100; i++) {
        await writer.transaction().set('/pair/a', String(i)).set('/pair/b', String(i)).commit();
      }
      isOver = true;
    })();
    const reads = [
      { op: 'get', path: '/pair/a' },
      { op: 'get', path: '/pair/b' },
      { op: 'children', path: '/pair' },
    ] as const;
    for (const reader of readers) await reader.sync();
    const seen = await Promise.all(
      readers.map(async (reader) => {
        const values = new Set<string>();
        do {
          const [a, b, children] = await reader.readAll(reads);
          const [first, second] = [nodeOf(a), nodeOf(b)];
          expect(first.text()).toBe(second.text());
          expect(first.stat.mzxid === second.stat.mzxid || first.text() === '0').toBe(true);
          expect(children).toMatchObject({ children: ['a', 'b'] });
          values.add(first.text());
        } while (!isOver);
        return values;
      }),
    );
    await writing;
    for (const values of seen) expect(values.size).toBeGreaterThan(0);
    const [last] = await readers[1]!.readAll(reads, { consistency: 'linearizable' });
    expect(last).toMatchObject({ node: { stat: { version: 100 } } });
    for (const reader of readers) await reader.close();
  });
});

describe('a create with parents, and a set that creates', () => {
  it('happen as a whole, from every member at once', async () => {
    const clients = await Promise.all([0, 1, 2].map((index) => clientOf(index)));
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        clients[i % 3]!.create(`/deep/${i % 5}/${i % 7}/n-`, '', { parents: true, sequential: true }),
      ),
    );
    expect(new Set(made.map(({ path }) => path)).size).toBe(60);
    const sets = await Promise.all(
      Array.from({ length: 30 }, (_, i) => clients[i % 3]!.set('/upsert', String(i), { upsert: true })),
    );
    expect(sets.map(({ version }) => version).sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
    for (const client of clients) await client.sync();
    expect(await Promise.all(clients.map((client) => client.countDescendants('/deep')))).toEqual([100, 100, 100]);
    for (const client of clients) await client.close();
  });
});

describe('a transaction that reads', () => {
  it('shows what it found and what it left, at its zxid, and tells a loser that somebody was first', async () => {
    await using first = await clientOf(0);
    await using second = await clientOf(2);
    await first.create('/tally', '0');
    const add = async (client: Client): Promise<void> => {
      for (;;) {
        const tally = await client.get('/tally');
        const { stat } = tally;
        const txn = client
          .transaction()
          .check('/tally', stat.version)
          .set('/tally', String(Number(tally.text()) + 1));
        try {
          const [, set, got] = await txn.get('/tally').commit();
          expect(set).toMatchObject({ op: 'set', stat: { version: stat.version + 1 } });
          if (got?.op !== 'get') throw new Error('Not read');
          expect(got.node.text()).toBe(String(stat.version + 1));
          return;
        } catch (error) {
          if (!isCode(error, 'BAD_VERSION')) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(i % 2 === 0 ? first : second)));
    await second.sync();
    expect((await second.get('/tally')).text()).toBe('20');
    const claim = (client: Client) =>
      client.transaction().checkAbsent('/claim').create('/claim').stat('/claim').commit();
    const claims = await Promise.allSettled([claim(first), claim(second)]);
    expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = claims.find((one) => one.status === 'rejected');
    expect(lost?.reason).toMatchObject({ code: 'NODE_EXISTS', part: 0 });
    const [none, there] = await second.transaction().stat('/nobody').stat('/claim').commit();
    expect(none).toEqual({ op: 'stat', stat: undefined });
    expect(there).toMatchObject({ stat: { version: 0 } });
  });
});

describe('the end of a subtree', () => {
  it('goes on step by step while others create there, at every member, and each step is told', async () => {
    await using client = await clientOf(0);
    await using other = await clientOf(1);
    await client.create('/tree');
    const made: Promise<unknown>[] = [];
    for (let i = 0; i < 2_500; i++) made.push(client.create(`/tree/${i % 50}/${i}`, '', { parents: true }));
    await Promise.all(made);
    const deletedBefore = { tree: 0 };
    await using changes = other.watch('/tree', { recursive: true, initial: false });
    await changes.ready;
    const progress: number[] = [];
    const later: Promise<unknown>[] = [];
    const deleted = await client.deleteSubtree('/tree', {
      onProgress: (count) => {
        progress.push(count);
        // Answered before the next step is asked for, or not: it goes either way.
        later.push(other.create(`/tree/late/${count}`, '', { parents: true }));
      },
    });
    await Promise.allSettled(later);
    expect(progress.slice(0, 2)).toEqual([1_000, 2_000]);
    for await (const event of changes) {
      if (event.type === 'deleted') deletedBefore.tree++;
      if (event.type === 'deleted' && event.path === '/tree') break;
    }
    expect(deleted).toBe(deletedBefore.tree);
    expect(deleted).toBeGreaterThanOrEqual(2_551);
    await client.deleteSubtree('/tree', { ifExists: true });
    await other.sync();
    expect(await other.stat('/tree')).toBeUndefined();
    await expect(client.deleteSubtree('/tree')).rejects.toMatchObject({ code: 'NO_NODE', path: '/tree' });
  });

  it('stops where a right is missing, and by its signal', async () => {
    await using alice = await clientOf(0, 'alice:secret');
    await using bob = await clientOf(2, 'bob:secret');
    await alice.create('/mixed/open/a', '', { parents: true });
    await alice.create('/mixed/hers', '', { acl: 'creator' });
    await alice.create('/mixed/hers/x');
    await expect(bob.deleteSubtree('/mixed')).rejects.toMatchObject({ code: 'NO_AUTH', path: '/mixed/hers/x' });
    expect(await alice.stat('/mixed/open/a')).toBeDefined();
    const made: Promise<unknown>[] = [];
    for (let i = 0; i < 1_500; i++) made.push(alice.create(`/mixed/open/n${i}`));
    await Promise.all(made);
    const abort = new AbortController();
    const stopped = alice.deleteSubtree('/mixed', { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' });
    await alice.deleteSubtree('/mixed', { ifExists: true });
    expect(await alice.stat('/mixed')).toBeUndefined();
  });
});
