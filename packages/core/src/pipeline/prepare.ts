/**
 * Request + tree + changes in flight → the txn that the leader proposes. A request that fails a check becomes an error txn,
 * so that it is answered in its place. First failure wins, in the order of reference §4.3:
 * create: session, parent, suffix, full path, exists, ephemeral parent · delete: session, path, parent, znode, version,
 * children · setData: session, path, znode, version. It does not know who proposes, nor whether the session is owned.
 */
import {
  formatSessionId,
  NO_SESSION,
  type Numbered,
  parentOf,
  type SessionId,
  type Sid,
  sequenceSuffix,
  unreachable,
  type WriteOp,
  type Zxid,
} from '@quorate/protocol';
import { isSession, type Lifetime } from '../tree/lifetime.ts';
import type { Origin, Txn, TxnBody } from '../tree/txn.ts';
import { nextCreates, nextVersion } from '../tree/znode.ts';
import { EphemeralLoad } from './ephemeral-load.ts';
import { type Refusal, refusal } from './refusal.ts';
import { RequestNumbers } from './request-numbers.ts';
import { Speculation, type SpeculationBase, type ZnodeFacts } from './speculation.ts';
import { opFault } from './validate.ts';
import type { OrderedOp, WriteRequest } from './write-request.ts';

/** A body to propose, or why not. */
type Decision = { readonly body: TxnBody } | { readonly refusal: Refusal };

/** Origin of txns that the leader makes by itself. */
const NO_ORIGIN: Origin = { sid: 0, incarnation: 0, seq: 0 };

/**
 * True when the txn was ordered as a write of its session's owner: also one that the tree refused then has its place in the
 * history, before which no older write of the session may come any more (P10). False when the session or its owner was the reason.
 */
export function isOwnersWrite(body: TxnBody): boolean {
  if (body.kind !== 'error') return true;
  // UNAVAILABLE: the id of a session to be opened is another's.
  return body.code !== 'SESSION_EXPIRED' && body.code !== 'SESSION_MOVED' && body.code !== 'UNAVAILABLE';
}

export class Preparation {
  readonly #speculation: Speculation;
  readonly #load: EphemeralLoad;
  readonly #numbers: RequestNumbers;

  constructor(base: SpeculationBase) {
    this.#speculation = new Speculation(base);
    this.#numbers = new RequestNumbers(base);
    this.#load = new EphemeralLoad((session) => this.#speculation.ephemeralsOf(session));
  }

  /** The session as it will be, or undefined when it is unknown or closing. */
  session(id: SessionId): { readonly timeoutMs: number; readonly token: Uint8Array } | undefined {
    return this.#speculation.session(id);
  }

  /** Records held for what is in flight. */
  get size(): number {
    return this.#speculation.size + this.#numbers.size;
  }

  /**
   * The txn for a request that came in by member `sid`. Changes nothing: follow with `proposed`, before the next `prepare`.
   * `ownerFault` is what the session's owner has to say; it is reported where the session check stands in the order.
   */
  prepare(request: WriteRequest, sid: Sid, wallMs: number, ownerFault: Refusal | undefined): Txn {
    const { incarnation, seq, session, attached, op } = request;
    const foregone = this.#foregone(request, ownerFault);
    const decision = foregone ?? this.#decide(op, session);
    const body: TxnBody = 'body' in decision ? decision.body : { kind: 'error', ...decision.refusal };
    const origin = attached ? ({ sid, incarnation, seq, attached } as const) : { sid, incarnation, seq };
    const txn = { origin, session, timeMs: wallMs, body };
    const numbered = foregone === undefined ? numberOf(request) : undefined;
    return numbered === undefined ? txn : { ...txn, numbered };
  }

  /** The txn that ends a session nobody has heard from. */
  expire(session: SessionId, wallMs: number): Txn {
    return { origin: NO_ORIGIN, session, timeMs: wallMs, body: this.#closing(session) };
  }

  /**
   * The txn that deletes a container or a znode with a TTL whose time is over in the tree; undefined when something in flight
   * touches it or its children, and it is not idle.
   */
  reap(path: string, wallMs: number): Txn | undefined {
    const znode = this.#speculation.isInFlight(path) ? undefined : this.#speculation.znode(path);
    if (znode === undefined || znode.childCount > 0) return undefined;
    return { origin: NO_ORIGIN, session: NO_SESSION, timeMs: wallMs, body: { kind: 'delete', path } };
  }

  /** The txn is proposed at `zxid`: later requests are checked against what it will do. */
  proposed(zxid: Zxid, txn: Txn): void {
    const { body, session } = txn;
    if (body.kind === 'create' && body.ephemeralOwner !== NO_SESSION) this.#load.added(body.ephemeralOwner, body.path);
    else if (body.kind === 'closeSession') this.#load.ended(session);
    else if (body.kind === 'delete') {
      this.#load.removed(this.#speculation.znode(body.path)?.ephemeralOwner ?? NO_SESSION, body.path);
    }
    this.#speculation.proposed(zxid, txn);
    this.#numbers.proposed(zxid, txn);
  }

  /** The txn has been applied to the tree. */
  applied(zxid: Zxid): void {
    this.#speculation.applied(zxid);
    this.#numbers.applied(zxid);
  }

  /** What is said before anybody looks at what is asked for: the session, its owner, and the number have a say first. */
  #foregone(request: WriteRequest, ownerFault: Refusal | undefined): Decision | undefined {
    const { op, session } = request;
    if (op.kind === 'createSession') return undefined;
    if (session !== NO_SESSION && this.#speculation.session(session) === undefined) {
      const message = `Cannot ${op.kind}: session ${formatSessionId(session)} has ended`;
      return { refusal: refusal('SESSION_EXPIRED', message) };
    }
    if (ownerFault !== undefined) return { refusal: ownerFault };
    const numbered = numberOf(request);
    return numbered === undefined ? undefined : this.#askedBefore(op, session, numbered);
  }

