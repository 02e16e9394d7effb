/** For tests: a tree that is told what to do in short words. Each word is one txn, as the leader would make it. */
import { ByteWriter, NO_SESSION, type SessionId, toZxid, utf8Length, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { DataTree } from './data-tree.ts';
import type { StateRecord } from './state-record.ts';
import { TreeLoader } from './tree-loader.ts';
import type { Txn, TxnBody } from './txn.ts';
import { nextCreates, nextVersion } from './znode.ts';

/** One position of the history. */
export interface Applied {
  readonly zxid: Zxid;
  readonly txn: Txn;
}

/** Applies txns at rising zxids and remembers them, so that they can be replayed on another tree. */
export class TreeScript {
  tree: DataTree;
  readonly history: Applied[] = [];
  #next: bigint;

  constructor(tree: DataTree = DataTree.empty()) {
    this.tree = tree;
    this.#next = (tree.lastZxid | 0x1_0000_0000n) + 1n;
  }

  create(path: string, data?: Uint8Array, ephemeralOwner: SessionId = NO_SESSION): Zxid {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    const parentCreates = nextCreates(this.tree.znode(parent)?.creates ?? 0);
    return this.apply({ kind: 'create', path, data, ephemeralOwner, parentCreates }, ephemeralOwner);
  }

  delete(path: string): Zxid {
    return this.apply({ kind: 'delete', path });
  }

  setData(path: string, data: Uint8Array | undefined, version?: number): Zxid {
    const next = version ?? nextVersion(this.tree.znode(path)?.version ?? 0);
    return this.apply({ kind: 'setData', path, data, version: next });
  }

  createSession(session: SessionId, timeoutMs = 4000, token: Uint8Array = new Uint8Array(16)): Zxid {
    return this.apply({ kind: 'createSession', timeoutMs, token }, session);
  }

  /** Closes the session with its ephemerals as they are, or with `paths`. */
  closeSession(session: SessionId, paths?: readonly string[]): Zxid {
    const its = paths ?? [...(this.tree.sessions.get(session)?.ephemerals ?? [])].sort();
    return this.apply({ kind: 'closeSession', paths: its }, session);
  }

  error(): Zxid {
    return this.apply({ kind: 'error', code: 'NO_NODE', path: '/nowhere', message: 'There is none' });
  }

  apply(body: TxnBody, session: SessionId = NO_SESSION): Zxid {
    const zxid = toZxid(this.#next++);
    const count = this.history.length;
    const txn: Txn = { origin: { sid: 1, incarnation: 1, seq: count }, session, timeMs: 1000 + count, body };
    this.tree.apply(zxid, txn);
    this.history.push({ zxid, txn });
    return zxid;
  }
}

/** Gathers a whole checkpoint of the tree and ends it. */
export function checkpointOf(tree: DataTree, ok = true): StateRecord[] {
  tree.beginCheckpoint();
  const records = gatherRest(tree);
  tree.endCheckpoint(ok);
  return records;
}

/** What is left to hand out of the checkpoint that was begun. */
export function gatherRest(tree: DataTree): StateRecord[] {
  const records: StateRecord[] = [];
  for (;;) {
    const part = tree.nextCheckpointRecords(1_000);
    records.push(...part.records);
    if (part.done) return records;
  }
}

/** A state database in memory: takes checkpoints whole, and gives its records in key order. */
export class StateDisk {
  zxid: Zxid = ZERO_ZXID;
  readonly #records = new Map<string, StateRecord>();

  write(records: readonly StateRecord[], zxid: Zxid): void {
    for (const record of records) {
      const key = keyText(record.key);
      if (record.value === undefined) this.#records.delete(key);
      else this.#records.set(key, record);
    }
    this.zxid = zxid;
  }

  /** Gathers a whole checkpoint of the tree and writes it. */
  save(tree: DataTree): void {
    this.write(checkpointOf(tree), tree.lastZxid);
  }

  records(): StateRecord[] {
    const byKey = [...this.#records].sort(([a], [b]) => (a < b ? -1 : 1));
    return byKey.map(([, record]) => record);
  }

  load(): DataTree {
    return loadTree(this.records(), this.zxid);
  }
}

/** One character a byte, so that texts compare as the bytes do. */
export function keyText(key: Uint8Array): string {
  return String.fromCharCode(...key);
}

export function utf8(text: string): Uint8Array {
  return new ByteWriter().text(text, utf8Length(text)).finish();
}

export function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A tree loaded from records, in the order given. */
export function loadTree(records: readonly StateRecord[], zxid: Zxid): DataTree {
  const loader = new TreeLoader();
  loader.add(records);
  return loader.finish(zxid);
}
