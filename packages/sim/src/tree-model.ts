/**
 * A second, slow and obvious implementation of the tree: what the committed history means, from reference §5 and the
 * txn's own documentation alone. Whether a request had to be done or refused is request-model.ts's. The stats of the built-in
 * znodes are not modelled; the workload does not ask for them.
 */
import type { TreeChange, Txn, TxnBody, TxnPart } from '@quorate/core';
import {
  type Acl,
  NO_SESSION,
  type QuotaUsage,
  quotaNode,
  type SessionId,
  type Stat,
  statsPath,
  unreachable,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { quotaOf, usageText } from './quota-model.ts';

/** Of a container or a znode with a TTL. */
export type ModelLifetime = NonNullable<Extract<TreeChange, { kind: 'create' }>['lifetime']>;

export interface ModelZnode {
  data: Uint8Array | undefined;
  readonly children: Set<string>;
  /** Direct children ever created. */
  creates: number;
  readonly czxid: Zxid;
  mzxid: Zxid;
  pzxid: Zxid;
  readonly ctimeMs: number;
  mtimeMs: number;
  version: number;
  cversion: number;
  aversion: number;
  /** Undefined: open to everybody. */
  acl: Acl | undefined;
  readonly ephemeralOwner: SessionId;
  readonly lifetime: ModelLifetime | undefined;
}

/** The znodes that every tree begins with, and their children. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  '/': ['zookeeper'],
  '/zookeeper': ['quota', 'config'],
  '/zookeeper/quota': [],
  '/zookeeper/config': [],
};

const READ_ONLY: Acl = [{ perms: 1, scheme: 'world', id: 'anyone' }];

/** The path of the parent, and the last name. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const slash = path.lastIndexOf('/');
  return { parent: slash === 0 ? '/' : path.slice(0, slash), name: path.slice(slash + 1) };
}

export class TreeModel {
  readonly znodes = new Map<string, ModelZnode>();
  readonly sessions = new Set<SessionId>();
  /** While something is tried: what stood at the paths that it has touched. */
  #before: Map<string, ModelZnode | undefined> | undefined;

  constructor() {
    const lives = { ephemeralOwner: NO_SESSION, lifetime: undefined };
    for (const [path, names] of Object.entries(BUILT_IN)) {
      const acl = path === '/zookeeper/config' ? READ_ONLY : undefined;
      const znode = newZnode(ZERO_ZXID, { data: new Uint8Array(0), timeMs: 0, ...lives, acl });
      for (const name of names) znode.children.add(name);
      this.znodes.set(path, znode);
    }
  }

  stat(path: string): Stat | undefined {
    const znode = this.znodes.get(path);
    if (znode === undefined) return undefined;
    const { czxid, mzxid, pzxid, ctimeMs, mtimeMs, version, cversion, aversion, ephemeralOwner } = znode;
    return {
      czxid,
      mzxid,
      pzxid,
      ctimeMs,
      mtimeMs,
      version,
      cversion,
      aversion,
      ephemeralOwner,
      dataLength: znode.data?.length ?? 0,
      numChildren: znode.children.size,
    };
  }

  /** How many znodes there are below that one. */
  countBelow(path: string): number {
    return [...this.below(path)].length;
  }

  /** The znodes below that one, with their paths. */
  *below(path: string): Iterable<readonly [string, ModelZnode]> {
    const start = path === '/' ? path : `${path}/`;
    for (const each of this.znodes) if (each[0] !== path && each[0].startsWith(start)) yield each;
  }

  /** Paths of the ephemerals of a session, sorted. */
  ephemeralsOf(session: SessionId): readonly string[] {
    return [...this.znodes]
      .filter(([, znode]) => znode.ephemeralOwner === session)
      .map(([path]) => path)
      .sort();
  }

  /** Applies a txn. Returns what is wrong with it, if something is; what is right in it may be applied then. */
  apply(zxid: Zxid, txn: Txn): string | undefined {
    const { body } = txn;
    switch (body.kind) {
      case 'create':
      case 'delete':
      case 'setData':
        return this.applyPart(zxid, txn.timeMs, body);
      case 'setAcl':
        return this.#setAcl(body);
      case 'multi':
      case 'compound':
        for (const part of body.parts) {
          const fault = this.applyPart(zxid, txn.timeMs, part);
          if (fault !== undefined) return fault;
        }
        return undefined;
      case 'createSession':
        if (this.sessions.has(txn.session)) return `session 0x${txn.session.toString(16)} is opened twice`;
        this.sessions.add(txn.session);
        return undefined;
      case 'closeSession':
        return this.#closeSession(zxid, txn.session, body.paths);
      case 'repeat':
      case 'error':
        return undefined;
      default:
        return unreachable(body);
    }
  }

  /** Applies one change or check; like `apply`. */
  applyPart(zxid: Zxid, timeMs: number, part: TxnPart): string | undefined {
    switch (part.kind) {
      case 'create':
        return this.#create(zxid, timeMs, part);
      case 'delete':
        return this.#remove(zxid, part.path);
      case 'setData':
        return this.#setData(zxid, timeMs, part);
      case 'check':
        return this.znodes.has(part.path) !== (part.absent === true)
          ? undefined
          : `the check of ${part.path} cannot have held`;
      case 'exists':
        return undefined;
      case 'getData': {
        const znode = this.znodes.get(part.path);
        const fits = znode !== undefined && (znode.data?.length ?? 0) === part.length;
        return fits ? undefined : `${part.path} cannot have been read with ${part.length} bytes`;
      }
      default:
        return unreachable(part);
    }
  }

  /** What `attempt` returns; what it has changed is as before. */
  trial<T>(attempt: () => T): T {
    this.#before = new Map();
    try {
      return attempt();
    } finally {
      for (const [path, znode] of this.#before) {
        if (znode === undefined) this.znodes.delete(path);
        else this.znodes.set(path, znode);
      }
      this.#before = undefined;
    }
  }

  #create(zxid: Zxid, timeMs: number, body: Extract<TxnBody, { kind: 'create' }>): string | undefined {
    const { parent: parentPath, name } = splitPath(body.path);
    this.#touch(parentPath, body.path);
    const parent = this.znodes.get(parentPath);
    if (parent === undefined || this.znodes.has(body.path)) return `cannot create ${body.path}`;
    if (body.ephemeralOwner !== NO_SESSION && !this.sessions.has(body.ephemeralOwner)) {
      return `${body.path} would belong to session 0x${body.ephemeralOwner.toString(16)}, which is not open`;
    }
    parent.children.add(name);
    parent.creates = parentPath === '/' ? body.parentCreates : parent.creates + 1;
    if (parent.creates !== body.parentCreates)
      return `${parentPath} has had ${parent.creates} children, not ${body.parentCreates}`;
    parent.cversion += 1;
    parent.pzxid = zxid;
    const { data, ephemeralOwner, lifetime, acl } = body;
    this.znodes.set(body.path, newZnode(zxid, { data, timeMs, ephemeralOwner, lifetime, acl }));
    this.#recount(body.path);
    return undefined;
  }

  #setData(zxid: Zxid, timeMs: number, body: Extract<TxnBody, { kind: 'setData' }>): string | undefined {
    const { path, data, version } = body;
    this.#touch(path);
    const znode = this.znodes.get(path);
    if (znode === undefined) return `cannot set the data of ${path}`;
    znode.data = data;
    znode.version += 1;
    if (znode.version !== version) return `${path} gets version ${version} after ${znode.version - 1}`;
    znode.mzxid = zxid;
    znode.mtimeMs = timeMs;
    this.#recount(path);
    return undefined;
  }

  #setAcl({ path, acl, version }: Extract<TxnBody, { kind: 'setAcl' }>): string | undefined {
    const znode = this.znodes.get(path);
    if (znode === undefined) return `cannot set the ACL of ${path}`;
    znode.acl = acl;
    znode.aversion += 1;
    return znode.aversion === version ? undefined : `${path} gets ACL version ${version} after ${znode.aversion - 1}`;
  }

  #closeSession(zxid: Zxid, session: SessionId, paths: readonly string[]): string | undefined {
    if (!this.sessions.delete(session)) return `session 0x${session.toString(16)} is closed though it is not open`;
    const own = this.ephemeralsOf(session);
    if (own.join() !== [...paths].sort().join()) {
      return `session 0x${session.toString(16)} takes [${paths.join()}] with it; its ephemerals are [${own.join()}]`;
    }
    for (const path of paths) this.#remove(zxid, path);
    return undefined;
  }

  #remove(zxid: Zxid, path: string): string | undefined {
    const { parent: parentPath, name } = splitPath(path);
    this.#touch(parentPath, path);
    const znode = this.znodes.get(path);
    const parent = this.znodes.get(parentPath);
    if (znode === undefined || znode.children.size > 0 || parent === undefined) return `cannot delete ${path}`;
    this.znodes.delete(path);
    parent.children.delete(name);
    parent.cversion += 1;
    parent.pzxid = zxid;
    this.#recount(path);
    return undefined;
  }

  /** The usage is written beside the limits after each change below a quota, and when one of the two znodes is new. */
  #recount(path: string): void {
    const node = quotaNode(path);
    const quota = quotaOf(this, path);
    if (quota !== undefined) this.#writeUsage(quota.of, quota.usage);
    if (node?.kind === 'stats') this.#writeUsage(node.of, undefined);
    else if (node !== undefined && this.znodes.has(path)) this.#writeUsage(node.of, undefined);
  }

  #writeUsage(of: string, usage: QuotaUsage | undefined): void {
    const path = statsPath(of);
    const znode = this.znodes.get(path);
    if (znode === undefined) return;
    this.#touch(path);
    znode.data = usageText(this, of, usage);
  }

  /** What stands there is about to be changed. */
  #touch(...paths: readonly string[]): void {
    for (const path of paths) {
      if (this.#before === undefined || this.#before.has(path)) continue;
      const znode = this.znodes.get(path);
      this.#before.set(path, znode && { ...znode, children: new Set(znode.children) });
    }
  }
}

type Birth = Pick<ModelZnode, 'data' | 'acl' | 'ephemeralOwner' | 'lifetime'> & { readonly timeMs: number };

function newZnode(zxid: Zxid, { timeMs, ...born }: Birth): ModelZnode {
  const zxids = { czxid: zxid, mzxid: zxid, pzxid: zxid };
  const versions = { version: 0, cversion: 0, aversion: 0 };
  return { ...born, ...zxids, ...versions, ctimeMs: timeMs, mtimeMs: timeMs, children: new Set(), creates: 0 };
}
