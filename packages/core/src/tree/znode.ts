/**
 * One znode as it is held in memory, and the arithmetic of its counters.
 *
 * The class is the layout: only the files of `tree/` see it. Everybody else sees the read-only face `Znode`, so that
 * the layout can become columns and slabs without touching them. Source: ZooKeeper `DataNode`, reference §5.3.
 */
import { type Acl, NO_SESSION, type SessionId, type Stat, type Zxid } from '@quorate/protocol';
import { Children, type Sibling } from './children.ts';
import { isSession, type Lifetime, lifetimeOf } from './lifetime.ts';
import { type PackedData, pack, unpack } from './packed.ts';
import {
  AVERSION,
  CREATES,
  CTIME,
  CZXID,
  integer,
  long,
  MTIME,
  MZXID,
  NO_ROW,
  PZXID,
  type RowOwner,
  type Rows,
  setInteger,
  setLong,
  VERSION,
  word,
} from './rows.ts';

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

/** What few znodes have. One object for all of it: most have none, and pay for one reference. */
interface Rare {
  /** The shared copy; undefined: open to everybody. */
  acl: Acl | undefined;
  /** Session, container or TTL in one number, which costs no object of its own for all that have the same: `lifetime.ts`. */
  owner: bigint;
  children: Children | undefined;
}

/** The layout: one object with what is not a number; the numbers stand in a row. See rows.ts and packed.ts. */
export class StoredZnode implements Znode, Sibling, RowOwner {
  readonly path: string;
  /** The data, as it is kept. */
  content: PackedData;
  words = NO_ROW;
  at = 0;
  previous: Sibling | undefined = undefined;
  next: Sibling | undefined = undefined;
  /** Seen here alone. (No private name, because one for a method takes room in every object.) */
  rare: Rare | undefined = undefined;

  /** Takes one of the rows, full of zeros. */
  constructor(path: string, content: PackedData, rows: Rows) {
    this.path = path;
    this.content = content;
    rows.take(this);
  }

  /** Copies `fields.data`, and takes one of the rows. */
  static of(path: string, fields: ZnodeFields, rows: Rows): StoredZnode {
    const znode = new StoredZnode(path, pack(fields.data), rows);
    const { words, at } = znode;
    setLong(znode, CZXID, fields.czxid);
    setLong(znode, MZXID, fields.mzxid);
    setLong(znode, PZXID, fields.pzxid);
    setInteger(znode, CTIME, fields.ctimeMs);
    setInteger(znode, MTIME, fields.mtimeMs);
    words[at + VERSION] = fields.version;
    words[at + CREATES] = fields.creates;
    words[at + AVERSION] = fields.aversion;
    znode.setAccess(fields.owner, fields.acl);
    return znode;
  }

  /** What it lives by and who may use it, once. */
  setAccess(owner: bigint, acl: Acl | undefined): void {
    if (acl !== undefined || owner !== NO_SESSION) this.rare = { acl, owner, children: undefined };
  }

  get data(): Uint8Array | undefined {
    return unpack(this.content);
  }

  /** Copies. */
  set data(data: Uint8Array | undefined) {
    this.content = pack(data);
  }

  get czxid(): Zxid {
    return long(this, CZXID) as Zxid;
  }

  get mzxid(): Zxid {
    return long(this, MZXID) as Zxid;
  }

  set mzxid(zxid: Zxid) {
    setLong(this, MZXID, zxid);
  }

  get pzxid(): Zxid {
    return long(this, PZXID) as Zxid;
  }

  set pzxid(zxid: Zxid) {
    setLong(this, PZXID, zxid);
  }

  get ctimeMs(): number {
    return integer(this, CTIME);
  }

  get mtimeMs(): number {
    return integer(this, MTIME);
  }

  set mtimeMs(timeMs: number) {
    setInteger(this, MTIME, timeMs);
  }

  get version(): number {
    return word(this, VERSION);
  }

  set version(version: number) {
    this.words[this.at + VERSION] = version;
  }

