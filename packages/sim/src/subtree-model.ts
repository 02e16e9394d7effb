/**
 * Whether one step of the end of a subtree is right. Which znodes it begins with is the leader's to choose; what it may not do is
 * judged by the slow tree: none before those below it, none that may not be deleted, no more than asked for.
 */
import type { TxnBody } from '@quorate/core';
import { type DeleteSubtreeOp, type ErrorCode, type Identity, PERMS, type SessionId } from '@quorate/protocol';
import { isAllowed } from './acl-model.ts';
import { decide } from './request-model.ts';
import { splitPath, type TreeModel } from './tree-model.ts';

export interface Step {
  readonly op: DeleteSubtreeOp;
  readonly session: SessionId;
  readonly identities: readonly Identity[];
}

/** What is wrong with the refusal of a step at this point of the history; undefined when it is right. */
export function refusalFault(model: TreeModel, step: Step, code: ErrorCode): string | undefined {
  const { path } = step.op;
  const right = topRefusal(model, step);
  if (right !== undefined) return code === right ? undefined : `had to be ${right}, not ${code}`;
  const isKept = [[path] as const, ...model.below(path)].some(([at]) => !mayDelete(model, step, at));
  return code === 'NO_AUTH' && isKept ? undefined : `had to be done, not ${code}`;
}

/** What is wrong with a step that was done, and stands in the txn as `body`. */
export function stepFault(model: TreeModel, step: Step, body: TxnBody): string | undefined {
  const { path, limit = Infinity } = step.op;
  const right = topRefusal(model, step);
  if (right !== undefined) return `had to be ${right}, not done`;
  if (body.kind !== 'compound' || body.answers !== 'deleteSubtree') return `stands as ${body.kind}`;
  if (body.parts.length > limit) return `deletes ${body.parts.length} znodes, ${limit} were asked for`;
  if (body.parts.length === 0 && limit > 0) return 'deletes nothing';
  return model.trial(() => {
    for (const part of body.parts) {
      const isBelow = part.path === path || part.path.startsWith(`${path}/`);
      if (part.kind !== 'delete' || !isBelow) return `has a ${part.kind} of ${part.path}`;
      const decided = decide(model, step, { kind: 'delete', path: part.path, expectedVersion: undefined });
      if (typeof decided === 'string') return `deletes ${part.path}: ${decided}`;
      model.applyPart(0n as never, 0, decided);
    }
    const isThere = model.znodes.has(path);
    return isThere === (body.more === true) ? undefined : `says that its top ${isThere ? 'is gone' : 'is still there'}`;
  });
}

function topRefusal(model: TreeModel, step: Step): ErrorCode | undefined {
  const { path } = step.op;
  if (!model.znodes.has(splitPath(path).parent)) return 'NO_NODE';
  if (!mayDelete(model, step, path)) return 'NO_AUTH';
  return model.znodes.has(path) ? undefined : 'NO_NODE';
}

function mayDelete(model: TreeModel, { identities }: Step, path: string): boolean {
  return isAllowed(model.znodes.get(splitPath(path).parent)?.acl, PERMS.DELETE, identities);
}
