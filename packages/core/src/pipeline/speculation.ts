/**
 * The tree as it will be once all that is in flight has been applied: the leader checks requests against this.
 * Holds a record only for what a proposed and not yet applied txn changes, so its cost is bounded by what is in flight.
 * Source: ZooKeeper `ZooKeeperServer.ChangeRecord`. It decides nothing (`prepare.ts` does).
 */
import {
  assert,
  formatZxid,
  NO_SESSION,
  parentOf,
  type QuotaUsage,
  type SessionId,
  unreachable,
  type Zxid,
} from '@quorate/protocol';
import type { Results } from '../tree/results.ts';
import type { Txn } from '../tree/txn.ts';
import { effectsOf, type TreeView, type ZnodeFacts } from './effects.ts';
import { addedBy, type ChangedZnode, QuotaLayer, type QuotaView } from './quota-layer.ts';

/** What a check needs to know of a session in the tree. */
export interface SessionFacts {
  readonly timeoutMs: number;
  readonly token: Uint8Array;
  readonly ephemerals: ReadonlySet<string>;
  readonly results: Results;
}

/** The part of the tree that speculation looks through to. `DataTree` fits. */
export interface SpeculationBase {
  readonly lastZxid: Zxid;
  znode(path: string): ZnodeFacts | undefined;
  readonly sessions: { get(id: SessionId): SessionFacts | undefined };
  readonly quotas: QuotaView;
  /** What the subtree holds. */
  usageOf(path: string): QuotaUsage;
  /** Paths of all that is below, children before their parents; costs what is taken of it. */
  pathsBelow(path: string): Iterable<string>;
}

interface ZnodeChange {
  /** The last txn in flight that touches the znode; once that is applied the tree says the same. */
  readonly zxid: Zxid;
  /** Undefined: it does not exist. */
  readonly facts: ZnodeFacts | undefined;
}

interface SessionChange {
  readonly zxid: Zxid;
  /** Undefined: it is closing. */
  readonly opening: { readonly timeoutMs: number; readonly token: Uint8Array } | undefined;
}

interface Touched {
  readonly zxid: Zxid;
  readonly paths: readonly string[];
  readonly session: SessionId;
}

export class Speculation implements TreeView {
  readonly #base: SpeculationBase;
  /** The quotas as they will be. */
  readonly quotas: QuotaLayer;
  readonly #znodes = new Map<string, ZnodeChange>();
  readonly #sessions = new Map<SessionId, SessionChange>();
  /** Ephemerals whose create is in flight, by owner: closing a session must not search all that is in flight. */
  readonly #born = new Map<SessionId, Set<string>>();
  /** What each txn in flight touched, oldest first. */
  readonly #touched = new Map<Zxid, Touched>();
  #last: Zxid;

