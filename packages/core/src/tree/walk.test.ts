import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FEW_CHILDREN, UNORDERED } from './children.ts';
import { TreeScript } from './tree-script.fixture.ts';
import { nextInWalk, pastAllBelow, unorderedAt, walkOrder } from './walk.ts';

const path = fc
  .array(fc.constantFrom('a', 'a!', 'b', 'ab', 'é', '0'), { minLength: 1, maxLength: 4 })
  .map((names) => `/${names.join('/')}`);

describe('a walk', () => {
  it('has a place past all that is below a znode, and before everything else that follows it', () => {
    fc.assert(
      fc.property(path, path, (one, other) => {
        const isBelow = other === one || other.startsWith(`${one}/`);
        const before = isBelow || walkOrder(other, one) < 0;
        expect(walkOrder(other, pastAllBelow(one)) < 0).toBe(before);
      }),
    );
  });

  it('comes to every znode once, in its order, and stops at many children that are not in order', () => {
    const script = new TreeScript();
    script.create('/p');
    script.create('/q');
    script.create('/q/x');
    for (let number = 0; number <= FEW_CHILDREN; number++) script.create(`/p/n${number}`);
    script.create('/p/n0/c');
    const { tree } = script;
    expect([nextInWalk(tree, '/', '/p'), unorderedAt(tree, '/', '/p')]).toEqual([UNORDERED, '/p']);
    expect([nextInWalk(tree, '/p', '/p/n0/c'), unorderedAt(tree, '/p', '/p/n0/c')]).toEqual([UNORDERED, '/p']);
    while (tree.putInOrder('/p', 100) > 0);
    expect(unorderedAt(tree, '/', '/p/n0/c')).toBeUndefined();
    const seen: string[] = [];
    for (let at: string | undefined = '/p'; at !== undefined; at = nextInWalk(tree, '/', at)) seen.push(at);
    const below = (parent: string): string[] =>
      (tree.children(parent) ?? []).flatMap((name) => [`${parent}/${name}`, ...below(`${parent}/${name}`)]);
    const zookeeper = ['/zookeeper', '/zookeeper/config', '/zookeeper/quota'];
    expect(seen).toEqual(['/p', ...below('/p'), '/q', '/q/x', ...zookeeper]);
    expect(seen).toContain('/p/n0/c');
    expect(nextInWalk(tree, '/', pastAllBelow('/p'))).toBe('/q');
    expect(nextInWalk(tree, '/p', pastAllBelow('/p/n0'))).toBe('/p/n1');
  });
});
