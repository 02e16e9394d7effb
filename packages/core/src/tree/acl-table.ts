/**
 * The distinct access control lists of the tree, one copy each: a million znodes share a few. A znode without one is open to
 * everybody and costs nothing here. Part of the replicated state only by what the znodes refer to.
 * Source: ZooKeeper `ReferenceCountedACLCache`.
 */
import type { Acl } from '@quorate/protocol';

interface Shared {
  readonly acl: Acl;
  uses: number;
}

export class AclTable {
  readonly #shared = new Map<string, Shared>();

  /** Number of distinct lists. */
  get size(): number {
    return this.#shared.size;
  }

  /** The one copy of this list, counted as used once more; undefined for the open list. */
  use(acl: Acl | undefined): Acl | undefined {
    if (acl === undefined || isOpen(acl)) return undefined;
    const key = keyOf(acl);
    const shared = this.#shared.get(key);
    if (shared !== undefined) {
      shared.uses++;
      return shared.acl;
    }
    // A copy, so that nothing of a message is kept.
    const own = acl.map(({ perms, scheme, id }) => ({ perms, scheme, id }));
    this.#shared.set(key, { acl: own, uses: 1 });
    return own;
  }

  /** What `use` counted is no more. */
  release(acl: Acl | undefined): void {
    if (acl === undefined) return;
    const key = keyOf(acl);
    const shared = this.#shared.get(key);
    if (shared !== undefined && --shared.uses === 0) this.#shared.delete(key);
  }
}

/** True for the list that everybody may do everything by, and nothing else. */
export function isOpen(acl: Acl): boolean {
  const [entry] = acl;
  return acl.length === 1 && entry?.perms === 31 && entry.scheme === 'world' && entry.id === 'anyone';
}

function keyOf(acl: Acl): string {
  return acl.map(({ perms, scheme, id }) => `${perms}:${scheme.length}:${scheme}${id.length}:${id}`).join('');
}
