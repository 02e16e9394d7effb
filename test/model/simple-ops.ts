/** The model's operations on one znode, one function each: checks in the order of reference §4.3, then what changes (§5.3). */
import { NO_SESSION, type ReadPartResult, type SingleWriteOp } from '@quorate/protocol';
import { RIGHTS, requireRight, storedModelAcl } from './acls.ts';
import { requireQuota } from './quotas.ts';
import {
  type ModelOp,
  type ModelResult,
  type Place,
  parentPath,
  type ReferenceModel,
  requirePath,
  requireVersion,
} from './reference.ts';
import { ModelRefusal } from './refused.ts';

type CreateOp = Extract<SingleWriteOp, { readonly kind: 'create' }>;

const PROTECTED = ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'];

export const create: ModelOp<'create'> = (model, op, { zxid, timeMs, session }) => {
  if (op.mode === 'ephemeral' && session === NO_SESSION) throw new ModelRefusal('INVALID_ARGUMENT', op.path);
  if (op.mode === 'container' && op.sequential) throw new ModelRefusal('INVALID_ARGUMENT', op.path);
  requirePath(op.sequential ? `${op.path}0000000000` : op.path, op.path);
  return makeZnode(model, op, { zxid, timeMs, session }, true);
};

/** Ancestors first, if they are to be made: nobody has to have a right in what he has just made. */
function makeZnode(model: ReferenceModel, op: CreateOp, place: Place, asksRight: boolean): ModelResult {
  const { zxid, timeMs, session } = place;
  const parentAt = parentPath(op.path);
  const isBare = op.parents === true && !model.znodes.has(parentAt);
  if (isBare) {
    const above = { kind: 'create', path: parentAt, data: undefined, mode: 'persistent', sequential: false } as const;
    makeZnode(model, { ...above, parents: true, ...(op.acl && { acl: op.acl }) }, place, asksRight);
  }
  const acl = storedModelAcl(op.acl, op.path);
  const parent = model.znodes.get(parentAt);
  if (parent === undefined) throw new ModelRefusal('NO_NODE', op.path);
  if (asksRight && !isBare) requireRight(parent, RIGHTS.create, op.path);
  const path = op.sequential ? op.path + String(parent.creates).padStart(10, '0') : op.path;
  if (model.znodes.has(path)) throw new ModelRefusal('NODE_EXISTS', path);
  if (parent.owner !== NO_SESSION) throw new ModelRefusal('NO_CHILDREN_FOR_EPHEMERALS', path);
  requireQuota(model, path, op.data, true, op.data?.length ?? 0);
  parent.creates += 1;
  parent.cversion += 1;
  parent.pzxid = zxid;
  model.znodes.set(path, {
    data: op.data,
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    ctimeMs: timeMs,
    mtimeMs: timeMs,
    version: 0,
    cversion: 0,
    creates: 0,
    aversion: 0,
    acl,
    owner: op.mode === 'ephemeral' ? session : NO_SESSION,
    lifetime: op.mode === 'container' ? 'container' : op.mode === 'ttl' ? { ttlMs: op.ttlMs! } : undefined,
  });
  model.changed('created', path, zxid);
  return { kind: 'create', path, stat: model.stat(path) };
}

export const createOrSet: ModelOp<'createOrSet'> = (model, { path, data, acl, parents }, place) => {
  requirePath(path);
  const isThere = model.znodes.has(path);
  const more = { ...(acl && { acl }), ...(parents && { parents }) };
  const done = isThere
    ? setData(model, { kind: 'setData', path, data, expectedVersion: undefined }, place)
    : create(model, { kind: 'create', path, data, mode: 'persistent', sequential: false, ...more }, place);
  if (done.kind !== 'create' && done.kind !== 'setData') throw new Error(`Not of a ${done.kind}`);
  return { kind: 'createOrSet', created: !isThere, stat: done.stat };
};

