/** What each kind of watch is told, in which order, and what it costs. Source: reference §8. */
import { type Acl, PERMS } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { stageWith, toldAfter } from './watches.fixture.ts';

describe('a watch that a read leaves', () => {
  it('of exists is told once of what happens, also where there was nothing', () => {
    const stage = stageWith('/a');
    expect(stage.read(1, 'exists', '/w')).toBe('NO_NODE');
    expect(toldAfter(stage, () => stage.script.create('/w'))).toEqual(['nodeCreated /w']);
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual([]);
    stage.read(1, 'exists', '/w');
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual(['nodeDataChanged /w']);
    stage.read(1, 'exists', '/w');
    expect(toldAfter(stage, () => stage.script.delete('/w'))).toEqual(['nodeDeleted /w']);
  });

  it('of getData and getChildren is not left where there is nothing, nor by one who may not read', () => {
    const stage = stageWith();
    const acl: Acl = [{ perms: PERMS.ALL, scheme: 'digest', id: 'a:b' }];
    stage.createWith('/mine', acl);
    expect(stage.read(1, 'getData', '/w')).toBe('NO_NODE');
    expect(stage.read(1, 'getChildren', '/w')).toBe('NO_NODE');
    expect(stage.read(1, 'exists', '/mine')).toBe('NO_AUTH');
    expect(stage.watches.owners).toBe(0);
  });

  it('of getChildren is told of children and of the end, not of data', () => {
    const stage = stageWith('/w');
    stage.read(1, 'getChildren', '/w');
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual([]);
    expect(toldAfter(stage, () => stage.script.create('/w/x'))).toEqual(['nodeChildrenChanged /w']);
    stage.read(1, 'getChildren', '/w');
    expect(toldAfter(stage, () => stage.script.delete('/w/x'))).toEqual(['nodeChildrenChanged /w']);
    stage.read(1, 'getChildren', '/w');
    stage.read(1, 'getChildren', '/');
    expect(toldAfter(stage, () => stage.script.delete('/w'))).toEqual(['nodeDeleted /w', 'nodeChildrenChanged /']);
  });

  it('that is left twice, or in both tables, is told of an end once', () => {
    const stage = stageWith('/w');
    stage.read(1, 'getData', '/w');
    stage.read(1, 'exists', '/w');
    stage.read(1, 'getChildren', '/w');
    expect(toldAfter(stage, () => stage.script.delete('/w'))).toEqual(['nodeDeleted /w']);
    stage.script.create('/w');
    expect(toldAfter(stage, () => stage.script.delete('/w'))).toEqual([]);
  });

  it('is told of nothing that is no change of data or children: an ACL, a txn that failed', () => {
    const stage = stageWith('/w');
    stage.read(1, 'getData', '/w');
    const acl: Acl = [{ perms: PERMS.ALL, scheme: 'world', id: 'anyone' }];
    const change = (): void => {
      stage.script.apply({ kind: 'setAcl', path: '/w', acl, version: 1 });
      stage.script.error();
    };
    expect(toldAfter(stage, change)).toEqual([]);
  });

  it('is told in the order of the parts of a multi, all at its zxid', () => {
    const stage = stageWith('/w');
    for (const path of ['/w/a', '/w/b']) stage.read(1, 'exists', path);
    stage.read(1, 'getChildren', '/w');
    const create = { kind: 'create', data: undefined, ephemeralOwner: 0n as never } as const;
    const zxid = stage.script.apply({
      kind: 'multi',
      parts: [
        { ...create, path: '/w/b', parentCreates: 1 },
        { ...create, path: '/w/a', parentCreates: 2 },
      ],
    });
    stage.runTurns();
    expect(stage.zxidsTold(1)).toEqual([zxid, zxid, zxid]);
    expect(stage.told(1)).toEqual(['nodeCreated /w/b', 'nodeChildrenChanged /w', 'nodeCreated /w/a']);
  });
});

