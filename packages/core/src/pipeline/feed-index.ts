/** Which feeds a change concerns: by the path of the change and those of its ancestors, whatever the number of feeds. */
import { parentOf } from '@quorate/protocol';
import type { Feed } from './feed.ts';

export class FeedIndex {
  readonly #exact = new Map<string, Set<Feed>>();
  readonly #recursive = new Map<string, Set<Feed>>();

  add(feed: Feed): void {
    const { path } = feed.spec;
    const map = this.#mapOf(feed);
    const feeds = map.get(path);
    if (feeds === undefined) map.set(path, new Set([feed]));
    else feeds.add(feed);
  }

  delete(feed: Feed): void {
    const { path } = feed.spec;
    const map = this.#mapOf(feed);
    const feeds = map.get(path);
    if (feeds?.delete(feed) === true && feeds.size === 0) map.delete(path);
  }

  /** Calls `use` with each feed that watches `path`. */
  watching(path: string, use: (feed: Feed) => void): void {
    this.#exact.get(path)?.forEach(use);
    if (this.#recursive.size === 0) return;
    for (let at = path; ; at = parentOf(at)) {
      this.#recursive.get(at)?.forEach(use);
      if (at === '/') return;
    }
  }

  #mapOf(feed: Feed): Map<string, Set<Feed>> {
    return feed.spec.recursive ? this.#recursive : this.#exact;
  }
}
