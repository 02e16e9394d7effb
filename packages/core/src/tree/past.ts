/**
 * What is below a znode, as it was at one position of the history, while the tree goes on. Of each znode that changes afterwards, and
 * that a reader has yet to come to, the image before is kept; all others are read from the tree. So it costs nothing to begin, and
 * then what changes, not what there is. Who holds one sees to it that the images do not become too many: `bytes`.
 */
import type { Acl, Stat, Zxid } from '@quorate/protocol';
import { UNORDERED } from './children.ts';
import { SortedChunks } from './sorted-chunks.ts';
import { isWithin, nextInWalk, pastAllBelow, type WalkedTree, walkOrder } from './walk.ts';
import type { Znode } from './znode.ts';

export interface PastSpec {
  /** Only what is below it. */
  readonly root: string;
  /** How far below, at least 1; Infinity for all. */
  readonly depth: number;
  /** What is kept of a znode beside its path and ACL. */
  readonly withStat: boolean;
  readonly withData: boolean;
}

/** What a past is of. */
export interface PastTree extends WalkedTree {
  readonly lastZxid: Zxid;
  znode(path: string): Znode | undefined;
}

/** A znode as it was. Never write to it. */
export interface PastZnode {
  readonly path: string;
  readonly acl: Acl | undefined;
  readonly stat: Stat | undefined;
  readonly data: Uint8Array | undefined;
}

/** A step of the walk: the znode, or undefined for one that was not there then; and the place from which to go on. */
export interface PastStep {
  readonly znode: PastZnode | undefined;
  readonly place: string;
}

/** What an image costs beside its path and data, bytes, about. */
const IMAGE_BYTES = 200;
const STAT_BYTES = 300;

/** Images that are dropped in one go, at most; what is left takes room a little longer. */
const DROPPED_AT_ONCE = 10_000;

export class Past {
  readonly spec: PastSpec;
  readonly zxid: Zxid;
  readonly #tree: PastTree;
  /** Znodes that have changed since, as they were; undefined: not there. */
  readonly #images = new Map<string, PastZnode | undefined>();
  /** Their paths. */
  readonly #changed = new SortedChunks<string>((path) => path, walkOrder);
  /** Nobody asks any more for what is up to here. */
  #floor: string;
  #bytes = 0;

  /** The present: `willChange` has to be called from now on. */
  constructor(tree: PastTree, spec: PastSpec) {
    this.spec = spec;
    this.zxid = tree.lastZxid;
    this.#tree = tree;
    this.#floor = spec.root;
  }

  /** About what the images take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The znode, which need not be there, is about to change. */
  willChange(path: string): void {
    if (!this.#concerns(path) || this.#images.has(path)) return;
    const znode = this.#tree.znode(path);
    const image = znode === undefined ? undefined : this.#imageOf(znode);
    this.#images.set(path, image);
    this.#changed.add(path);
    this.#bytes += costOf(path, image);
  }

  /**
   * The next step of the walk after a place, which is the root, or was given by a step, or is `pastAllBelow` a path below the root. Undefined
   * at the end; UNORDERED when children have to be put in order first: see `unorderedAt`.
   */
  next(after: string): PastStep | typeof UNORDERED | undefined {
    const now = nextInWalk(this.#tree, this.spec.root, after);
    if (now === UNORDERED) return UNORDERED;
    const changed = this.#changed.after(after);
    const path = changed === undefined || (now !== undefined && walkOrder(now, changed) < 0) ? now : changed;
    if (path === undefined) return undefined;
    const znode = this.#at(path);
    // Below what was not there nothing was.
    const isLeaf = znode === undefined || levels(path, this.spec.root) >= this.spec.depth;
    return { znode, place: isLeaf ? pastAllBelow(path) : path };
  }

  /** Nobody will ask for what is up to that place. */
  forget(upTo: string): void {
    this.#floor = upTo;
    for (let left = DROPPED_AT_ONCE; left > 0; left--) {
      const path = this.#changed.after('');
      if (path === undefined || walkOrder(path, upTo) > 0) return;
      this.#changed.delete(path);
      this.#bytes -= costOf(path, this.#images.get(path));
      this.#images.delete(path);
    }
  }

  #at(path: string): PastZnode | undefined {
    if (this.#images.has(path)) return this.#images.get(path);
    const znode = this.#tree.znode(path);
    return znode === undefined ? undefined : this.#imageOf(znode);
  }

  #imageOf(znode: Znode): PastZnode {
    const { withStat, withData } = this.spec;
    const { path, acl } = znode;
    return {
      path,
      acl,
      stat: withStat ? znode.stat() : undefined,
      data: withData ? znode.data : undefined,
    };
  }

  #concerns(path: string): boolean {
    const { root, depth } = this.spec;
    if (path.length <= root.length || !isWithin(path, root)) return false;
    return walkOrder(path, this.#floor) > 0 && (depth === Number.POSITIVE_INFINITY || levels(path, root) <= depth);
  }
}

/** How far a path is below the root. */
function levels(path: string, root: string): number {
  let count = 0;
  const from = root === '/' ? 0 : root.length;
  for (let at = path.indexOf('/', from); at !== -1; at = path.indexOf('/', at + 1)) count++;
  return count;
}

function costOf(path: string, image: PastZnode | undefined): number {
  const stat = image?.stat === undefined ? 0 : STAT_BYTES;
  return IMAGE_BYTES + path.length + stat + (image?.data?.length ?? 0);
}
