/** A past says what the tree said when it began, however far its reader is when something changes. */
import { NO_SESSION, OPEN_ACL, PERMS } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UNORDERED } from './children.ts';
import type { Past, PastSpec, PastZnode } from './past.ts';
import { TreeScript, utf8 } from './tree-script.fixture.ts';
import { isWithin, pastAllBelow, unorderedAt } from './walk.ts';

const ALL: PastSpec = { root: '/', depth: Number.POSITIVE_INFINITY, withStat: true, withData: true };
const HERS = [{ perms: PERMS.ALL, scheme: 'digest', id: 'alice:hash' }];

/** Everything below the root as it is now, in the order of a walk. */
function present({ tree }: TreeScript, { root, depth, withStat, withData }: PastSpec): PastZnode[] {
  const below = (parent: string, left: number): PastZnode[] =>
    (left === 0 ? [] : (tree.children(parent) ?? [])).flatMap((name) => {
      const path = parent === '/' ? `/${name}` : `${parent}/${name}`;
      const znode = tree.znode(path)!;
      const one = {
        path,
        acl: znode.acl,
        stat: withStat ? znode.stat() : undefined,
        data: withData ? znode.data : undefined,
      };
      return [one, ...below(path, left - 1)];
    });
  return below(root, depth);
}

/** Reads a past, one step at a time. */
class PastReader {
  readonly past: Past;
  readonly seen: PastZnode[] = [];
  #place: string;
  readonly #script: TreeScript;

  constructor(script: TreeScript, spec: PastSpec) {
    this.#script = script;
    this.past = script.tree.beginPast(spec);
    this.#place = spec.root;
  }

  /** False at the end. */
  step(): boolean {
    const step = this.past.next(this.#place);
    if (step === undefined) return false;
    if (step === UNORDERED) {
      const { tree } = this.#script;
      return tree.putInOrder(unorderedAt(tree, this.past.spec.root, this.#place)!, 500) > 0;
    }
    if (step.znode !== undefined) this.seen.push(step.znode);
    this.#place = step.place;
    return true;
  }

  forget(): void {
    this.past.forget(this.#place);
  }

  rest(): readonly PastZnode[] {
    while (this.step());
    return this.seen;
  }
}

const path = fc
  .array(fc.constantFrom('a', 'a!', 'b', 'é'), { minLength: 1, maxLength: 3 })
  .map((names) => `/${names.join('/')}`);

const change = fc.record({
  kind: fc.constantFrom('create', 'create', 'delete', 'setData', 'setAcl', 'step', 'step', 'forget'),
  path,
});

/** Carries out what can be. */
function act(script: TreeScript, kind: string, at: string): void {
  const { tree } = script;
  const znode = tree.znode(at);
  const parent = at.slice(0, at.lastIndexOf('/')) || '/';
  if (kind === 'create' && znode === undefined && tree.znode(parent) !== undefined) script.create(at, utf8(at));
  if (znode === undefined) return;
  if (kind === 'delete' && znode.childCount === 0) script.delete(at);
  if (kind === 'setData') script.setData(at, utf8(`${at} ${tree.lastZxid}`));
  if (kind === 'setAcl') {
    const acl = znode.acl === undefined ? HERS : OPEN_ACL;
    script.apply({ kind: 'setAcl', path: at, acl, version: znode.aversion + 1 }, NO_SESSION);
  }
}

describe('a past', () => {
  it('is what there was when it began, of any part of the tree, whatever changes before and behind its reader', () => {
    const spec = fc.record({
      root: fc.constantFrom('/', '/', '/a', '/a/b'),
      depth: fc.constantFrom(1, 2, Number.POSITIVE_INFINITY),
      withStat: fc.boolean(),
      withData: fc.boolean(),
    });
    const changes = (maxLength: number) => fc.array(change, { maxLength, size: 'max' });
    fc.assert(
      fc.property(changes(30), spec, changes(60), (first, wanted, then) => {
        const script = new TreeScript();
        for (const one of first) act(script, one.kind, one.path);
        const expected = present(script, wanted);
        const reader = new PastReader(script, wanted);
        for (const one of then) {
          if (one.kind === 'step') reader.step();
          else if (one.kind === 'forget') reader.forget();
          else act(script, one.kind, one.path);
        }
        expect(reader.rest()).toEqual(expected);
        expect(reader.past.zxid).toBeLessThanOrEqual(script.tree.lastZxid);
      }),
      { numRuns: 400 },
    );
  });

  it('keeps an image of what changes where its reader has yet to come, once, and of nothing else', () => {
    const script = new TreeScript();
    for (const name of ['/p', '/p/a', '/p/b', '/p/b/c', '/q']) script.create(name, utf8('12345678'));
    const reader = new PastReader(script, { ...ALL, root: '/p', depth: 1 });
    const { past } = reader;
    for (const other of ['/q', '/p', '/p/b/c']) script.setData(other, utf8('x'));
    expect(past.bytes).toBe(0);
    script.setData('/p/b', utf8('x'));
    const { bytes } = past;
    expect(bytes).toBeGreaterThan(8);
    script.setData('/p/b', utf8('a long time after'));
    expect(past.bytes).toBe(bytes);
    reader.step();
    reader.forget();
    script.delete('/p/a');
    expect(past.bytes).toBe(bytes);
    expect(reader.rest().map(({ path: told }) => told)).toEqual(['/p/a', '/p/b']);
    reader.forget();
    expect(past.bytes).toBe(0);
    script.tree.endPast(past);
    script.setData('/p/b', utf8('y'));
    expect(past.bytes).toBe(0);
  });

  it('can be told again from any place that is not forgotten', () => {
    const script = new TreeScript();
    for (const name of ['/a', '/a/b', '/c']) script.create(name);
    const past = script.tree.beginPast(ALL);
    for (const name of ['/a/b', '/a', '/c']) script.delete(name);
    script.create('/b');
    const from = (place: string): string[] => {
      const paths: string[] = [];
      for (let step = past.next(place); step !== undefined && step !== UNORDERED; step = past.next(step.place)) {
        if (step.znode !== undefined) paths.push(step.znode.path);
      }
      return paths.filter((told) => !isWithin(told, '/zookeeper'));
    };
    expect(from('/')).toEqual(['/a', '/a/b', '/c']);
    expect(from('/')).toEqual(['/a', '/a/b', '/c']);
    expect(from(pastAllBelow('/a'))).toEqual(['/c']);
  });

  it('goes over many children as over few', () => {
    const script = new TreeScript();
    for (let number = 0; number < 1_500; number++) script.create(`/n${(number * 7) % 1_500}`);
    const expected = present(script, ALL);
    const reader = new PastReader(script, ALL);
    for (let number = 0; number < 1_500; number += 3) script.delete(`/n${number}`);
    for (let number = 0; number < 1_500; number += 5) script.create(`/new${number}`);
    expect(reader.rest()).toEqual(expected);
  });
});
