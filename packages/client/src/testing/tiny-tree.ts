/**
 * The smallest state machine that the client can be tested against: znodes in a map, sessions in another. A second
 * implementation of the operations, with nothing of the real one in it; one place, so it needs no agreement.
 */
import {
  type Answer,
  isWatchKind,
  KeeperError,
  type ListedZnode,
  type ListingOp,
  NO_SESSION,
  nameOf,
  nextZxid,
  type Op,
  type OpResult,
  parentOf,
  pathFault,
  type ReadPartResult,
  type SessionId,
  type Stat,
  sequenceSuffix,
  toSessionId,
  toZxid,
  type WatchOp,
  type Zxid,
} from '@quorate/protocol';
import { tinyPage } from './tiny-listing.ts';

interface TinyZnode {
  data: Uint8Array | undefined;
  czxid: Zxid;
  mzxid: Zxid;
  pzxid: Zxid;
  version: number;
  cversion: number;
  creates: number;
  owner: SessionId;
  readonly children: Set<string>;
}

type CreateOp = Extract<Op, { kind: 'create' }>;

export interface TinySession {
  readonly id: SessionId;
  readonly token: Uint8Array;
  readonly timeoutMs: number;
  /** What its numbered writes came to. All are kept: tests are short. */
  readonly results: Map<number, Answer>;
}

/** Where the history of a tree begins; a large epoch, so that no zxid fits a double. */
const FIRST_ZXID = 0x0030_0000_0000_0000n;

/** First session id: negative as a signed number. */
const FIRST_SESSION = 0xff00_0000_0000_0001n;

export class TinyTree {
  readonly znodes = new Map<string, TinyZnode>();
  readonly sessions = new Map<SessionId, TinySession>();
  /** The creates that were carried out, in order. */
  readonly creates: CreateOp[] = [];
  /** More children than these are not listed in one piece. */
  childrenMax = Number.POSITIVE_INFINITY;
  /** So many pages after the first are refused, as by a member that does not keep the listing any more. */
  gaps = 0;
  zxid: Zxid = toZxid(FIRST_ZXID);
  /** Znodes in one step of a deleteSubtree. */
  subtreeStep = 3;
  #nextSession = FIRST_SESSION;

