import { expect, it } from 'vitest';
import { Feed } from './feed.ts';
import { FeedIndex } from './feed-index.ts';

let number = 0;
const feed = (path: string, recursive = false) => {
  const spec = { path, recursive, initial: false, withValues: false, from: undefined };
  return new Feed(++number, spec, [], 0);
};

function watching(index: FeedIndex, path: string): number[] {
  const found: number[] = [];
  index.watching(path, (one) => found.push(one.number));
  return found.sort((a, b) => a - b);
}

it('knows none, one and many feeds of a path, as they come and go in any order', () => {
  const index = new FeedIndex();
  const [a, b, c] = [feed('/x'), feed('/x'), feed('/x')];
  expect(watching(index, '/x')).toEqual([]);
  for (const one of [a, a, b, c]) index.add(one);
  expect(watching(index, '/x')).toEqual([a.number, b.number, c.number]);
  index.delete(b);
  index.delete(b);
  index.delete(feed('/x'));
  expect(watching(index, '/x')).toEqual([a.number, c.number]);
  index.delete(a);
  index.delete(c);
  expect(watching(index, '/x')).toEqual([]);
  index.add(a);
  index.delete(c);
  expect(watching(index, '/x')).toEqual([a.number]);
  index.delete(a);
  expect(watching(index, '/x')).toEqual([]);
});

it('tells those above that watch all below, and none of the others', () => {
  const index = new FeedIndex();
  const all = [feed('/'), feed('/', true), feed('/x', true), feed('/x', true), feed('/x/y'), feed('/xy', true)];
  for (const one of all) index.add(one);
  expect(watching(index, '/x/y')).toEqual([all[1], all[2], all[3], all[4]].map((one) => one?.number));
  expect(watching(index, '/')).toEqual([all[0], all[1]].map((one) => one?.number));
});
