/** Which feeds a change concerns: by the path of the change and those of its ancestors, whatever the number of feeds. */
import { parentOf } from '@quorate/protocol';
import type { Feed } from './feed.ts';

/** The feeds of one path. Most paths that are watched are watched once: a set of one would be twice as large as the feed. */
type Watching = Feed | Set<Feed>;

export class FeedIndex {
  readonly #exact = new Map<string, Watching>();
  readonly #recursive = new Map<string, Watching>();

  add(feed: Feed): void {
    const { path } = feed.spec;
    const map = this.#mapOf(feed);
    const feeds = map.get(path);
    if (feeds === undefined) map.set(path, feed);
    else if (feeds instanceof Set) feeds.add(feed);
    else if (feeds !== feed) map.set(path, new Set([feeds, feed]));
  }

  delete(feed: Feed): void {
    const { path } = feed.spec;
    const map = this.#mapOf(feed);
    const feeds = map.get(path);
    if (feeds === feed) map.delete(path);
    else if (feeds instanceof Set && feeds.delete(feed) && feeds.size === 0) map.delete(path);
  }

  /** Calls `use` with each feed that watches `path`. */
  watching(path: string, use: (feed: Feed) => void): void {
    visit(this.#exact.get(path), use);
    if (this.#recursive.size === 0) return;
    for (let at = path; ; at = parentOf(at)) {
      visit(this.#recursive.get(at), use);
      if (at === '/') return;
    }
  }

  #mapOf(feed: Feed): Map<string, Watching> {
    return feed.spec.recursive ? this.#recursive : this.#exact;
  }
}

function visit(feeds: Watching | undefined, use: (feed: Feed) => void): void {
  if (feeds instanceof Set) feeds.forEach(use);
  else if (feeds !== undefined) use(feeds);
}
