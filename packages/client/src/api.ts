/** The public shape of the client: what it can do, and the options of each call. */
import type { CoordinationError } from './errors.ts';
import type { Listing, ListOptions, WalkOptions } from './listing.ts';
import type { Auth, CallOptions } from './options.ts';
import type { Session } from './session.ts';
import type { Watch, WatchOptions } from './watch.ts';
import type { Data, Stat, Znode } from './znode.ts';

/**
 * How fresh a read must be. `session` (default): it shows every write of this session that came before it, and never
 * less than the session has seen, at whatever member it is. `linearizable`: besides, it shows everything that was
 * acknowledged to anybody before the read was sent; it costs a round between the members. `local` promises only that
 * the member answers from what it has; over a session stream that is never less than `session`.
 */
export type Consistency = 'local' | 'session' | 'linearizable';

export interface ReadOptions extends CallOptions {
  readonly consistency?: Consistency | undefined;
}

export interface EphemeralsOptions extends ReadOptions {
  /** Only those whose path begins with these characters: `/a` names `/ab` too. Default: all. */
  readonly prefix?: string | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The version that the znode must have; else BAD_VERSION. Undefined: any. */
  readonly version?: number | undefined;
  readonly guard?: Guard | readonly Guard[] | undefined;
}

/**
 * "That very znode exists still", checked by the ensemble when it orders the write; else GUARD_FAILED. Bound to the znode of a
 * lock, a write of a former holder can no longer take effect. At most 16 for a write.
 */
export interface Guard {
  readonly path: string;
  /** `czxid` of its stat. */
  readonly czxid: bigint;
}

/**
 * `open`: everybody everything. `read`: everybody may read, nobody else anything. `creator`: all rights for whatever the client's
 * `auth` proves. Or entry by entry.
 */
export type Acl = 'open' | 'read' | 'creator' | readonly AclEntry[];

/** `perms`: letters of c (create children), d (delete children), r, w, a (change the ACL). */
export interface AclEntry {
  readonly scheme: string;
  readonly id: string;
  readonly perms: string;
}

/** Something that a connection has, such as its address, or has proved. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** One of several reads. */
export interface Read {
  readonly op: 'get' | 'stat' | 'children';
  readonly path: string;
}

/** What one of several reads came to; `error`: it failed, which the others did not because of it. */
export type ReadResult =
  | { readonly op: 'get'; readonly node: Znode; readonly error?: undefined }
  /** `stat` undefined: the znode does not exist. */
  | { readonly op: 'stat'; readonly stat: Stat | undefined; readonly error?: undefined }
  | { readonly op: 'children'; readonly children: readonly string[]; readonly stat: Stat; readonly error?: undefined }
  | { readonly op: Read['op']; readonly error: CoordinationError };

/** What one part of a transaction came to. A stat is that right after its part. */
export type TxnResult =
  | { readonly op: 'create'; readonly path: string; readonly stat: Stat }
  | { readonly op: 'set'; readonly stat: Stat }
  | { readonly op: 'get'; readonly node: Znode }
  /** Undefined: it does not exist. */
  | { readonly op: 'stat'; readonly stat: Stat | undefined }
  | { readonly op: 'delete' | 'check' };

/**
 * Changes, conditions and reads that take effect at one zxid, or not at all: at most 8192, 1 MiB together. Each is checked against
 * what those before it leave. Methods throw TypeError and RangeError for arguments of the wrong shape.
 */
export interface Transaction {
  /** Goes on only if the znode exists and has that version; undefined: any. */
  check(path: string, version?: number): this;
  /** Goes on only if the znode does not exist; else NODE_EXISTS. */
  checkAbsent(path: string): this;
  /** Reads the znode as the parts before it leave it: NO_NODE when it does not exist. All reads together: at most 256 KiB of data. */
  get(path: string): this;
  /** Reads whether the znode exists, and its stat, as the parts before it leave it. */
  stat(path: string): this;
  /** Goes on only if that very znode exists still. It has no result of its own. */
  guard(guard: Guard): this;
  create(path: string, data?: Data, options?: Pick<CreateOptions, 'mode' | 'sequential' | 'acl'>): this;
  set(path: string, data: Data, options?: Pick<WriteOptions, 'version'>): this;
  delete(path: string, options?: Pick<WriteOptions, 'version'>): this;
  /**
   * Resolves with one result a part, guards left out. Rejects like the first part that fails, with its index in `part`; then
   * nothing has taken effect. Only once.
   */
  commit(options?: CallOptions): Promise<readonly TxnResult[]>;
}

/**
 * How long a znode lives at most: until it is deleted, or as long as the session, or until some time after its last child has
 * gone (not with `sequential`), or until it has no children and its data has not been set for `ttlMs` (1 to 2^40 − 1).
 */
export type CreateMode = 'persistent' | 'ephemeral' | 'container' | { readonly ttlMs: number };

export interface CreateOptions extends CallOptions {
  /** Default `persistent`. */
  readonly mode?: CreateMode | undefined;
  /** Append a ten-digit counter of the parent to the path. */
  readonly sequential?: boolean | undefined;
  /** Create missing ancestors in the same txn, as persistent znodes without data and with the same `acl`. */
  readonly parents?: boolean | undefined;
  /** Who may do what with the znode. Default `open`. */
  readonly acl?: Acl | undefined;
  readonly guard?: Guard | readonly Guard[] | undefined;
}

