import {
  type Acl,
  type Answer,
  type Identity,
  type ListingOp,
  type ListingResult,
  NO_SESSION,
  OPEN_ACL,
  PERMS,
  type Stat,
} from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FEW_CHILDREN } from '../tree/children.ts';
import type { DataTree } from '../tree/data-tree.ts';
import { TreeScript, utf8 } from '../tree/tree-script.fixture.ts';
import { Deadlines } from './deadlines.ts';
import { LISTING_CROWDED_MS, LISTING_IDLE_MS, Listings } from './listings.ts';

const ALICE: Identity = { scheme: 'digest', id: 'alice:hash' };
const HERS: Acl = [{ perms: PERMS.ALL, ...ALICE }];

const WISH = { path: '/p', withStat: false, withData: false, limit: 0, token: undefined, isEnd: false } as const;
const CHILDREN: ListingOp = { kind: 'listChildren', ...WISH, after: '' };
const SUBTREE: ListingOp = { kind: 'getSubtree', ...WISH, depth: undefined };

class Stage {
  readonly script = new TreeScript();
  readonly deadlines = new Deadlines();
  readonly listings: Listings;
  nowMs = 0;
  turnsWanted = 0;
  #state: { tree: DataTree };

  constructor(limits: { readonly listingsMax?: number; readonly listingBytesMax?: number } = {}) {
    this.#state = { tree: this.script.tree };
    const options = { sid: 3, incarnation: 2 ** 40, limits: { listingsMax: 4, listingBytesMax: 100_000, ...limits } };
    this.listings = new Listings(options, this.#state, this.deadlines, {
      nowMs: () => this.nowMs,
      wantTurn: () => this.turnsWanted++,
    });
  }

  /** The znodes of these paths, each with its path as data. */
  with(...paths: readonly string[]): this {
    for (const path of paths) this.script.create(path, utf8(path));
    return this;
  }

  create(path: string, acl: Acl): void {
    const parent = this.script.tree.znode(path.slice(0, path.lastIndexOf('/')) || '/')!;
    const body = { kind: 'create', path, data: utf8(path), ephemeralOwner: NO_SESSION, acl } as const;
    this.script.apply({ ...body, parentCreates: parent.creates + 1 });
  }

  ask(op: ListingOp, identities: readonly Identity[] = []): Answer['result'] {
    return this.listings.page(op, identities).result;
  }

  page(op: ListingOp, identities: readonly Identity[] = []): ListingResult {
    const result = this.ask(op, identities);
    if (!('entries' in result)) throw new Error(`No page but ${result.kind} ${'code' in result ? result.message : ''}`);
    return result;
  }

  /** All pages from the first on. */
  pages(op: ListingOp, between: () => void = () => undefined, identities: readonly Identity[] = []): ListingResult[] {
    const pages = [this.page(op, identities)];
    for (let { next } = pages[0]!; next !== undefined; { next } = pages.at(-1)!) {
      between();
      pages.push(this.page({ ...op, token: next }, identities));
    }
    return pages;
  }

  code(op: ListingOp, identities: readonly Identity[] = []): string {
    const result = this.ask(op, identities);
    return result.kind === 'error' ? result.code : result.kind;
  }

  tick(ms: number): void {
    this.nowMs += ms;
    this.listings.tick();
    this.deadlines.expire(this.nowMs);
  }

  replaceTree(): void {
    this.#state.tree = new TreeScript().tree;
    this.listings.treeReplaced();
  }
}

const names = (pages: readonly ListingResult[]): string[] =>
  pages.flatMap(({ entries }) => entries.map(({ name }) => name));

