import { AssertionError, toSessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Checkpointer } from './checkpoint.ts';
import { DataTree } from './data-tree.ts';
import { Rows } from './rows.ts';
import { RecordReader, type StateEntry, type StateRecord } from './state-record.ts';
import { checkpointOf, gatherRest, keyText, loadTree, TreeScript, utf8 } from './tree-script.fixture.ts';

const A = toSessionId(0x0100_0000_0000_0001n);

/** What each record says, in short: `/path=data@version`, `/path gone`, `session`, `summary`. */
function told(records: readonly StateRecord[]): string[] {
  const said = records.map(({ key, value }) => {
    const name = keyText(key.subarray(1));
    if (value === undefined) return `${key[0] === 0x6e ? name : 'session'} gone`;
    const entry = new RecordReader(new Rows()).read({ key, value });
    if (entry.kind !== 'znode') return entry.kind;
    const { path, data, version } = entry.znode;
    return `${path}=${keyText(data ?? new Uint8Array(0))}@${version}`;
  });
  return said.sort();
}

/** A tree with /a, /b and session A, all of it in a checkpoint already. */
function settled(): TreeScript {
  const script = new TreeScript();
  script.create('/a', utf8('1'));
  script.create('/b', utf8('1'));
  script.createSession(A);
  checkpointOf(script.tree);
  return script;
}

