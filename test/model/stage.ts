/**
 * A real ensemble beside the reference model: every operation is asked of both, one after another. The ensemble has nobody else
 * to serve, so that each ordered request takes the zxid after the last: also what gives no stat back has a known place.
 */
import {
  type Client,
  type Stat as ClientStat,
  type CoordinationError,
  connect,
  type ReadResult,
  type TxnResult,
  type Znode,
} from '@quorate/client';
import {
  type MultiOp,
  type MultiReadOp,
  type ReadOp,
  type SessionId,
  type Stat,
  toSessionId,
  toZxid,
  type WriteOp,
  type Zxid,
} from '@quorate/protocol';
import { expect } from 'vitest';
import type { EnsembleProcess } from '../e2e/ensemble-process.ts';
import { until } from '../e2e/ensemble-process.ts';
import { isOrdered, read, write } from './ops.ts';
import { type ModelChange, type ModelResult, ReferenceModel } from './reference.ts';
import { Told } from './told.ts';

const SESSION_MS = 40_000;
const CALL = { timeoutMs: 30_000 };

/** A change that is always told. */
const MARK = { kind: 'setData', path: '/', data: new Uint8Array(1), expectedVersion: undefined } as const;

export class Stage implements AsyncDisposable {
  readonly model = new ReferenceModel();
  /** Of the sequence that is being played. */
  readonly sessions: SessionId[] = [];
  readonly #ensemble: EnsembleProcess;
  readonly #clients = new Map<SessionId, Client>();
  /** One at each member, for what all sessions share: cleaning up, looking at the whole tree, watching. */
  #members: Client[] = [];
  #told: Told | undefined;
  #last = 0n;
  #changes: ModelChange[] = [];
  /** Where sessions ended, and subtrees: in which order the znodes of one go is nobody's promise. */
  readonly #ends = new Set<Zxid>();

  private constructor(ensemble: EnsembleProcess) {
    this.#ensemble = ensemble;
  }

  static async on(ensemble: EnsembleProcess): Promise<Stage> {
    const stage = new Stage(ensemble);
    for (const address of ensemble.addresses) {
      stage.#members.push(await connect(address, { sessionTimeoutMs: SESSION_MS, timeoutMs: 30_000 }));
    }
    await stage.again();
    stage.#changes = [];
    stage.#told = new Told(stage.#members[0]!.watch('/', { recursive: true, data: true, initial: false }));
    await stage.#told.ready;
    return stage;
  }

  /** After members were started again: where the history stands now. */
  async again(): Promise<void> {
    const client = this.#members[0]!;
    const got = await settled(writeBy(client, MARK));
    // A leader's history begins with its first txn: before that a sync names the last one of the leader before.
    this.#last = (got.stat?.mzxid ?? 0n) - 1n;
    this.#foreseen(MARK, toSessionId(client.session.id), got);
  }