describe('a watch that lasts', () => {
  it('persistent: is told of the znode and its children, every time', () => {
    const stage = stageWith();
    expect(stage.ask(1, { kind: 'addWatch', path: '/w', mode: 'persistent' })).toBe('addWatch');
    const all = toldAfter(stage, () => {
      stage.script.create('/w');
      stage.script.create('/w/x');
      stage.script.setData('/w/x', undefined);
      stage.script.setData('/w', undefined);
      stage.script.delete('/w/x');
      stage.script.delete('/w');
    });
    expect(all).toEqual([
      'nodeCreated /w',
      'nodeChildrenChanged /w',
      'nodeDataChanged /w',
      'nodeChildrenChanged /w',
      'nodeDeleted /w',
    ]);
  });

  it('C030: persistent recursive: is told of everything below, and never of children', () => {
    const stage = stageWith('/o');
    stage.ask(1, { kind: 'addWatch', path: '/w', mode: 'persistentRecursive' });
    const all = toldAfter(stage, () => {
      stage.script.create('/w');
      stage.script.create('/w/x');
      stage.script.create('/w/x/y');
      stage.script.setData('/w/x/y', undefined);
      stage.script.create('/wx');
      stage.script.delete('/w/x/y');
      stage.script.setData('/o', undefined);
    });
    expect(all).toEqual([
      'nodeCreated /w',
      'nodeCreated /w/x',
      'nodeCreated /w/x/y',
      'nodeDataChanged /w/x/y',
      'nodeDeleted /w/x/y',
    ]);
  });

  it('of the root, recursive: is told of everything there is', () => {
    const stage = stageWith();
    stage.ask(1, { kind: 'addWatch', path: '/', mode: 'persistentRecursive' });
    expect(toldAfter(stage, () => stage.script.create('/a'))).toEqual(['nodeCreated /a']);
    expect(toldAfter(stage, () => stage.script.setData('/', undefined))).toEqual(['nodeDataChanged /']);
  });

  it('and one that does not, at the same path: told once, and what lasts stays', () => {
    const stage = stageWith('/w');
    stage.ask(1, { kind: 'addWatch', path: '/w', mode: 'persistentRecursive' });
    stage.ask(1, { kind: 'addWatch', path: '/w', mode: 'persistent' });
    stage.read(1, 'getData', '/w');
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual(['nodeDataChanged /w']);
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual(['nodeDataChanged /w']);
    expect(toldAfter(stage, () => stage.script.create('/w/x'))).toEqual(['nodeCreated /w/x', 'nodeChildrenChanged /w']);
    expect(stage.ask(1, { kind: 'checkWatches', path: '/w', watcher: 'data' })).toBe('NO_WATCHER');
  });
});

describe('C039: taking watches away', () => {
  it.each([
    ['children', ['data', 'persistent', 'persistentRecursive']],
    ['data', ['children', 'persistent', 'persistentRecursive']],
    ['persistent', ['children', 'data', 'persistentRecursive']],
    ['persistentRecursive', ['children', 'data', 'persistent']],
    ['any', []],
  ] as const)('%s takes those and no others, and those of others stay', (watcher, left) => {
    const stage = stageWith('/w');
    for (const attachment of [1, 2]) {
      stage.read(attachment, 'getData', '/w');
      stage.read(attachment, 'getChildren', '/w');
      stage.ask(attachment, { kind: 'addWatch', path: '/w', mode: 'persistent' });
      stage.ask(attachment, { kind: 'addWatch', path: '/w', mode: 'persistentRecursive' });
    }
    expect(stage.ask(1, { kind: 'checkWatches', path: '/w', watcher })).toBe('checkWatches');
    expect(stage.ask(1, { kind: 'removeWatches', path: '/w', watcher })).toBe('removeWatches');
    expect(stage.ask(1, { kind: 'removeWatches', path: '/w', watcher })).toBe('NO_WATCHER');
    const kinds = ['children', 'data', 'persistent', 'persistentRecursive'] as const;
    const there = kinds.filter(
      (one) => stage.ask(1, { kind: 'checkWatches', path: '/w', watcher: one }) === 'checkWatches',
    );
    expect(there).toEqual(left);
    expect(stage.ask(2, { kind: 'checkWatches', path: '/w', watcher })).toBe('checkWatches');
  });

  it('of a path that nobody watches finds none', () => {
    const stage = stageWith('/w');
    stage.read(1, 'getData', '/w');
    expect(stage.ask(1, { kind: 'removeWatches', path: '/other', watcher: 'any' })).toBe('NO_WATCHER');
    expect(stage.ask(2, { kind: 'removeWatches', path: '/w', watcher: 'any' })).toBe('NO_WATCHER');
  });
});

