/**
 * How large the txn that closes a session would be: the bytes of its ephemerals' paths, those in flight included. Kept so
 * that a session's end always fits one txn, and so one message and one log record. Source: reference §9.11, ZOOKEEPER-4306.
 */
import { NO_SESSION, type SessionId, utf8Length } from '@quorate/protocol';

/** Most bytes of paths that one session's ephemerals may have; past it a create is THROTTLED. Half a peer message. */
export const CLOSE_SESSION_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes that a path takes in the txn beside its own. */
const PATH_OVERHEAD_BYTES = 4;

export class EphemeralLoad {
  readonly #ephemeralsOf: (session: SessionId) => Iterable<string>;
  /** Only sessions whose ephemerals this leader has changed; counted from the tree at the first change. */
  readonly #bytes = new Map<SessionId, number>();

  constructor(ephemeralsOf: (session: SessionId) => Iterable<string>) {
    this.#ephemeralsOf = ephemeralsOf;
  }

  /** True when `session` may have one more ephemeral at `path`, beside those of `bornBytes` that are not proposed yet. */
  hasRoom(session: SessionId, path: string, bornBytes = 0): boolean {
    return this.#of(session) + bornBytes + ephemeralCost(path) <= CLOSE_SESSION_BYTES_MAX;
  }

  /** After `hasRoom` and the proposal of the create. */
  added(session: SessionId, path: string): void {
    this.#bytes.set(session, this.#of(session) + ephemeralCost(path));
  }

  /** A znode of this owner goes, whoever deletes it. */
  removed(owner: SessionId, path: string): void {
    if (owner !== NO_SESSION) this.#bytes.set(owner, this.#of(owner) - ephemeralCost(path));
  }

  ended(session: SessionId): void {
    this.#bytes.delete(session);
  }

  #of(session: SessionId): number {
    const known = this.#bytes.get(session);
    if (known !== undefined) return known;
    let bytes = 0;
    for (const path of this.#ephemeralsOf(session)) bytes += ephemeralCost(path);
    this.#bytes.set(session, bytes);
    return bytes;
  }
}

/** Bytes that an ephemeral of that path counts for. */
export function ephemeralCost(path: string): number {
  return utf8Length(path) + PATH_OVERHEAD_BYTES;
}
