/** The calls of the public client, each turned into operations of the session. Knows no frames and no connection state. */
import {
  LISTING_PAGE_MAX,
  type ListingResult,
  type Op,
  type Guard as ProtocolGuard,
  type ReadOp,
  type Zxid,
} from '@quorate/protocol';
import type { StreamOp, StreamResult } from '@quorate/protocol/frames';
import { fromProtocolAcl, toProtocolAcl, toWholeAcl } from './acls.ts';
import type {
  Acl,
  AclEntry,
  Client,
  Consistency,
  CreateOptions,
  DeleteOptions,
  DeleteSubtreeOptions,
  EphemeralsOptions,
  Guard,
  Identity,
  Read,
  ReadOptions,
  ReadResult,
  SetOptions,
  Transaction,
  WriteOptions,
} from './api.ts';
import type { Connection } from './connection.ts';
import { checkMode } from './create-mode.ts';
import { CoordinationError, isCode } from './errors.ts';
import { checkGuard } from './guards.ts';
import {
  type Ask,
  checkAfter,
  checkDepth,
  checkListing,
  type Listing,
  type ListingOptions,
  type ListOptions,
  PagedListing,
  type WalkOptions,
} from './listing.ts';
import {
  type Auth,
  type CallOptions,
  checkCredential,
  checkSignal,
  checkTimeout,
  checkVersion,
  checkZxid,
} from './options.ts';
import { Chroot } from './paths.ts';
import { toMultiRead, toReadResult } from './reads.ts';
import type { Session } from './session.ts';
import { Signals } from './signals.ts';
import { GatheredTransaction } from './transaction.ts';
import type { Watch, WatchOptions } from './watch.ts';
import { endOnAbort } from './watches.ts';
import { type Data, makeZnode, type Stat, toBytes, type Znode } from './znode.ts';

/** The time and the signal that the operations of one call share. */
interface Budget {
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  readonly guards: readonly ProtocolGuard[] | undefined;
}

type ResultOf<K extends StreamOp['kind']> = Extract<StreamResult, { kind: K }>;

export class SessionClient implements Client {
  readonly session: Session;
  readonly #connection: Connection;
  readonly #chroot: Chroot;
  readonly #signals = new Signals();

  constructor(connection: Connection, chroot: string) {
    this.#connection = connection;
    this.#chroot = new Chroot(chroot);
    this.session = connection.session;
  }