describe('a checkpoint', () => {
  it('has the built-in znodes and the summary when it is the first of a fresh tree', () => {
    const first = told(checkpointOf(DataTree.empty()));
    expect(first).toEqual(['/=@0', '/zookeeper/config=@0', '/zookeeper/quota=@0', '/zookeeper=@0', 'summary']);
  });

  it('has what changed since the last one, parents of creates and deletes included, and nothing else', () => {
    const script = settled();
    expect(told(checkpointOf(script.tree))).toEqual(['summary']);
    script.setData('/a', utf8('2'));
    script.setData('/a', utf8('3'));
    expect(told(checkpointOf(script.tree))).toEqual(['/a=3@2', 'summary']);
    script.create('/a/c', utf8('x'));
    expect(told(checkpointOf(script.tree))).toEqual(['/a/c=x@0', '/a=3@2', 'summary']);
    script.delete('/a/c');
    expect(told(checkpointOf(script.tree))).toEqual(['/a/c gone', '/a=3@2', 'summary']);
    script.closeSession(A);
    expect(told(checkpointOf(script.tree))).toEqual(['session gone', 'summary']);
    script.error();
    expect(told(checkpointOf(script.tree))).toEqual(['summary']);
  });

  it('deletes what was created and deleted again since the last one, in case the disk has it from an earlier life', () => {
    const script = settled();
    script.delete('/a');
    script.create('/a', utf8('other'));
    expect(told(checkpointOf(script.tree))).toEqual(['/=@0', '/a=other@0', 'summary']);
    script.delete('/a');
    script.create('/a');
    script.delete('/a');
    expect(told(checkpointOf(script.tree))).toEqual(['/=@0', '/a gone', 'summary']);
  });

  it('is exact at the zxid of its begin, whatever changes while it is gathered', () => {
    const script = settled();
    script.setData('/a', utf8('old'));
    script.delete('/b');
    script.create('/c', utf8('old'), A);
    const zxid = script.tree.lastZxid;
    const { digest } = script.tree;
    expect(script.tree.beginCheckpoint()).toBe(zxid);
    expect(script.tree.checkpointActive).toBe(true);
    script.setData('/a', utf8('new'));
    script.create('/b', utf8('new'));
    script.create('/d', utf8('new'));
    script.closeSession(A);
    const records = gatherRest(script.tree);
    script.tree.endCheckpoint(true);
    expect(script.tree.checkpointActive).toBe(false);
    expect(told(records)).toEqual(['/=@0', '/a=old@1', '/b gone', '/c=old@0', 'summary']);
    const summary = records.map(readable).find((entry) => entry?.kind === 'summary');
    expect(summary).toMatchObject({ summary: { zxid, digest } });
    // The next one has all that changed meanwhile, also what was not in this one.
    expect(told(checkpointOf(script.tree))).toEqual([
      '/=@0',
      '/a=new@2',
      '/b=new@0',
      '/c gone',
      '/d=new@0',
      'session gone',
      'summary',
    ]);
  });

  it('does not have the later image of a record that was handed out before it changed', () => {
    const script = settled();
    script.setData('/a', utf8('old'));
    script.tree.beginCheckpoint();
    const first = script.tree.nextCheckpointRecords(1);
    script.setData('/a', utf8('new'));
    script.setData('/a', utf8('newer'));
    expect(told([...first.records, ...gatherRest(script.tree)])).toEqual(['/a=old@1', 'summary']);
  });

  it('that fails leaves everything for the next one: handed out, put aside, pending and changed meanwhile', () => {
    const script = settled();
    for (const path of ['/p', '/q', '/r']) script.create(path, utf8('old'));
    script.delete('/b');
    script.tree.beginCheckpoint();
    script.tree.nextCheckpointRecords(1);
    script.setData('/q', utf8('new'));
    script.setData('/a', utf8('2'));
    script.tree.endCheckpoint(false);
    const everything = ['/=@0', '/a=2@1', '/b gone', '/p=old@0', '/q=new@1', '/r=old@0', 'summary'];
    expect(told(checkpointOf(script.tree, false))).toEqual(everything);
    expect(told(checkpointOf(script.tree))).toEqual(everything);
    expect(told(checkpointOf(script.tree))).toEqual(['summary']);
  });

  it('is handed out in parts of about the size asked for, each with at least one record', () => {
    const script = new TreeScript();
    for (let i = 0; i < 100; i++) script.create(`/n${i}`, new Uint8Array(1000));
    script.tree.beginCheckpoint();
    const sizes: number[] = [];
    for (let done = false; !done; ) {
      const part = script.tree.nextCheckpointRecords(10_000);
      sizes.push(part.records.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0));
      expect(part.records.length).toBeGreaterThan(0);
      done = part.done;
    }
    expect(sizes.length).toBeGreaterThanOrEqual(10);
    expect(Math.max(...sizes)).toBeLessThan(11_200);
    script.tree.endCheckpoint(true);
  });

  it('C070: a session from before it and writes from after it come back together', () => {
    const script = new TreeScript();
    script.createSession(A);
    script.create('/mine', utf8('1'), A);
    script.create('/stays', utf8('1'));
    const records = checkpointOf(script.tree);
    const zxid = script.tree.lastZxid;
    script.setData('/mine', utf8('2'));
    script.apply({ kind: 'setData', path: '/stays', data: utf8('2'), version: 1 }, A);
    script.closeSession(A);
    const restarted = loadTree(records, zxid);
    for (const { zxid: at, txn } of script.history) if (at > zxid) restarted.apply(at, txn);
    expect(restarted.digest).toBe(script.tree.digest);
    expect(restarted.stat('/stays')).toEqual(script.tree.stat('/stays'));
    expect(restarted.znode('/mine')).toBeUndefined();
  });

  it('is one at a time, and is not done while records are left', () => {
    const { tree } = settled();
    expect(() => tree.nextCheckpointRecords(1)).toThrow(AssertionError);
    expect(() => tree.endCheckpoint(false)).toThrow(AssertionError);
    tree.beginCheckpoint();
    expect(() => tree.beginCheckpoint()).toThrow(AssertionError);
    expect(() => tree.endCheckpoint(true)).toThrow(AssertionError);
    expect(tree.nextCheckpointRecords(1)).toMatchObject({ done: true });
    expect(tree.nextCheckpointRecords(1)).toEqual({ records: [], done: true });
    tree.endCheckpoint(true);
  });
});

describe('the checkpointer', () => {
  it('encodes a record once, however often it changes while it is gathered', () => {
    const encoded: string[] = [];
    const record = (): StateRecord => ({ key: utf8('k'), value: utf8('v') });
    const checkpointer = new Checkpointer((key) => {
      encoded.push(String(key));
      return record();
    });
    for (const key of ['/a', '/b', A]) checkpointer.willChange(key);
    checkpointer.begin(record());
    for (let i = 0; i < 3; i++) for (const key of ['/b', '/c', A]) checkpointer.willChange(key);
    while (!checkpointer.next(1).done);
    expect(encoded.sort()).toEqual(['/a', '/b', String(A)].sort());
  });
});

function readable(record: StateRecord): StateEntry | undefined {
  return record.value === undefined ? undefined : new RecordReader(new Rows()).read(record);
}
