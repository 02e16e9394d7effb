/**
 * Whether a write had to be done at its place in the history, or had to be refused and for what reason, and what it comes to in the
 * txn: by the slow tree. First failure wins, in the order of reference §4.3. Not judged: sessions, forms of paths, limits.
 */
import type { TreeChange, TxnBody, TxnPart } from '@quorate/core';
import {
  type CreateOrSetOp,
  type ErrorCode,
  type Guard,
  type Identity,
  type MultiPart,
  NO_SESSION,
  OPEN_ACL,
  PERMS,
  type SessionId,
  type SetAclOp,
  type SingleWriteOp,
  type Stat,
  unreachable,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { isAllowed, keptAcl } from './acl-model.ts';
import type { NamingWrite } from './calls.ts';
import { quotaRefusal } from './quota-model.ts';
import { isSameValue } from './same-value.ts';
import { splitPath, type TreeModel } from './tree-model.ts';

/** A write, and who asks. */
export interface ModelRequest {
  readonly op: NamingWrite;
  readonly session: SessionId;
  readonly identities: readonly Identity[];
  readonly guards: readonly Guard[];
}

/** What had to come of it. */
export type Judged =
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly part: number | undefined }
  /**
   * `stats`: of a multi, those of the znodes of its parts right after each; undefined after a delete or a check. `data`: what its
   * reads show.
   */
  | {
      readonly kind: 'done';
      readonly body: TxnBody;
      readonly stats: readonly (Stat | undefined)[];
      readonly data?: readonly (Uint8Array | undefined)[];
    };

type CreateOp = Extract<MultiPart, { kind: 'create' }>;
type Caller = Pick<ModelRequest, 'session' | 'identities'>;

/** Judges a write in front of the txn at `zxid`, which was made at `timeMs`. The tree is not changed. */
export function judge(model: TreeModel, request: ModelRequest, zxid: Zxid, timeMs: number): Judged {
  const { op, guards } = request;
  const fault = guardFault(model, guards, request.identities);
  if (fault !== undefined) return refused(fault);
  switch (op.kind) {
    case 'multi':
      return model.trial(() => judgeParts(model, request, op.parts, { zxid, timeMs }));
    case 'setAcl': {
      const body = decideSetAcl(model, request, op);
      return typeof body === 'string' ? refused(body) : { kind: 'done', body, stats: [] };
    }
    case 'createOrSet':
      return judgePut(model, request, op);
    default: {
      if (op.kind === 'create' && op.parents === true) {
        const parts = decideCreates(model, request, op);
        if (typeof parts === 'string') return refused(parts);
        const [only, ...more] = parts;
        const isPlain = only !== undefined && more.length === 0;
        return { kind: 'done', body: isPlain ? only : { kind: 'compound', answers: 'create', parts }, stats: [] };
      }
      const body = decide(model, request, op);
      return typeof body === 'string' ? refused(body) : { kind: 'done', body: body as TxnBody, stats: [] };
    }
  }
}

function judgePut(model: TreeModel, caller: Caller, op: CreateOrSetOp): Judged {
  const { path, data, acl, parents } = op;
  const isThere = model.znodes.has(path);
  const create: CreateOp = { kind: 'create', path, data, mode: 'persistent', sequential: false };
  const parts = isThere
    ? decide(model, caller, { kind: 'setData', path, data, expectedVersion: undefined })
    : decideCreates(model, caller, { ...create, ...(acl && { acl }), ...(parents && { parents }) });
  if (typeof parts === 'string') return refused(parts);
  const changes = (Array.isArray(parts) ? parts : [parts]) as readonly TreeChange[];
  return { kind: 'done', body: { kind: 'compound', answers: 'createOrSet', parts: changes }, stats: [] };
}

/** A create with those of the ancestors that are missing, from the highest down. */
function decideCreates(model: TreeModel, caller: Caller, op: CreateOp): readonly TreeChange[] | ErrorCode {
  const missing: string[] = [];
  let at = splitPath(op.path).parent;
  for (; op.parents === true && !model.znodes.has(at); at = splitPath(at).parent) missing.unshift(at);
  const base = { kind: 'create', data: undefined, mode: 'persistent', sequential: false } as const;
  const ops = [...missing.map((path): CreateOp => ({ ...base, path, ...(op.acl && { acl: op.acl }) })), op];
  return model.trial(() => {
    const changes: TreeChange[] = [];
    for (const one of ops) {
      // Whoever has just made the parent may create below it, whatever the list says.
      const change = decideCreate(model, caller, one, changes.length > 0);
      if (typeof change === 'string') return change;
      model.applyPart(ZERO_ZXID, 0, change);
      changes.push(change as TreeChange);
    }
    return changes;
  });
}

/** Of the first of the znodes that may not be read, is no more, or is another one of its path. */
export function guardFault(
  model: TreeModel,
  guards: readonly Guard[],
  identities: readonly Identity[],
): 'NO_AUTH' | 'GUARD_FAILED' | undefined {
  for (const { path, czxid } of guards) {
    const znode = model.znodes.get(path);
    if (znode !== undefined && !isAllowed(znode.acl, PERMS.READ, identities)) return 'NO_AUTH';
    if (znode?.czxid !== czxid) return 'GUARD_FAILED';
  }
  return undefined;
}

function refused(code: ErrorCode, part?: number): Judged {
  return { kind: 'refused', code, part };
}

