/**
 * A second, slow and obvious implementation of the tree: what the committed history means, from reference §5 and the
 * txn's own documentation alone. It also judges requests, which the real tree does not: would this call have been
 * allowed at this point of the history? The built-in znodes and
 * the stat of the root are not modelled; the workload leaves them alone.
 */
import type { Txn, TxnPart } from '@quorate/core';
import {
  type ErrorCode,
  NO_SESSION,
  type SessionId,
  type SingleWriteOp,
  type Stat,
  unreachable,
  type Zxid,
} from '@quorate/protocol';

interface ModelZnode {
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
  readonly ephemeralOwner: SessionId;
}

/** The path of the parent, and the last name. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const slash = path.lastIndexOf('/');
  return { parent: slash === 0 ? '/' : path.slice(0, slash), name: path.slice(slash + 1) };
}

export class TreeModel {
  readonly znodes = new Map<string, ModelZnode>();
  readonly sessions = new Set<SessionId>();

  constructor() {
    this.znodes.set('/', newZnode(0n as Zxid, 0, undefined, NO_SESSION));
  }

  stat(path: string): Stat | undefined {
    const znode = this.znodes.get(path);
    if (znode === undefined) return undefined;
    const { czxid, mzxid, pzxid, ctimeMs, mtimeMs, version, cversion, ephemeralOwner } = znode;
    return {
      czxid,
      mzxid,
      pzxid,
      ctimeMs,
      mtimeMs,
      version,
      cversion,
      aversion: 0,
      ephemeralOwner,
      dataLength: znode.data?.length ?? 0,
      numChildren: znode.children.size,
    };
  }

  /** How many znodes there are below that one. */
  countBelow(path: string): number {
    const start = path === '/' ? path : `${path}/`;
    return [...this.znodes.keys()].filter((key) => key !== path && key.startsWith(start)).length;
  }

  /** Paths of the ephemerals of a session, sorted. */
  ephemeralsOf(session: SessionId): readonly string[] {
    return [...this.znodes]
      .filter(([, znode]) => znode.ephemeralOwner === session)
      .map(([path]) => path)
      .sort();
  }

  /** The path that a create would get; a sequential one is numbered by the creates of its parent. */
  pathOf(op: SingleWriteOp): string {
    if (op.kind !== 'create' || !op.sequential) return op.path;
    const creates = this.znodes.get(splitPath(op.path).parent)?.creates ?? 0;
    return op.path + String(creates).padStart(10, '0');
  }

  /** Why a write would be refused now; undefined when it would be done. Order of checks: reference §4.3. */
  refusalOf(op: SingleWriteOp): ErrorCode | undefined {
    const path = this.pathOf(op);
    const znode = this.znodes.get(path);
    switch (op.kind) {
      case 'create': {
        const parent = this.znodes.get(splitPath(path).parent);
        if (parent === undefined) return 'NO_NODE';
        if (znode !== undefined) return 'NODE_EXISTS';
        return parent.ephemeralOwner === NO_SESSION ? undefined : 'NO_CHILDREN_FOR_EPHEMERALS';
      }
      case 'delete':
        if (znode === undefined) return 'NO_NODE';
        if (op.expectedVersion !== undefined && op.expectedVersion !== znode.version) return 'BAD_VERSION';
        return znode.children.size > 0 ? 'NOT_EMPTY' : undefined;
      case 'setData':
        if (znode === undefined) return 'NO_NODE';
        return op.expectedVersion === undefined || op.expectedVersion === znode.version ? undefined : 'BAD_VERSION';
      default:
        return unreachable(op);
    }
  }

  /** Applies a txn. Returns what is wrong with it, if something is; then it is not applied. */
  apply(zxid: Zxid, txn: Txn): string | undefined {
    const { body } = txn;
    switch (body.kind) {
      case 'create':
      case 'delete':
      case 'setData':
        return this.#applyPart(zxid, txn.timeMs, body);
      case 'setAcl':
        return `the workload sets no ACL: ${body.path}`;
      case 'multi':
      case 'compound':
        for (const part of body.parts) {
          const fault = this.#applyPart(zxid, txn.timeMs, part);
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

  #applyPart(zxid: Zxid, timeMs: number, body: TxnPart): string | undefined {
    switch (body.kind) {
      case 'create': {
        const { parent: parentPath, name } = splitPath(body.path);
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
        this.znodes.set(body.path, newZnode(zxid, timeMs, body.data, body.ephemeralOwner));
        return undefined;
      }
      case 'delete':
        return this.#remove(zxid, body.path);
      case 'setData': {
        const znode = this.znodes.get(body.path);
        if (znode === undefined) return `cannot set the data of ${body.path}`;
        znode.data = body.data;
        znode.version += 1;
        if (znode.version !== body.version)
          return `${body.path} gets version ${body.version} after ${znode.version - 1}`;
        znode.mzxid = zxid;
        znode.mtimeMs = timeMs;
        return undefined;
      }
      case 'check':
        return this.znodes.has(body.path) ? undefined : `the check of ${body.path} cannot have held`;
      default:
        return unreachable(body);
    }
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
    const znode = this.znodes.get(path);
    const parent = this.znodes.get(parentPath);
    if (znode === undefined || znode.children.size > 0 || parent === undefined) return `cannot delete ${path}`;
    this.znodes.delete(path);
    parent.children.delete(name);
    parent.cversion += 1;
    parent.pzxid = zxid;
    return undefined;
  }
}

function newZnode(zxid: Zxid, timeMs: number, data: Uint8Array | undefined, ephemeralOwner: SessionId): ModelZnode {
  return {
    data,
    children: new Set(),
    creates: 0,
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    ctimeMs: timeMs,
    mtimeMs: timeMs,
    version: 0,
    cversion: 0,
    ephemeralOwner,
  };
}
