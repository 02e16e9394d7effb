/**
 * What a change of the tree does to the facts that later requests are checked against. One place, for changes that are proposed
 * (`speculation.ts`) and for those of a multi that is still being decided (`draft.ts`).
 */
import { type Acl, assert, NO_SESSION, parentOf, type QuotaUsage, type SessionId, type Zxid } from '@quorate/protocol';
import type { TxnBody, TxnPart } from '../tree/txn.ts';
import type { QuotaLayer } from './quota-layer.ts';

/** What a check needs to know of a znode. */
export interface ZnodeFacts {
  readonly czxid: Zxid;
  readonly version: number;
  readonly creates: number;
  readonly childCount: number;
  readonly ephemeralOwner: SessionId;
  readonly dataLength: number;
  readonly aversion: number;
  /** Undefined: open to everybody. */
  readonly acl: Acl | undefined;
}

/** The tree as requests are checked against it: what is applied, and what is going to be. */
export interface TreeView {
  znode(path: string): ZnodeFacts | undefined;
  readonly quotas: QuotaLayer;
  /** What the subtree holds. */
  usageOf(path: string): QuotaUsage;
}

/** A znode after the change; `facts` undefined: it is no more. */
export interface Effect {
  readonly path: string;
  readonly facts: ZnodeFacts | undefined;
}

type SetAcl = Extract<TxnBody, { readonly kind: 'setAcl' }>;

const NO_EFFECTS: readonly Effect[] = [];

/** What `part` changes when it follows on `view`, at `zxid`. Asserts that it can (P4). */
export function effectsOf(view: Pick<TreeView, 'znode'>, part: TxnPart | SetAcl, zxid: Zxid): readonly Effect[] {
  switch (part.kind) {
    case 'create': {
      const parent = existing(view, parentOf(part.path));
      const facts = {
        czxid: zxid,
        version: 0,
        creates: 0,
        childCount: 0,
        ephemeralOwner: part.ephemeralOwner ?? NO_SESSION,
        dataLength: part.data?.length ?? 0,
        aversion: 0,
        acl: part.acl,
      };
      const after = { ...parent, creates: part.parentCreates, childCount: parent.childCount + 1 };
      return [
        { path: parentOf(part.path), facts: after },
        { path: part.path, facts },
      ];
    }
    case 'delete': {
      const parent = existing(view, parentOf(part.path));
      existing(view, part.path);
      return [
        { path: parentOf(part.path), facts: { ...parent, childCount: parent.childCount - 1 } },
        { path: part.path, facts: undefined },
      ];
    }
    case 'setData':
      return [
        {
          path: part.path,
          facts: { ...existing(view, part.path), version: part.version, dataLength: part.data?.length ?? 0 },
        },
      ];
    case 'setAcl':
      return [{ path: part.path, facts: { ...existing(view, part.path), aversion: part.version, acl: part.acl } }];
    case 'check':
    case 'exists':
    case 'getData':
      return NO_EFFECTS;
  }
}

function existing(view: Pick<TreeView, 'znode'>, path: string): ZnodeFacts {
  const facts = view.znode(path);
  assert(facts !== undefined, () => `P4: a txn was proposed for ${path}, which will not exist`);
  // A copy: what the tree hands out is a live view.
  const { czxid, version, creates, childCount, ephemeralOwner, dataLength, aversion, acl } = facts;
  return { czxid, version, creates, childCount, ephemeralOwner, dataLength, aversion, acl };
}
