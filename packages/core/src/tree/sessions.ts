/**
 * The table of sessions: replicated state like the znodes. It knows who is in a session, not whether the client is
 * alive: expiry is decided by the leader (pipeline) and arrives here as a closeSession txn.
 * Source: ZooKeeper `SessionTrackerImpl.sessionsWithTimeout` and `DataTree.ephemerals`.
 */
import { assert, formatSessionId, NO_SESSION, type SessionId } from '@quorate/protocol';
import { type PackedData, pack, unpack } from './packed.ts';
import { type Results, SessionResults, type StoredResult } from './results.ts';

/** A session as every member knows it. A live view: `ephemerals` changes with the tree. */
export interface Session {
  readonly id: SessionId;
  /** As negotiated when it was opened. */
  readonly timeoutMs: number;
  /** Secret with which a client proves that the session is its own. Never log it. */
  readonly token: Uint8Array;
  /** Paths of its ephemeral znodes; the order of iteration differs between members, so sort before it can be seen. */
  readonly ephemerals: ReadonlySet<string>;
  /** What its numbered writes came to. */
  readonly results: Results;
}

/** The read-only face of the table. */
export interface SessionTable {
  get(id: SessionId): Session | undefined;
  readonly size: number;
  /** All ids, ascending as unsigned numbers. Sorts at each call: for status and for a new leader, not for hot paths. */
  ids(): readonly SessionId[];
  /** Those above `id`, ascending; from the first on after NO_SESSION. Sorts them at each call. */
  idsAfter(id: SessionId): readonly SessionId[];
}

const NO_RESULTS: Results = new SessionResults();
const NO_TOKEN = new Uint8Array(0);
const NO_PATHS: ReadonlySet<string> = new Set<string>();

/** The layout, for `tree/` alone. */
export class StoredSession implements Session {
  readonly id: SessionId;
  readonly timeoutMs: number;
  /** The token as it is kept: as an array of bytes it would be more than all the rest. */
  readonly packedToken: PackedData;
  /** Made with the first ephemeral: many sessions never have one. */
  paths: Set<string> | undefined = undefined;
  /** Made with the first numbered write. */
  kept: SessionResults | undefined = undefined;
  /** What this session has added to the tree's digest. */
  hashHigh = 0;
  hashLow = 0;

  /** Copies `token`. */
  constructor(id: SessionId, timeoutMs: number, token: Uint8Array) {
    this.id = id;
    this.timeoutMs = timeoutMs;
    this.packedToken = pack(token);
  }

  /** A copy. */
  get token(): Uint8Array {
    return unpack(this.packedToken) ?? NO_TOKEN;
  }

  get ephemerals(): ReadonlySet<string> {
    return this.paths ?? NO_PATHS;
  }

  get results(): Results {
    return this.kept ?? NO_RESULTS;
  }
}

/** The table with its mutators, for `tree/` alone. */
export class Sessions implements SessionTable {
  readonly #byId = new Map<SessionId, StoredSession>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: SessionId): StoredSession | undefined {
    return this.#byId.get(id);
  }

  /** All of them, in no order. It goes on over changes: what is removed meanwhile does not come. */
  stored(): IterableIterator<StoredSession> {
    return this.#byId.values();
  }

  ids(): readonly SessionId[] {
    return this.idsAfter(NO_SESSION);
  }

  idsAfter(id: SessionId): readonly SessionId[] {
    const ids = [...this.#byId.keys()].filter((one) => one > id);
    return ids.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  }

  /** Copies `token`. */
  add(id: SessionId, timeoutMs: number, token: Uint8Array): StoredSession {
    assert(!this.#byId.has(id), () => `Cannot add session ${formatSessionId(id)}: it exists`);
    const session = new StoredSession(id, timeoutMs, token);
    this.#byId.set(id, session);
    return session;
  }

  remove(id: SessionId): StoredSession {
    const session = this.#byId.get(id);
    assert(
      session !== undefined && session.ephemerals.size === 0,
      () => `Cannot remove session ${formatSessionId(id)}: it is unknown or has ephemerals`,
    );
    this.#byId.delete(id);
    return session;
  }

  /** Keeps the result of a numbered write; returns what is forgotten instead. */
  addResult(id: SessionId, acknowledged: number, result: StoredResult): readonly StoredResult[] {
    const session = this.#byId.get(id);
    assert(session !== undefined, () => `Cannot keep a result of session ${formatSessionId(id)}: it is unknown`);
    session.kept ??= new SessionResults();
    return session.kept.add(acknowledged, result);
  }

  addEphemeral(id: SessionId, path: string): void {
    const session = this.#byId.get(id);
    assert(session !== undefined, () => `Cannot bind ${path} to session ${formatSessionId(id)}: it is unknown`);
    session.paths ??= new Set();
    session.paths.add(path);
  }

  removeEphemeral(id: SessionId, path: string): void {
    const paths = this.#byId.get(id)?.paths;
    assert(
      paths?.delete(path) === true,
      () => `Cannot unbind ${path} from session ${formatSessionId(id)}: it is not bound to it`,
    );
  }
}
