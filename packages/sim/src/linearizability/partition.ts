/**
 * Splits a history by path. A call concerns its own znode, and a create also the parent. Each path then has a history of
 * its own with the same intervals. If the whole history is linearizable, so is each part; the reverse does not hold for
 * results that need two znodes at one moment (NOT_EMPTY, lists of children). So it is for a multi: each of its znodes sees it at
 * a moment of its own within its interval; that they are one moment is not looked at here.
 */
import { isReadKind, type OpFailure, quotaNode, type ReadPart } from '@quorate/protocol';
import { isWrite, type NamingWrite } from '../calls.ts';
import { creation, effectsOf, parentOf, SEQUENCE_DIGITS, seenParts, sightOfRefusal } from './effects.ts';
import { fateOfCall, type History, type HistoryCall, type SeenPart, type SeenRead } from './history.ts';
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

/** Znodes that every tree begins with. */
const BUILT_IN: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']);

/** Splits the history. Every other path is absent at its beginning. */
export function partition(history: History): readonly Part[] {
  return new Partition(history).parts();
}

class Partition {
  readonly #history: History;
  readonly #floors: ReadonlyMap<HistoryCall, number>;
  readonly #parts = new Map<string, Timed<PartOp>[]>();
  /** Data that some result that is checked has shown, numbered from 1; 0 stands for all others. */
  readonly #values = new Map<string, number>();
  readonly #known = {
    counting: new Set<string>(),
    valueOf: (data: Uint8Array | undefined): number => this.#values.get(dataKey(data)) ?? 0,
  };
  /** When each session was alive for sure, and the call that closed it. */
  readonly #aliveAt = new Map<bigint, number>();
  readonly #closing = new Map<bigint, HistoryCall>();
  /** Sessions that may have had an ephemeral at a path. */
  readonly #owners = new Map<string, Map<bigint, number>>();
  readonly #created = new Set<string>();
  /** Ends of subtrees that were asked for. */
  readonly #ends: [top: string, call: HistoryCall][] = [];
  /** Creates of znodes that the ensemble may delete by itself. */
  readonly #timed: [path: string, from: number][] = [];

  constructor(history: History) {
    this.#history = history;
    this.#floors = floorsOf(history);
    for (const call of history) this.#survey(call);
  }

  parts(): readonly Part[] {
    for (const call of this.#history) this.#take(call);
    this.#takeUnnumbered();
    this.#takeEnds();
    this.#takeReaps();
    this.#takeBelowEnds();
    return [...this.#parts].map(([path, operations]) => ({
      path,
      initial: BUILT_IN.has(path) ? { version: 0, value: 0, owner: 0n, isTimed: false, creates: undefined } : 'absent',
      operations,
    }));
  }

  /** What must be known before any call is split. */
  #survey(call: HistoryCall): void {
    const { op, result, session, invokedAt } = call;
    const fate = fateOfCall(call);
    const isChecked = call.linearizable || this.#floors.has(call);
    const shown = result?.kind === 'multiRead' ? result.results : [result];
    for (const each of isChecked && fate === 'done' ? shown : []) {
      if (each?.kind === 'getData') this.#number(each.data);
    }
    if (isWriteCall(call)) {
      if (fate === 'done') for (const [part, partResult] of seenParts(call)) this.#surveyPart(part, partResult);
      if (session !== 0n && (fate === 'done' || fate === 'refused')) {
        this.#aliveAt.set(session, Math.max(invokedAt, this.#aliveAt.get(session) ?? invokedAt));
      }
    }
    if (op.kind === 'closeSession' && fate === 'done') this.#closing.set(session, call);
  }

  #number(data: Uint8Array | undefined): void {
    const key = dataKey(data);
    if (!this.#values.has(key)) this.#values.set(key, this.#values.size + 1);
  }

  #surveyPart(part: ReturnType<typeof seenParts>[number][0], result: SeenPart | undefined): void {
    if (result?.kind === 'getData') this.#number(result.data);
    if (part.kind !== 'create' || result?.kind !== 'create') return;
    this.#created.add(result.path);
    if (part.sequential) this.#known.counting.add(parentOf(part.path));
  }

  #take(call: HistoryCall): void {
    const fate = fateOfCall(call);
    const { op } = call;
    if (fate === 'not-done') return;
    if (isWriteCall(call)) return this.#takeWrite(call);
    if (op.kind === 'deleteSubtree') return this.#takeSubtreeEnd(call, op.path);
    const from = call.linearizable ? call.invokedAt : this.#floors.get(call);
    if (fate === 'unknown' || from === undefined) return;
    switch (op.kind) {
      case 'exists':
      case 'getData':
      case 'getChildren':
        this.#add(op.path, call, { kind: 'see', sight: this.#sightOf(op, call.result) }, from);
        break;
      case 'multiRead':
        if (call.result?.kind === 'multiRead') this.#takeReads(call, op.parts, call.result.results, from);
        break;
      default:
        break;
    }
  }

  /** Of the top it is known what became of it; what is below may be gone or not. */
  #takeSubtreeEnd(call: HistoryCall, path: string): void {
    const { result } = call;
    this.#ends.push([path, call]);
    if (result?.kind === 'deleteSubtree') {
      this.#add(
        path,
        call,
        result.more ? { kind: 'see', sight: { exists: true } } : { kind: 'remove', expected: undefined },
      );
    } else if (result?.kind === 'error' && result.code === 'NO_NODE') {
      this.#add(path, call, { kind: 'see', sight: { exists: false } });
    }
  }

  /** Each may go with it, at any time from then on: a step of which nothing was heard may come late. */
  #takeBelowEnds(): void {
    for (const [top, call] of this.#ends) {
      for (const path of this.#parts.keys()) {
        if (path !== top && !path.startsWith(`${top}/`)) continue;
        this.#push(path, {
          op: { znode: { kind: 'remove', expected: undefined }, call },
          from: call.invokedAt,
          to: Infinity,
        });
      }
    }
  }

  /** All at one moment: a path that is read twice is seen once, the same. */
  #takeReads(call: HistoryCall, parts: readonly ReadPart[], results: readonly (SeenRead | OpFailure)[], from: number) {
    const byPath = new Map<string, ZnodeOp[]>();
    parts.forEach((part, index) => {
      const ops = byPath.get(part.path) ?? [];
      ops.push({ kind: 'see', sight: this.#sightOf(part, results[index]) });
      byPath.set(part.path, ops);
    });
    for (const [path, ops] of byPath) this.#add(path, call, { kind: 'all', ops }, from);
  }

  #takeWrite(call: HistoryCall & WriteCall): void {
    if (fateOfCall(call) === 'refused') {
      const shown = sightOfRefusal(call);
      if (shown !== undefined) this.#add(shown[0], call, { kind: 'see', sight: shown[1] });
      return;
    }
    const isUnknown = fateOfCall(call) === 'unknown';
    for (const [path, ops] of effectsOf(call, this.#known)) {
      if (isUnknown && ops.every(({ kind }) => kind === 'see')) continue;
      const [only] = ops;
      this.#add(path, call, ops.length === 1 && only !== undefined ? only : { kind: 'all', ops });
      for (const op of ops) this.#noteCreate(path, call, op);
    }
  }

  /** Who may have had an ephemeral there, and since when one may have been there that goes by itself. */
  #noteCreate(path: string, { invokedAt }: HistoryCall, op: ZnodeOp): void {
    if (op.kind !== 'create') return;
    if (op.isTimed) this.#timed.push([path, invokedAt]);
    if (op.owner === 0n) return;
    const owners = this.#owners.get(path) ?? new Map<bigint, number>();
    owners.set(op.owner, Math.min(invokedAt, owners.get(op.owner) ?? invokedAt));
    this.#owners.set(path, owners);
  }

  /** A sequential create without a result may have made any znode of its prefix that nobody else has made. */
  #takeUnnumbered(): void {
    const orphans = [...this.#parts.keys()].filter((path) => !this.#created.has(path));
    for (const call of this.#history) {
      if (!isWriteCall(call) || fateOfCall(call) !== 'unknown') continue;
      for (const [part] of seenParts(call)) {
        if (part.kind !== 'create' || !part.sequential) continue;
        for (const path of orphans) {
          const digits = path.slice(part.path.length);
          if (!path.startsWith(part.path) || digits.length !== SEQUENCE_DIGITS || !/^\d+$/.test(digits)) continue;
          const op = creation(path, part, call.session, this.#known);
          this.#add(path, call, op);
          this.#noteCreate(path, call, op);
        }
      }
    }
  }

  /** Whatever has a time may be deleted by the ensemble at any time after its create. */
  #takeReaps(): void {
    for (const [path, from] of this.#timed) {
      this.#push(path, { op: { znode: { kind: 'reap' }, call: undefined }, from, to: Infinity });
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

  #add(path: string, call: HistoryCall, znode: ZnodeOp, from = call.invokedAt): void {
    const to = fateOfCall(call) === 'unknown' ? Infinity : (call.returnedAt ?? Infinity);
    this.#push(path, { op: { znode, call }, from, to });
  }

  #push(path: string, timed: Timed<PartOp>): void {
    const part = this.#parts.get(path);
    if (part === undefined) this.#parts.set(path, [timed]);
    else part.push(timed);
  }

  #sightOf(op: ReadPart, result: SeenRead | OpFailure | HistoryCall['result']): Sight {
    if (result === undefined || result.kind === 'error') return { exists: result?.code === 'NO_AUTH' };
    const stat = 'stat' in result ? result.stat : undefined;
    return {
      exists: true,
      ...(stat?.version === undefined ? {} : { version: stat.version }),
      ...(stat?.ephemeralOwner === undefined ? {} : { owner: stat.ephemeralOwner }),
      ...(result.kind === 'getData' && !isKeptByEnsemble(op) ? { value: this.#known.valueOf(result.data) } : {}),
    };
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

/** What a quota holds is written down by nobody's call. */
function isKeptByEnsemble({ path }: ReadPart): boolean {
  return quotaNode(path)?.kind === 'stats';
}

type WriteCall = { readonly op: NamingWrite };

function isWriteCall(call: HistoryCall): call is HistoryCall & WriteCall {
  return isWrite(call.op) && call.op.kind !== 'deleteSubtree';
}

function dataKey(data: Uint8Array | undefined): string {
  return data === undefined ? 'null' : `:${String.fromCharCode(...data)}`;
}
