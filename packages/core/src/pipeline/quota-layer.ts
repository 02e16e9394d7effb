/**
 * The quotas as they will be after changes that are not applied yet: what is in flight (over the tree), or the parts of a multi that have
 * been decided (over that). Holds records only for what those changes touch.
 */
import {
  coveringPath,
  NO_QUOTA_LIMITS,
  parseLimits,
  type QuotaUsage,
  quotaNode,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { isChange, type TxnPart } from '../tree/txn.ts';
import { crossesSoft, type QuotaFacts } from './quota-check.ts';

/** Quotas by the top of their subtree. */
export interface QuotaView {
  /** 0 when there are none; otherwise at least as many as there are. */
  readonly size: number;
  get(path: string): QuotaFacts | undefined;
  paths(): Iterable<string>;
}

/** What the changes are made to. */
export interface QuotaGround {
  znode(path: string): { readonly dataLength: number } | undefined;
  /** What the subtree holds. */
  usageOf(path: string): QuotaUsage;
  readonly quotas: QuotaView;
}

/** A znode after the changes; undefined: it is no more. */
export type ChangedZnode = readonly [path: string, facts: { readonly dataLength: number } | undefined];

/** What a part adds to the subtrees that it is in. */
export interface Added {
  readonly path: string;
  readonly usage: QuotaUsage;
  readonly data: Uint8Array | undefined;
}

interface QuotaChange {
  /** The last change that touches it. */
  readonly zxid: Zxid;
  /** Undefined: there is none. */
  readonly facts: QuotaFacts | undefined;
}

/** What a change is made to. */
interface AddedTo {
  znode(path: string): { readonly dataLength: number } | undefined;
  readonly quotas: QuotaLayer;
}

/** What `part` adds to quotas when it is made to what `view` shows; undefined when it concerns none. */
export function addedBy(part: TxnPart, view: AddedTo): Added | undefined {
  const { path } = part;
  if (!isChange(part) || !view.quotas.concerns(path)) return undefined;
  const before = view.znode(path)?.dataLength ?? 0;
  if (part.kind === 'delete') return { path, usage: { count: -1, bytes: -before }, data: undefined };
  const bytes = (part.data?.length ?? 0) - before;
  return { path, usage: { count: part.kind === 'create' ? 1 : 0, bytes }, data: part.data };
}

export class QuotaLayer implements QuotaView {
  readonly #ground: QuotaGround;
  readonly #znodes: () => Iterable<ChangedZnode>;
  readonly #changes = new Map<string, QuotaChange>();
  /** Which of them each txn in flight touches. */
  readonly #touched = new Map<Zxid, string[]>();
  /** Quotas that have been taken past a soft limit since somebody asked. */
  #crossed = new Set<string>();

  /** `znodes` are those that the changes touch, each as it will be. */
  constructor(ground: QuotaGround, znodes: () => Iterable<ChangedZnode>) {
    this.#ground = ground;
    this.#znodes = znodes;
  }

  get size(): number {
    return this.#ground.quotas.size + this.#changes.size;
  }

  /** Records held. */
  get held(): number {
    return this.#changes.size + this.#touched.size;
  }

  get(path: string): QuotaFacts | undefined {
    const change = this.#changes.get(path);
    return change === undefined ? this.#ground.quotas.get(path) : change.facts;
  }

  *paths(): Iterable<string> {
    for (const path of this.#ground.quotas.paths()) if (!this.#changes.has(path)) yield path;
    for (const [path, { facts }] of this.#changes) if (facts !== undefined) yield path;
  }

  /** The quota that covers the path, and the top of its subtree. */
  covering(path: string): { readonly of: string; readonly facts: QuotaFacts } | undefined {
    if (this.size === 0) return undefined;
    const of = coveringPath(path, (at) => this.get(at) !== undefined);
    const facts = of === undefined ? undefined : this.get(of);
    return of === undefined || facts === undefined ? undefined : { of, facts };
  }

  /** False when a change there can be no matter of quotas: the ordinary case, which is to cost nothing. */
  concerns(path: string): boolean {
    return this.size > 0 || quotaNode(path) !== undefined;
  }

  /** A change is made. After the record of its znode. */
  changed({ path, usage, data }: Added, zxid: Zxid = ZERO_ZXID): void {
    const covered = this.covering(path);
    if (covered !== undefined) {
      const { of, facts } = covered;
      const after = { count: facts.count + usage.count, bytes: facts.bytes + usage.bytes };
      if (crossesSoft(facts, facts, after)) this.#crossed.add(of);
      this.#set(zxid, of, { ...facts, ...after });
    }
    const node = quotaNode(path);
    if (node?.kind === 'limits') this.#limitsChanged(zxid, node.of, usage.count, data);
  }

  /** Forgets what the ground now says itself. */
  applied(zxid: Zxid): void {
    const touched = this.#touched.get(zxid);
    if (touched === undefined) return;
    this.#touched.delete(zxid);
    for (const of of touched) if (this.#changes.get(of)?.zxid === zxid) this.#changes.delete(of);
  }

  /** Tops of the subtrees that were taken past a soft limit since the last time. */
  takeCrossed(): ReadonlySet<string> {
    const crossed = this.#crossed;
    if (crossed.size > 0) this.#crossed = new Set();
    return crossed;
  }

  /** What the subtree will hold. Goes through all that is changed: only when a quota is new. */
  usageOf(of: string): QuotaUsage {
    let { count, bytes } = this.#ground.usageOf(of);
    for (const [path, facts] of this.#znodes()) {
      if (path !== of && !path.startsWith(`${of}/`)) continue;
      const before = this.#ground.znode(path);
      count += (facts === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
      bytes += (facts?.dataLength ?? 0) - (before?.dataLength ?? 0);
    }
    return { count, bytes };
  }

  #limitsChanged(zxid: Zxid, of: string, count: number, data: Uint8Array | undefined): void {
    if (count === -1) return this.#set(zxid, of, undefined);
    const { count: znodes, bytes } = this.get(of) ?? this.usageOf(of);
    this.#set(zxid, of, { limits: parseLimits(data) ?? NO_QUOTA_LIMITS, count: znodes, bytes });
  }

  #set(zxid: Zxid, of: string, facts: QuotaFacts | undefined): void {
    this.#changes.set(of, { zxid, facts });
    const touched = this.#touched.get(zxid);
    if (touched === undefined) this.#touched.set(zxid, [of]);
    else if (touched.at(-1) !== of) touched.push(of);
  }
}