describe('C027: going on with the watches of a lost connection', () => {
  it('tells at once what happened since, and watches the rest', () => {
    const stage = stageWith('/old', '/set', '/gone', '/parent', '/quiet', '/left');
    const seen = stage.script.create('/mark');
    stage.script.setData('/set', undefined);
    stage.script.delete('/gone');
    stage.script.create('/parent/x');
    stage.script.create('/come');
    const lists = {
      relativeZxid: seen,
      data: ['/old', '/set', '/gone'],
      exist: ['/nothing', '/come'],
      child: ['/parent', '/quiet', '/gone'],
      persistent: ['/set'],
      persistentRecursive: ['/left'],
    };
    expect(stage.ask(1, { kind: 'setWatches', lists })).toBe('setWatches');
    expect(stage.zxidsTold(1)).toEqual([-1n, -1n, -1n, -1n, -1n]);
    expect(stage.told(1)).toEqual([
      'nodeDataChanged /set',
      'nodeDeleted /gone',
      'nodeCreated /come',
      'nodeChildrenChanged /parent',
      'nodeDeleted /gone',
    ]);
    const later = toldAfter(stage, () => {
      stage.script.setData('/old', undefined);
      stage.script.create('/nothing');
      stage.script.create('/quiet/x');
      stage.script.create('/left/x');
      stage.script.create('/parent/y');
      stage.script.setData('/set', undefined);
    });
    expect(later).toEqual([
      'nodeDataChanged /old',
      'nodeCreated /nothing',
      'nodeChildrenChanged /quiet',
      'nodeCreated /left/x',
      'nodeDataChanged /set',
    ]);
  });
});

describe('C027: going on where nothing is left to be watched', () => {
  it('tells a connection that watches nothing what it missed', () => {
    const stage = stageWith('/parent');
    const seen = stage.script.create('/mark');
    stage.script.create('/parent/x');
    const lists = {
      relativeZxid: seen,
      data: [],
      exist: [],
      child: ['/parent'],
      persistent: [],
      persistentRecursive: [],
    };
    expect(stage.ask(1, { kind: 'setWatches', lists })).toBe('setWatches');
    expect(stage.told(1)).toEqual(['nodeChildrenChanged /parent']);
  });
});

describe('rights', () => {
  const acl: Acl = [{ perms: PERMS.READ, scheme: 'digest', id: 'a:b' }];
  const alice = [{ scheme: 'digest', id: 'a:b' }];

  it('C123: one who may not read the znode when it changes is told nothing, and his watch is used up', () => {
    const stage = stageWith('/w');
    stage.read(1, 'getData', '/w');
    stage.read(2, 'getData', '/w', alice);
    stage.script.apply({ kind: 'setAcl', path: '/w', acl, version: 1 });
    stage.script.setData('/w', undefined);
    stage.runTurns();
    expect([stage.told(1), stage.told(2)]).toEqual([[], ['nodeDataChanged /w']]);
    const open: Acl = [{ perms: PERMS.ALL, scheme: 'world', id: 'anyone' }];
    stage.script.apply({ kind: 'setAcl', path: '/w', acl: open, version: 2 });
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual([]);
  });

  it('C123: those of a new znode count for its create, those it had for its end, the parent’s for children', () => {
    const stage = stageWith();
    stage.createWith('/p', acl);
    stage.ask(1, { kind: 'addWatch', path: '/p', mode: 'persistent' });
    stage.ask(1, { kind: 'addWatch', path: '/', mode: 'persistentRecursive' });
    const told = toldAfter(stage, () => {
      stage.script.create('/p/open');
      stage.createWith('/closed', acl);
      stage.script.delete('/closed');
      stage.script.delete('/p/open');
    });
    expect(told).toEqual(['nodeCreated /p/open', 'nodeDeleted /p/open']);
  });

  it('what a connection shows later counts for what it watches already', () => {
    const stage = stageWith('/w');
    stage.ask(1, { kind: 'addWatch', path: '/w', mode: 'persistent' });
    stage.script.apply({ kind: 'setAcl', path: '/w', acl, version: 1 });
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual([]);
    stage.watches.identified(1, alice);
    expect(toldAfter(stage, () => stage.script.setData('/w', undefined))).toEqual(['nodeDataChanged /w']);
  });
});

describe('rights of a read that waited', () => {
  const acl: Acl = [{ perms: PERMS.READ, scheme: 'digest', id: 'a:b' }];
  const alice = [{ scheme: 'digest', id: 'a:b' }];

  it.each([[[]], [['/other']]])('what was shown meanwhile counts, with other watches %j', (others) => {
    const stage = stageWith();
    for (const path of others) stage.read(1, 'exists', path);
    stage.watches.identified(1, alice);
    stage.read(1, 'exists', '/w', []);
    expect(toldAfter(stage, () => stage.createWith('/w', acl))).toEqual(['nodeCreated /w']);
  });

  it('what was shown goes with the connection', () => {
    const stage = stageWith();
    stage.watches.identified(1, alice);
    stage.watches.detached(1);
    stage.read(1, 'exists', '/w', []);
    expect(toldAfter(stage, () => stage.createWith('/w', acl))).toEqual([]);
  });
});

it('a tree that is replaced lets all go that watch, for nobody saw what happened meanwhile', () => {
  const stage = stageWith('/w');
  stage.read(1, 'getData', '/w');
  stage.read(3, 'exists', '/x');
  stage.watches.treeReplaced();
  expect(stage.letGo).toEqual([1, 3]);
});
