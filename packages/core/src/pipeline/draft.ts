/**
 * The tree as it would be after the parts of a multi that have been decided so far. Thrown away when a part fails, so that
 * nothing of it is left, the parent's count of creates included (ZOOKEEPER-1624).
 */
import { type QuotaUsage, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { TxnPart } from '../tree/txn.ts';
import { effectsOf, type TreeView, type ZnodeFacts } from './effects.ts';
import { addedBy, QuotaLayer } from './quota-layer.ts';

export class Draft implements TreeView {
  readonly #base: TreeView;
  readonly #changed = new Map<string, ZnodeFacts | undefined>();
  readonly quotas: QuotaLayer;

  constructor(base: TreeView) {
    this.#base = base;
    this.quotas = new QuotaLayer(base, () => this.#changed);
  }

  znode(path: string): ZnodeFacts | undefined {
    return this.#changed.has(path) ? this.#changed.get(path) : this.#base.znode(path);
  }

  usageOf(path: string): QuotaUsage {
    return this.quotas.usageOf(path);
  }

  /** Takes in what `part` will do. Its zxid is not known yet, and no check of a part asks for it. */
  add(part: TxnPart, zxid: Zxid = ZERO_ZXID): void {
    const added = addedBy(part, this);
    for (const { path, facts } of effectsOf(this, part, zxid)) this.#changed.set(path, facts);
    if (added !== undefined) this.quotas.changed(added);
  }
}
