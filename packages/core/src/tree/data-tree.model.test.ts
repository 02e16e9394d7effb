/**
 * The tree against a slow obvious model, under random histories with checkpoints and restarts anywhere in them.
 *
 * The model keeps nothing but the list of what happened and works every answer out from the whole list. The disk is a
 * map of records. A checkpoint is gathered in small steps between txns; what it wrote must be the state at its begin.
 */
import {
  formatSessionId,
  NO_SESSION,
  type SessionId,
  type Stat,
  sequenceSuffix,
  toSessionId,
  toZxid,
  type Zxid,
} from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataTree } from './data-tree.ts';
import type { StateRecord } from './state-record.ts';
import { keyText, StateDisk } from './tree-script.fixture.ts';
import type { Txn, TxnBody } from './txn.ts';
import { decodeTxn, encodeTxn } from './txn-codec.ts';
import { nextVersion } from './znode.ts';

/** One thing that happened to one path. */
interface Happening {
  readonly kind: 'create' | 'delete' | 'set';
  readonly path: string;
  readonly zxid: Zxid;
  readonly timeMs: number;
  readonly data?: Uint8Array | undefined;
  readonly owner?: SessionId;
}

const ZERO = toZxid(0n);
const EMPTY = new Uint8Array(0);
const BUILT_IN = ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'];

class Model {
  happenings: Happening[] = BUILT_IN.map((path) => ({ kind: 'create', path, zxid: ZERO, timeMs: 0, data: EMPTY }));
  sessions = new Map<SessionId, { timeoutMs: number; token: Uint8Array }>();

  copy(): Model {
    const copy = new Model();
    copy.happenings = [...this.happenings];
    copy.sessions = new Map(this.sessions);
    return copy;
  }

  apply(zxid: Zxid, { session, timeMs, body }: Txn): void {
    if (body.kind === 'create') {
      const { path, data, ephemeralOwner: owner } = body;
      this.happenings.push({ kind: 'create', path, zxid, timeMs, data, owner });
    } else if (body.kind === 'delete') this.happenings.push({ kind: 'delete', path: body.path, zxid, timeMs });
    else if (body.kind === 'setData') {
      this.happenings.push({ kind: 'set', path: body.path, zxid, timeMs, data: body.data });
    } else if (body.kind === 'createSession') {
      this.sessions.set(session, { timeoutMs: body.timeoutMs, token: body.token });
    } else if (body.kind === 'closeSession') {
      for (const path of body.paths) this.happenings.push({ kind: 'delete', path, zxid, timeMs });
      this.sessions.delete(session);
    }
  }

  paths(): string[] {
    const there = new Set<string>();
    for (const { kind, path } of this.happenings) {
      if (kind === 'create') there.add(path);
      if (kind === 'delete') there.delete(path);
    }
    return [...there].sort();
  }

  children(path: string): string[] {
    const start = path === '/' ? '/' : `${path}/`;
    const below = this.paths().filter((other) => other !== '/' && other.startsWith(start));
    return below.map((other) => other.slice(start.length)).filter((name) => !name.includes('/'));
  }

  /** What happened to the znode that is at `path` now, and to its direct children meanwhile. */
  life(path: string): { own: Happening[]; children: Happening[] } {
    const created = this.happenings.map((happening) => (happening.kind === 'create' ? happening.path : ''));
    const born = created.lastIndexOf(path);
    const since = this.happenings.slice(born);
    const isChild = ({ path: other, kind }: Happening) =>
      kind !== 'set' && other !== '/' && (other.slice(0, other.lastIndexOf('/')) || '/') === path;
    return { own: since.filter((happening) => happening.path === path), children: since.filter(isChild) };
  }

  creates(path: string): number {
    return this.life(path).children.filter(({ kind, zxid }) => kind === 'create' && zxid !== ZERO).length;
  }

  data(path: string): Uint8Array | undefined {
    return this.life(path).own.at(-1)?.data;
  }

  stat(path: string): Stat {
    const { own, children } = this.life(path);
    const born = own[0]!;
    const changed = own.at(-1)!;
    const builtInChildren = children.filter(({ zxid }) => zxid === ZERO).length;
    return {
      czxid: born.zxid,
      mzxid: changed.zxid,
      pzxid: children.at(-1)?.zxid ?? born.zxid,
      ctimeMs: born.timeMs,
      mtimeMs: changed.timeMs,
      version: own.length - 1,
      // Creates and deletes; a built-in child counts as one that is there though nobody created it.
      cversion: children.length - builtInChildren - builtInChildren,
      aversion: 0,
      ephemeralOwner: born.owner ?? NO_SESSION,
      dataLength: changed.data?.length ?? 0,
      numChildren: this.children(path).length,
    };
  }

