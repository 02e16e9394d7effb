/**
 * One znode as it is held in memory, and the arithmetic of its counters.
 *
 * The class is the layout: only the files of `tree/` see it. Everybody else sees the read-only face `Znode`, so that
 * the layout can become columns and slabs without touching them. Source: ZooKeeper `DataNode`, reference §5.3.
 */
import { type Acl, NO_SESSION, type SessionId, type Stat, type Zxid } from '@quorate/protocol';
import { Children, type Sibling } from './children.ts';
import { isSession, type Lifetime, lifetimeOf } from './lifetime.ts';
import { highOf, joined, joinedNumber, lowOf, type PackedData, pack, unpack, upperOf } from './packed.ts';

/** A znode as it is now: a live view, so read what is needed at once and don't keep it over an `apply`. */
export interface Znode {
  readonly path: string;
  /** Undefined is ZooKeeper's null, told apart from empty. The bytes may be the tree's own: never write to them. */
  readonly data: Uint8Array | undefined;
  /** zxid of its create, which tells it from every other znode of that path. */
  readonly czxid: Zxid;
  /** Count of data changes as clients see and state it. */
  readonly version: number;
  /** Count of ACL changes. */
  readonly aversion: number;
  /** Never write to it. Undefined: open to everybody. */
  readonly acl: Acl | undefined;
  /** Count of creates of direct children, 32-bit signed with wrap: the number that the next sequential child gets. */
  readonly creates: number;
  /** The session that owns an ephemeral, else NO_SESSION. */
  readonly ephemeralOwner: SessionId;
  /** Of a container or one with a TTL. */
  readonly lifetime: Lifetime | undefined;
  readonly mtimeMs: number;
  readonly childCount: number;
  readonly dataLength: number;
  /** Bytes that a list of the children's names takes at least: see `Children`. */
  readonly leastListBytes: number;
  /** All eleven fields as clients see them. */
  stat(): Stat;
}

/** What is stored of a znode; everything else about it follows from these or from its children. */
export interface ZnodeFields {
  readonly data: Uint8Array | undefined;
  readonly czxid: Zxid;
  readonly mzxid: Zxid;
  readonly pzxid: Zxid;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly creates: number;
  readonly aversion: number;
  /** Undefined: open to everybody. */
  readonly acl?: Acl | undefined;
  /** Session, container or TTL: see `lifetime.ts`. */
  readonly owner: bigint;
}

/** The version after `version`: 32-bit wrap, and -1 is stepped over because it would mean "any" (case C004). */
export function nextVersion(version: number): number {
  const next = (version + 1) | 0;
  return next === -1 ? 0 : next;
}

/** The count of creates after one more; wraps as ZooKeeper's does, from 2147483647 to -2147483648. */
export function nextCreates(creates: number): number {
  return (creates + 1) | 0;
}

const NO_NAMES: readonly string[] = [];

/** The layout: one object, with all numbers in 32 bits, which V8 stores without boxes. See packed.ts. */
export class StoredZnode implements Znode, Sibling {
  readonly path: string;
  /** The data, as it is kept. */
  content: PackedData;
  czxidHigh: number;
  czxidLow: number;
  mzxidHigh: number;
  mzxidLow: number;
  pzxidHigh: number;
  pzxidLow: number;
  ctimeUpper: number;
  ctimeLow: number;
  mtimeUpper: number;
  mtimeLow: number;
  version: number;
  creates: number;
  aversion: number;
  /** The shared copy; undefined: open to everybody. */
  acl: Acl | undefined;
  /** Session, container or TTL in one number, which costs no object of its own for all that have the same: `lifetime.ts`. */
  readonly owner: bigint;
  /** Hash of path and data, kept because a change of the stat alone must not cost the length of the data. */
  contentHigh = 0;
  contentLow = 0;
  /** What this znode has added to the tree's digest, kept so that exactly that can be taken out again. */
  hashHigh = 0;
  hashLow = 0;
  previous: Sibling | undefined = undefined;
  next: Sibling | undefined = undefined;
  #children: Children | undefined = undefined;

  /** Copies `fields.data`. */
  constructor(path: string, fields: ZnodeFields) {
    const { czxid, mzxid, pzxid, ctimeMs, mtimeMs } = fields;
    this.path = path;
    this.content = pack(fields.data);
    this.czxidHigh = highOf(czxid);
    this.czxidLow = lowOf(czxid);
    this.mzxidHigh = highOf(mzxid);
    this.mzxidLow = lowOf(mzxid);
    this.pzxidHigh = highOf(pzxid);
    this.pzxidLow = lowOf(pzxid);
    this.ctimeUpper = upperOf(ctimeMs);
    this.ctimeLow = ctimeMs | 0;
    this.mtimeUpper = upperOf(mtimeMs);
    this.mtimeLow = mtimeMs | 0;
    this.version = fields.version;
    this.creates = fields.creates;
    this.aversion = fields.aversion;
    this.acl = fields.acl;
    this.owner = fields.owner;
  }

  get data(): Uint8Array | undefined {
    return unpack(this.content);
  }

  /** Copies. */
  set data(data: Uint8Array | undefined) {
    this.content = pack(data);
  }

