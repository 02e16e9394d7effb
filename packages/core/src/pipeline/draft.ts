/**
 * The tree as it would be after the parts of a multi that have been decided so far. Thrown away when a part fails, so that
 * nothing of it is left, the parent's count of creates included (ZOOKEEPER-1624).
 */
import { ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { TxnPart } from '../tree/txn.ts';
import { effectsOf, type TreeView, type ZnodeFacts } from './effects.ts';

export class Draft implements TreeView {
  readonly #base: TreeView;
  readonly #changed = new Map<string, ZnodeFacts | undefined>();

  constructor(base: TreeView) {
    this.#base = base;
  }

  znode(path: string): ZnodeFacts | undefined {
    return this.#changed.has(path) ? this.#changed.get(path) : this.#base.znode(path);
  }

  /** Takes in what `part` will do. Its zxid is not known yet, and no check of a part asks for it. */
  add(part: TxnPart, zxid: Zxid = ZERO_ZXID): void {
    for (const { path, facts } of effectsOf(this, part, zxid)) this.#changed.set(path, facts);
  }
}
