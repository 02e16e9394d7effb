/**
 * Builds a tree from the records of a state database or a snapshot. The tree is new: it replaces the one before and
 * takes nothing from it (case C071). Whatever does not fit together is damage and is named, never repaired: every znode
 * must have its parent, every ephemeral its session, and counts, zxid and digest must be what the checkpoint said.
 */
import {
  DecodeError,
  formatSessionId,
  formatZxid,
  NO_SESSION,
  parentOf,
  pathFault,
  unreachable,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { DataTree } from './data-tree.ts';
import { DIGEST_VERSION } from './digest.ts';
import { RecordReader, type StateEntry, type StateRecord, type Summary } from './state-record.ts';
import { BUILT_IN_PATHS, TreeState } from './tree-state.ts';
import type { StoredZnode } from './znode.ts';

export class TreeLoader {
  readonly #state = new TreeState();
  readonly #reader = new RecordReader(this.#state.rows);
  #summary: Summary | undefined = undefined;
  /** Znodes that came before their parent or their session; in key order there are only ephemerals. */
  #waiting: StoredZnode[] = [];
  /** The greatest path so far: what comes after it is new. So in key order nothing is looked up. */
  #last = '';
  /** The parent of the last znode, which is that of most that come next. */
  #parent: StoredZnode | undefined = undefined;
  #isFinished = false;

  /** Takes the next records. In any order; in key order with the least memory. Copies what it keeps. Throws DecodeError. */
  add(records: readonly StateRecord[]): void {
    for (const record of records) this.#addEntry(this.#reader.read(record));
  }

  /**
   * The tree of all records added, at `zxid`. No records at all is the empty tree, at zxid 0 only.
   * Throws DecodeError with the reason when something is missing or does not fit. The loader is used up.
   */
  finish(zxid: Zxid): DataTree {
    if (this.#isFinished) throw new DecodeError('The state was loaded already');
    this.#isFinished = true;
    this.#attachWaiting();
    const state = this.#state;
    state.endLoad();
    if (this.#summary === undefined && state.znodeCount === 0 && state.sessions.size === 0 && zxid === ZERO_ZXID) {
      return DataTree.empty();
    }
    for (const path of BUILT_IN_PATHS) {
      if (state.get(path) === undefined) throw new DecodeError(`The state has no znode ${path}`);
    }
    this.#checkSummary(zxid);
    return new DataTree(state, zxid);
  }

  #addEntry(entry: StateEntry): void {
    switch (entry.kind) {
      case 'znode':
        this.#addZnode(entry.znode);
        return;
      case 'session':
        if (entry.id === NO_SESSION || this.#state.sessions.get(entry.id) !== undefined) {
          throw new DecodeError(`The state has session ${formatSessionId(entry.id)} twice, or it is no session`);
        }
        this.#state.addSession(entry.id, entry.timeoutMs, entry.token);
        for (const { request, bytes } of entry.results)
          this.#state.addResult(entry.id, { request, acknowledged: 0 }, bytes);
        return;
      case 'summary':
        if (this.#summary !== undefined) throw new DecodeError('The state has two summaries');
        this.#summary = entry.summary;
        return;
      default:
        unreachable(entry);
    }
  }

  #addZnode(znode: StoredZnode): void {
    const { path } = znode;
    const fault = pathFault(path);
    if (fault !== undefined) throw new DecodeError(`The state has the bad path ${path}: ${fault}`);
    if (path > this.#last) this.#last = path;
    else if (this.#state.get(path) !== undefined) throw new DecodeError(`The state has ${path} twice`);
    if (!this.#tryAttach(znode)) this.#waiting.push(znode);
  }

  /** False while the parent or the session is not there. */
  #tryAttach(znode: StoredZnode): boolean {
    const state = this.#state;
    const parent = znode.path === '/' ? undefined : this.#parentOf(znode.path);
    if (parent === undefined && znode.path !== '/') return false;
    if (znode.isEphemeral && state.sessions.get(znode.ephemeralOwner) === undefined) return false;
    if (parent?.isEphemeral === true) throw new DecodeError(`The state has ${znode.path} below an ephemeral`);
    state.load(znode, parent);
    return true;
  }

  #parentOf(path: string): StoredZnode | undefined {
    const last = this.#parent;
    const length = Math.max(path.lastIndexOf('/'), 1);
    if (last !== undefined && last.path.length === length && path.startsWith(last.path)) return last;
    const parent = this.#state.get(parentOf(path));
    if (parent !== undefined) this.#parent = parent;
    return parent;
  }

  #attachWaiting(): void {
    // By path, so that a parent that waited too comes before its children.
    const waiting = this.#waiting.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    this.#waiting = [];
    for (const znode of waiting) {
      if (this.#state.get(znode.path) !== undefined) throw new DecodeError(`The state has ${znode.path} twice`);
      if (!this.#tryAttach(znode))
        throw new DecodeError(`The state has ${znode.path} without its parent or its session`);
    }
  }

  #checkSummary(zxid: Zxid): void {
    const summary = this.#summary;
    const state = this.#state;
    if (summary === undefined) throw new DecodeError('The state has no summary: it is not a whole checkpoint');
    if (summary.zxid !== zxid) {
      throw new DecodeError(`The state is at ${formatZxid(summary.zxid)}, not at ${formatZxid(zxid)}`);
    }
    if (summary.znodeCount !== state.znodeCount || summary.sessionCount !== state.sessions.size) {
      throw new DecodeError(
        `The state has ${state.znodeCount} znodes and ${state.sessions.size} sessions, ` +
          `its checkpoint had ${summary.znodeCount} and ${summary.sessionCount}`,
      );
    }
    if (summary.digestVersion === DIGEST_VERSION && summary.digest !== state.digest) {
      throw new DecodeError(`The state has digest ${hex(state.digest)}, its checkpoint had ${hex(summary.digest)}`);
    }
  }
}

function hex(value: bigint): string {
  return `0x${value.toString(16).padStart(16, '0')}`;
}
