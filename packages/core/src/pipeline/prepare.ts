/**
 * Request + tree + changes in flight → the txn that the leader proposes. A request that fails a check becomes an error txn,
 * so that it is answered in its place. First failure wins: session, owner, form, guard, then what `decide.ts` checks of each change.
 * It does not know who proposes, nor whether the session is owned.
 */
import {
  formatSessionId,
  formatZxid,
  type Guard,
  type Identity,
  MULTI_DATA_BYTES_MAX,
  type MultiOp,
  NO_SESSION,
  type Numbered,
  PERMS,
  type SessionId,
  type Sid,
  type WriteOp,
  type Zxid,
} from '@quorate/protocol';
import { isSession } from '../tree/lifetime.ts';
import type { Origin, Txn, TxnBody, TxnPart } from '../tree/txn.ts';
import { mayAccess } from './access.ts';
import { decideCreateOrSet, decideCreateWithParents } from './compound.ts';
import { type Decision, decide, decideSetAcl } from './decide.ts';
import { Draft } from './draft.ts';
import type { TreeView } from './effects.ts';
import { EphemeralLoad, ephemeralCost } from './ephemeral-load.ts';
import { type Refusal, refusal } from './refusal.ts';
import { RequestNumbers } from './request-numbers.ts';
import { Speculation, type SpeculationBase } from './speculation.ts';
import { decideDeleteSubtree } from './subtree.ts';
import { opFault, partFault } from './validate.ts';
import type { OrderedOp, WriteRequest } from './write-request.ts';

const NOBODY: readonly Identity[] = [];

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
    const { incarnation, seq, session, attached } = request;
    const foregone = this.#foregone(request, ownerFault);
    const decision = foregone ?? this.#decide(request);
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
    if (body.kind === 'closeSession') this.#load.ended(session);
    else if ('parts' in body) this.#weighAll(body.parts, zxid);
    else if (body.kind === 'create' || body.kind === 'delete') this.#weigh(body, this.#speculation);
    this.#speculation.proposed(zxid, txn);
    this.#numbers.proposed(zxid, txn);
  }

  /** Tops of subtrees that were taken past a soft limit of their quota since this was last asked. */
  takeSoftCrossings(): ReadonlySet<string> {
    return this.#speculation.quotas.takeCrossed();
  }

  /** The txn has been applied to the tree. */
  applied(zxid: Zxid): void {
    this.#speculation.applied(zxid);
    this.#numbers.applied(zxid);
  }

  /** Each part by whose znode it is after the parts before it: what a multi makes it may delete again. */
  #weighAll(parts: readonly TxnPart[], zxid: Zxid): void {
    const view = new Draft(this.#speculation);
    for (const part of parts) {
      this.#weigh(part, view);
      view.add(part, zxid);
    }
  }

  #weigh(part: TxnPart, view: Pick<TreeView, 'znode'>): void {
    if (part.kind === 'create' && part.ephemeralOwner !== NO_SESSION) this.#load.added(part.ephemeralOwner, part.path);
    else if (part.kind === 'delete') this.#load.removed(ownerIn(view, part.path), part.path);
  }

  /** What is said before anybody looks at what is asked for: the session, its owner, and the number have a say first. */
  #foregone(request: WriteRequest, ownerFault: Refusal | undefined): Decision<TxnBody> | undefined {
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

  #askedBefore(op: OrderedOp, session: SessionId, numbered: Numbered): Decision<TxnBody> | undefined {
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

  #decide({ op, session, identities = NOBODY, guards = [] }: WriteRequest): Decision<TxnBody> {
    if (op.kind === 'createSession') return this.#createSession(session, op.timeoutMs, op.token);
    const fault = opFault(op, session);
    if (fault !== undefined) return { refusal: fault };
    for (const guard of guards) {
      const failed = this.#guardFault(op.kind, guard, identities);
      if (failed !== undefined) return no(failed);
    }
    return op.kind === 'closeSession' ? { body: this.#closing(session) } : this.#decideWrite(op, session, identities);
  }

  /** A guard tells whether a znode is there, and so asks for READ, as a check does. */
  #guardFault(action: string, { path, czxid }: Guard, identities: readonly Identity[]): Refusal | undefined {
    const znode = this.#speculation.znode(path);
    if (znode !== undefined && !mayAccess(znode, PERMS.READ, identities)) {
      const message = `Cannot ${action}: the caller does not have the right READ on its guard ${path}`;
      return refusal('NO_AUTH', message, path);
    }
    if (znode?.czxid === czxid) return undefined;
    const now = znode === undefined ? 'is no more' : `was made anew at ${formatZxid(znode.czxid)}`;
    return refusal('GUARD_FAILED', `Cannot ${action}: its guard ${path} of ${formatZxid(czxid)} ${now}`, path);
  }

  #decideWrite(op: WriteOp, session: SessionId, identities: readonly Identity[]): Decision<TxnBody> {
    const hasRoom = (path: string): boolean => this.#load.hasRoom(session, path);
    const ground = { view: this.#speculation, session, identities, hasRoom };
    switch (op.kind) {
      case 'multi':
        return this.#decideMulti(op, session, identities);
      case 'setAcl':
        return decideSetAcl(ground, op);
      case 'createOrSet':
        return decideCreateOrSet(ground, op);
      case 'deleteSubtree':
        return decideDeleteSubtree(ground, op, this.#speculation.pathsBelow(op.path));
      case 'create':
        return op.parents === true ? decideCreateWithParents(ground, op) : decide(ground, op);
      default:
        return decide(ground, op);
    }
  }

  /** All parts, each against what those before it leave; or the first that fails, with nothing kept of the others. */
  #decideMulti(op: MultiOp, session: SessionId, identities: readonly Identity[]): Decision<TxnBody> {
    const view = new Draft(this.#speculation);
    let bornBytes = 0;
    let readBytes = 0;
    const hasRoom = (path: string): boolean => this.#load.hasRoom(session, path, bornBytes);
    const ground = { view, session, identities, hasRoom };
    const parts: TxnPart[] = [];
    for (const [part, partOp] of op.parts.entries()) {
      const fault = partFault(partOp, session);
      const decision: Decision<TxnPart> = fault === undefined ? decide(ground, partOp) : no(fault);
      if ('refusal' in decision) return { refusal: { ...decision.refusal, part } };
      const { body } = decision;
      if (body.kind === 'getData') {
        readBytes += body.length;
        if (readBytes > MULTI_DATA_BYTES_MAX) return { refusal: { ...tooMuchRead(readBytes), part } };
      }
      if (body.kind === 'create' && body.ephemeralOwner !== NO_SESSION) bornBytes += ephemeralCost(body.path);
      else if (body.kind === 'delete' && session !== NO_SESSION && ownerIn(view, body.path) === session) {
        bornBytes -= ephemeralCost(body.path);
      }
      view.add(body);
      parts.push(body);
    }
    return { body: { kind: 'multi', parts } };
  }

  #createSession(session: SessionId, timeoutMs: number, token: Uint8Array): Decision<TxnBody> {
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

function tooMuchRead(bytes: number): Refusal {
  const message = `Cannot read ${bytes} bytes in a multi: at most ${MULTI_DATA_BYTES_MAX} are legal`;
  return refusal('INVALID_ARGUMENT', message);
}

/** NO_SESSION for what is not there, or is no ephemeral. */
function ownerIn(view: Pick<TreeView, 'znode'>, path: string): SessionId {
  return view.znode(path)?.ephemeralOwner ?? NO_SESSION;
}

function no(reason: Refusal): Decision<never> {
  return { refusal: reason };
}
