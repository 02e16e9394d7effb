/**
 * Splits a history by path. A call concerns its own znode, and a create also the parent. Each path then has a history of
 * its own with the same intervals. If the whole history is linearizable, so is each part; the reverse does not hold for
 * results that need two znodes at one moment (NOT_EMPTY, lists of children). A transaction over several paths could not be
 * split: its paths would have to share one part.
 */
import { isReadKind } from '@quorate/protocol';
import { fateOfCall, type History, type HistoryCall } from './history.ts';
import type { Timed } from './search.ts';
import type { Sight, ZnodeOp, ZnodeState } from './znode-model.ts';

/** One step of one call, as it concerns one path. */
export interface PartOp {
  readonly znode: ZnodeOp;
  readonly call: HistoryCall | undefined;
}

export interface Part {
  readonly path: string;
  readonly initial: ZnodeState;
  readonly operations: readonly Timed<PartOp>[];
}

const SEQUENCE_DIGITS = 10;

/** Splits the history. Every path is absent at its beginning, but for the root. */
export function partition(history: History): readonly Part[] {
  return new Partition(history).parts();
}

class Partition {
  readonly #history: History;
  readonly #floors: ReadonlyMap<HistoryCall, number>;
  readonly #parts = new Map<string, Timed<PartOp>[]>();
  /** Data that some result that is checked has shown, numbered from 1; 0 stands for all others. */
  readonly #values = new Map<string, number>();
  /** Parents of sequential znodes whose number is known. */
  readonly #counting = new Set<string>();
  /** When each session was alive for sure, and the call that closed it. */
  readonly #aliveAt = new Map<bigint, number>();
  readonly #closing = new Map<bigint, HistoryCall>();
  /** Sessions that may have had an ephemeral at a path. */
  readonly #owners = new Map<string, Map<bigint, number>>();
  readonly #created = new Set<string>();

  constructor(history: History) {
    this.#history = history;
    this.#floors = floorsOf(history);
    for (const call of history) this.#survey(call);
  }