export const remove: ModelOp<'delete'> = (model, op, { zxid }) => {
  requirePath(op.path);
  if (PROTECTED.includes(op.path)) throw new ModelRefusal('INVALID_ARGUMENT', op.path);
  const parent = model.znodes.get(parentPath(op.path));
  if (parent === undefined) throw new ModelRefusal('NO_NODE', op.path);
  requireRight(parent, RIGHTS.delete, op.path);
  requireVersion(op.path, model.existing(op.path), op.expectedVersion);
  if (model.childNames(op.path).length > 0) throw new ModelRefusal('NOT_EMPTY', op.path);
  model.remove(op.path, zxid);
  return { kind: 'delete' };
};

/** As a whole: what has more znodes than a step deletes is not asked for here. */
export const deleteSubtree: ModelOp<'deleteSubtree'> = (model, { path }, { zxid }) => {
  requirePath(path);
  if (PROTECTED.includes(path)) throw new ModelRefusal('INVALID_ARGUMENT', path);
  const parent = model.znodes.get(parentPath(path));
  if (parent === undefined) throw new ModelRefusal('NO_NODE', path);
  requireRight(parent, RIGHTS.delete, path);
  model.existing(path);
  const within = model.paths().filter((other) => other === path || other.startsWith(`${path}/`));
  for (const one of within.sort((a, b) => b.length - a.length)) {
    requireRight(model.existing(parentPath(one)), RIGHTS.delete, one);
    model.remove(one, zxid);
  }
  return { kind: 'deleteSubtree', deleted: within.length, more: false };
};

export const setData: ModelOp<'setData'> = (model, op, { zxid, timeMs }) => {
  requirePath(op.path);
  const znode = model.existing(op.path);
  requireRight(znode, RIGHTS.write, op.path);
  requireQuota(model, op.path, op.data, false, (op.data?.length ?? 0) - (znode.data?.length ?? 0));
  requireVersion(op.path, znode, op.expectedVersion);
  znode.data = op.data;
  znode.version += 1;
  znode.mzxid = zxid;
  znode.mtimeMs = timeMs;
  model.changed('dataChanged', op.path, zxid);
  return { kind: 'setData', stat: model.stat(op.path) };
};

export const closeSession: ModelOp<'closeSession'> = (model, _op, { zxid, session }) => {
  if (session === NO_SESSION) throw new ModelRefusal('INVALID_ARGUMENT');
  for (const path of model.ephemerals(session)) model.remove(path, zxid);
  model.sessions.delete(session);
  return { kind: 'closeSession' };
};

export const exists: ModelOp<'exists'> = (model, { path }) => {
  requirePath(path);
  requireRight(model.existing(path), RIGHTS.read, path);
  return { kind: 'exists', stat: model.stat(path) };
};

export const getData: ModelOp<'getData'> = (model, { path }) => {
  requirePath(path);
  requireRight(model.existing(path), RIGHTS.read, path);
  return { kind: 'getData', data: model.existing(path).data, stat: model.stat(path) };
};

export const getChildren: ModelOp<'getChildren'> = (model, { path }) => {
  requirePath(path);
  requireRight(model.existing(path), RIGHTS.read, path);
  return { kind: 'getChildren', children: model.childNames(path), stat: model.stat(path) };
};

/** Each read by itself; that the whole is not too long is not the model's concern. */
export const multiRead: ModelOp<'multiRead'> = (model, { parts }, place) => {
  const byKind = { exists, getData, getChildren };
  const results = parts.map((part) => {
    const act = byKind[part.kind] as ModelOp<typeof part.kind>;
    return model.attempt(() => act(model, part, place)).result;
  });
  return { kind: 'multiRead', results: results as ReadPartResult[] };
};

export const getEphemerals: ModelOp<'getEphemerals'> = (model, { path: prefix }, { session }) => {
  if (session === NO_SESSION) throw new ModelRefusal('INVALID_ARGUMENT');
  const isMeant = (path: string) => prefix === '/' || path.startsWith(prefix);
  return { kind: 'getEphemerals', paths: model.ephemerals(session).filter(isMeant) };
};

export const getAllChildrenNumber: ModelOp<'getAllChildrenNumber'> = (model, { path }) => {
  requirePath(path);
  requireRight(model.existing(path), RIGHTS.read, path);
  const start = path === '/' ? '/' : `${path}/`;
  const below = model.paths().filter((other) => other !== '/' && other.startsWith(start));
  return { kind: 'getAllChildrenNumber', total: below.length };
};
