/** The calls of the client against a member over real sockets. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from './api.ts';
import { connect } from './connect.ts';
import { isCode } from './errors.ts';
import { TinyEnsemble } from './testing/index.ts';

let ensemble: TinyEnsemble;
let client: Client;

beforeEach(async () => {
  ensemble = await TinyEnsemble.start();
  client = await connect(ensemble.servers);
});

afterEach(async () => {
  await client.close();
  await ensemble[Symbol.asyncDispose]();
});

const failure = async (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error);

describe('several reads at once', () => {
  it('are answered each by itself, in the words of the caller', async () => {
    await client.create('/app/a', 'one', { parents: true });
    await client.create('/app/null');
    await using inApp = await connect(`${ensemble.servers[0]}/app`);
    const reads = [
      { op: 'get', path: '/a' },
      { op: 'stat', path: '/none' },
      { op: 'get', path: '/none' },
      { op: 'children', path: '/' },
      { op: 'get', path: '/null' },
    ] as const;
    const [a, none, failed, children, nothing] = await inApp.readAll(reads);
    expect(a).toMatchObject({ op: 'get', node: { path: '/a', stat: { version: 0 } } });
    expect(none).toEqual({ op: 'stat', stat: undefined });
    expect(failed).toMatchObject({ op: 'get', error: { code: 'NO_NODE', path: '/none' } });
    expect(children).toMatchObject({ children: ['a', 'null'], stat: { numChildren: 2 } });
    expect(nothing).toMatchObject({ node: { isNull: true } });
    expect(await client.readAll([])).toEqual([]);
  });

  it.each([
    [undefined],
    [[{ op: 'set', path: '/a' }]],
    [[undefined]],
    [[{ op: 'get' }]],
    [[{ op: 'toString', path: '/a' }]],
  ])('are not asked for with %j', async (reads) => {
    expect(await failure(client.readAll(reads as never))).toBeInstanceOf(TypeError);
  });
});

describe('znodes', () => {
  it('are created, read, changed, listed and deleted', async () => {
    const created = await client.create('/a', 'one');
    expect(created).toMatchObject({ path: '/a', isNull: false, stat: { version: 0, dataLength: 3 } });
    expect((await client.get('/a')).text()).toBe('one');
    expect(await client.set('/a', new Uint8Array([0, 255]))).toMatchObject({ version: 1, dataLength: 2 });
    expect((await client.get('/a', { consistency: 'linearizable' })).data).toEqual(new Uint8Array([0, 255]));
    await client.create('/a/b', '{"c":[1]}');
    expect((await client.get('/a/b')).json()).toEqual({ c: [1] });
    expect(await client.children('/a')).toEqual(['b']);
    await client.delete('/a/b');
    expect(await client.find('/a/b')).toBeUndefined();
    expect(await client.stat('/a/b')).toBeUndefined();
    expect(await client.stat('/a')).toMatchObject({ numChildren: 0, cversion: 2 });
  });

  it('are created in every mode', async () => {
    await client.create('/c', '', { mode: 'container' });
    await client.create('/t', '', { mode: { ttlMs: 2 ** 40 - 1 } });
    await client.create('/t-', '', { mode: { ttlMs: 1 }, sequential: true });
    const asked = ensemble.tree.creates.map(({ mode, ttlMs }) => [mode, ttlMs]);
    expect(asked).toEqual([
      ['container', undefined],
      ['ttl', 2 ** 40 - 1],
      ['ttl', 1],
    ]);
  });

  it.each([
    [{ mode: 'container', sequential: true }, TypeError],
    [{ mode: 'lasting' }, TypeError],
    [{ mode: {} }, TypeError],
    [{ mode: null }, TypeError],
    [{ mode: { ttlMs: '5' } }, TypeError],
    [{ mode: { ttlMs: 0 } }, RangeError],
    [{ mode: { ttlMs: 2 ** 40 } }, RangeError],
    [{ mode: { ttlMs: 1.5 } }, RangeError],
  ])('are not created with %j', async (options, kind) => {
    expect(await failure(client.create('/x', '', options as never))).toBeInstanceOf(kind);
  });

  it('are counted below one, and its own ephemerals are listed', async () => {
    await client.create('/a');
    for (const path of ['/a/c', '/a/b', '/ab']) await client.create(path, '', { mode: 'ephemeral' });
    expect(await client.countDescendants('/a')).toBe(2);
    expect(await client.ephemerals()).toEqual(['/a/b', '/a/c', '/ab']);
    expect(await client.ephemerals({ prefix: '/a/' })).toEqual(['/a/b', '/a/c']);
    expect(await failure(client.ephemerals({ prefix: 'a' }))).toMatchObject({ code: 'INVALID_ARGUMENT' });
    await using inside = await connect(`${ensemble.servers.join(',')}/a`);
    await inside.create('/own', '', { mode: 'ephemeral' });
    expect(await inside.ephemerals()).toEqual(['/own']);
    expect(await inside.countDescendants('/')).toBe(3);
  });

  it('C149: tell null from empty', async () => {
    await client.create('/null');
    await client.create('/empty', '');
    expect(await client.get('/null')).toMatchObject({ isNull: true, data: new Uint8Array(0) });
    expect(await client.get('/empty')).toMatchObject({ isNull: false, data: new Uint8Array(0) });
  });

  it('C013: show session ids and zxids exactly', async () => {
    const { stat } = await client.create('/e', '', { mode: 'ephemeral' });
    expect(client.session.id).toBe(0xff00_0000_0000_0001n);
    expect(stat.ephemeralOwner).toBe(client.session.id);
    expect(stat.czxid).toBe(0x0030_0000_0000_0002n);
    expect((await client.create('/f')).stat.czxid - stat.czxid).toBe(1n);
    expect(await client.sync()).toBe(0x0030_0000_0000_0003n);
  });

  it('refuse what the ensemble refuses, with its code', async () => {
    await client.create('/a');
    await client.create('/a/b');
    await client.create('/e', '', { mode: 'ephemeral' });
    const cases: readonly [() => Promise<unknown>, string, string][] = [
      [() => client.create('/a'), 'NODE_EXISTS', '/a'],
      [() => client.create('/x/y'), 'NO_NODE', '/x/y'],
      [() => client.create('/e/x'), 'NO_CHILDREN_FOR_EPHEMERALS', '/e/x'],
      [() => client.get('/x'), 'NO_NODE', '/x'],
      [() => client.set('/a', '', { version: 3 }), 'BAD_VERSION', '/a'],
      [() => client.delete('/a'), 'NOT_EMPTY', '/a'],
      [() => client.delete('/a', { version: 7 }), 'BAD_VERSION', '/a'],
      [() => client.children('/x'), 'NO_NODE', '/x'],
      [() => client.get('relative'), 'INVALID_ARGUMENT', 'relative'],
      [() => client.create('/\ud800'), 'INVALID_ARGUMENT', '/\ud800'],
    ];
    for (const [call, code, path] of cases) {
      expect(await failure(call())).toMatchObject({ code, path, outcome: 'not-applied' });
    }
  });

  it('make missing ancestors with `parents`, and not otherwise', async () => {
    const [first, second] = await Promise.all([
      client.create('/p/q/r', 'x', { parents: true }),
      client.create('/p/q/s', 'y', { parents: true }),
    ]);
    expect([first.path, second.path]).toEqual(['/p/q/r', '/p/q/s']);
    expect((await client.get('/p/q')).isNull).toBe(true);
    expect(await failure(client.create('/p/q/r', '', { parents: true }))).toMatchObject({ code: 'NODE_EXISTS' });
  });

  it('are set or created with `upsert`', async () => {
    expect(await client.set('/u', 'one', { upsert: true })).toMatchObject({ version: 0 });
    expect(await client.set('/u', 'two', { upsert: true })).toMatchObject({ version: 1 });
    await expect(client.set('/u', 'x', { upsert: true, version: 1 })).rejects.toThrow(TypeError);
  });

  it('are deleted with all below them, step by step, with word of how far it is', async () => {
    for (const path of ['/t/a/b', '/t/a/c', '/t/d', '/t/e']) await client.create(path, '', { parents: true });
    const progress: number[] = [];
    expect(await client.deleteSubtree('/t', { onProgress: (deleted) => progress.push(deleted) })).toBe(6);
    expect(progress).toEqual([3]);
    expect(await client.find('/t')).toBeUndefined();
    expect(await failure(client.deleteSubtree('/t'))).toMatchObject({ code: 'NO_NODE', path: '/t' });
    expect(await client.deleteSubtree('/t', { ifExists: true })).toBe(0);
  });

  it('that somebody else has deleted meanwhile are no failure of a later step', async () => {
    for (const path of ['/t/a', '/t/b', '/t/c', '/t/d']) await client.create(path, '', { parents: true });
    await using other = await connect(ensemble.servers);
    const others: Promise<number>[] = [];
    const deleted = await client.deleteSubtree('/t', {
      onProgress: () => {
        // It is sent before the next step of ours is.
        ensemble.tree.answer({ kind: 'deleteSubtree', path: '/t' }, ensemble.tree.sessions.keys().next().value!);
        others.push(other.deleteSubtree('/t', { ifExists: true }));
      },
    });
    expect(deleted).toBe(3);
    expect(await Promise.all(others)).toEqual([0]);
  });

  it('may be absent for a delete with `ifExists`', async () => {
    await client.delete('/none', { ifExists: true });
    expect(isCode(await failure(client.delete('/none')), 'NO_NODE')).toBe(true);
  });

  it('C162: get sequential names, under a parent and under the root', async () => {
    expect((await client.create('/n-', '', { sequential: true })).path).toBe('/n-0000000000');
    expect((await client.create('/', '', { sequential: true })).path).toBe('/0000000001');
  });

  it('hand out data that later calls do not change', async () => {
    await client.create('/a', 'first');
    const { data } = await client.get('/a');
    await client.set('/a', 'other');
    await client.get('/a');
    expect(new TextDecoder().decode(data)).toBe('first');
  });

  it('reject arguments of the wrong shape, and stay usable', async () => {
    await expect(client.get(7 as unknown as string)).rejects.toThrow(/path must be a string/);
    await expect(client.set('/a', 7 as unknown as string)).rejects.toThrow(/data must be/);
    await expect(client.set('/a', '', { version: 1.5 })).rejects.toThrow(RangeError);
    await expect(client.get('/', { timeoutMs: 0 })).rejects.toThrow(/timeoutMs/);
    await expect(client.get('/', { timeoutMs: 2 ** 31 })).rejects.toThrow(/timeoutMs/);
    await expect(client.get('/', { consistency: 'x' as 'local' })).rejects.toThrow(/consistency/);
    await expect(client.create('/a', '', { mode: 'x' as 'persistent' })).rejects.toThrow(/mode/);
    await expect(client.get('/', { signal: {} as AbortSignal })).rejects.toThrow(/signal/);
    expect(await client.children('/')).toEqual([]);
  });

  it('refuse data over the limit before it is sent', async () => {
    const error = await failure(client.create('/big', new Uint8Array(2_000_000)));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', outcome: 'not-applied', path: '/big' });
    await client.create('/most', new Uint8Array(1_048_000));
    expect((await client.get('/most')).data.length).toBe(1_048_000);
  });
});

describe('a chroot', () => {
  it('C162: is put before every path and taken off again', async () => {
    await using app = await connect(`${ensemble.servers[0]}/app`);
    await app.create('/x', '1', { parents: true });
    expect((await app.get('/x')).path).toBe('/x');
    expect(await app.children('/')).toEqual(['x']);
    expect((await app.create('/n-', '', { sequential: true })).path).toBe('/n-0000000001');
    expect((await app.create('/', '', { sequential: true })).path).toBe('/0000000002');
    expect(await failure(app.get('/y'))).toMatchObject({ code: 'NO_NODE', path: '/y' });
    expect(await client.children('/app')).toEqual(['0000000002', 'n-0000000001', 'x']);
  });
});

describe('calls made together', () => {
  it('travel together, and one alone at once', async () => {
    ensemble.frames.length = 0;
    await client.children('/');
    expect(ensemble.frames).toEqual([1]);
    ensemble.frames.length = 0;
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => client.create(`/${index}`, 'x')));
    expect(ensemble.frames.reduce((sum, count) => sum + count)).toBe(1_000);
    expect(Math.max(...ensemble.frames)).toBe(64);
    expect(ensemble.frames.length).toBeLessThan(40);
    expect((await client.children('/')).length).toBe(1_000);
  });

  it('are carried out in the order in which they were made', async () => {
    const writes = [
      client.create('/o', '0'),
      ...Array.from({ length: 50 }, (_, index) => client.set('/o', String(index))),
    ];
    const seen = client.get('/o');
    const later = client.set('/o', 'later');
    expect((await seen).text()).toBe('49');
    await Promise.all([...writes, later]);
  });

  it('C081: leave no listener on a signal that they share', async () => {
    const controller = new AbortController();
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on('warning', listen);
    let added = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = ((...args: Parameters<typeof add>) => (added++, add(...args))) as typeof add;
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => (added--, remove(...args))) as typeof remove;
    await Promise.all(Array.from({ length: 100 }, () => client.children('/', { signal })));
    await new Promise(setImmediate);
    process.off('warning', listen);
    expect(added).toBe(0);
    expect(warnings).toEqual([]);
  });
});

describe('close', () => {
  it('lets calls made before be answered, refuses those after, and ends the session', async () => {
    const { id, signal } = client.session;
    const before = client.create('/before', '', { mode: 'ephemeral' });
    const closing = client.close();
    expect(await failure(client.get('/'))).toMatchObject({ code: 'CLOSED', outcome: 'not-applied' });
    await closing;
    expect((await before).path).toBe('/before');
    expect(ensemble.tree.sessions.has(id as never)).toBe(false);
    expect(ensemble.tree.znodes.has('/before')).toBe(false);
    expect(signal.aborted).toBe(true);
    expect(client.session.current.state).toBe('closed');
    await client.close();
  });

  it('leaves the loop to others between calls that it refuses: a caller who tries again at once does not keep it for himself', async () => {
    await client.close();
    let isLoopFree = false;
    setImmediate(() => {
      isLoopFree = true;
    });
    let refused = 0;
    while (!isLoopFree && refused < 100_000) {
      if (isCode(await failure(client.create('/again')), 'CLOSED')) refused++;
    }
    expect(isLoopFree).toBe(true);
  });

  it('does not wait for a member that is gone', async () => {
    await ensemble.members[0]!.kill();
    await client.close();
    expect(client.session.current.state).toBe('closed');
  });
});
