import { describe, expect, it } from 'vitest';
import { TreeScript } from '../tree/tree-script.fixture.ts';
import type { PeerAction } from './actions.ts';
import { Checkpointing } from './checkpointing.ts';
import { Outbox } from './outbox.ts';

/** Checkpoints after ten txns or 1000 bytes, and what they ask of the driver. */
class Course {
  readonly script = new TreeScript();
  readonly outbox = new Outbox();
  readonly told: bigint[] = [];
  readonly checkpointing: Checkpointing;

  constructor() {
    const state = { tree: this.script.tree };
    const options = { checkpointBytes: 1_000, checkpointTxns: 10 };
    this.checkpointing = new Checkpointing(options, state, this.outbox, (zxid) => this.told.push(zxid));
  }

  write(count: number, size = 1): void {
    for (let i = 0; i < count; i++) {
      this.script.create(`/n${this.script.history.length}`, new Uint8Array(size));
      this.checkpointing.delivered(size);
    }
  }

  kinds(): readonly string[] {
    return this.outbox
      .take()
      .filter(({ kind }) => kind !== 'trace')
      .map((action: PeerAction) => (action.kind === 'persist' ? action.command.kind : action.kind));
  }
}

describe('a checkpoint', () => {
  it('is begun by the number of txns or by their bytes, between turns', () => {
    for (const [count, size] of [
      [10, 1],
      [2, 500],
    ] as const) {
      const course = new Course();
      course.write(count - 1, size);
      course.checkpointing.turnEnded();
      expect(course.kinds()).toEqual([]);
      course.write(1, size);
      expect(course.kinds()).toEqual([]);
      course.checkpointing.turnEnded();
      expect(course.kinds()).toEqual(['checkpointPut']);
    }
  });

  it('goes part by part, then is written, then the log it covers may go', () => {
    const course = new Course();
    course.write(10, 100_000);
    const { lastZxid } = course.script.tree;
    course.checkpointing.turnEnded();
    const kinds = [...course.kinds()];
    for (let i = 0; i < 20 && kinds.at(-1) === 'checkpointPut'; i++) {
      course.write(1);
      course.checkpointing.ready();
      kinds.push(...course.kinds());
    }
    expect(kinds.filter((kind) => kind === 'checkpointPut').length).toBeGreaterThan(2);
    expect(kinds.at(-1)).toBe('checkpointCommit');
    expect(course.told).toEqual([]);
    course.checkpointing.written(lastZxid);
    expect([course.told, course.kinds()]).toEqual([[lastZxid], ['purgeLog']]);
    expect(course.script.tree.checkpointActive).toBe(false);
  });

  it('is one at a time', () => {
    const course = new Course();
    course.write(10);
    course.checkpointing.turnEnded();
    course.write(30);
    course.checkpointing.turnEnded();
    expect(course.kinds()).toEqual(['checkpointPut']);
    course.checkpointing.ready();
    course.checkpointing.turnEnded();
    expect(course.kinds()).toEqual(['checkpointCommit']);
    course.checkpointing.written(course.script.history[9]!.zxid);
    course.checkpointing.turnEnded();
    expect(course.kinds()).toEqual(['purgeLog', 'checkpointPut']);
  });

  it('is given up when a snapshot comes, at whatever point it is, and what was written of it is not counted', () => {
    for (const steps of [0, 1]) {
      const course = new Course();
      course.write(10);
      course.checkpointing.turnEnded();
      for (let i = 0; i < steps; i++) course.checkpointing.ready();
      course.kinds();
      course.checkpointing.installBegin();
      expect(course.kinds()).toEqual(['checkpointAbort']);
      course.checkpointing.ready();
      course.checkpointing.written(course.script.tree.lastZxid);
      course.write(20);
      course.checkpointing.turnEnded();
      expect([course.kinds(), course.told, course.script.tree.checkpointActive]).toEqual([[], [], false]);
      course.checkpointing.installOver(false);
      course.checkpointing.turnEnded();
      expect(course.kinds()).toEqual(['checkpointPut']);
    }
  });
});
