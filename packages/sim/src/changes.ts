/**
 * The committed history as whoever watches sees it: each change of a znode by itself, in order, and what there was of each path at
 * each position. From the txns and the slow tree alone.
 */
import { isChange, type TreeChange, type Txn, type TxnPart } from '@quorate/core';
import type { Acl, NotificationKind, Zxid } from '@quorate/protocol';
import type { Ledger } from './ledger.ts';
import { splitPath, TreeModel } from './tree-model.ts';

export interface Change {
  readonly kind: NotificationKind;
  readonly path: string;
  readonly zxid: Zxid;
  /** Of the znode at `path`: then, or before it was deleted. */
  readonly acl: Acl | undefined;
}

/** What there was of a path from a position on; undefined: nothing. */
interface Standing {
  readonly from: Zxid;
  readonly znode: { readonly mzxid: Zxid; readonly pzxid: Zxid } | undefined;
}

export class Changes {
  readonly all: readonly Change[];
  readonly #standings = new Map<string, Standing[]>();

  constructor(ledger: Ledger) {
    const model = new TreeModel();
    this.all = ledger.committed.flatMap((zxid) => {
      const txn = ledger.txn(zxid);
      return txn === undefined ? [] : this.#take(model, zxid, txn);
    });
  }

  /** What there was of the path at that position. */
  at(path: string, zxid: Zxid): Standing['znode'] {
    return this.#standings.get(path)?.findLast(({ from }) => from <= zxid)?.znode;
  }

  #take(model: TreeModel, zxid: Zxid, txn: Txn): readonly Change[] {
    const changes: Change[] = [];
    for (const part of partsOf(txn)) {
      if (!isChange(part)) continue;
      const before = model.znodes.get(part.path)?.acl;
      model.applyPart(zxid, txn.timeMs, part);
      changes.push(...changesOf(model, zxid, part, before));
    }
    // The rest of it: sessions, lists.
    if (!('parts' in txn.body) && !isOneChange(txn.body)) model.apply(zxid, withoutPaths(txn));
    for (const { path } of changes) {
      const znode = model.znodes.get(path);
      const standings = this.#standings.get(path) ?? [];
      standings.push({ from: zxid, znode: znode && { mzxid: znode.mzxid, pzxid: znode.pzxid } });
      this.#standings.set(path, standings);
    }
    return changes;
  }
}

/** A session that ends takes its ephemerals with it, one after the other. */
function partsOf({ body }: Txn): readonly TxnPart[] {
  if ('parts' in body) return body.parts;
  if (body.kind === 'closeSession') return body.paths.map((path) => ({ kind: 'delete', path }));
  return isOneChange(body) ? [body] : [];
}

function isOneChange(body: Txn['body']): body is TreeChange {
  return body.kind === 'create' || body.kind === 'delete' || body.kind === 'setData';
}

function withoutPaths(txn: Txn): Txn {
  return txn.body.kind === 'closeSession' ? { ...txn, body: { kind: 'closeSession', paths: [] } } : txn;
}

const KINDS = { create: 'nodeCreated', delete: 'nodeDeleted', setData: 'nodeDataChanged' } as const;

function changesOf(
  model: TreeModel,
  zxid: Zxid,
  { kind, path }: TreeChange,
  before: Acl | undefined,
): readonly Change[] {
  const acl = kind === 'delete' ? before : model.znodes.get(path)?.acl;
  const own: Change = { kind: KINDS[kind], path, zxid, acl };
  if (kind === 'setData') return [own];
  const { parent } = splitPath(path);
  return [own, { kind: 'nodeChildrenChanged', path: parent, zxid, acl: model.znodes.get(parent)?.acl }];
}
