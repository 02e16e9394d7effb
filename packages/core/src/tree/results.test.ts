import { type Numbered, toSessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { DataTree } from './data-tree.ts';
import { SessionResults, StoredResult } from './results.ts';
import { Scrub } from './scrub.ts';
import { checkpointOf, loadTree } from './tree-script.fixture.ts';
import { TreeState } from './tree-state.ts';
import type { TxnBody } from './txn.ts';

const S = toSessionId(0xfe00_0000_0000_0003n);
const TOKEN = new Uint8Array(16).fill(7);

/** A tree with one session, to which numbered txns are applied. */
class Numbering {
  tree = DataTree.empty();
  #zxid = 0x1_0000_0000n;

  constructor() {
    this.apply({ kind: 'createSession', timeoutMs: 1_000, token: TOKEN });
  }

  apply(body: TxnBody, numbered?: Numbered): void {
    const txn = { origin: { sid: 1, incarnation: 1, seq: 1 }, session: S, timeMs: 5, body };
    const zxid = ++this.#zxid as typeof this.tree.lastZxid;
    this.tree.apply(zxid, numbered === undefined ? txn : { ...txn, numbered });
  }

  create(request: number, acknowledged: number): void {
    const creates = { path: `/r${request}`, data: undefined, ephemeralOwner: 0n as typeof S, parentCreates: request };
    this.apply({ kind: 'create', ...creates }, { request, acknowledged });
  }
}

describe('the results of a session', () => {
  it('are kept from the first that is not acknowledged on, and are found by their number', () => {
    const results = new SessionResults();
    for (const request of [2, 3, 5, 9]) results.add(0, new StoredResult(request, Uint8Array.of(request)));
    expect([1, 2, 3, 4, 5, 8, 9, 10].map((request) => results.get(request)?.[0])).toEqual([
      undefined,
      2,
      3,
      undefined,
      5,
      undefined,
      9,
      undefined,
    ]);
    const gone = results.add(4, new StoredResult(10, new Uint8Array(600)));
    expect(gone.map(({ request }) => request)).toEqual([2, 3]);
    expect([results.size, results.bytes, results.last]).toEqual([3, 602, 10]);
    expect(() => results.add(0, new StoredResult(10, TOKEN))).toThrow(/after that of 10/);
  });

  it('are in the digest, and leave it when they are acknowledged or their session ends', () => {
    const made = new Numbering();
    const bare = made.tree.digest;
    made.apply({ kind: 'error', code: 'NO_NODE', path: '/x', message: 'm' }, { request: 1, acknowledged: 0 });
    const one = made.tree.digest;
    made.apply({ kind: 'error', code: 'NO_NODE', path: '/x', message: 'm' }, { request: 2, acknowledged: 0 });
    expect(new Set([bare, one, made.tree.digest]).size).toBe(3);
    made.apply({ kind: 'error', code: 'NO_NODE', path: '/x', message: 'm' }, { request: 3, acknowledged: 2 });
    made.apply({ kind: 'closeSession', paths: [] });
    expect(made.tree.digest).toBe(DataTree.empty().digest);
  });

  it('come through a checkpoint and a restart, those too that only the log has', () => {
    const made = new Numbering();
    for (let request = 1; request <= 5; request++) made.create(request, request > 3 ? 2 : 0);
    const loaded = loadTree(checkpointOf(made.tree), made.tree.lastZxid);
    expect(loaded.digest).toBe(made.tree.digest);
    const [kept, again] = [made.tree, loaded].map((tree) => tree.sessions.get(S)!.results);
    expect([again!.last, again!.size, again!.bytes]).toEqual([5, 3, kept!.bytes]);
    for (let request = 1; request <= 5; request++) expect(again!.get(request)).toEqual(kept!.get(request));
  });

  it('change the session record of the next checkpoint, which has them as they were at its begin', () => {
    const made = new Numbering();
    const zxid = made.tree.beginCheckpoint();
    made.create(1, 0);
    const records = [];
    for (let part = made.tree.nextCheckpointRecords(1); ; part = made.tree.nextCheckpointRecords(1)) {
      records.push(...part.records);
      if (part.done) break;
    }
    made.tree.endCheckpoint(true);
    expect(loadTree(records, zxid).sessions.get(S)?.results.size).toBe(0);
    expect(checkpointOf(made.tree).some(({ key }) => key[0] === 0x73)).toBe(true);
  });

  it('are held against their hash by the scrub', () => {
    const state = TreeState.initial();
    state.addSession(S, 1_000, TOKEN);
    state.addResult(S, { request: 1, acknowledged: 0 }, Uint8Array.of(1, 2));
    expect(new Scrub(state).step().damaged).toBeUndefined();
    const [result] = state.sessions.get(S)!.kept!.all();
    Object.assign(result as object, { packed: 'other' });
    expect(new Scrub(state).step().damaged).toContain('session');
  });
});
