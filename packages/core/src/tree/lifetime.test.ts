import { AssertionError, NO_SESSION, TTL_MAX_MS, toSessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import type { DataTree } from './data-tree.ts';
import { isSession, type Lifetime, lifetimeOf, ownerOf } from './lifetime.ts';
import { StateDisk, TreeScript, utf8 } from './tree-script.fixture.ts';

const A = toSessionId(0x0100_0000_0000_0001n);
const LONGEST: Lifetime = { ttlMs: TTL_MAX_MS };

/** A tree with one znode of each kind. */
function script(): TreeScript {
  const made = new TreeScript();
  made.createSession(A);
  const kinds: [string, Lifetime | undefined][] = [
    ['/p', undefined],
    ['/c', 'container'],
    ['/t', { ttlMs: 7 }],
    ['/l', LONGEST],
  ];
  for (const [i, [path, lifetime]] of kinds.entries()) {
    const body = { kind: 'create', path, data: utf8('x'), ephemeralOwner: NO_SESSION, parentCreates: i + 1 } as const;
    made.apply(lifetime === undefined ? body : { ...body, lifetime });
  }
  made.create('/e', utf8('x'), A);
  return made;
}

const timed = (tree: DataTree): string[] => [...tree.timedZnodes()].map(({ path }) => path).sort();

describe('the owner of a znode', () => {
  it("is ZooKeeper's number: 0, a session, 2^63 for a container, 0xff and the ms for a TTL", () => {
    expect(ownerOf(NO_SESSION, undefined)).toBe(0n);
    expect(ownerOf(A, undefined)).toBe(A);
    expect(ownerOf(NO_SESSION, 'container')).toBe(0x8000_0000_0000_0000n);
    expect(ownerOf(NO_SESSION, { ttlMs: 1 })).toBe(0xff00_0000_0000_0001n);
    expect(ownerOf(NO_SESSION, LONGEST)).toBe(0xff00_00ff_ffff_ffffn);
    for (const ttlMs of [0, -1, 1.5, TTL_MAX_MS + 1, Number.NaN]) {
      expect(() => ownerOf(NO_SESSION, { ttlMs })).toThrow(AssertionError);
    }
    expect(() => ownerOf(A, 'container')).toThrow(AssertionError);
  });

  it('says what it was made of, also next to the marks', () => {
    for (const lifetime of ['container', { ttlMs: 1 }, LONGEST] as const) {
      const owner = ownerOf(NO_SESSION, lifetime);
      expect([isSession(owner), lifetimeOf(owner)]).toEqual([false, lifetime]);
    }
    for (const id of [1n, 0x7fff_ffff_ffff_ffffn, 0x8000_0000_0000_0001n, 0xfeff_ffff_ffff_ffffn]) {
      expect([isSession(id), lifetimeOf(id)]).toEqual([true, undefined]);
    }
    for (const bad of [0n, 0xff00_0000_0000_0000n, 0xff00_0100_0000_0000n, 0xffff_ffff_ffff_ffffn]) {
      expect([isSession(bad), lifetimeOf(bad)]).toEqual([false, undefined]);
    }
  });
});

describe('a tree with znodes of every kind', () => {
  it('shows the owner of the ephemeral alone', () => {
    const { tree } = script();
    const owners = ['/p', '/c', '/t', '/l', '/e'].map((path) => tree.stat(path)?.ephemeralOwner);
    expect(owners).toEqual([0n, 0n, 0n, 0n, A]);
    expect(tree.ephemeralCount).toBe(1);
    expect(tree.znode('/c')?.lifetime).toBe('container');
    expect(tree.znode('/l')?.lifetime).toEqual(LONGEST);
    expect([tree.znode('/p')?.lifetime, tree.znode('/e')?.lifetime]).toEqual([undefined, undefined]);
  });

  it('knows which have a lifetime without a search, through creates, deletes, checkpoint and replay', () => {
    const made = script();
    expect(timed(made.tree)).toEqual(['/c', '/l', '/t']);
    const disk = new StateDisk();
    disk.save(made.tree);
    const loaded = disk.load();
    expect(timed(loaded)).toEqual(['/c', '/l', '/t']);
    expect(loaded.digest).toBe(made.tree.digest);
    expect(loaded.znode('/t')?.lifetime).toEqual({ ttlMs: 7 });
    made.delete('/t');
    made.delete('/c');
    expect(timed(made.tree)).toEqual(['/l']);
    const replayed = new TreeScript();
    for (const { txn } of made.history) replayed.apply(txn.body, txn.session);
    expect(timed(replayed.tree)).toEqual(['/l']);
    expect(replayed.tree.digest).toBe(made.tree.digest);
  });

  it('has another digest when only the lifetime differs', () => {
    const digests = [undefined, 'container', { ttlMs: 1 }, { ttlMs: 2 }].map((lifetime) => {
      const made = new TreeScript();
      const body = {
        kind: 'create',
        path: '/x',
        data: undefined,
        ephemeralOwner: NO_SESSION,
        parentCreates: 1,
      } as const;
      made.apply(lifetime === undefined ? body : { ...body, lifetime: lifetime as Lifetime });
      return made.tree.digest;
    });
    expect(new Set(digests).size).toBe(4);
  });
});
