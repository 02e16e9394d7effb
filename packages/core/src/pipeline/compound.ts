/**
 * Operations that come to several changes, or to one of several: a create that makes its ancestors too, and one that sets what is
 * there already. All changes of one stand in one txn, each decided against what those before it leave.
 */
import { type CreateOrSetOp, parentOf, type SingleWriteOp } from '@quorate/protocol';
import type { TreeChange, TxnBody } from '../tree/txn.ts';
import { type Decision, decide, decideCreate, type Ground } from './decide.ts';
import { Draft } from './draft.ts';
import type { TreeView } from './effects.ts';

type CreateOp = Extract<SingleWriteOp, { readonly kind: 'create' }>;

/** A plain create when no ancestor is missing. Who makes the ancestors is not asked for rights in them: they get the znode's own ACL. */
export function decideCreateWithParents(ground: Ground, op: CreateOp): Decision<TxnBody> {
  const decision = decideCreates(ground, op);
  if ('refusal' in decision) return decision;
  const [only, ...more] = decision.body;
  if (only !== undefined && more.length === 0) return { body: only };
  return { body: { kind: 'compound', answers: 'create', parts: decision.body } };
}

/** Sets the data of a znode that is there, else creates it. */
export function decideCreateOrSet(ground: Ground, op: CreateOrSetOp): Decision<TxnBody> {
  const decision = ground.view.znode(op.path) === undefined ? decideCreates(ground, toCreate(op)) : toSet(ground, op);
  if ('refusal' in decision) return decision;
  return { body: { kind: 'compound', answers: 'createOrSet', parts: decision.body } };
}

function toSet(ground: Ground, { path, data }: CreateOrSetOp): Decision<readonly TreeChange[]> {
  const decision = decide<'setData'>(ground, { kind: 'setData', path, data, expectedVersion: undefined });
  return 'refusal' in decision ? decision : { body: [decision.body] };
}

function toCreate({ path, data, acl, parents }: CreateOrSetOp): CreateOp {
  const op = { kind: 'create', path, data, mode: 'persistent', sequential: false } as const;
  return { ...op, ...(acl && { acl }), ...(parents && { parents }) };
}

/** The create, after those of the ancestors that are missing, from the highest down. */
function decideCreates(ground: Ground, op: CreateOp): Decision<readonly TreeChange[]> {
  const missing = op.parents === true ? missingAncestors(ground.view, op.path) : [];
  const ops = [...missing.map((path) => ancestor(path, op)), op];
  const view = ops.length === 1 ? ground.view : new Draft(ground.view);
  const changes: TreeChange[] = [];
  for (const one of ops) {
    const decision = decideCreate({ ...ground, view }, one, changes.length > 0);
    if ('refusal' in decision) return decision;
    changes.push(decision.body);
    if (view instanceof Draft) view.add(decision.body);
  }
  return { body: changes };
}

function ancestor(path: string, { acl }: CreateOp): CreateOp {
  const op = { kind: 'create', path, data: undefined, mode: 'persistent', sequential: false } as const;
  return acl === undefined ? op : { ...op, acl };
}

function missingAncestors(view: TreeView, path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = parentOf(path); view.znode(at) === undefined; at = parentOf(at)) missing.push(at);
  return missing.reverse();
}