describe('a listing', () => {
  it('of children has them in order, in pages as long as was asked for, and ends with one that names no next', () => {
    const stage = new Stage().with('/p', '/p/b', '/p/a', '/p/a/x', '/p/c', '/p/é', '/q');
    const pages = stage.pages({ ...CHILDREN, limit: 2 });
    expect(pages.map((page) => names([page]))).toEqual([['a', 'b'], ['c', 'é'], []]);
    expect(pages.map(({ top }) => top)).toEqual([stage.script.tree.stat('/p'), undefined, undefined]);
    expect(stage.listings.count).toBe(0);
    expect(names(stage.pages({ ...CHILDREN, after: 'b' }))).toEqual(['c', 'é']);
    expect(names(stage.pages({ ...CHILDREN, after: 'bb', limit: 1 }))).toEqual(['c', 'é']);
    expect(names(stage.pages({ ...CHILDREN, path: '/q' }))).toEqual([]);
  });

  it('of a subtree has the top, and every znode before what is below it, as deep as was asked for', () => {
    const stage = new Stage().with('/p', '/p/a', '/p/a/x', '/p/a/x/y', '/p/a!', '/pp');
    const all = ['/p', '/p/a', '/p/a/x', '/p/a/x/y', '/p/a!'];
    for (const limit of [1, 2, 0]) {
      expect(names(stage.pages({ ...SUBTREE, limit }))).toEqual(all);
      expect(names(stage.pages({ ...SUBTREE, limit, depth: 0 }))).toEqual(['/p']);
      expect(names(stage.pages({ ...SUBTREE, limit, depth: 1 }))).toEqual(['/p', '/p/a', '/p/a!']);
    }
    const whole = stage.pages({ ...SUBTREE, path: '/', limit: 3 });
    expect(names(whole)).toEqual(['/', ...all, '/pp', '/zookeeper', '/zookeeper/config', '/zookeeper/quota']);
  });

  it('brings stat and data when they are asked for', () => {
    const made = new Stage().with('/p', '/p/a');
    made.script.create('/p/null', undefined);
    const { tree } = made.script;
    const listed = (wish: Partial<ListingOp>) => made.page({ ...CHILDREN, ...wish } as ListingOp).entries;
    const [a, none] = [tree.stat('/p/a'), tree.stat('/p/null')] as [Stat, Stat];
    expect(listed({ withStat: true })).toEqual([
      { name: 'a', stat: a, data: undefined },
      { name: 'null', stat: none, data: undefined },
    ]);
    expect(listed({ withData: true })).toEqual([
      { name: 'a', stat: a, data: utf8('/p/a') },
      { name: 'null', stat: none, data: undefined },
    ]);
    expect(made.page({ ...SUBTREE, withData: true }).entries[0]).toEqual({
      name: '/p',
      stat: tree.stat('/p'),
      data: utf8('/p'),
    });
  });

  it('shows one position of the history, whatever happens between its pages', () => {
    const path = fc.constantFrom('/p', '/p/a', '/p/a/x', '/p/b', '/p/c', '/p/c/y', '/p/n');
    const kind = fc.constantFrom('create' as const, 'delete' as const, 'setData' as const);
    const op = fc.constantFrom(CHILDREN, SUBTREE);
    fc.assert(
      fc.property(fc.array(fc.record({ path, kind }), { maxLength: 20 }), op, fc.nat(2), (changes, wanted, more) => {
        const stage = new Stage().with('/p', '/p/a', '/p/a/x', '/p/b', '/p/c', '/p/c/y');
        const { script } = stage;
        const { tree } = script;
        const wish = { ...wanted, withData: true };
        const expected = stage.pages(wish).flatMap(({ entries }) => entries);
        const at = tree.lastZxid;
        const left = [...changes];
        const pages = stage.pages({ ...wish, limit: 1 }, () => {
          for (const one of left.splice(0, more + 1)) {
            const znode = tree.znode(one.path);
            const parent = tree.znode(one.path.slice(0, one.path.lastIndexOf('/')) || '/');
            if (one.kind === 'create' && znode === undefined && parent !== undefined) script.create(one.path);
            if (one.kind === 'delete' && znode?.childCount === 0) script.delete(one.path);
            if (one.kind === 'setData' && znode !== undefined) script.setData(one.path, utf8('later'));
          }
        });
        expect(pages.flatMap(({ entries }) => entries)).toEqual(expected);
        expect(new Set(pages.map((page) => page.at))).toEqual(new Set([at]));
        expect(stage.listings.count).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('can be asked for a page again until it was asked for the next one, by whoever may read it', () => {
    const stage = new Stage().with('/p', '/p/a', '/p/b', '/p/c', '/p/d');
    const first = stage.page({ ...CHILDREN, limit: 1 });
    const second = { ...CHILDREN, limit: 1, token: first.next };
    const page = stage.page(second);
    stage.script.delete('/p/b');
    expect(stage.page(second)).toEqual(page);
    expect(names([stage.page({ ...second, limit: 2 })])).toEqual(['b', 'c']);
    const third = { ...CHILDREN, token: stage.page(second).next };
    stage.script.apply({ kind: 'setAcl', path: '/p', acl: HERS, version: 1 });
    expect(names([stage.page({ ...third, limit: 1 })])).toEqual(['c']);
    expect(stage.code(second)).toBe('GAP');
    expect(names([stage.page(third)])).toEqual(['c', 'd']);
    expect(stage.code(third)).toBe('GAP');
  });

  it('C123: of a znode that may not be read shows the name alone, as its parent does, and nothing below it', () => {
    const stage = new Stage().with('/p', '/p/a');
    stage.create('/p/secret', HERS);
    stage.create('/p/secret/open', OPEN_ACL);
    stage.with('/p/z');
    const seen = (op: ListingOp, who: readonly Identity[] = []): string[] =>
      stage
        .pages({ ...op, withData: true, limit: 1 }, undefined, who)
        .flatMap(({ entries }) =>
          entries.map(
            ({ name, stat, data }) => `${name}${stat === undefined ? ' ?' : ''}${data === undefined ? ' -' : ''}`,
          ),
        );
    expect(seen(CHILDREN)).toEqual(['a', 'secret ? -', 'z']);
    expect(seen(SUBTREE)).toEqual(['/p', '/p/a', '/p/secret ? -', '/p/z']);
    expect(seen(SUBTREE, [ALICE])).toEqual(['/p', '/p/a', '/p/secret', '/p/secret/open', '/p/z']);
    for (const op of [CHILDREN, SUBTREE]) {
      expect(stage.code({ ...op, path: '/p/secret' })).toBe('NO_AUTH');
      const { next } = stage.page({ ...op, path: '/p/secret', limit: 1 }, [ALICE]);
      // The token of somebody else is no right.
      if (next !== undefined) expect(stage.code({ ...op, path: '/p/secret', token: next })).toBe('NO_AUTH');
    }
  });

  it('is refused for what does not exist, and gone on with only where, and for what, it was begun', () => {
    const stage = new Stage().with('/p', '/p/a', '/p/b', '/q');
    expect(stage.code({ ...CHILDREN, path: '/none' })).toBe('NO_NODE');
    const { next } = stage.page({ ...CHILDREN, limit: 1 });
    expect(stage.code({ ...CHILDREN, path: '/q', token: next })).toBe('INVALID_ARGUMENT');
    expect(stage.code({ ...SUBTREE, token: next })).toBe('INVALID_ARGUMENT');
    expect(stage.code({ ...CHILDREN, token: utf8('nonsense') })).toBe('GAP');
    const other = new Listings(
      { sid: 4, incarnation: 2 ** 40, limits: { listingsMax: 1, listingBytesMax: 1 } },
      { tree: stage.script.tree },
      new Deadlines(),
      { nowMs: () => 0, wantTurn: () => undefined },
    );
    other.page({ ...CHILDREN, limit: 1 }, []);
    expect(other.page({ ...CHILDREN, token: next }, []).result).toMatchObject({ kind: 'error', code: 'GAP' });
    stage.replaceTree();
    expect(stage.code({ ...CHILDREN, token: next })).toBe('GAP');
  });
});

describe('the listings of a member', () => {
  it('are so many at a time: another one is refused unless it ends with its first page', () => {
    const stage = new Stage({ listingsMax: 2 }).with('/p', '/p/a', '/p/b');
    const [one, two] = [stage.page({ ...CHILDREN, limit: 1 }), stage.page({ ...SUBTREE, limit: 1 })];
    expect(stage.code({ ...CHILDREN, limit: 1 })).toBe('THROTTLED');
    expect(stage.code(CHILDREN)).toBe('listChildren');
    // What was refused has left nothing behind that changes are kept for.
    expect(stage.listings.count).toBe(2);
    const end = stage.page({ ...CHILDREN, token: one.next, isEnd: true });
    expect([end.entries, end.next, stage.listings.count]).toEqual([[], undefined, 1]);
    expect(stage.code({ ...CHILDREN, token: one.next })).toBe('GAP');
    expect(stage.code({ ...CHILDREN, limit: 1 })).toBe('listChildren');
    expect(stage.code({ ...SUBTREE, token: two.next })).toBe('getSubtree');
  });

  it('make room for another one when one was left alone for some seconds', () => {
    const stage = new Stage({ listingsMax: 2 }).with('/p', '/p/a', '/p/b', '/p/c');
    const [one, two] = [stage.page({ ...CHILDREN, limit: 1 }), stage.page({ ...CHILDREN, limit: 1 })];
    stage.tick(LISTING_CROWDED_MS);
    const second = stage.page({ ...CHILDREN, limit: 1, token: one.next });
    expect(stage.code({ ...CHILDREN, limit: 1 })).toBe('THROTTLED');
    stage.tick(1);
    expect(stage.code({ ...CHILDREN, limit: 1 })).toBe('listChildren');
    expect(stage.code({ ...CHILDREN, token: two.next })).toBe('GAP');
    expect(names([stage.page({ ...CHILDREN, token: second.next })])).toEqual(['c']);
  });

  it('are given up when nobody goes on with them', () => {
    const stage = new Stage().with('/p', '/p/a', '/p/b', '/p/c');
    const first = stage.page({ ...CHILDREN, limit: 1 });
    const other = stage.page({ ...CHILDREN, limit: 1 });
    stage.tick(LISTING_IDLE_MS);
    const second = stage.page({ ...CHILDREN, limit: 1, token: first.next });
    stage.tick(1);
    expect(stage.code({ ...CHILDREN, token: other.next })).toBe('GAP');
    expect(names([stage.page({ ...CHILDREN, token: second.next })])).toEqual(['c']);
  });

  it('keep so many bytes of what changes, and give up the one that has most of them', () => {
    const stage = new Stage({ listingBytesMax: 10_000 }).with('/p', '/q', '/q/a', '/q/b');
    for (let number = 0; number < 50; number++) stage.with(`/p/n${number}`);
    const big = stage.page({ ...CHILDREN, withData: true, limit: 1 });
    const small = stage.page({ ...CHILDREN, path: '/q', limit: 1 });
    stage.script.setData('/q/b', utf8('x'));
    stage.listings.turnEnded();
    expect(stage.listings.count).toBe(2);
    for (let number = 0; number < 50; number++) stage.script.setData(`/p/n${number}`, utf8('x'));
    stage.listings.turnEnded();
    expect(stage.code({ ...CHILDREN, token: big.next })).toBe('GAP');
    expect(names([stage.page({ ...CHILDREN, path: '/q', token: small.next })])).toEqual(['b']);
  });
});

describe('many children', () => {
  const COUNT = 3 * FEW_CHILDREN;

  function crowd(): Stage {
    const stage = new Stage().with('/p');
    for (let number = 0; number < COUNT; number++) stage.script.create(`/p/n${(number * 1_009) % COUNT}`);
    return stage;
  }

  it('are put in order in turns before they are listed, and then need no more', () => {
    const stage = crowd();
    expect(
      ['getChildren' as const, 'exists' as const].map((kind) => stage.listings.mustWait({ kind, path: '/p' })),
    ).toEqual([true, false]);
    let reached = 0;
    stage.listings.wait(CHILDREN, 5_000, { reached: () => reached++, failed: () => undefined });
    let turns = 0;
    for (; reached === 0 && turns < 10; turns++) stage.listings.turnEnded();
    // 2000 in each.
    expect([turns, reached, stage.turnsWanted]).toEqual([2, 1, 2]);
    expect(stage.listings.mustWait(SUBTREE)).toBe(false);
    const { tree } = stage.script;
    expect(names(stage.pages({ ...CHILDREN, limit: 1_000 }))).toEqual(tree.children('/p'));
    expect(names(stage.pages(SUBTREE))).toHaveLength(COUNT + 1);
  });

  it('that are not in order in time leave a page empty, which is gone on with; a whole list is refused', () => {
    const stage = crowd();
    const said: string[] = [];
    const waiter = (word: string) => ({
      reached: () => said.push(word),
      failed: ({ code }: { readonly code: string }) => said.push(`${word} ${code}`),
    });
    stage.listings.wait({ kind: 'getChildren', path: '/p' }, 1_500, waiter('whole'));
    stage.listings.wait(CHILDREN, 5_000, waiter('page'));
    stage.tick(1_000);
    expect(said).toEqual(['page']);
    stage.tick(500);
    expect(said).toEqual(['page', 'whole UNAVAILABLE']);
    const first = stage.page(CHILDREN);
    expect([first.entries, first.next === undefined]).toEqual([[], false]);
    const second = { ...CHILDREN, token: first.next };
    expect(stage.listings.mustWait(second)).toBe(true);
    stage.script.delete('/p/n1');
    stage.listings.wait(second, 9_000, waiter('second'));
    for (let turn = 0; turn < 3; turn++) stage.listings.turnEnded();
    expect(said.at(-1)).toBe('second');
    expect(names([stage.page({ ...second, limit: 3 })])).toEqual(['n0', 'n1', 'n10']);
  });

  it('are out of order again when nobody has listed them for a while', () => {
    const stage = crowd();
    stage.listings.wait(CHILDREN, 5_000, { reached: () => undefined, failed: () => undefined });
    for (let turn = 0; turn < 3; turn++) stage.listings.turnEnded();
    stage.tick(60_000);
    expect(stage.listings.mustWait(CHILDREN)).toBe(false);
    stage.tick(60_000);
    // Whoever has just been told that they are in order still finds them so.
    expect(stage.listings.mustWait(CHILDREN)).toBe(false);
    stage.tick(60_000);
    stage.tick(60_000);
    expect(stage.listings.mustWait(CHILDREN)).toBe(true);
  });

  it('stop a subtree where they stand, and it goes on when they are in order', () => {
    const stage = crowd().with('/a');
    const whole: ListingOp = { ...SUBTREE, path: '/' };
    const first = stage.page(whole);
    expect(names([first])).toEqual(['/', '/a', '/p']);
    const second = { ...whole, token: first.next, limit: 1 };
    stage.listings.wait(second, 5_000, { reached: () => undefined, failed: () => undefined });
    stage.listings.turnEnded();
    stage.listings.turnEnded();
    expect(names([stage.page(second)])).toEqual(['/p/n0']);
  });
});