  parts(): readonly Part[] {
    for (const call of this.#history) this.#take(call);
    this.#takeUnnumbered();
    this.#takeEnds();
    return [...this.#parts].map(([path, operations]) => ({
      path,
      initial: path === '/' ? { version: 0, value: 0, owner: 0n, creates: undefined } : 'absent',
      operations,
    }));
  }

  /** What must be known before any call is split. */
  #survey(call: HistoryCall): void {
    const { op, result, session, invokedAt } = call;
    const fate = fateOfCall(call);
    const isChecked = call.linearizable || this.#floors.has(call);
    if (result?.kind === 'getData' && fate === 'done' && isChecked) {
      const key = dataKey(result.data);
      if (!this.#values.has(key)) this.#values.set(key, this.#values.size + 1);
    }
    if (op.kind === 'create' && result?.kind === 'create' && fate === 'done') {
      this.#created.add(result.path);
      if (op.sequential) this.#counting.add(parentOf(op.path));
    }
    const isOrdered = op.kind === 'create' || op.kind === 'setData' || op.kind === 'delete';
    if (session !== 0n && isOrdered && (fate === 'done' || fate === 'refused')) {
      this.#aliveAt.set(session, Math.max(invokedAt, this.#aliveAt.get(session) ?? invokedAt));
    }
    if (op.kind === 'closeSession' && fate === 'done') this.#closing.set(session, call);
  }

  #take(call: HistoryCall): void {
    const fate = fateOfCall(call);
    const { op } = call;
    if (fate === 'not-done') return;
    switch (op.kind) {
      case 'create':
        this.#takeCreate(call, op, fate);
        break;
      case 'setData':
      case 'delete':
        this.#takeChange(call, op, fate);
        break;
      case 'exists':
      case 'getData':
      case 'getChildren': {
        const from = call.linearizable ? call.invokedAt : this.#floors.get(call);
        if (fate === 'unknown' || from === undefined) break;
        this.#add(op.path, call, { kind: 'see', sight: this.#sightOf(call) }, from);
        break;
      }
      case 'getEphemerals':
      case 'getAllChildrenNumber':
      case 'setAcl':
      case 'getAcl':
      case 'sync':
      case 'closeSession':
        break;
    }
  }

  #takeCreate(call: HistoryCall, op: Extract<HistoryCall['op'], { kind: 'create' }>, fate: string): void {
    const { result, session } = call;
    const parent = parentOf(op.path);
    const owner = op.mode === 'ephemeral' ? session : 0n;
    if (fate === 'refused' && result?.kind === 'error') {
      if (result.code === 'NO_NODE') this.#see(parent, call, { exists: false });
      else if (result.code === 'NODE_EXISTS' && !op.sequential) this.#see(op.path, call, { exists: true });
      else if (result.code === 'NO_CHILDREN_FOR_EPHEMERALS')
        this.#see(parent, call, { exists: true, isEphemeral: true });
      return;
    }
    const path = result?.kind === 'create' ? result.path : op.sequential ? undefined : op.path;
    if (this.#counting.has(parent)) {
      const number = op.sequential && path !== undefined ? Number(path.slice(-SEQUENCE_DIGITS)) : undefined;
      this.#add(parent, call, { kind: 'child', number });
    } else if (fate === 'done') this.#see(parent, call, { exists: true });
    if (path !== undefined) this.#addCreate(path, call, owner);
  }

  #addCreate(path: string, call: HistoryCall, owner: bigint): void {
    const value = this.#valueOf('data' in call.op ? call.op.data : undefined);
    this.#add(path, call, { kind: 'create', value, owner, countsChildren: this.#counting.has(path) });
    if (owner === 0n) return;
    const owners = this.#owners.get(path) ?? new Map<bigint, number>();
    owners.set(owner, Math.min(call.invokedAt, owners.get(owner) ?? call.invokedAt));
    this.#owners.set(path, owners);
  }

  #takeChange(call: HistoryCall, op: Extract<HistoryCall['op'], { kind: 'setData' | 'delete' }>, fate: string): void {
    const { result } = call;
    const expected = op.expectedVersion;
    if (fate === 'refused' && result?.kind === 'error') {
      if (result.code === 'NO_NODE') this.#see(op.path, call, { exists: false });
      else if (result.code === 'BAD_VERSION' && expected !== undefined)
        this.#see(op.path, call, { exists: true, versionNot: expected });
      else if (result.code === 'NOT_EMPTY')
        this.#see(op.path, call, expected === undefined ? { exists: true } : { exists: true, version: expected });
      return;
    }
    if (op.kind === 'delete') this.#add(op.path, call, { kind: 'remove', expected });
    else {
      const version = result?.kind === 'setData' ? result.stat?.version : undefined;
      this.#add(op.path, call, { kind: 'set', value: this.#valueOf(op.data), expected, version });
    }
  }

  /** A sequential create without a result may have made any znode of its prefix that nobody else has made. */
  #takeUnnumbered(): void {
    const orphans = [...this.#parts.keys()].filter((path) => !this.#created.has(path));
    for (const call of this.#history) {
      const { op } = call;
      if (op.kind !== 'create' || !op.sequential || fateOfCall(call) !== 'unknown') continue;
      for (const path of orphans) {
        const digits = path.slice(op.path.length);
        if (!path.startsWith(op.path) || digits.length !== SEQUENCE_DIGITS || !/^\d+$/.test(digits)) continue;
        this.#addCreate(path, call, op.mode === 'ephemeral' ? call.session : 0n);
      }
    }
  }

  /** A session may end by itself at any time after it was alive for sure; a close that was answered has ended it. */
  #takeEnds(): void {
    for (const [path, owners] of this.#owners) {
      for (const [session, createdAt] of owners) {
        const op: ZnodeOp = { kind: 'end', session };
        const closing = this.#closing.get(session);
        if (closing !== undefined) this.#add(path, closing, op);
        else {
          const from = Math.max(createdAt, this.#aliveAt.get(session) ?? createdAt);
          this.#push(path, { op: { znode: op, call: undefined }, from, to: Infinity });
        }
      }
    }
  }

  #see(path: string, call: HistoryCall, sight: Sight): void {
    this.#add(path, call, { kind: 'see', sight });
  }

  #add(path: string, call: HistoryCall, znode: ZnodeOp, from = call.invokedAt): void {
    const to = fateOfCall(call) === 'unknown' ? Infinity : (call.returnedAt ?? Infinity);
    this.#push(path, { op: { znode, call }, from, to });
  }

  #push(path: string, timed: Timed<PartOp>): void {
    const part = this.#parts.get(path);
    if (part === undefined) this.#parts.set(path, [timed]);
    else part.push(timed);
  }

  #sightOf({ result }: HistoryCall): Sight {
    if (result === undefined || result.kind === 'error') return { exists: false };
    const stat = 'stat' in result ? result.stat : undefined;
    return {
      exists: true,
      ...(stat?.version === undefined ? {} : { version: stat.version }),
      ...(stat?.ephemeralOwner === undefined ? {} : { owner: stat.ephemeralOwner }),
      ...(result.kind === 'getData' ? { value: this.#valueOf(result.data) } : {}),
    };
  }

  #valueOf(data: Uint8Array | undefined): number {
    return this.#values.get(dataKey(data)) ?? 0;
  }
}

/**
 * From when on an ordinary read of a stream must be right: it shows nothing older than the writes, syncs and linearizable
 * reads of its stream that came before it did. Without any, an ordinary read may be as old as it likes.
 */
function floorsOf(history: History): ReadonlyMap<HistoryCall, number> {
  const floors = new Map<HistoryCall, number>();
  const streams = new Map<string, HistoryCall[]>();
  for (const call of history) {
    if (call.stream === undefined || call.returnedAt === undefined) continue;
    const calls = streams.get(call.stream) ?? [];
    calls.push(call);
    streams.set(call.stream, calls);
  }
  for (const calls of streams.values()) {
    let floor: number | undefined;
    // A stream answers in the order of its calls, so that what was called before has also been answered before.
    for (const call of calls.sort((a, b) => a.invokedAt - b.invokedAt)) {
      const { kind } = call.op;
      const fate = fateOfCall(call);
      if (fate !== 'done' && fate !== 'refused') continue;
      const isRead = isReadKind(kind);
      if (!isRead || call.linearizable) floor = call.invokedAt;
      else if (floor !== undefined) floors.set(call, floor);
    }
  }
  return floors;
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

function dataKey(data: Uint8Array | undefined): string {
  return data === undefined ? 'null' : `:${String.fromCharCode(...data)}`;
}
