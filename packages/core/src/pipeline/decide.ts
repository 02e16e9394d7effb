/**
 * One change against the tree as it will be: what it becomes in the txn, or why not. First failure wins, in the order of reference
 * §4.3: create: ACL, parent, CREATE, suffix, full path, exists, ephemeral parent, quota · delete: path, parent, DELETE, znode,
 * version, children · setData: path, znode, WRITE, quota, version · check: path, znode, READ, version · setAcl: see there. Sessions,
 * guards and what an operation is part of are `prepare.ts`'s.
 */
import {
  type Acl,
  type Identity,
  type LookOp,
  type MultiPart,
  NO_SESSION,
  PERMS,
  parentOf,
  type QuotaUsage,
  quotaNode,
  type SessionId,
  type SetAclOp,
  sequenceSuffix,
  USAGE_BYTES_MAX,
  unreachable,
} from '@quorate/protocol';
import type { Lifetime } from '../tree/lifetime.ts';
import type { TxnBody, TxnPart } from '../tree/txn.ts';
import { nextCreates, nextVersion } from '../tree/znode.ts';
import { mayAccess, storedAcl } from './access.ts';
import type { TreeView, ZnodeFacts } from './effects.ts';
import { quotaNodeRefusal, quotaRefusal } from './quota-check.ts';
import { type Refusal, refusal } from './refusal.ts';

/** What an operation becomes, or why not. */
export type Decision<Body> = { readonly body: Body } | { readonly refusal: Refusal };

/** What a change is decided against. */
export interface Ground {
  readonly view: TreeView;
  /** The caller's session, or NO_SESSION. */
  readonly session: SessionId;
  readonly identities: readonly Identity[];
  /** True when the session may have one more ephemeral at `path`. */
  readonly hasRoom: (path: string) => boolean;
}

type OpOf<K extends MultiPart['kind']> = Extract<MultiPart, { readonly kind: K }>;
type PartOf<K extends TxnPart['kind']> = Extract<TxnPart, { readonly kind: K }>;

/** A single operation becomes a change of the same kind; only a check is none. */
export function decide<K extends MultiPart['kind']>(ground: Ground, op: OpOf<K>): Decision<PartOf<K>>;
export function decide(ground: Ground, op: MultiPart): Decision<TxnPart> {
  switch (op.kind) {
    case 'create':
      return decideCreate(ground, op);
    case 'delete':
      return decideDelete(ground, op);
    case 'setData':
      return decideSet(ground, op);
    case 'check':
      return decideCheck(ground, op);
    case 'exists':
    case 'getData':
      return decideLook(ground, op);
    default:
      return unreachable(op);
  }
}

/** `isInOwn`: the parent is made by the same operation, and its right CREATE is not asked for. */
export function decideCreate(ground: Ground, op: OpOf<'create'>, isInOwn = false): Decision<PartOf<'create'>> {
  const { view, session, hasRoom, identities } = ground;
  const acl = op.acl === undefined ? undefined : storedAcl(op.path, op.acl, identities);
  if (isRefusal(acl)) return no(acl);
  const parent = view.znode(parentOf(op.path));
  if (parent === undefined) {
    return no(refusal('NO_NODE', `Cannot create ${op.path}: its parent does not exist`, op.path));
  }
  if (!isInOwn && !mayAccess(parent, PERMS.CREATE, identities))
    return no(noAuth('create', op.path, 'CREATE on its parent'));
  // The count of creates before this one, whatever was deleted since: a number is never given twice (case C002).
  const path = op.sequential ? op.path + sequenceSuffix(parent.creates) : op.path;
  if (view.znode(path) !== undefined) return no(refusal('NODE_EXISTS', `Cannot create ${path}: it exists`, path));
  if (parent.ephemeralOwner !== NO_SESSION) {
    return no(refusal('NO_CHILDREN_FOR_EPHEMERALS', `Cannot create ${path}: its parent is ephemeral`, path));
  }
  const ephemeralOwner = op.mode === 'ephemeral' ? session : NO_SESSION;
  if (ephemeralOwner !== NO_SESSION && !hasRoom(path)) {
    return no(refusal('THROTTLED', `Cannot create ${path}: the session has too many ephemeral znodes`, path));
  }
  const overQuota = quotaFault(view, path, op.data, { count: 1, bytes: op.data?.length ?? 0 });
  if (overQuota !== undefined) return no(overQuota);
  const parentCreates = nextCreates(parent.creates);
  const body = { kind: 'create', path, data: op.data, ephemeralOwner, parentCreates } as const;
  const lifetime = lifetimeFor(op);
  return { body: { ...body, ...(lifetime && { lifetime }), ...(acl && { acl }) } };
}

function decideDelete(
  { view, identities }: Ground,
  { path, expectedVersion }: OpOf<'delete'>,
): Decision<PartOf<'delete'>> {
  const parent = view.znode(parentOf(path));
  if (parent === undefined) {
    return no(refusal('NO_NODE', `Cannot delete ${path}: its parent does not exist`, path));
  }
  if (!mayAccess(parent, PERMS.DELETE, identities)) return no(noAuth('delete', path, 'DELETE on its parent'));
  const znode = view.znode(path);
  if (znode === undefined) return no(refusal('NO_NODE', `Cannot delete ${path}: it does not exist`, path));
  const mismatch = versionMismatch('delete', path, znode, expectedVersion);
  if (mismatch !== undefined) return no(mismatch);
  if (znode.childCount > 0) {
    return no(refusal('NOT_EMPTY', `Cannot delete ${path}: it has ${znode.childCount} children`, path));
  }
  return { body: { kind: 'delete', path } };
}

