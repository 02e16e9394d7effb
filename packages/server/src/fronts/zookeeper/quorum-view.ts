/**
 * Whether this member is cut off from its quorum for so long that it offers read-only service on the ZooKeeper port. Looked at by
 * the clock of the front; decides nothing else. Source: ZooKeeper `ReadOnlyZooKeeperServer`, reference §10.1.
 */
import type { CoreAccess } from '../core-access.ts';

/** As long as a member looks for a leader before that, ms; a tick at the least. */
const PATIENCE_MS = 2_000;

export class QuorumView {
  readonly #core: CoreAccess;
  readonly #patienceMs: number;
  #lookingSinceMs: number | undefined;

  constructor(core: CoreAccess, tickMs: number) {
    this.#core = core;
    this.#patienceMs = Math.max(PATIENCE_MS, tickMs);
  }

  /** It has a leader, or is one. */
  get hasLeader(): boolean {
    const role = this.#core.status()?.role;
    return role !== undefined && role !== 'looking';
  }

  /** Only clients that allow it are served, and only with what was applied when the leader was lost. */
  get isReadOnly(): boolean {
    if (this.hasLeader || this.#lookingSinceMs === undefined || this.#core.refusal() !== undefined) return false;
    return performance.now() - this.#lookingSinceMs >= this.#patienceMs;
  }

  /** To be called several times a second. */
  look(): void {
    if (this.hasLeader || this.#core.status() === undefined) this.#lookingSinceMs = undefined;
    else this.#lookingSinceMs ??= performance.now();
  }
}
