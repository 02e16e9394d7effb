/**
 * A walk over a subtree that may change under it: its order, and the next znode after any path, be it there or not. The
 * order is that of a listing read aloud: a znode before its children, children by code unit.
 */
import { nameOf, parentOf } from '@quorate/protocol';

/** What a walk reads. */
export interface WalkedTree {
  /** The path of the first child whose name comes after that one; UNORDERED while their order is not made. */
  childAfter(parent: string, name: string): string | undefined;
}

export interface OrderedTree {
  /** The children of that znode, if any, can be asked for in order without a pause. */
  isOrdered(path: string): boolean;
}

const SLASH = 47;

/** Stands behind a path for the place after all that is below it: no path has it, and it comes before all that one may have. */
const LAST = '\0';

/** Negative when `a` comes before `b` in a walk, 0 when they are the same, positive otherwise. */
export function walkOrder(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    if (left === SLASH) return -1;
    return right === SLASH ? 1 : left - right;
  }
  return a.length - b.length;
}

/** True when `path` is `root` or below it. */
export function isWithin(path: string, root: string): boolean {
  if (root === '/') return true;
  return path.startsWith(root) && (path.length === root.length || path.charCodeAt(root.length) === SLASH);
}

/** The place in a walk after a znode and all below it; not for `/`. */
export function pastAllBelow(path: string): string {
  return path + LAST;
}

/**
 * The first znode of the walk over `root` that comes after `path`, which is within it; undefined at the end. UNORDERED when children
 * have to be put in order first: see `unorderedAt`.
 */
export function nextInWalk(tree: WalkedTree, root: string, path: string): string | undefined {
  const first = tree.childAfter(path, '');
  if (first !== undefined) return first;
  for (let from = path; from !== root; from = parentOf(from)) {
    const next = tree.childAfter(parentOf(from), nameOf(from));
    if (next !== undefined) return next;
  }
  return undefined;
}

/** The first znode whose children have to be put in order for the walk to go on after `path`; undefined when none has. */
export function unorderedAt(tree: OrderedTree, root: string, path: string): string | undefined {
  for (let from = path; ; from = parentOf(from)) {
    if (!tree.isOrdered(from)) return from;
    if (from === root) return undefined;
  }
}
