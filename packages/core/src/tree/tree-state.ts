/**
 * Everything replicated, in one place: the znodes in one flat map by full path, the sessions, and the sums over both
 * (digest, counts). Each mutator keeps all of them in step. It knows nothing of txns, positions or checkpoints:
 * `data-tree.ts` decides what happens, `tree-loader.ts` fills one from records. Seen only inside `tree/`.
 */
import {
  type Acl,
  assert,
  NO_SESSION,
  type Numbered,
  PERMS,
  parentOf,
  type SessionId,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { AclTable } from './acl-table.ts';
import { Digest } from './digest.ts';
import { LargeMap } from './large-map.ts';
import { StoredResult } from './results.ts';
import { Rows } from './rows.ts';
import { Sessions, type StoredSession } from './sessions.ts';
import { StoredZnode, type ZnodeFields } from './znode.ts';

/** Znodes that are there before the first txn and can't be deleted, parents first. Source: reference §5.2. */
export const BUILT_IN_PATHS: readonly string[] = ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'];

const BUILT_IN_FIELDS: ZnodeFields = {
  data: new Uint8Array(0),
  czxid: ZERO_ZXID,
  mzxid: ZERO_ZXID,
  pzxid: ZERO_ZXID,
  ctimeMs: 0,
  mtimeMs: 0,
  version: 0,
  creates: 0,
  aversion: 0,
  owner: NO_SESSION,
};

const CONFIG_PATH = '/zookeeper/config';

/** The configuration may be read by everybody, and changed by nobody but the super user. Source: reference §5.2. */
const CONFIG_FIELDS: ZnodeFields = {
  ...BUILT_IN_FIELDS,
  acl: [{ perms: PERMS.READ, scheme: 'world', id: 'anyone' }],
};

/** What the create of a child sets on its parent. */
export interface ParentChange {
  readonly creates: number;
  readonly pzxid: Zxid;
}

/** What a change of a znode's data sets on it. The data is copied. */
export interface DataChange {
  readonly data: Uint8Array | undefined;
  readonly version: number;
  readonly mzxid: Zxid;
  readonly mtimeMs: number;
}

export class TreeState {
  readonly sessions = new Sessions();
  /** For znodes that are to be attached. */
  readonly rows = new Rows();
  readonly #znodes = new LargeMap<string, StoredZnode>();
  /** Containers and those with a TTL: who deletes them must not search the whole tree for them. */
  readonly #timed = new Set<StoredZnode>();
  readonly #acls = new AclTable();
  readonly #digest = new Digest();
  /** Parents that were loaded and are not in the digest. */
  #uncounted: StoredZnode[] = [];
  #dataBytes = 0;
  #ephemeralCount = 0;

  /** The state before the first txn. */
  static initial(): TreeState {
    const state = new TreeState();
    for (const path of BUILT_IN_PATHS) {
      const parent = path === '/' ? undefined : state.get(parentOf(path));
      state.load(StoredZnode.of(path, path === CONFIG_PATH ? CONFIG_FIELDS : BUILT_IN_FIELDS, state.rows), parent);
    }
    state.endLoad();
    return state;
  }

  /** Number of distinct ACLs beside the open one. */
  get aclCount(): number {
    return this.#acls.size;
  }

  get digest(): bigint {
    return this.#digest.value;
  }

  get znodeCount(): number {
    return this.#znodes.size;
  }

  /** Sum of the lengths of all data. */
  get dataBytes(): number {
    return this.#dataBytes;
  }

  get ephemeralCount(): number {
    return this.#ephemeralCount;
  }

  get(path: string): StoredZnode | undefined {
    return this.#znodes.get(path);
  }

  /** All znodes, in no order. It goes on over changes: what is taken out meanwhile does not come. */
  znodes(): IterableIterator<StoredZnode> {
    return this.#znodes.values();
  }

  /** Containers and those with a TTL, in no order. It goes on over changes like `znodes`. */
  timedZnodes(): IterableIterator<StoredZnode> {
    return this.#timed.values();
  }

  isIntact(znode: StoredZnode): boolean {
    return this.#digest.isIntact(znode);
  }

  isSessionIntact(session: StoredSession): boolean {
    return this.#digest.isSessionIntact(session);
  }

  /** Adds a znode under its parent. The session of an ephemeral must be there. `counted` is what the create does to the parent. */
  attach(znode: StoredZnode, parent: StoredZnode, counted: ParentChange): void {
    this.#digest.remove(parent);
    parent.addChild(znode);
    this.#changeBelow(parent, 1, znode.dataLength);
    parent.creates = counted.creates;
    parent.pzxid = counted.pzxid;
    this.#digest.add(parent);
    this.#enter(znode);
  }

  /**
   * Adds a znode that was loaded, under its parent (undefined for the root), whose record has it already. The digest is right after
   * `endLoad`: counting a parent with each of its children would cost a third as much as all the rest.
   */
  load(znode: StoredZnode, parent: StoredZnode | undefined): void {
    if (parent !== undefined) {
      if (parent.childCount === 0) {
        this.#digest.remove(parent);
        this.#uncounted.push(parent);
      }
      parent.addChild(znode);
      parent.addBelow(1, znode.dataLength);
    }
    this.#enter(znode);
  }

  endLoad(): void {
    // A parent comes before those below it that have children: so backwards each is complete when its own parent takes it in.
    for (const znode of this.#uncounted.reverse()) {
      this.#digest.add(znode);
      if (znode.path === '/') continue;
      const { count, bytes } = znode.subtreeUsage();
      this.get(parentOf(znode.path))?.addBelow(count - 1, bytes - znode.dataLength);
    }
    this.#uncounted = [];
  }

  #enter(znode: StoredZnode): void {
    const { path } = znode;
    if (znode.owner !== NO_SESSION) this.#bind(znode);
    const before = this.#znodes.size;
    this.#znodes.set(path, znode);
    // Told by the count, because a look-up before costs a cache miss and every caller has made one.
    assert(this.#znodes.size === before + 1, () => `Cannot attach ${path}: it was there already`);
    this.#dataBytes += znode.dataLength;
    znode.acl = this.#acls.use(znode.acl);
    this.#digest.hashContent(znode);
    this.#digest.add(znode);
  }

  /** Takes a znode without children out: its numbers are gone then. `pzxid` is the new one of its parent. */
  detach(znode: StoredZnode, parent: StoredZnode, pzxid: Zxid): void {
    const { path } = znode;
    if (znode.owner !== NO_SESSION) this.#unbind(znode);
    this.#digest.remove(parent);
    this.#changeBelow(parent, -1, -znode.dataLength);
    parent.removeChild(znode);
    parent.pzxid = pzxid;
    this.#digest.add(parent);
    this.#znodes.delete(path);
    this.#dataBytes -= znode.dataLength;
    this.#digest.remove(znode);
    this.#acls.release(znode.acl);
    this.rows.giveBack(znode);
  }

  /** Below that znode, and so below all above it, there is more or less. */
  #changeBelow(from: StoredZnode, count: number, bytes: number): void {
    for (let at: StoredZnode | undefined = from; at !== undefined; at = this.#parentOf(at)) at.addBelow(count, bytes);
  }

  #parentOf({ path }: StoredZnode): StoredZnode | undefined {
    return path === '/' ? undefined : this.get(parentOf(path));
  }

  #bind(znode: StoredZnode): void {
    if (znode.isEphemeral) {
      this.sessions.addEphemeral(znode.ephemeralOwner, znode.path);
      this.#ephemeralCount++;
    } else this.#timed.add(znode);
  }

  #unbind(znode: StoredZnode): void {
    if (znode.isEphemeral) {
      this.sessions.removeEphemeral(znode.ephemeralOwner, znode.path);
      this.#ephemeralCount--;
    } else this.#timed.delete(znode);
  }

  /** Replaces the data alone: of what the tree keeps there by itself. */
  setDataOnly(znode: StoredZnode, data: Uint8Array): void {
    const { version, mzxid, mtimeMs } = znode;
    this.setData(znode, { data, version, mzxid, mtimeMs });
  }

  setAcl(znode: StoredZnode, acl: Acl, version: number): void {
    this.#digest.remove(znode);
    const before = znode.acl;
    znode.acl = this.#acls.use(acl);
    this.#acls.release(before);
    znode.aversion = version;
    this.#digest.add(znode);
  }

  setData(znode: StoredZnode, change: DataChange): void {
    this.#digest.remove(znode);
    const before = znode.dataLength;
    znode.data = change.data;
    znode.version = change.version;
    znode.mzxid = change.mzxid;
    znode.mtimeMs = change.mtimeMs;
    const more = znode.dataLength - before;
    this.#dataBytes += more;
    const parent = more === 0 ? undefined : this.#parentOf(znode);
    if (parent !== undefined) this.#changeBelow(parent, 0, more);
    this.#digest.hashContent(znode);
    this.#digest.add(znode);
  }

  addSession(id: SessionId, timeoutMs: number, token: Uint8Array): void {
    this.#digest.addSession(this.sessions.add(id, timeoutMs, token));
  }

  /** Keeps what a numbered write of the session came to, and forgets what is acknowledged. `bytes` are copied. */
  addResult(id: SessionId, { request, acknowledged }: Numbered, bytes: Uint8Array): void {
    const result = new StoredResult(request, bytes);
    for (const gone of this.sessions.addResult(id, acknowledged, result)) this.#digest.removeResult(gone);
    this.#digest.addResult(id, result);
  }

  /** Takes a session without ephemerals out. */
  removeSession(id: SessionId): void {
    const session = this.sessions.remove(id);
    for (const result of session.kept?.all() ?? []) this.#digest.removeResult(result);
    this.#digest.removeSession(session);
  }
}
