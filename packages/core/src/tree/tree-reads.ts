/**
 * What can be asked of the tree as it is now: the part of `DataTree` that changes nothing which is replicated. Putting children in
 * order alters what is kept beside the tree, never what it says.
 */
import type { QuotaUsage, Stat } from '@quorate/protocol';
import type { SessionTable } from './sessions.ts';
import type { TreeState } from './tree-state.ts';
import type { StoredZnode, Znode } from './znode.ts';

export abstract class TreeReads {
  readonly #state: TreeState;
  /** Those with many children that are in order, or on the way to it. */
  readonly #ordered = new Set<StoredZnode>();

  constructor(state: TreeState) {
    this.#state = state;
  }

  /** The sessions, live and read-only. */
  get sessions(): SessionTable {
    return this.#state.sessions;
  }

  /** Hash of everything replicated; equal on members that applied the same txns. 64 bits, unsigned. */
  get digest(): bigint {
    return this.#state.digest;
  }

  /** Number of znodes, built-in ones included; 4 on a fresh tree. (ZooKeeper counts its root twice and says 5.) */
  get znodeCount(): number {
    return this.#state.znodeCount;
  }

  /** Sum of the lengths of all data, without paths and stats. */
  get dataBytes(): number {
    return this.#state.dataBytes;
  }

  /** Number of distinct ACLs beside the open one. */
  get aclCount(): number {
    return this.#state.aclCount;
  }

  get ephemeralCount(): number {
    return this.#state.ephemeralCount;
  }

  /** A live view of the znode. Any string may be asked for: what is not a path is not there. */
  znode(path: string): Znode | undefined {
    return this.#state.get(path);
  }

  /** How many znodes there are below that one, at any depth; 0 when it is not there. */
  descendantCount(path: string): number {
    return this.#state.get(path)?.descendantCount ?? 0;
  }

  /** Number of znodes and bytes of data from that one down. */
  usageOf(path: string): QuotaUsage {
    return this.#state.get(path)?.subtreeUsage() ?? { count: 0, bytes: 0 };
  }

  /** Paths of all znodes below that one, children before their parents: it costs as much as is taken of it. */
  pathsBelow(path: string): Iterable<string> {
    return this.#state.get(path)?.pathsBelow() ?? [];
  }

  /** Containers and znodes with a TTL, in no order. Changes may be made while it goes on; what is deleted meanwhile does not come. */
  timedZnodes(): IterableIterator<Znode> {
    return this.#state.timedZnodes();
  }

  stat(path: string): Stat | undefined {
    return this.#state.get(path)?.stat();
  }

  /** The data, which may be the tree's own: never write to it. Undefined when it is null or the znode is not there; `znode` tells them apart. */
  data(path: string): Uint8Array | undefined {
    return this.#state.get(path)?.data;
  }

  /** Names of the children by code unit, or undefined when the znode is not there. Never write to the array. See `Children.inOrder`. */
  children(path: string): readonly string[] | undefined {
    return this.#state.get(path)?.childNames();
  }

  /** See `WalkedTree`. */
  childAfter(parent: string, name: string): string | undefined {
    return this.#state.get(parent)?.childAfter(name);
  }

  /** See `OrderedTree`. */
  isOrdered(path: string): boolean {
    return this.#state.get(path)?.isOrdered !== false;
  }

  /** Puts that many children in order at most, and returns how many it was; 0 when they are in order. */
  putInOrder(path: string, most: number): number {
    const znode = this.#state.get(path);
    const count = znode?.putInOrder(most) ?? 0;
    if (znode !== undefined && count > 0) this.#ordered.add(znode);
    return count;
  }

  /** Gives up the orders that nobody has asked for since the last call of this. */
  releaseOrders(): void {
    for (const znode of this.#ordered) if (znode.releaseOrder()) this.#ordered.delete(znode);
  }
}