  constructor() {
    this.znodes.set('/', this.#znode(undefined, NO_SESSION));
  }

  open(timeoutMs: number): TinySession {
    const id = toSessionId(this.#nextSession++);
    const token = new Uint8Array(16).map((_, index) => Number(id & 0xffn) + index);
    const session = { id, token, timeoutMs, results: new Map<number, Answer>() };
    this.sessions.set(id, session);
    this.zxid = nextZxid(this.zxid);
    return session;
  }

  /** Ends a session and deletes its ephemerals. */
  end(id: SessionId): void {
    if (!this.sessions.delete(id)) return;
    this.zxid = nextZxid(this.zxid);
    for (const [path, znode] of [...this.znodes]) if (znode.owner === id) this.#remove(path);
  }

  /** Carries out one operation; refusals are answers. */
  answer(op: Op, session: SessionId): Answer {
    try {
      return { result: this.#carryOut(op, session), zxid: this.zxid };
    } catch (error) {
      if (!(error instanceof KeeperError)) throw error;
      const { code, path, message } = error;
      return { result: { kind: 'error', code, path, message }, zxid: this.zxid };
    }
  }

  #carryOut(op: Op, session: SessionId): OpResult {
    if (op.kind === 'closeSession') {
      this.end(session);
      return { kind: 'closeSession' };
    }
    if (op.kind === 'multiRead') {
      const results = op.parts.map((part) => this.answer(part, session).result as ReadPartResult);
      return { kind: op.kind, results };
    }
    if (op.kind === 'getEphemerals') return { kind: op.kind, paths: this.#ephemerals(session, op.path) };
    if (isForMembersOnly(op)) {
      throw new KeeperError('UNIMPLEMENTED', `No ${op.kind} here`);
    }
    const fault = pathFault(op.kind === 'create' && op.sequential ? `${op.path}0` : op.path);
    if (fault !== undefined) throw new KeeperError('INVALID_ARGUMENT', `Bad path: ${fault}`, { path: op.path });
    switch (op.kind) {
      case 'create':
        return this.#create(op, session);
      case 'delete':
        this.#expect(op.path, op.expectedVersion);
        if (this.#get(op.path).children.size > 0)
          throw new KeeperError('NOT_EMPTY', 'It has children', { path: op.path });
        this.zxid = nextZxid(this.zxid);
        this.#remove(op.path);
        return { kind: 'delete' };
      case 'setData': {
        const znode = this.#expect(op.path, op.expectedVersion);
        this.zxid = nextZxid(this.zxid);
        Object.assign(znode, { data: op.data?.slice(), mzxid: this.zxid, version: znode.version + 1 });
        return { kind: 'setData', stat: statOf(znode) };
      }
      case 'deleteSubtree': {
        this.#get(op.path);
        const paths = [...this.#below(op.path), op.path].sort((a, b) => b.length - a.length);
        const step = paths.slice(0, this.subtreeStep);
        this.zxid = nextZxid(this.zxid);
        for (const path of step) this.#remove(path);
        return { kind: op.kind, deleted: step.length, more: step.length < paths.length };
      }
      case 'createOrSet': {
        const created = !this.znodes.has(op.path);
        const create = { mode: 'persistent', sequential: false, ...op, kind: 'create' } as const;
        const result = this.#carryOut(
          created ? create : { ...op, kind: 'setData', expectedVersion: undefined },
          session,
        );
        if (result.kind !== 'create' && result.kind !== 'setData') throw new Error(`Not of a ${result.kind}`);
        return { kind: op.kind, created, stat: result.stat };
      }
      case 'exists':
        return { kind: 'exists', stat: statOf(this.#get(op.path)) };
      case 'getData':
        return { kind: 'getData', data: this.#get(op.path).data, stat: statOf(this.#get(op.path)) };
      case 'getChildren':
        if (this.#get(op.path).children.size > this.childrenMax)
          throw new KeeperError('INVALID_ARGUMENT', 'They are too many', { path: op.path });
        return {
          kind: 'getChildren',
          children: [...this.#get(op.path).children].sort(),
          stat: statOf(this.#get(op.path)),
        };
      case 'getAllChildrenNumber':
        this.#get(op.path);
        return { kind: 'getAllChildrenNumber', total: this.#below(op.path).length };
      case 'listChildren':
      case 'getSubtree':
        this.#get(op.path);
        if (op.token !== undefined && this.gaps-- > 0) throw new KeeperError('GAP', 'Gone', { path: op.path });
        return tinyPage(op, this.#listed(op), this.zxid);
      case 'sync':
        return { kind: 'sync', path: op.path };
    }
  }

  #ephemerals(session: SessionId, prefix: string): string[] {
    const own = [...this.znodes].filter(([path, { owner }]) => owner === session && path.startsWith(prefix));
    return own.map(([path]) => path).sort();
  }

  #below(path: string): string[] {
    return [...this.znodes.keys()].filter((key) => key !== path && key.startsWith(path === '/' ? '/' : `${path}/`));
  }

  #listed(op: ListingOp): ListedZnode[] {
    const { path } = op;
    const below = this.#below(path).sort((a, b) => (a.replaceAll('/', '\0') < b.replaceAll('/', '\0') ? -1 : 1));
    const prefix = path === '/' ? 1 : path.length + 1;
    const levels = (one: string): number => one.slice(prefix).split('/').length;
    const isChildren = op.kind === 'listChildren';
    const depth = isChildren ? 1 : (op.depth ?? Number.POSITIVE_INFINITY);
    const meant = below.filter((one) => levels(one) <= depth && !(isChildren && nameOf(one) <= op.after));
    return (isChildren ? meant : [path, ...meant]).map((one) => {
      const znode = this.#get(one);
      return { name: isChildren ? nameOf(one) : one, stat: statOf(znode), data: znode.data };
    });
  }

  #create(op: CreateOp, session: SessionId): OpResult {
    const owner = op.mode === 'ephemeral' ? session : NO_SESSION;
    const asked = op.sequential ? `${op.path}0` : op.path;
    const above = parentOf(asked);
    if (op.parents === true && !this.znodes.has(above)) {
      this.#create(
        { kind: 'create', path: above, data: undefined, mode: 'persistent', sequential: false, parents: true },
        session,
      );
    }
    const parent = this.znodes.get(above);
    if (asked === '/') throw new KeeperError('NODE_EXISTS', 'It exists', { path: '/' });
    if (parent === undefined) throw new KeeperError('NO_NODE', 'No parent', { path: op.path });
    if (parent.owner !== NO_SESSION)
      throw new KeeperError('NO_CHILDREN_FOR_EPHEMERALS', 'Ephemeral', { path: op.path });
    const path = op.sequential ? op.path + sequenceSuffix(parent.creates) : op.path;
    if (this.znodes.has(path)) throw new KeeperError('NODE_EXISTS', `${path} exists`, { path });
    this.zxid = nextZxid(this.zxid);
    const znode = this.#znode(op.data?.slice(), owner);
    this.znodes.set(path, znode);
    parent.children.add(nameOf(path));
    parent.creates++;
    this.creates.push(op);
    parent.cversion++;
    parent.pzxid = this.zxid;
    return { kind: 'create', path, stat: statOf(znode) };
  }

  #remove(path: string): void {
    const parent = this.#get(parentOf(path));
    this.znodes.delete(path);
    parent.children.delete(nameOf(path));
    parent.cversion++;
    parent.pzxid = this.zxid;
  }

  #get(path: string): TinyZnode {
    const znode = this.znodes.get(path);
    if (znode === undefined) throw new KeeperError('NO_NODE', `${path} does not exist`, { path });
    return znode;
  }

  #expect(path: string, version: number | undefined): TinyZnode {
    const znode = this.#get(path);
    if (version !== undefined && version !== znode.version) {
      throw new KeeperError('BAD_VERSION', `${path} has version ${znode.version}, not ${version}`, { path });
    }
    return znode;
  }

  #znode(data: Uint8Array | undefined, owner: SessionId): TinyZnode {
    const { zxid } = this;
    const counts = { version: 0, cversion: 0, creates: 0 };
    return { data, czxid: zxid, mzxid: zxid, pzxid: zxid, ...counts, owner, children: new Set() };
  }
}

function statOf(znode: TinyZnode): Stat {
  const { czxid, mzxid, pzxid, version, cversion, owner } = znode;
  return {
    czxid,
    mzxid,
    pzxid,
    ctimeMs: 1_700_000_000_000,
    mtimeMs: 1_700_000_000_001,
    version,
    cversion,
    aversion: 0,
    ephemeralOwner: owner,
    dataLength: znode.data?.length ?? 0,
    numChildren: znode.children.size,
  };
}

/** Operations that no test of the client needs here. */
function isForMembersOnly(op: Op): op is Extract<Op, { kind: ForMembersOnly }> {
  return op.kind === 'multi' || op.kind === 'setAcl' || op.kind === 'getAcl' || isWatchKind(op.kind);
}

type ForMembersOnly = 'multi' | 'setAcl' | 'getAcl' | WatchOp['kind'];
