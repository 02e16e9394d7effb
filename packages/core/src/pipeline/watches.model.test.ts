/** Watches against a slow, obvious model, over random changes, watches, removals, answers and turns. */

import type { WatcherKind, WatchMode } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { WatchStage } from './watches.fixture.ts';

type Mode = 'standard' | WatchMode;

/** One entry a table, path, connection and mode, looked through from end to end each time. */
interface Entry {
  readonly table: 'data' | 'child';
  readonly path: string;
  readonly who: number;
  readonly mode: Mode;
}

class Model {
  entries: Entry[] = [];
  readonly told = new Map<number, string[]>();

  add(table: Entry['table'], path: string, who: number, mode: Mode): void {
    const isThere = this.#find(table, path, who, mode) !== undefined;
    if (!isThere) this.entries.push({ table, path, who, mode });
  }

  remove(path: string, who: number, watcher: WatcherKind): boolean {
    const isMeant = (one: Entry): boolean => {
      if (one.path !== path || one.who !== who) return false;
      if (watcher === 'children') return one.table === 'child' && one.mode === 'standard';
      if (watcher === 'data') return one.table === 'data' && one.mode === 'standard';
      return watcher === 'any' || one.mode === watcher;
    };
    const before = this.entries.length;
    this.entries = this.entries.filter((one) => !isMeant(one));
    return this.entries.length < before;
  }

  changed(kind: 'created' | 'deleted' | 'dataChanged', path: string): void {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    const event = { created: 'nodeCreated', deleted: 'nodeDeleted', dataChanged: 'nodeDataChanged' }[kind];
    const first = this.#fire('data', event, path, new Set());
    if (kind === 'deleted') this.#fire('child', event, path, first);
    if (kind !== 'dataChanged') this.#fire('child', 'nodeChildrenChanged', parent, new Set());
  }

  #fire(table: Entry['table'], event: string, path: string, without: ReadonlySet<number>): Set<number> {
    const found = this.entries.filter((one) => one.table === table && (one.path === path || isAbove(one, path)));
    const who = new Set(found.map((one) => one.who));
    for (const one of who) {
      if (without.has(one)) continue;
      const told = this.told.get(one) ?? [];
      told.push(`${event} ${path}`);
      this.told.set(one, told);
    }
    this.entries = this.entries.filter((one) => !(found.includes(one) && one.path === path && one.mode === 'standard'));
    return who;
  }

  #find(table: Entry['table'], path: string, who: number, mode: Mode): Entry | undefined {
    return this.entries.find((one) => one.table === table && one.path === path && one.who === who && one.mode === mode);
  }
}

function isAbove({ path: above, mode }: Entry, path: string): boolean {
  return mode === 'persistentRecursive' && (above === '/' || path.startsWith(`${above}/`));
}

const PATHS = ['/a', '/b', '/a/a', '/a/b', '/b/a', '/a/a/a', '/aa'];
const WATCHERS: readonly WatcherKind[] = ['children', 'data', 'any', 'persistent', 'persistentRecursive'];

function sequence(seed: number): void {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const stage = new WatchStage();
  const { script, watches } = stage;
  const model = new Model();
  const steps: readonly (() => void)[] = [
    () => change(one(PATHS)),
    () => change(one(PATHS)),
    () => change(one(PATHS)),
    () => {
      const [who, path] = [below(5) + 1, one(PATHS)];
      const result = stage.read(who, 'exists', path);
      if (result === 'exists' || result === 'NO_NODE') model.add('data', path, who, 'standard');
    },
    () => {
      const [who, path] = [below(5) + 1, one(PATHS)];
      if (stage.read(who, 'getChildren', path) === 'getChildren') model.add('child', path, who, 'standard');
    },
    () => {
      const [who, path, mode] = [below(5) + 1, one(PATHS), one(['persistent', 'persistentRecursive'] as const)];
      stage.ask(who, { kind: 'addWatch', path, mode });
      model.add('data', path, who, mode);
      if (mode === 'persistent') model.add('child', path, who, mode);
    },
    () => {
      const [who, path, watcher] = [below(5) + 1, one(PATHS), one(WATCHERS)];
      const result = stage.ask(who, { kind: 'removeWatches', path, watcher });
      expect(result).toBe(model.remove(path, who, watcher) ? 'removeWatches' : 'NO_WATCHER');
    },
    () => watches.settle(below(5) + 1),
    () => watches.turnEnded(),
  ];
  const change = (path: string): void => {
    const znode = script.tree.znode(path);
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    if (znode === undefined && script.tree.znode(parent) !== undefined) {
      script.create(path);
      model.changed('created', path);
    } else if (znode !== undefined && below(2) === 0) {
      script.setData(path, undefined);
      model.changed('dataChanged', path);
    } else if (znode !== undefined && (script.tree.children(path) ?? []).length === 0) {
      script.delete(path);
      model.changed('deleted', path);
    }
  };
  for (let i = 0; i < 120; i++) one(steps)();
  stage.runTurns();
  for (let who = 1; who <= 5; who++)
    expect([seed, who, stage.told(who)]).toEqual([seed, who, model.told.get(who) ?? []]);
  for (let who = 1; who <= 5; who++) watches.detached(who);
  stage.runTurns();
  expect([seed, watches.bytes]).toEqual([seed, 0]);
}

describe('watches', () => {
  it('C033: tell what the model tells, in its order, over 1,000 random sequences, and leave nothing behind', () => {
    for (let seed = 1; seed <= 1_000; seed++) sequence(seed);
  });
});
