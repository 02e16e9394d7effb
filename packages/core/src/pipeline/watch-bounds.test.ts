/** What watches cost, and that very many of them hold nobody up. */
import { describe, expect, it } from 'vitest';
import { stageWith, toldAfter, WatchStage } from './watches.fixture.ts';

describe('bounds', () => {
  it('a watch past the memory for them is refused, and there is room again when connections have gone', () => {
    const stage = new WatchStage(3_000);
    const left = Array.from({ length: 30 }, (_, i) => stage.read(1, 'exists', `/w${i}`));
    expect(left.slice(0, 10).every((one) => one === 'NO_NODE')).toBe(true);
    expect(left.at(-1)).toBe('THROTTLED');
    stage.watches.detached(1);
    stage.runTurns();
    expect(stage.watches.bytes).toBe(0);
    expect(stage.read(2, 'exists', '/w')).toBe('NO_NODE');
  });

  it('C033: what is told, taken away or let go of gives its memory back', () => {
    const stage = stageWith('/w');
    stage.read(1, 'getData', '/w');
    stage.read(1, 'getChildren', '/w');
    stage.ask(2, { kind: 'addWatch', path: '/w', mode: 'persistentRecursive' });
    stage.script.delete('/w');
    stage.runTurns();
    stage.ask(2, { kind: 'removeWatches', path: '/w', watcher: 'any' });
    expect(stage.watches.bytes).toBe(0);
  });

  it('100,000 connections that watch one znode are told in turns, each before it is answered anything', () => {
    const stage = stageWith('/w');
    for (let attachment = 1; attachment <= 100_000; attachment++) stage.read(attachment, 'getData', '/w');
    stage.script.setData('/w', undefined);
    stage.read(7, 'getData', '/w');
    stage.watches.settle(90_000);
    expect(stage.told(90_000)).toEqual(['nodeDataChanged /w']);
    stage.script.setData('/w', undefined);
    expect(stage.runTurns()).toBeGreaterThan(20);
    expect(stage.told(7)).toEqual(['nodeDataChanged /w', 'nodeDataChanged /w']);
    let once = 0;
    for (let attachment = 1; attachment <= 100_000; attachment++) once += stage.told(attachment).length;
    expect(once).toBe(99_998);
    expect(stage.watches.bytes).toBe(0);
  });

  it.each(['persistent', 'persistentRecursive'] as const)(
    '2,000 connections with a %s watch are told in turns, each once a change',
    (mode) => {
      const stage = stageWith('/w', '/w/x');
      for (let attachment = 1; attachment <= 2_000; attachment++)
        stage.ask(attachment, { kind: 'addWatch', path: '/w', mode });
      stage.read(5, 'getData', '/w');
      stage.script.setData('/w', undefined);
      expect(stage.told(5)).toEqual([]);
      stage.watches.settle(5);
      expect(stage.told(5)).toEqual(['nodeDataChanged /w']);
      stage.script.setData('/w', undefined);
      stage.runTurns();
      expect([stage.told(1), stage.told(5), stage.told(2_000)].map((told) => told.length)).toEqual([2, 1, 2]);
    },
  );

  it('one connection that watches 100,000 znodes is told of their end in one txn in turns, in order', () => {
    const stage = stageWith();
    const paths = Array.from({ length: 100_000 }, (_, i) => `/e${String(i).padStart(6, '0')}`);
    for (const path of paths) stage.script.create(path);
    for (const path of paths) stage.read(1, 'exists', path);
    stage.script.apply({ kind: 'multi', parts: paths.map((path) => ({ kind: 'delete', path })) });
    expect(stage.runTurns()).toBeGreaterThan(20);
    expect(stage.told(1)).toEqual(paths.map((path) => `nodeDeleted ${path}`));
  });

  it('a connection that goes with 100,000 watches is taken out in turns', () => {
    const stage = stageWith();
    for (let i = 0; i < 100_000; i++) stage.read(1, 'exists', `/w${i}`);
    stage.watches.detached(1);
    expect(stage.runTurns()).toBeGreaterThan(20);
    expect(stage.watches.bytes).toBe(0);
    expect(toldAfter(stage, () => stage.script.create('/w5'))).toEqual([]);
  });

  it('many crowds at once are finished in order: nobody is told of a later change first', () => {
    const stage = stageWith('/w');
    for (let round = 0; round < 40; round++) {
      for (let attachment = 1; attachment <= 300; attachment++) stage.read(attachment, 'getData', '/w');
      stage.script.setData('/w', undefined);
    }
    stage.runTurns();
    for (const attachment of [1, 150, 300]) {
      const zxids = stage.zxidsTold(attachment);
      expect(zxids).toHaveLength(40);
      expect(zxids).toEqual([...zxids].sort((a, b) => Number(a - b)));
    }
  });
});