  async create(path: string, data?: Data, options: CreateOptions = {}): Promise<Znode> {
    const { mode = 'persistent', sequential = false, parents = false } = options;
    const lives = checkMode(mode, sequential);
    const acl = toProtocolAcl(options.acl);
    const inward = this.#chroot.inward(path, sequential);
    const bytes = toBytes(data);
    const budget = this.#budget(options);
    const op = { kind: 'create', path: inward, data: bytes, ...lives, sequential, ...(acl && { acl }) } as const;
    const created = await this.#call(parents ? { ...op, parents } : op, budget);
    return makeZnode(this.#chroot.outward(created.path), bytes, created.stat);
  }

  async get(path: string, options: ReadOptions = {}): Promise<Znode> {
    const { data, stat } = await this.#read({ kind: 'getData', path: this.#chroot.inward(path) }, options);
    return makeZnode(path, data, stat);
  }

  async find(path: string, options: ReadOptions = {}): Promise<Znode | undefined> {
    return absentAsUndefined(this.get(path, options));
  }

  async stat(path: string, options: ReadOptions = {}): Promise<Stat | undefined> {
    const exists = this.#read({ kind: 'exists', path: this.#chroot.inward(path) }, options);
    return (await absentAsUndefined(exists))?.stat;
  }

  async set(path: string, data: Data, options: SetOptions = {}): Promise<Stat> {
    const expectedVersion = checkVersion(options.version);
    if (data === undefined) throw new TypeError('data must be a string or a Uint8Array, not undefined');
    if (options.upsert === true && expectedVersion !== undefined) {
      throw new TypeError('upsert and version exclude each other: a znode that does not exist has no version');
    }
    const op = { path: this.#chroot.inward(path), data: toBytes(data) };
    const budget = this.#budget(options);
    if (options.upsert === true) return (await this.#call({ kind: 'createOrSet', ...op }, budget)).stat;
    return (await this.#call({ kind: 'setData', ...op, expectedVersion }, budget)).stat;
  }

  async delete(path: string, options: DeleteOptions = {}): Promise<void> {
    const expectedVersion = checkVersion(options.version);
    const op = { kind: 'delete', path: this.#chroot.inward(path), expectedVersion } as const;
    const deleted = this.#call(op, this.#budget(options));
    await (options.ifExists === true ? absentAsUndefined(deleted) : deleted);
  }

  async deleteSubtree(path: string, options: DeleteSubtreeOptions = {}): Promise<number> {
    const { ifExists = false, onProgress } = options;
    const op = { kind: 'deleteSubtree', path: this.#chroot.inward(path) } as const;
    let deleted = 0;
    for (let isFirst = true; ; isFirst = false) {
      const step = this.#call(op, this.#budget(options));
      // Somebody else may have deleted what was left.
      const done = await (ifExists || !isFirst ? absentAsUndefined(step) : step);
      deleted += done?.deleted ?? 0;
      if (done?.more !== true) return deleted;
      onProgress?.(deleted);
    }
  }

  async children(path: string, options: ReadOptions = {}): Promise<string[]> {
    const inward = this.#chroot.inward(path);
    const budget = this.#budget(options);
    const linearizable = isLinearizable(options.consistency);
    try {
      const { result } = await this.#send({ kind: 'getChildren', path: inward }, linearizable, budget);
      return [...(result as ResultOf<'getChildren'>).children];
    } catch (error) {
      // Of a path that is legal: they are more than one answer carries.
      if (!isCode(error, 'INVALID_ARGUMENT')) throw error;
    }
    return this.#allNames(inward, async (op, isFirst) => {
      const { result } = await this.#send(op, isFirst && linearizable, budget);
      return result as ListingResult;
    });
  }

  async readAll(reads: readonly Read[], options: ReadOptions = {}): Promise<readonly ReadResult[]> {
    const { results } = await this.#read(toMultiRead(reads, this.#chroot), options);
    return results.map((result, index) => toReadResult(reads[index] as Read, result, (error) => this.#outward(error)));
  }

  list(path: string, options: ListOptions = {}): Listing {
    const wish = { path: this.#chroot.inward(path), ...checkListing(options), after: checkAfter(options.after) };
    return new PagedListing({ kind: 'listChildren', ...wish }, this.#pages(options), (at) => this.#chroot.outward(at));
  }

  walk(path: string, options: WalkOptions = {}): Listing {
    const wish = { path: this.#chroot.inward(path), ...checkListing(options), depth: checkDepth(options.depth) };
    return new PagedListing({ kind: 'getSubtree', ...wish }, this.#pages(options), (at) => this.#chroot.outward(at));
  }

  async ephemerals(options: EphemeralsOptions = {}): Promise<string[]> {
    const { prefix = '/' } = options;
    if (typeof prefix !== 'string') throw new TypeError(`prefix must be a string, not ${typeof prefix}`);
    const { paths } = await this.#read({ kind: 'getEphemerals', path: this.#chroot.inwardPrefix(prefix) }, options);
    return paths.map((path) => this.#chroot.outward(path));
  }

  async countDescendants(path: string, options: ReadOptions = {}): Promise<number> {
    const op = { kind: 'getAllChildrenNumber', path: this.#chroot.inward(path) } as const;
    return (await this.#read(op, options)).total;
  }

  watch(path: string, options: WatchOptions = {}): Watch {
    const { recursive = false, data: withValues = false, initial = true } = options;
    const signal = checkSignal(options.signal);
    const spec = { path: this.#chroot.inward(path), recursive, withValues, initial, from: checkZxid(options.from) };
    if (this.session.current.state === 'closed')
      throw new CoordinationError('CLOSED', 'Cannot watch: the client is closed');
    const handle = this.#connection.watches.open(spec, this.#chroot);
    if (signal !== undefined) handle.onEnd(this.#signals.watch(signal, () => endOnAbort(handle, path, signal)));
    return handle;
  }

  async sync(options: CallOptions = {}): Promise<bigint> {
    const { zxid } = await this.#send({ kind: 'sync', path: this.#chroot.inward('/') }, false, this.#budget(options));
    return zxid;
  }

  async getAcl(path: string, options: ReadOptions = {}): Promise<{ acl: readonly AclEntry[]; stat: Stat }> {
    const { acl, stat } = await this.#read({ kind: 'getAcl', path: this.#chroot.inward(path) }, options);
    return { acl: fromProtocolAcl(acl), stat };
  }

  async setAcl(path: string, acl: Acl, options: WriteOptions = {}): Promise<Stat> {
    const expectedVersion = checkVersion(options.version);
    const op = { kind: 'setAcl', path: this.#chroot.inward(path), acl: toWholeAcl(acl), expectedVersion } as const;
    return (await this.#call(op, this.#budget(options))).stat;
  }

  async addAuth(auth: Auth, options: CallOptions = {}): Promise<readonly Identity[]> {
    const credential = checkCredential(auth);
    const { identities } = await this.#call({ kind: 'addAuth', credential }, this.#budget(options));
    this.#connection.proved(credential, identities);
    return identities;
  }

  async whoAmI(): Promise<readonly Identity[]> {
    await this.sync();
    return this.#connection.identities;
  }

  transaction(): Transaction {
    return new GatheredTransaction(this.#chroot, async (op, guards, options) => {
      const { result, zxid } = await this.#send(op, false, { ...this.#budget(options), guards });
      return { results: (result as ResultOf<'multi'>).results, zxid };
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #budget(options: CallOptions & { readonly guard?: Guard | readonly Guard[] | undefined }): Budget {
    const timeoutMs = checkTimeout(options.timeoutMs);
    const { guard } = options;
    const guards = guard === undefined ? undefined : this.#inwardGuards(Array.isArray(guard) ? guard : [guard]);
    return { deadlineMs: this.#connection.now() + timeoutMs, signal: checkSignal(options.signal), guards };
  }

  #inwardGuards(guards: readonly Guard[]): readonly ProtocolGuard[] {
    return guards.map((guard) => checkGuard(guard, (path) => this.#chroot.inward(path)));
  }

  #read<K extends ReadOp['kind']>(op: Op & { readonly kind: K }, options: ReadOptions): Promise<ResultOf<K>> {
    const linearizable = isLinearizable(options.consistency);
    return this.#send(op, linearizable, this.#budget(options)).then(({ result }) => result as ResultOf<K>);
  }

  /** Page by page, and anew when the pages are lost on the way: nobody has seen any of them. Others end with the time of the call. */
  async #allNames(path: string, ask: Ask): Promise<string[]> {
    const wish = { path, ...checkListing({ pageSize: LISTING_PAGE_MAX }), after: '' };
    for (;;) {
      const names: string[] = [];
      try {
        for await (const { name } of new PagedListing({ kind: 'listChildren', ...wish }, ask, (at) => at))
          names.push(name);
        return names;
      } catch (error) {
        if (!isCode(error, 'GAP')) throw error;
      }
    }
  }

  #pages(options: ListingOptions): Ask {
    const wantsLinearizable = isLinearizable(options.consistency);
    this.#budget(options);
    return async (op, isFirst) => {
      const { result } = await this.#send(op, isFirst && wantsLinearizable, this.#budget(options));
      return result as ListingResult;
    };
  }

  /** The reply is of the operation's kind: `Calls` has seen to that. */
  async #call<K extends StreamOp['kind']>(op: StreamOp & { readonly kind: K }, budget: Budget): Promise<ResultOf<K>> {
    return (await this.#send(op, false, budget)).result as ResultOf<K>;
  }

  #send(op: StreamOp, linearizable: boolean, budget: Budget): Promise<{ result: StreamResult; zxid: Zxid }> {
    const { signal, deadlineMs, guards } = budget;
    return new Promise((resolve, reject) => {
      let unwatch: (() => void) | undefined;
      const call = {
        op,
        guards,
        linearizable,
        deadlineMs,
        resolve: (result: StreamResult, zxid: Zxid) => {
          unwatch?.();
          resolve({ result, zxid });
        },
        reject: (error: CoordinationError) => {
          unwatch?.();
          reject(this.#outward(error));
        },
      };
      try {
        const pending = this.#connection.call(call);
        unwatch = signal && this.#signals.watch(signal, () => this.#connection.abort(pending, signal.reason));
      } catch (error) {
        // Not in this turn: a caller that tries again at once would keep the loop from all that could mend it.
        setImmediate(() => reject(error instanceof CoordinationError ? this.#outward(error) : (error as Error)));
      }
    });
  }

  /** The same error with the path as the caller knows it. */
  #outward(error: CoordinationError): CoordinationError {
    const path = error.path === undefined ? undefined : this.#chroot.outward(error.path);
    if (path === error.path) return error;
    const { code, message, outcome, cause, part } = error;
    return new CoordinationError(code, message, { path, outcome, cause, part });
  }
}

function isLinearizable(consistency: Consistency | undefined): boolean {
  switch (consistency) {
    case undefined:
    case 'local':
    case 'session':
      return false;
    case 'linearizable':
      return true;
    default:
      throw new TypeError(
        `consistency must be 'local', 'session' or 'linearizable', not ${JSON.stringify(consistency)}`,
      );
  }
}

async function absentAsUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isCode(error, 'NO_NODE')) return undefined;
    throw error;
  }
}
