import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Children } from './children.ts';

describe('children', () => {
  it('list what a plain set would after sorting, whatever is added, deleted and listed in between', () => {
    const name = fc.constantFrom('a', 'b', 'Z', '10', '9', 'é', 'a1');
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const), name }),
      fc.record({ kind: fc.constant('list' as const), name }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const children = new Children();
        const plain = new Set<string>();
        const listings: [readonly string[], string][] = [];
        for (const one of steps) {
          // The tree adds only what is not there, and deletes only what is.
          if (one.kind === 'add' && !plain.has(one.name)) children.add(one.name);
          if (one.kind === 'delete' && plain.has(one.name)) children.delete(one.name);
          if (one.kind === 'add') plain.add(one.name);
          if (one.kind === 'delete') plain.delete(one.name);
          if (one.kind === 'list') listings.push([children.inOrder(), [...plain].sort().join()]);
          expect(children.size).toBe(plain.size);
        }
        for (const [listing, expected] of listings) expect(listing.join()).toBe(expected);
        expect(children.inOrder()).toEqual([...plain].sort());
      }),
      { numRuns: 100 },
    );
  });

  it('list a name once that was deleted and added again since the last listing', () => {
    const children = new Children();
    for (const name of ['c', 'a']) children.add(name);
    children.inOrder();
    children.delete('a');
    children.add('a');
    children.add('b');
    expect(children.inOrder()).toEqual(['a', 'b', 'c']);
  });

  it('give the same array again while nothing has changed', () => {
    const children = new Children();
    children.add('b');
    children.add('a');
    expect(children.inOrder()).toBe(children.inOrder());
  });
});
