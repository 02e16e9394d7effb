/**
 * The watches that a client on a stream believes to have: what it says again at the next member when its stream is gone. Follows
 * answers and notifications as a client library does. Lasting watches it only leaves now and then, and does not say again.
 */
import type { Notification, Op, WatchLists, Zxid } from '@quorate/protocol';
import type { Reply } from './front.ts';

export class OwnWatches {
  readonly #data = new Set<string>();
  readonly #exist = new Set<string>();
  readonly #child = new Set<string>();

  get isEmpty(): boolean {
    return this.#data.size + this.#exist.size + this.#child.size === 0;
  }

  /** What is said at the next member. */
  lists(relativeZxid: Zxid): WatchLists {
    const none = { persistent: [], persistentRecursive: [] };
    return { relativeZxid, data: [...this.#data], exist: [...this.#exist], child: [...this.#child], ...none };
  }

  /** An answer has come: a read may have left a watch. */
  answered(op: Op, reply: Reply): void {
    if (reply.kind !== 'answer' || !('watch' in op) || op.watch !== true) return;
    const { result } = reply.answer;
    if (result.kind === 'error') {
      if (op.kind === 'exists' && result.code === 'NO_NODE') this.#exist.add(op.path);
    } else if (op.kind === 'getChildren') this.#child.add(op.path);
    else this.#data.add(op.path);
  }

  /** What is told uses the watch up. */
  told({ kind, path }: Notification): void {
    if (kind === 'nodeChildrenChanged' || kind === 'nodeDeleted') this.#child.delete(path);
    if (kind === 'nodeChildrenChanged') return;
    this.#data.delete(path);
    this.#exist.delete(path);
  }

  clear(): void {
    for (const paths of [this.#data, this.#exist, this.#child]) paths.clear();
  }
}
