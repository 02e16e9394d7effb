import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Children, FEW_CHILDREN, type Sibling, UNORDERED } from './children.ts';

function child(name: string): Sibling {
  return { path: `/parent/${name}`, previous: undefined, next: undefined };
}

/** Adds and deletes by name, and knows what there should be. */
class Subject {
  readonly children = new Children();
  readonly plain = new Map<string, Sibling>();

  add(name: string): void {
    if (this.plain.has(name)) return;
    const added = child(name);
    this.children.add(added);
    this.plain.set(name, added);
  }

  delete(name: string): void {
    const there = this.plain.get(name);
    if (there === undefined) return;
    this.children.delete(there);
    this.plain.delete(name);
  }

  sorted(): string[] {
    return [...this.plain.keys()].sort();
  }

  /** All of them, asked for one by one. */
  walked(): string[] {
    const names: string[] = [];
    for (let path = this.children.after('/parent/', ''); path !== undefined; ) {
      const name = path.slice('/parent/'.length);
      names.push(name);
      path = this.children.after('/parent/', name);
    }
    return names;
  }
}

describe('children', () => {
  it('list what a plain set would after sorting, whatever is added, deleted and listed in between', () => {
    const name = fc.constantFrom('a', 'b', 'Z', '10', '9', 'é', 'a1');
    const step = fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const, 'list' as const), name });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const subject = new Subject();
        const listings: [readonly string[], string][] = [];
        for (const one of steps) {
          if (one.kind === 'list') listings.push([subject.children.inOrder(), subject.sorted().join()]);
          else subject[one.kind](one.name);
          expect(subject.children.size).toBe(subject.plain.size);
        }
        for (const [listing, expected] of listings) expect(listing.join()).toBe(expected);
        expect(subject.children.inOrder()).toEqual(subject.sorted());
        expect(subject.walked()).toEqual(subject.sorted());
      }),
      { numRuns: 100 },
    );
  });

  it('give the same array again while nothing has changed', () => {
    const { children } = new Subject();
    children.add(child('b'));
    children.add(child('a'));
    expect(children.inOrder()).toBe(children.inOrder());
  });

  it('leave nothing of their siblings with one that is gone', () => {
    const children = new Children();
    const [a, c] = [child('a'), child('c')];
    children.add(c);
    children.add(a);
    children.delete(a);
    expect(a).toEqual(child('a'));
  });
});

describe('many children', () => {
  it('are put in order in steps, and stay so, whatever is added and deleted before, between and after', () => {
    const step = fc.record({
      kind: fc.constantFrom('add' as const, 'delete' as const, 'order' as const, 'order' as const),
      from: fc.nat(4_000),
      count: fc.constantFrom(1, 7, 300),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25, size: 'max' }), (steps) => {
        const subject = new Subject();
        for (let number = 0; number < 3_000; number++) subject.add(`n${(number * 1_009) % 3_001}`);
        for (const { kind, from, count } of steps) {
          if (kind === 'order') expect(subject.children.putInOrder(count)).toBeLessThanOrEqual(count);
          else for (let number = from; number < from + count; number++) subject[kind](`n${number}`);
        }
        while (subject.children.putInOrder(1_000) > 0);
        expect(subject.children.isOrdered).toBe(true);
        expect(subject.walked()).toEqual(subject.sorted());
        expect(subject.children.inOrder()).toEqual(subject.sorted());
      }),
      { numRuns: 40 },
    );
  });

  it('say nothing of their order before it is made, and are listed all the same', () => {
    const subject = new Subject();
    for (let number = 0; number <= FEW_CHILDREN; number++) subject.add(`n${number}`);
    expect([subject.children.isOrdered, subject.children.after('/parent/', '')]).toEqual([false, UNORDERED]);
    expect(subject.children.putInOrder(10)).toBe(10);
    expect([subject.children.isOrdered, subject.children.after('/parent/', '')]).toEqual([false, UNORDERED]);
    expect(subject.children.inOrder()).toEqual(subject.sorted());
    while (subject.children.putInOrder(500) > 0);
    expect(subject.children.after('/parent/', '')).toBe('/parent/n0');
    // Few again: no order is needed.
    subject.delete('n0');
    expect(subject.children.after('/parent/', '')).toBe('/parent/n1');
  });

  it('that become few before their order is made are listed all the same, and so when they are many again', () => {
    const subject = new Subject();
    for (let number = 0; number < 2 * FEW_CHILDREN; number++) subject.add(`n${number}`);
    subject.children.putInOrder(700);
    // What is left was not put in order yet.
    for (let number = 9; number < 2 * FEW_CHILDREN; number++) subject.delete(`n${number}`);
    expect(subject.children.inOrder()).toEqual(subject.sorted());
    expect(subject.walked()).toEqual(subject.sorted());
    for (let number = 0; number < 2 * FEW_CHILDREN; number++) subject.add(`m${number}`);
    expect(subject.children.inOrder()).toEqual(subject.sorted());
    while (subject.children.putInOrder(500) > 0);
    expect(subject.walked()).toEqual(subject.sorted());
  });

  it('keep their order while somebody asks for it, and no longer', () => {
    const subject = new Subject();
    for (let number = 0; number < 2 * FEW_CHILDREN; number++) subject.add(`n${number}`);
    while (subject.children.putInOrder(500) > 0);
    const { children } = subject;
    const asking = [() => children.inOrder(), () => children.after('/parent/', 'n1'), () => children.isOrdered];
    for (const ask of asking) {
      expect(children.releaseOrder()).toBe(false);
      ask();
    }
    expect(children.inOrder()).toBe(children.inOrder());
    expect([children.releaseOrder(), children.releaseOrder(), children.isOrdered]).toEqual([false, true, false]);
    expect(children.inOrder()).toEqual(subject.sorted());
  });

  it('cost a change or a step of a walk the same as few do', () => {
    let looks = 0;
    const counted = (name: string): Sibling => ({
      get path() {
        looks++;
        return `/parent/${name}`;
      },
      previous: undefined,
      next: undefined,
    });
    const children = new Children();
    const count = 20_000;
    const all = Array.from({ length: count }, (_, index) => counted(`n${(index * 7_919) % count}`));
    for (const one of all) children.add(one);
    expect(looks).toBe(count);
    while (children.putInOrder(10_000) > 0);
    looks = 0;
    children.delete(all[0] as Sibling);
    children.add(counted('n0'));
    children.after('/parent/', 'n25');
    expect(looks).toBeLessThan(100);
  });
});