function judgeParts(
  model: TreeModel,
  caller: Caller,
  ops: readonly MultiPart[],
  { zxid, timeMs }: { readonly zxid: Zxid; readonly timeMs: number },
): Judged {
  const parts: TxnPart[] = [];
  const stats: (Stat | undefined)[] = [];
  const data: (Uint8Array | undefined)[] = [];
  for (const [index, op] of ops.entries()) {
    const part = decide(model, caller, op);
    if (typeof part === 'string') return refused(part, index);
    model.applyPart(zxid, timeMs, part);
    parts.push(part);
    stats.push(part.kind === 'delete' || part.kind === 'check' ? undefined : model.stat(part.path));
    data.push(part.kind === 'getData' ? model.znodes.get(part.path)?.data : undefined);
  }
  return { kind: 'done', body: { kind: 'multi', parts }, stats, data };
}

/** The path that a create would get; a sequential one is numbered by the creates of its parent. */
export function pathOf(model: TreeModel, op: SingleWriteOp): string {
  if (op.kind !== 'create' || !op.sequential) return op.path;
  const creates = model.znodes.get(splitPath(op.path).parent)?.creates ?? 0;
  return op.path + String(creates).padStart(10, '0');
}

/** What a part becomes, or why not. */
export function decide(model: TreeModel, caller: Caller, op: MultiPart): TxnPart | ErrorCode {
  const { path } = op;
  const znode = model.znodes.get(path);
  const { identities } = caller;
  const expected = 'expectedVersion' in op ? op.expectedVersion : undefined;
  const hasOther = expected !== undefined && expected !== znode?.version;
  switch (op.kind) {
    case 'create':
      return decideCreate(model, caller, op);
    case 'delete': {
      const parent = model.znodes.get(splitPath(path).parent);
      if (parent === undefined) return 'NO_NODE';
      if (!isAllowed(parent.acl, PERMS.DELETE, identities)) return 'NO_AUTH';
      if (znode === undefined) return 'NO_NODE';
      if (hasOther) return 'BAD_VERSION';
      return znode.children.size > 0 ? 'NOT_EMPTY' : { kind: 'delete', path };
    }
    case 'setData': {
      if (znode === undefined) return 'NO_NODE';
      if (!isAllowed(znode.acl, PERMS.WRITE, identities)) return 'NO_AUTH';
      const { data } = op;
      const bytes = (data?.length ?? 0) - (znode.data?.length ?? 0);
      const over = quotaRefusal(model, path, data, { count: 0, bytes });
      if (over !== undefined) return over;
      return hasOther ? 'BAD_VERSION' : { kind: 'setData', path, data, version: znode.version + 1 };
    }
    case 'exists':
    case 'getData':
      if (znode === undefined) return op.kind === 'exists' ? { kind: op.kind, path } : 'NO_NODE';
      if (!isAllowed(znode.acl, PERMS.READ, identities)) return 'NO_AUTH';
      return op.kind === 'exists' ? { kind: op.kind, path } : { kind: op.kind, path, length: znode.data?.length ?? 0 };
    case 'check':
      if (op.absent === true) return znode === undefined ? { kind: 'check', path, absent: true } : 'NODE_EXISTS';
      if (znode === undefined) return 'NO_NODE';
      if (!isAllowed(znode.acl, PERMS.READ, identities)) return 'NO_AUTH';
      return hasOther ? 'BAD_VERSION' : { kind: 'check', path };
    default:
      return unreachable(op);
  }
}

function decideCreate(
  model: TreeModel,
  { session, identities }: Caller,
  op: CreateOp,
  isInOwn = false,
): TxnPart | ErrorCode {
  const acl = op.acl === undefined ? undefined : keptAcl(op.acl, identities);
  if (op.acl !== undefined && acl === undefined) return 'INVALID_ACL';
  const parent = model.znodes.get(splitPath(op.path).parent);
  if (parent === undefined) return 'NO_NODE';
  if (!isInOwn && !isAllowed(parent.acl, PERMS.CREATE, identities)) return 'NO_AUTH';
  const path = pathOf(model, op);
  if (model.znodes.has(path)) return 'NODE_EXISTS';
  if (parent.ephemeralOwner !== NO_SESSION) return 'NO_CHILDREN_FOR_EPHEMERALS';
  const over = quotaRefusal(model, path, op.data, { count: 1, bytes: op.data?.length ?? 0 });
  if (over !== undefined) return over;
  const ephemeralOwner = op.mode === 'ephemeral' ? session : NO_SESSION;
  const body = { kind: 'create', path, data: op.data, ephemeralOwner, parentCreates: parent.creates + 1 } as const;
  const lifetime = op.mode === 'container' ? 'container' : op.ttlMs === undefined ? undefined : { ttlMs: op.ttlMs };
  // The list that says nothing is that of a znode without one.
  const isOpen = acl === undefined || isSameValue(acl, OPEN_ACL);
  return { ...body, ...(lifetime && { lifetime }), ...(!isOpen && { acl }) };
}

function decideSetAcl(
  model: TreeModel,
  { identities }: Caller,
  { path, acl, expectedVersion }: SetAclOp,
): Extract<TxnBody, { kind: 'setAcl' }> | ErrorCode {
  const kept = keptAcl(acl, identities);
  if (kept === undefined) return 'INVALID_ACL';
  const znode = model.znodes.get(path);
  if (znode === undefined) return 'NO_NODE';
  if (!isAllowed(znode.acl, PERMS.ADMIN, identities)) return 'NO_AUTH';
  if (expectedVersion !== undefined && expectedVersion !== znode.aversion) return 'BAD_VERSION';
  return { kind: 'setAcl', path, acl: kept, version: znode.aversion + 1 };
}
