/** What a log line holds. */
import { describe, expect, it } from 'vitest';
import { createLog, type Place } from './logging.ts';

function capture(place: () => Place = () => undefined) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  };
  return { lines, log: createLog({ level: 'info', sid: 3, place, write }) };
}

describe('a log line', () => {
  it('says who wrote it, where the member stood, and what happened', () => {
    const { lines, log } = capture(() => ({ role: 'leading', epoch: 7, zxid: 0x7_0000_0001n }));
    log.child('links').info('linkUp', { peer: 2 });
    expect(lines).toMatchObject([
      {
        sid: 3,
        role: 'leading',
        epoch: 7,
        zxid: '0x700000001',
        component: 'links',
        peer: 2,
        msg: 'linkUp',
        level: 'info',
      },
    ]);
  });

  it('shows 64-bit values exactly (C013)', () => {
    const { lines, log } = capture();
    log.info('x', { session: 0xff00_0000_0000_0003n, zxid: 0x0030_0000_0000_0001n, next: 9007199254740993n });
    expect(lines).toMatchObject([
      { session: '0xff00000000000003', zxid: '0x30000000000001', next: '0x20000000000001' },
    ]);
  });

  it('is written once for many repeats, which are counted', () => {
    const { lines, log } = capture();
    for (let i = 0; i < 100; i++) log.warnRarely('refused', i % 2);
    expect(lines.length).toBe(2);
  });
});