  ephemerals(id: SessionId): string[] {
    return this.paths().filter((path) => this.life(path).own[0]?.owner === id);
  }
}

function expectSame(tree: DataTree, model: Model): void {
  const paths = model.paths();
  const seen = paths.map((path) => {
    const creates = tree.znode(path)?.creates;
    return { path, stat: tree.stat(path), data: tree.data(path), children: tree.children(path), creates };
  });
  const expected = paths.map((path) => {
    const creates = model.creates(path);
    return { path, stat: model.stat(path), data: model.data(path), children: model.children(path), creates };
  });
  expect(seen).toEqual(expected);
  expect(tree.znodeCount).toBe(paths.length);
  for (const path of paths) {
    const below = paths.filter((other) => other !== path && other.startsWith(path === '/' ? '/' : `${path}/`));
    const bytes = [path, ...below].reduce((sum, one) => sum + (model.data(one)?.length ?? 0), 0);
    expect([path, tree.descendantCount(path)]).toEqual([path, below.length]);
    expect([path, tree.usageOf(path)]).toEqual([path, { count: below.length + 1, bytes }]);
  }
  expect(tree.dataBytes).toBe(paths.reduce((sum, path) => sum + (model.data(path)?.length ?? 0), 0));
  const ids = tree.sessions.ids();
  expect(new Set(ids)).toEqual(new Set(model.sessions.keys()));
  let ephemerals = 0;
  for (const id of ids) {
    const session = tree.sessions.get(id)!;
    expect(session).toMatchObject({ ...model.sessions.get(id), id });
    expect([...session.ephemerals].sort(), formatSessionId(id)).toEqual(model.ephemerals(id));
    ephemerals += session.ephemerals.size;
  }
  expect(tree.ephemeralCount).toBe(ephemerals);
}

/** What a random history is made of; numbers choose among what is possible at that point. */
type Step =
  | {
      readonly kind: 'create';
      readonly pick: number;
      readonly name: string | undefined;
      readonly ephemeral: boolean;
      readonly data: Uint8Array | undefined;
    }
  | { readonly kind: 'delete' | 'closeSession'; readonly pick: number }
  | { readonly kind: 'setData'; readonly pick: number; readonly data: Uint8Array | undefined }
  | { readonly kind: 'createSession' | 'error' | 'begin' | 'restart' }
  | { readonly kind: 'gather'; readonly bytesMax: number }
  | { readonly kind: 'end'; readonly ok: boolean };

