import { NO_SESSION, toSessionId, ZERO_ZXID } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataTree } from './data-tree.ts';
import { CTIME } from './rows.ts';
import { SCRUB_STEP_ITEMS, Scrub } from './scrub.ts';
import { StateDisk, TreeScript } from './tree-script.fixture.ts';
import { TreeState } from './tree-state.ts';
import { StoredZnode, type ZnodeFields } from './znode.ts';

const SESSION = toSessionId(0x0100_0000_0000_0001n);

const FIELDS: ZnodeFields = {
  data: undefined,
  czxid: ZERO_ZXID,
  mzxid: ZERO_ZXID,
  pzxid: ZERO_ZXID,
  ctimeMs: 0,
  mtimeMs: 0,
  version: 0,
  creates: 0,
  aversion: 0,
  owner: NO_SESSION,
};

/** A whole pass: what was found, and the number of steps. */
function pass(tree: DataTree): { damaged: string | undefined; steps: number } {
  for (let steps = 1; ; steps++) {
    const { damaged, done } = tree.scrubStep();
    if (done || damaged !== undefined) return { damaged, steps };
  }
}

describe('scrub', () => {
  it('finds nothing in a tree that only txns have changed, however they fall between its steps', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(9)), { maxLength: 60 }), (steps) => {
        const script = new TreeScript();
        const { tree } = script;
        let sessions = 0n;
        for (const [kind, n] of steps) {
          const path = `/n${n}`;
          if (kind === 3) script.createSession(toSessionId(0x0100_0000_0000_0000n + ++sessions));
          else if (tree.znode(path) === undefined) script.create(path, Uint8Array.of(n));
          else if (kind === 0) script.delete(path);
          else script.setData(path, kind === 1 ? undefined : Uint8Array.of(n, n));
          expect(tree.scrubStep().damaged).toBeUndefined();
        }
        expect(pass(tree).damaged).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  it('finds nothing in a tree that was loaded', () => {
    const script = new TreeScript();
    script.createSession(SESSION);
    script.create('/a', Uint8Array.of(1), SESSION);
    const disk = new StateDisk();
    disk.save(script.tree);
    expect(pass(disk.load()).damaged).toBeUndefined();
  });

  it('takes steps of bounded length, and comes by everything in one pass', () => {
    const script = new TreeScript();
    for (let i = 0; i < 3 * SCRUB_STEP_ITEMS; i++) script.create(`/n${i}`);
    expect(pass(script.tree).steps).toBe(4);
    (script.tree.znode('/n1500') as { version: number }).version = 9;
    expect(pass(script.tree)).toEqual({ damaged: 'znode /n1500', steps: 3 });
    // One step has as much data as it may, give or take a znode: 64 KiB each.
    const large = new TreeScript();
    for (let i = 0; i < 10; i++) large.create(`/n${i}`, new Uint8Array(64 * 1024));
    expect(pass(large.tree).steps).toBe(6);
  });

  it('gives the room back that a tree which was large once does not need any more, and alters nothing', () => {
    const state = TreeState.initial();
    const root = state.get('/') as StoredZnode;
    const scrub = new Scrub(state);
    for (let i = 1; i <= 20_000; i++) {
      const znode = StoredZnode.of(`/n${i}`, { ...FIELDS, creates: i }, state.rows);
      state.attach(znode, root, { creates: i, pzxid: ZERO_ZXID });
    }
    for (let i = 1; i <= 20_000; i++) {
      if (i % 50 !== 0) state.detach(state.get(`/n${i}`) as StoredZnode, root, ZERO_ZXID);
    }
    const { digest } = state;
    expect(state.rows.size).toBeGreaterThan(15_000);
    while (!scrub.step().done);
    expect(state.rows.size).toBeLessThan(4_000);
    for (let i = 50; i <= 20_000; i += 50) expect(state.get(`/n${i}`)?.creates).toBe(i);
    for (;;) {
      const { damaged, done } = scrub.step();
      expect(damaged).toBeUndefined();
      if (done) break;
    }
    expect(state.digest).toBe(digest);
  });

  it('a change by a txn makes altered memory right again, or the digest wrong, and no false alarm', () => {
    const script = new TreeScript();
    const { tree } = script;
    script.create('/a', Uint8Array.of(1, 2));
    const { digest } = tree;
    Object.assign(tree.znode('/a')!, { data: Uint8Array.of(7, 2) });
    expect(tree.digest).toBe(digest);
    script.setData('/a', Uint8Array.of(3));
    expect(pass(tree).damaged).toBeUndefined();
    const { words, at } = tree.znode('/a') as StoredZnode;
    words[at + CTIME + 1] = 7;
    script.setData('/a', Uint8Array.of(4));
    const other = new TreeScript();
    for (const { zxid, txn } of script.history) other.tree.apply(zxid, txn);
    expect(pass(tree).damaged).toBeUndefined();
    expect(tree.digest).not.toBe(other.tree.digest);
  });

  it('an ended session takes out of the digest what it has put in, whatever became of it', () => {
    const script = new TreeScript();
    const { digest } = script.tree;
    script.createSession(SESSION);
    Object.assign(script.tree.sessions.get(SESSION) as object, { timeoutMs: 7 });
    script.closeSession(SESSION);
    expect(script.tree.digest).toBe(digest);
  });
});
