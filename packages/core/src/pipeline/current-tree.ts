/** The member's tree, behind one name: a snapshot replaces the tree itself, so nobody keeps it over a step. */
import type { DataTree } from '../tree/data-tree.ts';

export interface CurrentTree {
  readonly tree: DataTree;
}
