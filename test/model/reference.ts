/**
 * A second, slow and obvious implementation of the data model, to hold the shipping one against: plain objects, whole
 * copies where something may fail half-way, every list made anew. It shares no code with `tree/` or `pipeline/`, only the
 * words of `protocol`. One request at a time, in the order of the history. Source: reference §4 to §7.
 */
import {
  type Acl,
  type ChangeKind,
  NO_SESSION,
  OPEN_ACL,
  type Op,
  type OpResult,
  type SessionId,
  type Stat,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { recount } from './quotas.ts';
import { type ModelFailure, ModelRefusal } from './refused.ts';

export interface ModelZnode {
  data: Uint8Array | undefined;
  readonly czxid: Zxid;
  mzxid: Zxid;
  pzxid: Zxid;
  readonly ctimeMs: number;
  mtimeMs: number;
  version: number;
  /** As clients see it: one up with each create and each delete of a child. */
  cversion: number;
  /** How many children were ever created here. */
  creates: number;
  aversion: number;
  acl: Acl;
  readonly owner: SessionId;
  readonly lifetime: 'container' | { readonly ttlMs: number } | undefined;
}

export interface ModelSession {
  readonly timeoutMs: number;
  readonly token: Uint8Array;
  /** The highest number of its numbered writes that came to anything; 0: none. */
  last: number;
  /** What those came to that are not acknowledged, and the last. */
  readonly results: Map<number, ModelAnswer>;
}

export interface ModelAnswer {
  readonly zxid: Zxid;
  readonly result: ModelResult;
}

export interface ModelChange {
  readonly kind: ChangeKind;
  readonly path: string;
  readonly zxid: Zxid;
}

export type ModelResult = OpResult | ModelFailure;

/** A result as it is compared: of a failure only what the reference says. */
export function bare(result: ModelResult): ModelResult {
  if (result.kind === 'multiRead') return { ...result, results: result.results.map((part) => bare(part)) as never };
  if (result.kind !== 'error') return result;
  const { code, path, part } = result;
  // Of several znodes in a subtree that must not be deleted any may be named.
  return { kind: 'error', code, path: code === 'NO_AUTH' ? undefined : path, part };
}

export function bareAnswer({ zxid, result }: ModelAnswer): ModelAnswer {
  return { zxid, result: bare(result) };
}

/** Where and for whom something is done. */
export interface Place {
  readonly zxid: Zxid;
  readonly timeMs: number;
  readonly session: SessionId;
}

/** What an operation may do. Throwing a `ModelRefusal` leaves nothing of it behind. */
export type ModelOp<K extends Op['kind']> = (
  model: ReferenceModel,
  op: Extract<Op, { readonly kind: K }>,
  place: Place,
) => ModelResult;

const READ_ONLY: Acl = [{ perms: 1, scheme: 'world', id: 'anyone' }];

function builtIn(cversion: number): ModelZnode {
  const times = { ctimeMs: 0, mtimeMs: 0, version: 0, creates: 0, aversion: 0 };
  const zxids = { czxid: ZERO_ZXID, mzxid: ZERO_ZXID, pzxid: ZERO_ZXID };
  return {
    data: new Uint8Array(0),
    ...zxids,
    ...times,
    cversion,
    acl: OPEN_ACL,
    owner: NO_SESSION,
    lifetime: undefined,
  };
}

export class ReferenceModel {
  znodes = new Map<string, ModelZnode>([
    ['/', builtIn(-1)],
    ['/zookeeper', builtIn(-2)],
    ['/zookeeper/quota', builtIn(0)],
    ['/zookeeper/config', { ...builtIn(0), acl: READ_ONLY }],
  ]);
  sessions = new Map<SessionId, ModelSession>();
  /** What the operation being carried out has changed so far, in order. */
  changes: ModelChange[] = [];

  copy(): ReferenceModel {
    const copy = new ReferenceModel();
    copy.znodes = new Map([...this.znodes].map(([path, znode]) => [path, { ...znode }]));
    copy.sessions = new Map(
      [...this.sessions].map(([id, session]) => [id, { ...session, results: new Map(session.results) }]),
    );
    return copy;
  }

  /** All or nothing: runs `action`, and takes everything back when it is refused. */
  attempt(action: () => ModelResult): { result: ModelResult; changes: readonly ModelChange[] } {
    const before = this.copy();
    this.changes = [];
    try {
      return { result: action(), changes: this.changes };
    } catch (error) {
      if (!(error instanceof ModelRefusal)) throw error;
      this.znodes = before.znodes;
      this.sessions = before.sessions;
      return { result: error.failure, changes: [] };
    }
  }

  paths(): string[] {
    return [...this.znodes.keys()].sort();
  }

  /** The znode, or a refusal that names `path`. */
  existing(path: string): ModelZnode {
    const znode = this.znodes.get(path);
    if (znode === undefined) throw new ModelRefusal('NO_NODE', path);
    return znode;
  }

  childNames(path: string): string[] {
    const start = path === '/' ? '/' : `${path}/`;
    const below = this.paths().filter((other) => other !== '/' && other.startsWith(start));
    return below.map((other) => other.slice(start.length)).filter((name) => !name.includes('/'));
  }

  ephemerals(session: SessionId): string[] {
    return this.paths().filter((path) => this.znodes.get(path)!.owner === session);
  }

  stat(path: string): Stat {
    const znode = this.existing(path);
    return {
      czxid: znode.czxid,
      mzxid: znode.mzxid,
      pzxid: znode.pzxid,
      ctimeMs: znode.ctimeMs,
      mtimeMs: znode.mtimeMs,
      version: znode.version,
      cversion: znode.cversion,
      aversion: znode.aversion,
      ephemeralOwner: znode.owner,
      dataLength: znode.data === undefined ? 0 : znode.data.length,
      numChildren: this.childNames(path).length,
    };
  }

  /** Takes the znode away, as its own delete and the end of its session do. */
  remove(path: string, zxid: Zxid): void {
    this.znodes.delete(path);
    const parent = this.existing(parentPath(path));
    parent.cversion += 1;
    parent.pzxid = zxid;
    this.changed('deleted', path, zxid);
  }

  /** To be called right after each change. */
  changed(kind: ChangeKind, path: string, zxid: Zxid): void {
    this.changes.push({ kind, path, zxid });
    recount(this, path, kind === 'created');
  }

  requireSession(session: SessionId): void {
    if (session !== NO_SESSION && !this.sessions.has(session)) throw new ModelRefusal('SESSION_EXPIRED');
  }
}

export function parentPath(path: string): string {
  const at = path.lastIndexOf('/');
  return at === 0 ? '/' : path.slice(0, at);
}

/** Code units that no path may hold, from and to: reference §5.1. */
const ILLEGAL = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xd800, 0xf8ff],
  [0xfff0, 0xffff],
] as const;

/** Reference §5.1, row by row. */
export function requirePath(path: string, named = path): void {
  const units = Array.from({ length: path.length }, (_, index) => path.charCodeAt(index));
  const hasIllegal = units.some((unit) => ILLEGAL.some(([from, to]) => unit >= from && unit <= to));
  const parts = path.split('/').slice(1);
  const isPath = path.startsWith('/') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (hasIllegal || !(path === '/' || isPath)) throw new ModelRefusal('INVALID_ARGUMENT', named);
}

export function requireVersion(path: string, znode: Pick<ModelZnode, 'version'>, expected: number | undefined): void {
  if (expected !== undefined && expected !== znode.version) throw new ModelRefusal('BAD_VERSION', path);
}
