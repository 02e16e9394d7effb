/**
 * One step of the end of a subtree: which znodes it deletes, none before those below it, the top last. It costs as much as what it
 * deletes and what is in flight, however large the subtree is: nothing is kept between steps, the next one begins anew with what
 * is there then.
 */
import { type DeleteSubtreeOp, PERMS, parentOf, SUBTREE_STEP_MAX } from '@quorate/protocol';
import type { TxnBody, TxnPart } from '../tree/txn.ts';
import { mayAccess } from './access.ts';
import { type Decision, decide, type Ground } from './decide.ts';
import { Draft } from './draft.ts';
import { type Refusal, refusal } from './refusal.ts';

/** Paths in one step, code units: a step ends with the znode that reaches it. */
const STEP_UNITS_MAX = 256 * 1024;

type Delete = Extract<TxnPart, { readonly kind: 'delete' }>;

/**
 * `below` are the paths of what is below the top, children before their parents; more than are there do no harm. All or nothing: one
 * znode that may not be deleted has the whole step refused. What the steps before have done stays.
 */
export function decideDeleteSubtree(ground: Ground, op: DeleteSubtreeOp, below: Iterable<string>): Decision<TxnBody> {
  const fault = topFault(ground, op.path);
  if (fault !== undefined) return { refusal: fault };
  const view = new Draft(ground.view);
  const parts: Delete[] = [];
  let units = 0;
  const most = Math.min(op.limit ?? SUBTREE_STEP_MAX, SUBTREE_STEP_MAX);
  for (const path of withTop(below, op.path)) {
    if (view.znode(path) === undefined) continue;
    if (parts.length === most || units >= STEP_UNITS_MAX) return step(parts, true);
    const decision = decide<'delete'>({ ...ground, view }, { kind: 'delete', path, expectedVersion: undefined });
    if ('refusal' in decision) return decision;
    view.add(decision.body);
    parts.push(decision.body);
    units += path.length;
  }
  return step(parts, false);
}

function step(parts: readonly Delete[], more: boolean): Decision<TxnBody> {
  return { body: { kind: 'compound', answers: 'deleteSubtree', parts, ...(more && { more }) } };
}

function* withTop(below: Iterable<string>, top: string): Iterable<string> {
  yield* below;
  yield top;
}

/** Said before anything is deleted, for it would stop the last step: the order is that of a delete of the top. */
function topFault({ view, identities }: Ground, path: string): Refusal | undefined {
  const parent = view.znode(parentOf(path));
  if (parent === undefined) return refusal('NO_NODE', `Cannot delete ${path}: its parent does not exist`, path);
  if (!mayAccess(parent, PERMS.DELETE, identities)) {
    return refusal('NO_AUTH', `Cannot delete ${path}: the caller does not have the right DELETE on its parent`, path);
  }
  if (view.znode(path) !== undefined) return undefined;
  return refusal('NO_NODE', `Cannot delete ${path}: it does not exist`, path);
}