function decideSet(
  { view, identities }: Ground,
  { path, data, expectedVersion }: OpOf<'setData'>,
): Decision<PartOf<'setData'>> {
  const znode = view.znode(path);
  if (znode === undefined) return no(refusal('NO_NODE', `Cannot set ${path}: it does not exist`, path));
  if (!mayAccess(znode, PERMS.WRITE, identities)) return no(noAuth('set', path, 'WRITE'));
  const overQuota = quotaFault(view, path, data, { count: 0, bytes: (data?.length ?? 0) - znode.dataLength });
  if (overQuota !== undefined) return no(overQuota);
  const mismatch = versionMismatch('set', path, znode, expectedVersion);
  if (mismatch !== undefined) return no(mismatch);
  return { body: { kind: 'setData', path, data, version: nextVersion(znode.version) } };
}

/** `exists` of what is not there has an answer too. */
function decideLook({ view, identities }: Ground, { kind, path }: LookOp): Decision<TxnPart> {
  const znode = view.znode(path);
  if (znode === undefined) {
    if (kind === 'exists') return { body: { kind, path } };
    return no(refusal('NO_NODE', `Cannot read ${path}: it does not exist`, path));
  }
  if (!mayAccess(znode, PERMS.READ, identities)) return no(noAuth('read', path, 'READ'));
  if (kind === 'exists') return { body: { kind, path } };
  // What a subtree holds is written when txns are applied, those in flight too: how long it will be then is not known.
  const isUsage = quotaNode(path)?.kind === 'stats';
  const length = isUsage ? Math.max(znode.dataLength, USAGE_BYTES_MAX) : znode.dataLength;
  return { body: { kind, path, length } };
}

function decideCheck(
  { view, identities }: Ground,
  { path, expectedVersion, absent }: OpOf<'check'>,
): Decision<PartOf<'check'>> {
  const znode = view.znode(path);
  if (absent === true) {
    if (znode === undefined) return { body: { kind: 'check', path, absent } };
    return no(refusal('NODE_EXISTS', `The check of ${path} failed: it exists`, path));
  }
  if (znode === undefined) return no(refusal('NO_NODE', `The check of ${path} failed: it does not exist`, path));
  if (!mayAccess(znode, PERMS.READ, identities)) return no(noAuth('check', path, 'READ'));
  const mismatch = versionMismatch('check', path, znode, expectedVersion);
  return mismatch === undefined ? { body: { kind: 'check', path } } : no(mismatch);
}

/** Why the write is refused for its quota, or as one of the znodes that say what quotas there are. */
function quotaFault(
  { quotas }: TreeView,
  path: string,
  data: Uint8Array | undefined,
  added: QuotaUsage,
): Refusal | undefined {
  const fault = quotaNodeRefusal(path, data, added.count === 1, () => quotas.paths());
  if (fault !== undefined) return fault;
  const covered = quotas.covering(path);
  return covered === undefined ? undefined : quotaRefusal(covered.of, covered.facts, path, added);
}

/** Order: form of the list, znode, ADMIN, version of the list. */
export function decideSetAcl(
  { view, identities }: Ground,
  { path, acl, expectedVersion }: SetAclOp,
): Decision<Extract<TxnBody, { readonly kind: 'setAcl' }>> {
  const stored = storedAcl(path, acl, identities);
  if (isRefusal(stored)) return no(stored);
  const znode = view.znode(path);
  if (znode === undefined) return no(refusal('NO_NODE', `Cannot set the ACL of ${path}: it does not exist`, path));
  if (!mayAccess(znode, PERMS.ADMIN, identities)) return no(noAuth('set the ACL of', path, 'ADMIN'));
  const mismatch = versionMismatch('set the ACL of', path, { version: znode.aversion }, expectedVersion);
  if (mismatch !== undefined) return no(mismatch);
  return { body: { kind: 'setAcl', path, acl: stored, version: nextVersion(znode.aversion) } };
}

function isRefusal(acl: Acl | Refusal | undefined): acl is Refusal {
  return acl !== undefined && 'code' in acl;
}

function noAuth(action: string, path: string, right: string): Refusal {
  return refusal('NO_AUTH', `Cannot ${action} ${path}: the caller does not have the right ${right}`, path);
}

function no(reason: Refusal): { readonly refusal: Refusal } {
  return { refusal: reason };
}

function lifetimeFor({ mode, ttlMs }: OpOf<'create'>): Lifetime | undefined {
  if (mode === 'container') return 'container';
  return mode === 'ttl' && ttlMs !== undefined ? { ttlMs } : undefined;
}

function versionMismatch(
  action: string,
  path: string,
  znode: Pick<ZnodeFacts, 'version'>,
  expected: number | undefined,
): Refusal | undefined {
  if (expected === undefined || expected === znode.version) return undefined;
  return refusal('BAD_VERSION', `Cannot ${action} ${path}: its version is ${znode.version}, not ${expected}`, path);
}