const pick = fc.nat(1000);
const data = fc.option(fc.uint8Array({ maxLength: 9 }), { nil: undefined });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      pick,
      name: fc.option(fc.constantFrom('a', 'b', 'é', '..c'), { nil: undefined }),
      ephemeral: fc.boolean(),
      data,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), pick }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('setData' as const), pick, data }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('createSession' as const, 'error' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('closeSession' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('begin' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('gather' as const), bytesMax: fc.constantFrom(1, 100, 10_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), ok: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

/** A member reduced to its tree: log, state database, and the checkpoint that is on its way there. */
class Member {
  tree = DataTree.empty();
  readonly model = new Model();
  readonly log: { zxid: Zxid; payload: Uint8Array }[] = [];
  readonly disk = new StateDisk();
  gathering: { zxid: Zxid; digest: bigint; model: Model; records: StateRecord[]; done: boolean } | undefined;
  #nextSession = 0xfe00_0000_0000_0001n;

  run(one: Step): void {
    if (one.kind === 'begin') this.begin();
    else if (one.kind === 'gather') this.gather(one.bytesMax);
    else if (one.kind === 'end') this.end(one.ok);
    else if (one.kind === 'restart') this.restart();
    else {
      const made = this.txn(one);
      if (made !== undefined) this.commit(made);
    }
  }

  txn(one: Step): { session: SessionId; body: TxnBody } | undefined {
    const { model } = this;
    const choose = <T>(from: readonly T[], number: number): T | undefined => from[number % from.length];
    const ids = [...model.sessions.keys()];
    if (one.kind === 'create') {
      const parents = model.paths().filter((path) => model.stat(path).ephemeralOwner === NO_SESSION);
      const parent = choose(parents, one.pick) ?? '/';
      const creates = model.creates(parent);
      const path = `${parent === '/' ? '' : parent}/${one.name ?? `s-${sequenceSuffix(creates)}`}`;
      if (model.paths().includes(path)) return undefined;
      const owner = (one.ephemeral ? choose(ids, one.pick) : undefined) ?? NO_SESSION;
      return {
        session: owner,
        body: { kind: 'create', path, data: one.data, ephemeralOwner: owner, parentCreates: creates + 1 },
      };
    }
    if (one.kind === 'delete') {
      const leaves = model.paths().filter((path) => !BUILT_IN.includes(path) && model.children(path).length === 0);
      const path = choose(leaves, one.pick);
      return path === undefined ? undefined : { session: NO_SESSION, body: { kind: 'delete', path } };
    }
    if (one.kind === 'setData') {
      const path = choose(model.paths(), one.pick)!;
      const version = nextVersion(model.stat(path).version);
      return { session: NO_SESSION, body: { kind: 'setData', path, data: one.data, version } };
    }
    if (one.kind === 'createSession') {
      const session = toSessionId(this.#nextSession++);
      return {
        session,
        body: { kind: 'createSession', timeoutMs: 4000, token: Uint8Array.of(Number(session & 255n), 1) },
      };
    }
    if (one.kind === 'closeSession') {
      const session = choose(ids, one.pick);
      if (session === undefined) return undefined;
      return { session, body: { kind: 'closeSession', paths: model.ephemerals(session).reverse() } };
    }
    return {
      session: NO_SESSION,
      body: { kind: 'error', code: 'NO_NODE', path: '/nowhere', message: 'There is none' },
    };
  }

  commit({ session, body }: { session: SessionId; body: TxnBody }): void {
    const zxid = toZxid(0x0030_0000_0000_0001n + BigInt(this.log.length));
    const origin = { sid: 1, incarnation: 1, seq: this.log.length };
    const payload = encodeTxn({ origin, session, timeMs: 1_790_000_000_000 + 3 * this.log.length, body });
    this.log.push({ zxid, payload });
    this.tree.apply(zxid, decodeTxn(payload));
    this.model.apply(zxid, decodeTxn(payload));
  }

  begin(): void {
    if (this.gathering !== undefined) return;
    const { digest } = this.tree;
    const zxid = this.tree.beginCheckpoint();
    this.gathering = { zxid, digest, model: this.model.copy(), records: [], done: false };
  }

  gather(bytesMax: number): void {
    if (this.gathering === undefined || this.gathering.done) return;
    const part = this.tree.nextCheckpointRecords(bytesMax);
    expect(part.records.length).toBeGreaterThan(0);
    this.gathering.records.push(...part.records);
    this.gathering.done = part.done;
  }

  end(ok: boolean): void {
    const { gathering } = this;
    if (gathering === undefined || (ok && !gathering.done)) return;
    this.tree.endCheckpoint(ok);
    this.gathering = undefined;
    if (!ok) return;
    const keys = gathering.records.map(({ key }) => keyText(key));
    expect(new Set(keys).size).toBe(keys.length);
    this.disk.write(gathering.records, gathering.zxid);
    const loaded = this.disk.load();
    expect(loaded.digest).toBe(gathering.digest);
    expectSame(loaded, gathering.model);
  }

  restart(): void {
    const before = this.tree.digest;
    this.tree = this.disk.load();
    this.gathering = undefined;
    for (const { zxid, payload } of this.log) {
      if (zxid > this.disk.zxid) this.tree.apply(zxid, decodeTxn(payload));
    }
    expect(this.tree.digest).toBe(before);
  }
}

describe('data tree against its model', () => {
  it('agrees in every field after any history, and so does what any checkpoint of it wrote', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 70, size: 'max' }), (steps) => {
        const member = new Member();
        for (const one of steps) member.run(one);
        expectSame(member.tree, member.model);
        // Whatever was left half-way, the next checkpoint has everything.
        member.end(false);
        member.begin();
        while (member.gathering?.done === false) member.gather(1);
        member.end(true);
        member.restart();
        expectSame(member.tree, member.model);
        const again = DataTree.empty();
        for (const { zxid, payload } of member.log) again.apply(zxid, decodeTxn(payload));
        expect(again.digest).toBe(member.tree.digest);
      }),
      { numRuns: 60 },
    );
  });
});
