/** The warning before a disk is full. */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { DiskSpace } from './disk-space.ts';
import { createLog } from './logging.ts';

function spaceOf(warnBytes: number, directory = tmpdir()): { space: DiskSpace; events: () => string[] } {
  const lines: string[] = [];
  const log = createLog({ level: 'info', sid: 1, place: () => undefined, write: (line) => lines.push(line) });
  const events = (): string[] => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  return { space: new DiskSpace({ directory, warnBytes, log }), events };
}

describe('free space', () => {
  it('C056: too little of it is told once, and the number is known', async () => {
    const { space, events } = spaceOf(2 ** 60);
    await space.look();
    await space.look();
    expect(space.freeBytes).toBeGreaterThan(0);
    expect(events()).toEqual(['diskSpaceLow']);
  });

  it('C056: enough of it is not told', async () => {
    const { space, events } = spaceOf(1);
    await space.look();
    expect(events()).toEqual([]);
  });

  it('of a folder that does not answer is not known', async () => {
    const { space, events } = spaceOf(2 ** 60, '/proc/no/such/folder');
    await space.look();
    expect(space.freeBytes).toBeUndefined();
    expect(events()).toEqual([]);
  });
});