  #askedBefore(op: OrderedOp, session: SessionId, numbered: Numbered): Decision | undefined {
    const { request } = numbered;
    switch (this.#numbers.standing(session, numbered)) {
      case 'new':
        return undefined;
      case 'taken':
        return { body: { kind: 'repeat', request } };
      case 'past': {
        const message = `Cannot ${op.kind}: request ${request} comes after later ones of its session; it was not applied, or it was acknowledged`;
        return no(refusal('OUT_OF_ORDER', message));
      }
      case 'full': {
        const message = `Cannot ${op.kind}: too many results of session ${formatSessionId(session)} are not acknowledged`;
        return no(refusal('THROTTLED', message));
      }
    }
  }

  #decide(op: OrderedOp, session: SessionId): Decision {
    if (op.kind === 'createSession') return this.#createSession(session, op.timeoutMs, op.token);
    const fault = opFault(op, session);
    if (fault !== undefined) return { refusal: fault };
    return op.kind === 'closeSession' ? { body: this.#closing(session) } : this.#decideWrite(op, session);
  }

  #decideWrite(op: WriteOp, session: SessionId): Decision {
    switch (op.kind) {
      case 'create':
        return this.#create(op, session);
      case 'delete':
        return this.#delete(op.path, op.expectedVersion);
      case 'setData': {
        const znode = this.#speculation.znode(op.path);
        if (znode === undefined) return no(refusal('NO_NODE', `Cannot set ${op.path}: it does not exist`, op.path));
        const mismatch = versionMismatch('set', op.path, znode, op.expectedVersion);
        if (mismatch !== undefined) return no(mismatch);
        return { body: { kind: 'setData', path: op.path, data: op.data, version: nextVersion(znode.version) } };
      }
      default:
        return unreachable(op);
    }
  }

  #create(op: Extract<WriteOp, { kind: 'create' }>, session: SessionId): Decision {
    const parentPath = parentOf(op.path);
    const parent = this.#speculation.znode(parentPath);
    if (parent === undefined) {
      return no(refusal('NO_NODE', `Cannot create ${op.path}: its parent does not exist`, op.path));
    }
    // The count of creates before this one, whatever was deleted since: a number is never given twice (case C002).
    const path = op.sequential ? op.path + sequenceSuffix(parent.creates) : op.path;
    if (this.#speculation.znode(path) !== undefined) {
      return no(refusal('NODE_EXISTS', `Cannot create ${path}: it exists`, path));
    }
    if (parent.ephemeralOwner !== NO_SESSION) {
      const message = `Cannot create ${path}: its parent is ephemeral`;
      return no(refusal('NO_CHILDREN_FOR_EPHEMERALS', message, path));
    }
    const ephemeralOwner = op.mode === 'ephemeral' ? session : NO_SESSION;
    if (ephemeralOwner !== NO_SESSION && !this.#load.hasRoom(ephemeralOwner, path)) {
      return no(refusal('THROTTLED', `Cannot create ${path}: the session has too many ephemeral znodes`, path));
    }
    const parentCreates = nextCreates(parent.creates);
    const body = { kind: 'create', path, data: op.data, ephemeralOwner, parentCreates } as const;
    const lifetime = lifetimeFor(op);
    return { body: lifetime === undefined ? body : { ...body, lifetime } };
  }

  #delete(path: string, expectedVersion: number | undefined): Decision {
    if (this.#speculation.znode(parentOf(path)) === undefined) {
      return no(refusal('NO_NODE', `Cannot delete ${path}: its parent does not exist`, path));
    }
    const znode = this.#speculation.znode(path);
    if (znode === undefined) return no(refusal('NO_NODE', `Cannot delete ${path}: it does not exist`, path));
    const mismatch = versionMismatch('delete', path, znode, expectedVersion);
    if (mismatch !== undefined) return no(mismatch);
    if (znode.childCount > 0) {
      return no(refusal('NOT_EMPTY', `Cannot delete ${path}: it has ${znode.childCount} children`, path));
    }
    return { body: { kind: 'delete', path } };
  }

  #createSession(session: SessionId, timeoutMs: number, token: Uint8Array): Decision {
    if (!isSession(session) || this.#speculation.session(session) !== undefined) {
      // Ids come from a clock and a counter of one run; should two ever meet, asking again gives another id.
      return no(refusal('UNAVAILABLE', `Cannot open session ${formatSessionId(session)}: the id is taken`));
    }
    return { body: { kind: 'createSession', timeoutMs, token } };
  }

  #closing(session: SessionId): TxnBody {
    return { kind: 'closeSession', paths: this.#speculation.ephemeralsOf(session) };
  }
}

/** The number under which the write happens once; undefined for what is not numbered. */
function numberOf({ op, session, numbered }: WriteRequest): Numbered | undefined {
  return session === NO_SESSION || op.kind === 'createSession' || op.kind === 'closeSession' ? undefined : numbered;
}

function no(reason: Refusal): Decision {
  return { refusal: reason };
}

function lifetimeFor({ mode, ttlMs }: Extract<WriteOp, { kind: 'create' }>): Lifetime | undefined {
  if (mode === 'container') return 'container';
  return mode === 'ttl' && ttlMs !== undefined ? { ttlMs } : undefined;
}

function versionMismatch(
  action: string,
  path: string,
  znode: ZnodeFacts,
  expected: number | undefined,
): Refusal | undefined {
  if (expected === undefined || expected === znode.version) return undefined;
  return refusal('BAD_VERSION', `Cannot ${action} ${path}: its version is ${znode.version}, not ${expected}`, path);
}
