/**
 * The replicated state machine: applies txns in zxid order, answers reads, and hands out checkpoints. Every member
 * that applied the same txns has the same tree, field by field.
 *
 * It judges nothing: whether a request is allowed was decided before its txn was made. A txn that can't be (an unknown
 * parent, a second session of the same id) is a broken invariant and stops the member. It knows nothing of quorums,
 * clocks or disks. Source: ZooKeeper `DataTree`, reference §5.
 */
import {
  type Acl,
  assert,
  ByteWriter,
  type ChangeKind,
  encodeAnswer,
  formatSessionId,
  formatZxid,
  NO_SESSION,
  type Numbered,
  parentOf,
  pathFault,
  unreachable,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { answerOf, type PartEnd } from './answer.ts';
import { Checkpointer, type CheckpointPart, type RecordKey } from './checkpoint.ts';
import { DIGEST_VERSION } from './digest.ts';
import { isSession, ownerOf } from './lifetime.ts';
import { Past, type PastSpec } from './past.ts';
import { Quotas, type QuotaTable } from './quotas.ts';
import { Scrub, type ScrubStep } from './scrub.ts';
import { type StateRecord, sessionKey, sessionRecord, summaryRecord, znodeKey, znodeRecord } from './state-record.ts';
import { TreeReads } from './tree-reads.ts';
import { BUILT_IN_PATHS, TreeState } from './tree-state.ts';
import type { Txn, TxnBody, TxnLook, TxnPart } from './txn.ts';
import { StoredZnode } from './znode.ts';

/**
 * Is told of each change right after it, before the next part of the same txn: what it reads then is what came of it. `znode` is
 * undefined when it was deleted; `acl` is that of the znode then, or before it was deleted; `aclBefore` that which a new one replaced.
 */
export type ChangeSink = (
  kind: ChangeKind,
  path: string,
  zxid: Zxid,
  znode: StoredZnode | undefined,
  acl: Acl | undefined,
  aclBefore?: Acl,
) => void;

const QUOTA_ROOT = '/zookeeper/quota';

const NO_END: PartEnd = { stat: undefined, data: undefined };

type BodyOf<K extends TxnBody['kind']> = Extract<TxnBody, { readonly kind: K }>;

export class DataTree extends TreeReads {
  readonly #state: TreeState;
  readonly #checkpointer: Checkpointer;
  readonly #scrub: Scrub;
  readonly #quotas: Quotas;
  #pasts: readonly Past[] = [];
  /** For what is copied at once: a buffer for each result would cost more than the rest of keeping it. */
  readonly #scratch = new ByteWriter();
  #lastZxid: Zxid;
  #partEnds: readonly PartEnd[] = [];
  #changed: ChangeSink = () => undefined;

  /** For `empty` and the loader. Nothing of `state` counts as changed since the last checkpoint. */
  constructor(state: TreeState, lastZxid: Zxid) {
    super(state);
    this.#state = state;
    this.#lastZxid = lastZxid;
    this.#checkpointer = new Checkpointer((key) => this.#encode(key));
    this.#scrub = new Scrub(state);
    this.#quotas = new Quotas({
      znode: (path) => state.get(path),
      setStats: (znode, data) => {
        this.#willChange(znode.path);
        state.setDataOnly(znode, data);
      },
    });
    state.get(QUOTA_ROOT)?.forEachBelow(({ path }) => this.#quotas.load(path));
  }

  /** The tree before the first txn: the built-in znodes, no session. Its first checkpoint writes them. */
  static empty(): DataTree {
    const tree = new DataTree(TreeState.initial(), ZERO_ZXID);
    for (const path of BUILT_IN_PATHS) tree.#checkpointer.willChange(path);
    return tree;
  }

  /** From now on `sink` is told of every change, and nobody else. It must not change the tree. */
  report(sink: ChangeSink): void {
    this.#changed = sink;
  }

  /** Of the last multi or compound applied: each part's znode right after that part. */
  get partEnds(): readonly PartEnd[] {
    return this.#partEnds;
  }

  /** Position of the last applied txn. */
  get lastZxid(): Zxid {
    return this.#lastZxid;
  }

  /** The quotas, live and read-only. */
  get quotas(): QuotaTable {
    return this.#quotas;
  }

  /**
   * Applies the txn at `zxid`, which must be after every one applied so far. Data and token are copied here, so that a
   * stored znode never keeps a network or log buffer alive. Throws AssertionError when the txn is impossible.
   */
  apply(zxid: Zxid, txn: Txn): void {
    assert(zxid > this.#lastZxid, () => `${at(zxid)}: ${formatZxid(this.#lastZxid)} was applied before`);
    const { body } = txn;
    switch (body.kind) {
      case 'create':
      case 'delete':
      case 'setData':
        this.#applyPart(zxid, txn, body);
        break;
      case 'multi':
      case 'compound':
        this.#partEnds = body.parts.map((part) => {
          this.#applyPart(zxid, txn, part);
          return this.#endOf(part);
        });
        break;
      case 'setAcl':
        this.#setAcl(zxid, body);
        break;
      case 'createSession':
        this.#createSession(zxid, txn, body);
        break;
      case 'closeSession':
        this.#closeSession(zxid, txn, body);
        break;
      case 'repeat':
      case 'error':
        break;
      default:
        unreachable(body);
    }
    this.#lastZxid = zxid;
    if (txn.numbered !== undefined) this.#keep(zxid, txn, txn.numbered);
  }

  #endOf({ kind, path }: TxnPart): PartEnd {
    const znode = kind === 'delete' || kind === 'check' ? undefined : this.#state.get(path);
    return znode === undefined ? NO_END : { stat: znode.stat(), data: kind === 'getData' ? znode.data : undefined };
  }

  #applyPart(zxid: Zxid, txn: Txn, part: TxnPart): void {
    switch (part.kind) {
      case 'create':
        return this.#create(zxid, txn, part);
      case 'delete':
        return this.#delete(zxid, part.path);
      case 'setData':
        return this.#setData(zxid, txn, part);
      default:
        this.#look(zxid, part);
    }
  }

  /** A read of more data than the leader foresaw would be answered with more than what is kept of it was weighed for. */
  #look(zxid: Zxid, part: TxnLook): void {
    if (part.kind !== 'getData') return;
    const { dataLength } = this.#existing(zxid, part.path);
    assert(
      dataLength <= part.length,
      () => `${at(zxid)}: ${part.path} was to be read with ${part.length} bytes at most, and has ${dataLength}`,
    );
  }

  /** What is below a znode, as it is now, for as long as it is wanted: follow with `endPast`. */
  beginPast(spec: PastSpec): Past {
    const past = new Past(this, spec);
    this.#pasts = [...this.#pasts, past];
    return past;
  }

  endPast(past: Past): void {
    this.#pasts = this.#pasts.filter((one) => one !== past);
  }

  /** One bounded step of a pass that holds each znode and session against its hash: see `scrub.ts`. */
  scrubStep(): ScrubStep {
    return this.#scrub.step();
  }

  get checkpointActive(): boolean {
    return this.#checkpointer.isActive;
  }

  /** Begins a checkpoint of the tree as it is now, and returns its zxid. Only while none is active. */
  beginCheckpoint(): Zxid {
    const { digest, znodeCount } = this.#state;
    const summary = { zxid: this.#lastZxid, digestVersion: DIGEST_VERSION, digest, znodeCount };
    this.#checkpointer.begin(summaryRecord({ ...summary, sessionCount: this.sessions.size }));
    return this.#lastZxid;
  }

  /**
   * The next records of the checkpoint: those changed since the last durable one, as they were at its begin, each once;
   * `value` undefined for what was deleted. At least one record, then as many as begin within `bytesMax`.
   */
  nextCheckpointRecords(bytesMax: number): CheckpointPart {
    return this.#checkpointer.next(bytesMax);
  }

  /** Ends the checkpoint: `ok` when all its records are durable; otherwise the next one has them again. */
  endCheckpoint(ok: boolean): void {
    this.#checkpointer.end(ok);
  }

  #keep(zxid: Zxid, txn: Txn, numbered: Numbered): void {
    this.#checkpointer.willChange(txn.session);
    this.#state.addResult(txn.session, numbered, encodeAnswer(this.#scratch.clear(), answerOf(this, zxid, txn)));
  }

  #create(zxid: Zxid, txn: Txn, body: BodyOf<'create'>): void {
    const { path, ephemeralOwner, lifetime, parentCreates } = body;
    const fault = pathFault(path);
    assert(fault === undefined, () => `${at(zxid)}: cannot create ${path}: ${fault}`);
    assert(this.#state.get(path) === undefined, () => `${at(zxid)}: cannot create ${path}: it exists`);
    const parent = this.#state.get(parentOf(path));
    assert(parent !== undefined, () => `${at(zxid)}: cannot create ${path}: it has no parent`);
    assert(!parent.isEphemeral, () => `${at(zxid)}: cannot create ${path}: its parent is ephemeral`);
    assert(
      ((parentCreates - parent.creates) | 0) > 0,
      () => `${at(zxid)}: cannot create ${path}: count of creates would go from ${parent.creates} to ${parentCreates}`,
    );
    assert(
      ephemeralOwner === NO_SESSION || this.sessions.get(ephemeralOwner) !== undefined,
      () => `${at(zxid)}: cannot create ${path}: its session ${formatSessionId(ephemeralOwner)} is unknown`,
    );
    this.#willChange(path);
    this.#willChange(parent.path);
    const znode = StoredZnode.of(
      path,
      {
        data: body.data,
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctimeMs: txn.timeMs,
        mtimeMs: txn.timeMs,
        version: 0,
        creates: 0,
        aversion: 0,
        acl: body.acl,
        owner: ownerOf(ephemeralOwner, lifetime),
      },
      this.#state.rows,
    );
    this.#state.attach(znode, parent, { creates: parentCreates, pzxid: zxid });
    this.#quotas.changed(path, 1, znode.dataLength);
    this.#changed('created', path, zxid, znode, znode.acl);
  }

  #delete(zxid: Zxid, path: string): void {
    const znode = this.#existing(zxid, path);
    assert(znode.childCount === 0, () => `${at(zxid)}: cannot delete ${path}: it has children`);
    assert(!BUILT_IN_PATHS.includes(path), () => `${at(zxid)}: cannot delete ${path}: it is built in`);
    this.#detach(zxid, znode);
  }

  #detach(zxid: Zxid, znode: StoredZnode): void {
    const parent = this.#existing(zxid, parentOf(znode.path));
    this.#willChange(znode.path);
    this.#willChange(parent.path);
    this.#state.detach(znode, parent, zxid);
    this.#quotas.changed(znode.path, -1, -znode.dataLength);
    this.#changed('deleted', znode.path, zxid, undefined, znode.acl);
  }

  #setData(zxid: Zxid, txn: Txn, body: BodyOf<'setData'>): void {
    const { path, version } = body;
    const znode = this.#existing(zxid, path);
    assert(isVersion(version), () => `${at(zxid)}: cannot set the data of ${path}: ${version} is not a version`);
    this.#willChange(znode.path);
    const before = znode.dataLength;
    this.#state.setData(znode, { data: body.data, version, mzxid: zxid, mtimeMs: txn.timeMs });
    this.#quotas.changed(path, 0, znode.dataLength - before);
    this.#changed('dataChanged', path, zxid, znode, znode.acl);
  }

  #setAcl(zxid: Zxid, { path, acl, version }: BodyOf<'setAcl'>): void {
    const znode = this.#existing(zxid, path);
    assert(isVersion(version), () => `${at(zxid)}: cannot set the ACL of ${path}: ${version} is not a version`);
    this.#willChange(path);
    const before = znode.acl;
    this.#state.setAcl(znode, acl, version);
    this.#changed('aclChanged', path, zxid, znode, znode.acl, before);
  }

  #createSession(zxid: Zxid, txn: Txn, body: BodyOf<'createSession'>): void {
    const id = txn.session;
    const isNew = isSession(id) && this.sessions.get(id) === undefined;
    assert(isNew, () => `${at(zxid)}: cannot create session ${formatSessionId(id)}: it exists or is no session`);
    this.#checkpointer.willChange(id);
    this.#state.addSession(id, body.timeoutMs, body.token);
  }

  #closeSession(zxid: Zxid, txn: Txn, body: BodyOf<'closeSession'>): void {
    const id = txn.session;
    const session = this.sessions.get(id);
    assert(session !== undefined, () => `${at(zxid)}: cannot close session ${formatSessionId(id)}: it is unknown`);
    const { ephemerals } = session;
    const paths = new Set(body.paths);
    const isExact =
      body.paths.length === ephemerals.size &&
      paths.size === ephemerals.size &&
      body.paths.every((path) => ephemerals.has(path));
    assert(isExact, () => `${at(zxid)}: cannot close session ${formatSessionId(id)}: its ephemerals are others`);
    for (const path of paths) this.#detach(zxid, this.#existing(zxid, path));
    this.#checkpointer.willChange(id);
    this.#state.removeSession(id);
  }

  /** Before any change of a znode, and before one that is not there is created. */
  #willChange(path: string): void {
    this.#checkpointer.willChange(path);
    for (const past of this.#pasts) past.willChange(path);
  }

  #existing(zxid: Zxid, path: string): StoredZnode {
    const znode = this.#state.get(path);
    assert(znode !== undefined, () => `${at(zxid)}: there is no znode ${path}`);
    return znode;
  }

  #encode(key: RecordKey): StateRecord {
    if (typeof key === 'string') {
      const znode = this.#state.get(key);
      return znode === undefined ? { key: znodeKey(key), value: undefined } : znodeRecord(znode);
    }
    const session = this.#state.sessions.get(key);
    return session === undefined ? { key: sessionKey(key), value: undefined } : sessionRecord(session);
  }
}

function at(zxid: Zxid): string {
  return `Cannot apply txn ${formatZxid(zxid)}`;
}

/** 32-bit signed, and not -1, which would mean "any" to whoever reads it (case C004). */
function isVersion(version: number): boolean {
  return version === (version | 0) && version !== -1;
}