export interface SetOptions extends WriteOptions {
  /** Create the znode, persistent and open, when it does not exist. Not together with `version`. */
  readonly upsert?: boolean | undefined;
}

export interface DeleteOptions extends WriteOptions {
  /** That the znode does not exist is no error. */
  readonly ifExists?: boolean | undefined;
}

export interface DeleteSubtreeOptions extends CallOptions {
  /** That the znode does not exist is no error. */
  readonly ifExists?: boolean | undefined;
  readonly guard?: Guard | readonly Guard[] | undefined;
  /** Is told after each step but the last how many znodes have been deleted so far. */
  readonly onProgress?: ((deleted: number) => void) | undefined;
}

/**
 * A session with the ensemble, and the znodes through it. Calls are sent and answered in the order in which they are
 * made. Every call rejects with CoordinationError, or TypeError and RangeError for arguments of the wrong shape.
 *
 * While no member is attached, calls wait for one until their time is over. A call whose answer was lost is sent again, to
 * whatever member: a write has a number in its session, happens once, and gets its first answer. Its outcome is `unknown` only
 * when its time is over, or its session, before the answer came.
 */
export interface Client extends AsyncDisposable {
  readonly session: Session;
  /** Creates a znode. NO_NODE (no parent), NODE_EXISTS, NO_CHILDREN_FOR_EPHEMERALS. Without `data` it holds null. */
  create(path: string, data?: Data, options?: CreateOptions): Promise<Znode>;
  /** The znode. NO_NODE when it does not exist. */
  get(path: string, options?: ReadOptions): Promise<Znode>;
  /** The znode, or undefined when it does not exist. */
  find(path: string, options?: ReadOptions): Promise<Znode | undefined>;
  /** Its stat, or undefined when it does not exist. */
  stat(path: string, options?: ReadOptions): Promise<Stat | undefined>;
  /** Replaces the data. NO_NODE, BAD_VERSION. */
  set(path: string, data: Data, options?: SetOptions): Promise<Stat>;
  /** Deletes the znode. NO_NODE, BAD_VERSION, NOT_EMPTY. */
  delete(path: string, options?: DeleteOptions): Promise<void>;
  /**
   * Deletes the znode and all that is below it, also what others create there meanwhile, in steps of up to 1000: each at one zxid, none
   * before those below it, and up to 1000 as a whole. Resolves with how many were deleted. `timeoutMs` is for each step, `signal`
   * ends the whole; what the steps before have deleted stays deleted. NO_NODE, NO_AUTH.
   */
  deleteSubtree(path: string, options?: DeleteSubtreeOptions): Promise<number>;
  /** Names of the direct children, sorted, all at one position of the history. Past 4 MiB they come in pages; `list` hands those out. NO_NODE. */
  children(path: string, options?: ReadOptions): Promise<string[]>;
  /**
   * Several reads that show one moment: at most 8192, and no more than about 4 MB of answers (INVALID_ARGUMENT). One result a read, in
   * order; that one fails does not make the others fail.
   */
  readAll(reads: readonly Read[], options?: ReadOptions): Promise<readonly ReadResult[]>;
  /** The direct children in order, fetched while they are read, however many there are: at one position of the history. NO_NODE, NO_AUTH. */
  list(path: string, options?: ListOptions): Listing;
  /**
   * The znode and all below it in the same way: a znode before its children, children in order. One that may not be read comes
   * without a stat, and nothing below it does.
   */
  walk(path: string, options?: WalkOptions): Listing;
  /** Paths of this session's own ephemerals, sorted. */
  ephemerals(options?: EphemeralsOptions): Promise<string[]>;
  /** How many znodes there are below that one, at any depth. NO_NODE. */
  countDescendants(path: string, options?: ReadOptions): Promise<number>;
  /**
   * Watches the znode, which need not exist: its state, then every change, once and in order, over reconnections and other members;
   * what cannot be told any more is an explicit `gap`. It ends with the client, not with the session.
   */
  watch(path: string, options?: WatchOptions): Watch;
  /** The ACL, and the stat. Hashes of scheme digest are hidden from whoever may not change it. NO_NODE, NO_AUTH. */
  getAcl(path: string, options?: ReadOptions): Promise<{ readonly acl: readonly AclEntry[]; readonly stat: Stat }>;
  /** Replaces the ACL; `version` is that of the ACL (`stat.aversion`). NO_NODE, NO_AUTH, INVALID_ACL, BAD_VERSION. */
  setAcl(path: string, acl: Acl, options?: WriteOptions): Promise<Stat>;
  /**
   * Shows something more for this client, now and after every reconnection: it counts for calls made after this one, and for watches
   * begun after it. Returns what the member takes the client for then. AUTH_FAILED when it proves nothing: the client stays what it was.
   */
  addAuth(auth: Auth, options?: CallOptions): Promise<readonly Identity[]>;
  /** What the member takes this client for. */
  whoAmI(): Promise<readonly Identity[]>;
  /** Begins a transaction; nothing is sent before its `commit`. */
  transaction(): Transaction;
  /** Waits until the member has all that is committed now. Returns the zxid up to which reads are then fresh. */
  sync(options?: CallOptions): Promise<bigint>;
  /** Ends the session and releases everything. Calls made before are answered first. Never rejects. */
  close(): Promise<void>;
}
