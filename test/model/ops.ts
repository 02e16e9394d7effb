/** Which function of the model carries out which operation, and what is the same for all of them. */
import { type Guard, type ListingOp, type Op, PERMS, type ReadOp, type WatchOp, type Zxid } from '@quorate/protocol';
import type { OrderedOp } from '../../packages/core/src/pipeline/write-request.ts';
import { getAcl, requireRight, setAcl } from './acls.ts';
import { multi } from './multi.ts';
import { type ModelChange, type ModelOp, type ModelResult, type Place, type ReferenceModel } from './reference.ts';
import { ModelRefusal } from './refused.ts';
import * as simple from './simple-ops.ts';

type Kinds = Exclude<Op['kind'], 'sync' | ListingOp['kind'] | WatchOp['kind']>;

const OPS: { readonly [K in Kinds]: ModelOp<K> } = {
  create: simple.create,
  delete: simple.remove,
  setData: simple.setData,
  createOrSet: simple.createOrSet,
  deleteSubtree: simple.deleteSubtree,
  multi,
  setAcl,
  getAcl,
  closeSession: simple.closeSession,
  exists: simple.exists,
  getData: simple.getData,
  getChildren: simple.getChildren,
  multiRead: simple.multiRead,
  getEphemerals: simple.getEphemerals,
  getAllChildrenNumber: simple.getAllChildrenNumber,
};

export interface Outcome {
  /** Where it happened: earlier than it was asked for when it was a repeated request. */
  readonly zxid: Zxid;
  readonly result: ModelResult;
  /** In order; those of an ended session in any. */
  readonly changes: readonly ModelChange[];
}

export type ModelledOp = Exclude<Op, { readonly kind: 'sync' } | ListingOp | WatchOp>;

/** One operation on one model. */
export function carryOut(model: ReferenceModel, op: ModelledOp, place: Place): ModelResult {
  return (OPS[op.kind] as (model: ReferenceModel, op: ModelledOp, place: Place) => ModelResult)(model, op, place);
}

/** What is ordered: it belongs to a session that lives, or to none, and happens wholly or not at all. */
export function write(model: ReferenceModel, op: OrderedOp, place: Place, guards: readonly Guard[] = []): Outcome {
  const { zxid } = place;
  const done = model.attempt(() => {
    if (op.kind === 'createSession') {
      model.sessions.set(place.session, { timeoutMs: op.timeoutMs, token: op.token, last: 0, results: new Map() });
      return { kind: 'closeSession' };
    }
    model.requireSession(place.session);
    requireForm(model, op, place);
    for (const { path, czxid: born } of guards) {
      const znode = model.znodes.get(path);
      if (znode !== undefined) requireRight(znode, PERMS.READ, path);
      if (znode?.czxid !== born) throw new ModelRefusal('GUARD_FAILED', path);
    }
    return carryOut(model, op, place);
  });
  return { zxid, ...done };
}

/** What is wrong by its form alone is said before guards are looked at. */
function requireForm(model: ReferenceModel, op: ModelledOp, place: Place): void {
  try {
    carryOut(model.copy(), op, place);
  } catch (error) {
    if (!(error instanceof ModelRefusal) || error.byForm) throw error;
  }
}

/** False for what can be refused without the tree: no member forwards it, and it has no place in the history. */
export function isOrdered(model: ReferenceModel, op: ModelledOp, place: Place): boolean {
  try {
    requireForm(model, op, place);
    return true;
  } catch {
    return false;
  }
}

export function read(model: ReferenceModel, op: ReadOp, place: Place): ModelResult {
  return model.attempt(() => carryOut(model, op, place)).result;
}