  constructor(base: SpeculationBase) {
    this.#base = base;
    this.#last = base.lastZxid;
    this.quotas = new QuotaLayer(base, () => this.#changed());
  }

  /** Records held: for bounds and tests. */
  get size(): number {
    return this.#znodes.size + this.#sessions.size + this.#touched.size + this.quotas.held;
  }

  znode(path: string): ZnodeFacts | undefined {
    const change = this.#znodes.get(path);
    return change === undefined ? this.#base.znode(path) : change.facts;
  }

  usageOf(path: string): QuotaUsage {
    return this.quotas.usageOf(path);
  }

  /**
   * Paths of all that will be below the znode, children before their parents, and of some that will not be. What is in flight is
   * gone through once; beside that it costs what is taken of it.
   */
  *pathsBelow(top: string): Iterable<string> {
    const start = `${top}/`;
    const born: string[] = [];
    for (const [path, { facts }] of this.#znodes) {
      if (facts !== undefined && path.startsWith(start) && this.#base.znode(path) === undefined) born.push(path);
    }
    // What is not there yet has nothing below it but what is not there yet either; and a path is longer than those above it.
    yield* born.sort((a, b) => b.length - a.length);
    yield* this.#base.pathsBelow(top);
  }

  /** True when something in flight changes the znode, or its children. */
  isInFlight(path: string): boolean {
    return this.#znodes.has(path);
  }

  /** The session, when it is open or will be; undefined when it is unknown or will be closed. */
  session(id: SessionId): { readonly timeoutMs: number; readonly token: Uint8Array } | undefined {
    const change = this.#sessions.get(id);
    return change === undefined ? this.#base.sessions.get(id) : change.opening;
  }

  /** Paths of the session's ephemerals, those in flight included, those about to go left out. */
  ephemeralsOf(session: SessionId): string[] {
    const paths = new Set(this.#base.sessions.get(session)?.ephemerals);
    for (const path of this.#born.get(session) ?? []) paths.add(path);
    return [...paths].filter((path) => this.znode(path)?.ephemeralOwner === session);
  }

  /** Takes in what a txn that was just proposed will do. Called in zxid order. */
  proposed(zxid: Zxid, txn: Txn): void {
    assert(zxid > this.#last, () => `P4: proposed ${formatZxid(zxid)} is not after ${formatZxid(this.#last)}`);
    this.#last = zxid;
    const { body, session } = txn;
    switch (body.kind) {
      case 'create':
      case 'delete':
      case 'setData':
      case 'setAcl':
        return this.#touch(zxid, this.#change(zxid, body), NO_SESSION);
      case 'multi':
      case 'compound':
        return this.#touch(zxid, [...new Set(body.parts.flatMap((part) => this.#change(zxid, part)))], NO_SESSION);
      case 'createSession':
        this.#sessions.set(session, { zxid, opening: body });
        return this.#touch(zxid, [], session);
      case 'closeSession':
        for (const path of body.paths) this.#change(zxid, { kind: 'delete', path });
        this.#sessions.set(session, { zxid, opening: undefined });
        return this.#touch(zxid, [...body.paths, ...body.paths.map(parentOf)], session);
      case 'repeat':
      case 'error':
        return;
      default:
        unreachable(body);
    }
  }

  /** Forgets what the tree now says itself. Called after the txn was applied to the tree. */
  applied(zxid: Zxid): void {
    const touched = this.#touched.get(zxid);
    if (touched === undefined) return;
    this.#touched.delete(zxid);
    this.quotas.applied(zxid);
    for (const path of touched.paths) {
      const change = this.#znodes.get(path);
      if (change?.zxid !== zxid) continue;
      this.#znodes.delete(path);
      if (change.facts !== undefined) this.#unbear(change.facts.ephemeralOwner, path);
    }
    if (this.#sessions.get(touched.session)?.zxid === zxid) this.#sessions.delete(touched.session);
  }

  /** Returns the paths that it touches. */
  #change(zxid: Zxid, part: Parameters<typeof effectsOf>[1]): string[] {
    if (part.kind === 'delete') this.#unbear(this.znode(part.path)?.ephemeralOwner ?? NO_SESSION, part.path);
    const added = part.kind === 'setAcl' ? undefined : addedBy(part, this);
    const effects = effectsOf(this, part, zxid);
    for (const { path, facts } of effects) this.#znodes.set(path, { zxid, facts });
    if (added !== undefined) this.quotas.changed(added, zxid);
    if (part.kind === 'create' && part.ephemeralOwner !== NO_SESSION) this.#bear(part.ephemeralOwner, part.path);
    return effects.map(({ path }) => path);
  }

  *#changed(): Iterable<ChangedZnode> {
    for (const [path, { facts }] of this.#znodes) yield [path, facts];
  }

  #bear(owner: SessionId, path: string): void {
    const born = this.#born.get(owner);
    if (born === undefined) this.#born.set(owner, new Set([path]));
    else born.add(path);
  }

  #unbear(owner: SessionId, path: string): void {
    const born = this.#born.get(owner);
    if (born?.delete(path) === true && born.size === 0) this.#born.delete(owner);
  }

  #touch(zxid: Zxid, paths: readonly string[], session: SessionId): void {
    this.#touched.set(zxid, { zxid, paths, session });
  }
}