  async open(choice: number): Promise<void> {
    if (this.sessions.length >= 4) return;
    const addresses = this.#ensemble.addresses;
    const client = await connect(addresses[choice % addresses.length]!, { sessionTimeoutMs: SESSION_MS });
    const session = toSessionId(client.session.id);
    this.#clients.set(session, client);
    this.sessions.push(session);
    const op = { kind: 'createSession', timeoutMs: SESSION_MS, token: new Uint8Array(16) } as const;
    write(this.model, op, { zxid: this.#next(), timeMs: 0, session });
  }

  /** Ends one of the sequence's sessions, if there is any. */
  async close(choice: number): Promise<void> {
    const [session] = this.sessions.splice(choice % Math.max(1, this.sessions.length), 1);
    if (session === undefined) return;
    await this.#clients.get(session)!.close();
    this.#clients.delete(session);
    const { changes } = write(this.model, { kind: 'closeSession' }, { zxid: this.#next(), timeMs: 0, session });
    this.#changes.push(...changes);
    this.#ends.add(toZxid(this.#last));
  }

  async write(op: WriteOp, choice: number): Promise<void> {
    const session = this.sessions[choice % Math.max(1, this.sessions.length)];
    if (session === undefined) return;
    this.#foreseen(op, session, await settled(writeBy(this.#clients.get(session)!, op)));
    if (op.kind === 'deleteSubtree') this.#ends.add(toZxid(this.#last));
  }

  async read(op: ReadOp, choice: number): Promise<void> {
    const session = this.sessions[choice % Math.max(1, this.sessions.length)];
    if (session === undefined) return;
    const client = this.#clients.get(session)!;
    const expected = read(this.model, op, { zxid: toZxid(this.#last), timeMs: 0, session });
    const got = await settled(readBy(client, op));
    expect(got).toEqual(bare(expected));
  }

  /** Everything is as in the model, at every member and in what the watch told; then the znodes are deleted again. */
  async finish(): Promise<void> {
    while (this.sessions.length > 0) await this.close(0);
    const expected = this.model.paths().map((path) => ({ path, ...this.#modelled(path) }));
    const dumps = await Promise.all(this.#members.map((client) => this.#dump(client)));
    for (const dump of dumps) expect(dump).toEqual(expected);
    await this.#mark(this.#members[0]!);
    await until('all that happened is told', () => (this.#told?.watch.position ?? 0n) >= this.#last);
    const told = this.#told?.take() ?? [];
    expect(told.map(({ zxid }) => zxid)).toEqual(this.#changes.map(({ zxid }) => zxid));
    expect(this.#inOrder(told)).toEqual(this.#inOrder(this.#changes));
    this.#changes = [];
    await this.#clean(this.#members[0]!);
  }

  /**
   * A last change that is told: the position of the watch comes to it with its event. After what is not told (the end of a session without
   * ephemerals, a refused write) it would come with the next sign of progress only, seconds later.
   */
  async #mark(client: Client): Promise<void> {
    this.#foreseen(MARK, toSessionId(client.session.id), await settled(writeBy(client, MARK)));
  }

  /** Deletes all that sequences made, from the leaves up: sent at once, carried out in the order sent. */
  async #clean(client: Client): Promise<void> {
    const session = toSessionId(client.session.id);
    const made = this.model.paths().filter((path) => path !== '/' && !path.startsWith('/zookeeper'));
    const ops = made.reverse().map((path) => ({ kind: 'delete', path, expectedVersion: undefined }) as const);
    const results = await Promise.all(ops.map((op) => settled(writeBy(client, op))));
    for (const [index, op] of ops.entries()) this.#foreseen(op, session, results[index]!);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#told?.stop();
    for (const client of [...this.#clients.values(), ...this.#members]) await client.close();
  }

  /** Holds the result of an ordered request against the model's, which carries it out now. */
  #foreseen(op: WriteOp, session: SessionId, got: Bare): void {
    const token = new Uint8Array(16);
    if (!this.model.sessions.has(session)) {
      this.model.sessions.set(session, { timeoutMs: SESSION_MS, token, last: 0, results: new Map() });
    }
    const isPlaced = isOrdered(this.model, op, { zxid: toZxid(this.#last), timeMs: 0, session });
    const zxid = isPlaced ? this.#next() : toZxid(this.#last);
    // Not that of a part which only looked: it shows an older time.
    const written = got.results?.find(({ stat }) => stat?.mzxid === zxid)?.stat;
    const timeMs = got.stat?.mtimeMs ?? written?.mtimeMs ?? 0;
    const { result, changes } = write(this.model, op, { zxid, timeMs, session });
    expect(
      got,
      op.kind === 'multi' ? op.parts.map(({ kind, path }) => `${kind} ${path}`).join() : `${op.kind} ${op.path}`,
    ).toEqual(bare(result));
    this.#changes.push(...changes);
  }

  #inOrder(changes: readonly ModelChange[]): ModelChange[] {
    return [...changes].sort((a, b) => {
      if (a.zxid !== b.zxid) return a.zxid < b.zxid ? -1 : 1;
      return this.#ends.has(a.zxid) && a.path !== b.path ? (a.path < b.path ? -1 : 1) : 0;
    });
  }

  #next(): Zxid {
    return toZxid(++this.#last);
  }

  #modelled(path: string): { data: Uint8Array | undefined; stat: Stat } {
    return { data: this.model.existing(path).data, stat: this.model.stat(path) };
  }

  /** All of a member's tree, path by path in order. */
  async #dump(client: Client): Promise<{ path: string; data: Uint8Array | undefined; stat: ClientStat }[]> {
    await client.sync(CALL);
    const all: { path: string; data: Uint8Array | undefined; stat: ClientStat }[] = [];
    const visit = async (path: string): Promise<void> => {
      const [znode, names] = await Promise.all([client.get(path, CALL), client.children(path, CALL)]);
      all.push({ path, data: znode.isNull ? undefined : znode.data, stat: znode.stat });
      await Promise.all(names.map((name) => visit(path === '/' ? `/${name}` : `${path}/${name}`)));
    };
    await visit('/');
    return all.sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

interface Bare {
  readonly kind: string;
  readonly stat?: ClientStat;
  readonly results?: readonly Bare[];
  readonly [field: string]: unknown;
}

/** A result as the client shows it: of a failure the code alone. */
function bare(result: ModelResult): unknown {
  if (result.kind === 'createOrSet') return { kind: result.kind, stat: result.stat };
  if (result.kind === 'multiRead') return { ...result, results: result.results.map((part) => bare(part)) };
  return result.kind === 'error' ? { kind: 'error', code: result.code } : result;
}

async function settled(call: Promise<Bare>): Promise<Bare> {
  return call.catch((error: unknown) => {
    // Wrong by its shape alone: the client does not send it.
    if (error instanceof TypeError || error instanceof RangeError) return { kind: 'error', code: 'INVALID_ARGUMENT' };
    const { code } = error as CoordinationError;
    if (code === undefined) throw error;
    return { kind: 'error', code };
  });
}

async function writeBy(client: Client, op: WriteOp): Promise<Bare> {
  if (op.kind === 'multi') return multiBy(client, op);
  const { kind, path } = op;
  if (kind === 'create') {
    const mode = op.mode === 'ttl' ? { ttlMs: op.ttlMs! } : op.mode;
    const made = await client.create(path, op.data, { ...CALL, mode, sequential: op.sequential, parents: op.parents });
    return { kind, path: made.path, stat: made.stat };
  }
  if (kind === 'deleteSubtree') return { kind, deleted: await client.deleteSubtree(path, CALL), more: false };
  if (kind === 'createOrSet') return { kind, stat: await client.set(path, op.data!, { ...CALL, upsert: true }) };
  const version = op.expectedVersion;
  if (kind === 'setData') return { kind, stat: await client.set(path, op.data!, { ...CALL, version }) };
  await client.delete(path, { ...CALL, version });
  return { kind };
}

async function multiBy(client: Client, { parts }: MultiOp): Promise<Bare> {
  const txn = client.transaction();
  for (const part of parts) {
    const { kind, path } = part;
    if (kind === 'create') {
      const mode = part.mode === 'ttl' ? { ttlMs: part.ttlMs! } : part.mode;
      txn.create(path, part.data, { mode, sequential: part.sequential });
    } else if (kind === 'setData') txn.set(path, part.data!, { version: part.expectedVersion });
    else if (kind === 'delete') txn.delete(path, { version: part.expectedVersion });
    else if (kind === 'getData') txn.get(path);
    else if (kind === 'exists') txn.stat(path);
    else if (part.absent === true) txn.checkAbsent(path);
    else txn.check(path, part.expectedVersion);
  }
  const results = await txn.commit(CALL);
  return {
    kind: 'multi',
    results: results.map(bareResult),
  };
}

function bareResult(result: TxnResult): Bare {
  if (result.op === 'get') return { kind: 'getData', data: dataOf(result.node), stat: result.node.stat };
  if (result.op === 'stat') return { kind: 'exists', stat: result.stat } as Bare;
  const { op, ...rest } = result;
  return { kind: op === 'set' ? 'setData' : op, ...rest };
}

function dataOf({ data, isNull }: Znode): Uint8Array | undefined {
  return isNull ? undefined : data;
}

async function readAllBy(client: Client, { kind, parts }: MultiReadOp): Promise<Bare> {
  await client.sync(CALL);
  const ops = { exists: 'stat', getData: 'get', getChildren: 'children' } as const;
  const results = await client.readAll(
    parts.map((part) => ({ op: ops[part.kind], path: part.path })),
    CALL,
  );
  return { kind, results: results.map((result, index) => bareRead(parts[index]!.kind, result)) };
}

function bareRead(kind: string, result: ReadResult): Bare {
  if (result.error !== undefined) return { kind: 'error', code: result.error.code };
  if (result.op === 'get') return { kind, data: dataOf(result.node), stat: result.node.stat };
  if (result.op === 'children') return { kind, children: result.children, stat: result.stat };
  return result.stat === undefined ? { kind: 'error', code: 'NO_NODE' } : { kind, stat: result.stat };
}

async function readBy(client: Client, op: ReadOp): Promise<Bare> {
  if (op.kind === 'multiRead') return readAllBy(client, op);
  // What was answered at another member is here after a sync.
  await client.sync(CALL);
  if (op.kind === 'getAcl') {
    const { acl, stat } = await client.getAcl(op.path, CALL);
    const bits = (perms: string) => perms.split('').reduce((sum, letter) => sum + 2 ** 'rwcda'.indexOf(letter), 0);
    return { kind: op.kind, acl: acl.map(({ perms, ...who }) => ({ ...who, perms: bits(perms) })), stat };
  }
  const { kind, path } = op;
  if (kind === 'getEphemerals') return { kind, paths: await client.ephemerals({ ...CALL, prefix: path }) };
  if (kind === 'getAllChildrenNumber') return { kind, total: await client.countDescendants(path, CALL) };
  const znode = await client.get(path, CALL);
  const { stat } = znode;
  if (kind === 'getData') return { kind, data: znode.isNull ? undefined : znode.data, stat };
  if (kind === 'exists') return { kind, stat };
  return { kind, children: await client.children(path, CALL), stat };
}
