/**
 * A walk over a subtree that may change under it: its order, and the next znode after any path, be it there or not. The
 * order is that of a listing read aloud: a znode before its children, children by code unit.
 */
import { parentOf } from '@quorate/protocol';

/** What a walk reads. */
export interface WalkedTree {
  znode(path: string): { readonly childCount: number } | undefined;
  /** By code unit. */
  children(path: string): readonly string[] | undefined;
}

const SLASH = 47;

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

/** The first znode of the walk over `root` that comes after `path`, which is within it; undefined at the end. */
export function nextInWalk(tree: WalkedTree, root: string, path: string): string | undefined {
  if ((tree.znode(path)?.childCount ?? 0) > 0) {
    const [first] = tree.children(path) ?? [];
    if (first !== undefined) return join(path, first);
  }
  for (let from = path; from !== root; from = parentOf(from)) {
    const parent = parentOf(from);
    const names = tree.children(parent);
    if (names === undefined) continue;
    const next = names[indexAfter(names, from.slice(parent === '/' ? 1 : parent.length + 1))];
    if (next !== undefined) return join(parent, next);
  }
  return undefined;
}

function join(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}

/** Index of the first name that is greater. */
function indexAfter(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}