  get creates(): number {
    return word(this, CREATES);
  }

  set creates(creates: number) {
    this.words[this.at + CREATES] = creates;
  }

  get aversion(): number {
    return word(this, AVERSION);
  }

  set aversion(aversion: number) {
    this.words[this.at + AVERSION] = aversion;
  }

  /** The shared copy; undefined: open to everybody. */
  get acl(): Acl | undefined {
    return this.rare?.acl;
  }

  set acl(acl: Acl | undefined) {
    if (acl !== undefined) ownRare(this).acl = acl;
    else if (this.rare !== undefined) this.rare.acl = undefined;
  }

  /** Session, container or TTL in one number: `lifetime.ts`. */
  get owner(): bigint {
    return this.rare === undefined ? NO_SESSION : this.rare.owner;
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

  get children(): Children | undefined {
    return this.rare === undefined ? undefined : this.rare.children;
  }

  get childCount(): number {
    return this.children?.size ?? 0;
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
    return this.children === undefined ? NO_NAMES : this.children.inOrder();
  }

  get leastListBytes(): number {
    return this.children?.leastListBytes(this.path === '/' ? 1 : this.path.length + 1) ?? 0;
  }

  /** See `Children.after`. */
  childAfter(name: string): string | undefined {
    return this.children?.after(this.path === '/' ? '/' : `${this.path}/`, name);
  }

  /** See `Children`. */
  get isOrdered(): boolean {
    return this.children === undefined || this.children.isOrdered;
  }

  /** See `Children`. */
  putInOrder(most: number): number {
    return this.children === undefined ? 0 : this.children.putInOrder(most);
  }

  /** See `Children`. */
  releaseOrder(): boolean {
    return this.children === undefined || this.children.releaseOrder();
  }

  /** Number of znodes below, at any depth. */
  get descendantCount(): number {
    return this.children?.below ?? 0;
  }

  /** What the subtree holds, this znode included. */
  subtreeUsage(): { readonly count: number; readonly bytes: number } {
    const { children } = this;
    const own = { count: 1, bytes: this.dataLength };
    if (children === undefined) return own;
    return { count: own.count + children.below, bytes: own.bytes + children.bytesBelow };
  }

  /** There are `count` znodes and `bytes` of data more below. It has children. */
  addBelow(count: number, bytes: number): void {
    const { children } = this;
    if (children === undefined) return;
    children.below += count;
    children.bytesBelow += bytes;
  }

  /** Paths of all znodes below, at any depth, children before their parents. As many as are asked for; nothing may change meanwhile. */
  *pathsBelow(): IterableIterator<string> {
    const above: StoredZnode[] = [this];
    let child = this.children?.first;
    for (let last = above.at(-1); last !== undefined; last = above.at(-1)) {
      if (child !== undefined) {
        // Only znodes are put into the chain: see addChild.
        above.push(child as StoredZnode);
        child = (child as StoredZnode).children?.first;
        continue;
      }
      above.pop();
      if (last === this) return;
      yield last.path;
      child = last.next;
    }
  }

  /** All znodes below, at any depth, parents before their children. Nothing may change meanwhile. */
  forEachBelow(visit: (znode: StoredZnode) => void): void {
    const parents: StoredZnode[] = [this];
    for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
      for (let child = parent.children?.first; child !== undefined; child = child.next) {
        // Only znodes are put into the chain: see addChild.
        const znode = child as StoredZnode;
        visit(znode);
        if (znode.children !== undefined) parents.push(znode);
      }
    }
  }

  addChild(child: StoredZnode): void {
    const rare = ownRare(this);
    rare.children ??= new Children();
    rare.children.add(child);
  }

  removeChild(child: StoredZnode): void {
    const { children } = this;
    if (children === undefined) return;
    children.delete(child);
    if (children.size === 0) ownRare(this).children = undefined;
  }
}

function ownRare(znode: StoredZnode): Rare {
  znode.rare ??= { acl: undefined, owner: NO_SESSION, children: undefined };
  return znode.rare;
}
