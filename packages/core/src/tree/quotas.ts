/**
 * The quotas of the tree: which subtrees have limits, and exactly what each holds. Everything here follows from the znodes; the
 * usage is besides written into the znode `zookeeper_stats`, where there is one, with every change under the quota: no position, no version,
 * no event, as in ZooKeeper. A tree without quotas pays nothing. Whether a write is allowed is judged elsewhere (pipeline).
 * Source: ZooKeeper `DataTree.updateQuotaStat`, `PathTrie`, reference §5.7, case C011.
 */
import {
  coveringPath,
  formatUsage,
  limitsPath,
  NO_QUOTA_LIMITS,
  parseLimits,
  type QuotaLimits,
  type QuotaUsage,
  quotaNode,
  statsPath,
} from '@quorate/protocol';
import type { StoredZnode } from './znode.ts';

/** One quota, as it is now. */
export interface Quota extends QuotaUsage {
  readonly limits: QuotaLimits;
}

/** The read-only face. Paths are those of the subtrees. */
export interface QuotaTable {
  readonly size: number;
  get(path: string): Quota | undefined;
  paths(): Iterable<string>;
}

/** What it needs of the tree. */
export interface QuotaHost {
  znode(path: string): StoredZnode | undefined;
  /** Replaces the data of a znode, and nothing else of it. */
  setStats(znode: StoredZnode, data: Uint8Array): void;
}

interface Stored {
  limits: QuotaLimits;
  count: number;
  bytes: number;
}

export class Quotas implements QuotaTable {
  readonly #host: QuotaHost;
  readonly #byPath = new Map<string, Stored>();

  constructor(host: QuotaHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#byPath.size;
  }

  get(path: string): Quota | undefined {
    return this.#byPath.get(path);
  }

  paths(): Iterable<string> {
    return this.#byPath.keys();
  }

  /** After a create (count 1), a delete (-1) or a change of the data (0) of the znode at `path`; `bytes` is what its data grew by. */
  changed(path: string, count: number, bytes: number): void {
    if (this.#byPath.size > 0 && (count !== 0 || bytes !== 0)) this.#count(path, count, bytes);
    const node = quotaNode(path);
    if (node === undefined) return;
    if (node.kind === 'limits') this.#limitsChanged(node.of);
    else if (count === 1) this.#writeUsage(node.of, this.#byPath.get(node.of) ?? this.#usageOf(node.of));
  }

  /** Takes in a znode that was loaded: `load` all limits when the whole tree is there. Writes nothing. */
  load(path: string): void {
    const node = quotaNode(path);
    if (node?.kind === 'limits')
      this.#byPath.set(node.of, { limits: this.#limitsOf(node.of), ...this.#usageOf(node.of) });
  }

  #count(path: string, count: number, bytes: number): void {
    const at = coveringPath(path, (one) => this.#byPath.has(one));
    const quota = at === undefined ? undefined : this.#byPath.get(at);
    if (at === undefined || quota === undefined) return;
    quota.count += count;
    quota.bytes += bytes;
    this.#writeUsage(at, quota);
  }

  #limitsChanged(of: string): void {
    if (this.#host.znode(limitsPath(of)) === undefined) {
      this.#byPath.delete(of);
      return;
    }
    const known = this.#byPath.get(of);
    if (known !== undefined) {
      known.limits = this.#limitsOf(of);
      return;
    }
    const quota = { limits: this.#limitsOf(of), ...this.#usageOf(of) };
    this.#byPath.set(of, quota);
    this.#writeUsage(of, quota);
  }

  #limitsOf(of: string): QuotaLimits {
    return parseLimits(this.#host.znode(limitsPath(of))?.data) ?? NO_QUOTA_LIMITS;
  }

  #usageOf(of: string): QuotaUsage {
    return this.#host.znode(of)?.subtreeUsage() ?? { count: 0, bytes: 0 };
  }

  #writeUsage(of: string, usage: QuotaUsage): void {
    const znode = this.#host.znode(statsPath(of));
    if (znode !== undefined) this.#host.setStats(znode, formatUsage(usage));
  }
}