  get czxid(): Zxid {
    return joined(this.czxidHigh, this.czxidLow) as Zxid;
  }

  get mzxid(): Zxid {
    return joined(this.mzxidHigh, this.mzxidLow) as Zxid;
  }

  set mzxid(zxid: Zxid) {
    this.mzxidHigh = highOf(zxid);
    this.mzxidLow = lowOf(zxid);
  }

  get pzxid(): Zxid {
    return joined(this.pzxidHigh, this.pzxidLow) as Zxid;
  }

  set pzxid(zxid: Zxid) {
    this.pzxidHigh = highOf(zxid);
    this.pzxidLow = lowOf(zxid);
  }

  get ctimeMs(): number {
    return joinedNumber(this.ctimeUpper, this.ctimeLow);
  }

  get mtimeMs(): number {
    return joinedNumber(this.mtimeUpper, this.mtimeLow);
  }

  set mtimeMs(timeMs: number) {
    this.mtimeUpper = upperOf(timeMs);
    this.mtimeLow = timeMs | 0;
  }

  get dataLength(): number {
    return this.content === undefined ? 0 : this.content.length;
  }

  get isEphemeral(): boolean {
    return this.owner !== NO_SESSION && isSession(this.owner);
  }

  get ephemeralOwner(): SessionId {
    const { owner } = this;
    return owner !== NO_SESSION && isSession(owner) ? owner : NO_SESSION;
  }

  get lifetime(): Lifetime | undefined {
    return this.owner === NO_SESSION ? undefined : lifetimeOf(this.owner);
  }

  get childCount(): number {
    return this.#children === undefined ? 0 : this.#children.size;
  }

  stat(): Stat {
    const numChildren = this.childCount;
    return {
      czxid: this.czxid,
      mzxid: this.mzxid,
      pzxid: this.pzxid,
      ctimeMs: this.ctimeMs,
      mtimeMs: this.mtimeMs,
      version: this.version,
      // Creates plus deletes, without a count of deletes: every child that was created and is not there was deleted.
      cversion: (2 * this.creates - numChildren) | 0,
      aversion: this.aversion,
      ephemeralOwner: this.ephemeralOwner,
      dataLength: this.dataLength,
      numChildren,
    };
  }

  /** Names of the children by code unit. The array may be kept: never write to it. Of many children it takes time: see `Children`. */
  childNames(): readonly string[] {
    return this.#children === undefined ? NO_NAMES : this.#children.inOrder();
  }

  get leastListBytes(): number {
    return this.#children?.leastListBytes(this.path === '/' ? 1 : this.path.length + 1) ?? 0;
  }

  /** See `Children.after`. */
  childAfter(name: string): string | undefined {
    return this.#children?.after(this.path === '/' ? '/' : `${this.path}/`, name);
  }

  /** See `Children`. */
  get isOrdered(): boolean {
    return this.#children === undefined || this.#children.isOrdered;
  }

  /** See `Children`. */
  putInOrder(most: number): number {
    return this.#children === undefined ? 0 : this.#children.putInOrder(most);
  }

  /** See `Children`. */
  releaseOrder(): boolean {
    return this.#children === undefined || this.#children.releaseOrder();
  }

  /** Number of znodes below, at any depth. Takes time with it. */
  descendantCount(): number {
    let count = this.childCount;
    this.#forEachParentBelow((znode) => {
      count += znode.childCount;
    });
    return count;
  }

  /** One child more, or with -1 one less, has children itself. */
  parentsChanged(by: number): void {
    if (this.#children !== undefined) this.#children.parents += by;
  }

  /** What the subtree holds, this znode included. Takes time with it. */
  subtreeUsage(): { readonly count: number; readonly bytes: number } {
    let count = 1;
    let bytes = this.dataLength;
    this.forEachBelow((znode) => {
      count++;
      bytes += znode.dataLength;
    });
    return { count, bytes };
  }

  /** All znodes below, at any depth, parents before their children. Nothing may change meanwhile. */
  forEachBelow(visit: (znode: StoredZnode) => void): void {
    const parents: StoredZnode[] = [this];
    for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
      for (let child = parent.#children?.first; child !== undefined; child = child.next) {
        // Only znodes are put into the chain: see addChild.
        const znode = child as StoredZnode;
        visit(znode);
        if (znode.#children !== undefined) parents.push(znode);
      }
    }
  }

  /** All znodes below that have children. Lists in which there is none are not gone through. */
  #forEachParentBelow(visit: (znode: StoredZnode) => void): void {
    const waiting: StoredZnode[] = [this];
    for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
      let left = parent.#children?.parents ?? 0;
      for (let child = parent.#children?.first; child !== undefined && left > 0; child = child.next) {
        const znode = child as StoredZnode;
        if (znode.#children === undefined) continue;
        left--;
        visit(znode);
        waiting.push(znode);
      }
    }
  }

  addChild(child: StoredZnode): void {
    this.#children ??= new Children();
    this.#children.add(child);
  }

  removeChild(child: StoredZnode): void {
    const children = this.#children;
    if (children === undefined) return;
    children.delete(child);
    if (children.size === 0) this.#children = undefined;
  }
}
