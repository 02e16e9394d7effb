import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Children, type Sibling } from './children.ts';

function child(name: string): Sibling {
  return { path: `/parent/${name}`, previous: undefined, next: undefined };
}

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
        const plain = new Map<string, Sibling>();
        const listings: [readonly string[], string][] = [];
        for (const one of steps) {
          // The tree adds only what is not there, and deletes only what is.
          const there = plain.get(one.name);
          if (one.kind === 'add' && there === undefined) {
            const added = child(one.name);
            children.add(added);
            plain.set(one.name, added);
          }
          if (one.kind === 'delete' && there !== undefined) {
            children.delete(there);
            plain.delete(one.name);
          }
          if (one.kind === 'list') listings.push([children.inOrder(), [...plain.keys()].sort().join()]);
          expect(children.size).toBe(plain.size);
        }
        for (const [listing, expected] of listings) expect(listing.join()).toBe(expected);
        expect(children.inOrder()).toEqual([...plain.keys()].sort());
      }),
      { numRuns: 100 },
    );
  });

  it('list a name once that was deleted and added again since the last listing', () => {
    const children = new Children();
    const [a, c] = [child('a'), child('c')];
    children.add(c);
    children.add(a);
    children.inOrder();
    children.delete(a);
    // Whoever still has the one that is gone does not keep its siblings.
    expect(a).toEqual(child('a'));
    children.add(child('a'));
    children.add(child('b'));
    expect(children.inOrder()).toEqual(['a', 'b', 'c']);
  });

  it('give the same array again while nothing has changed', () => {
    const children = new Children();
    children.add(child('b'));
    children.add(child('a'));
    expect(children.inOrder()).toBe(children.inOrder());
  });
});
