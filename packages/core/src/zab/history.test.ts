import { makeZxid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { History } from './history.ts';
import type { LogRecord } from './messages.ts';

const z = (counter: number, epoch = 1): Zxid => makeZxid(epoch, counter);
const record = (zxid: Zxid, size = 0): LogRecord => ({ zxid, payload: new Uint8Array(size) });

function filled(count: number): History {
  const history = new History(ZERO_ZXID);
  for (let i = 1; i <= count; i++) history.append(record(z(i)));
  return history;
}

/** Asks the engine for its garbage collector, which this package's types know nothing of. */
async function garbageCollector(): Promise<() => void> {
  const v8: string = 'node:v8';
  const vm: string = 'node:vm';
  const { setFlagsFromString } = (await import(v8)) as { setFlagsFromString: (flags: string) => void };
  const { runInNewContext } = (await import(vm)) as { runInNewContext: (code: string) => () => void };
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

describe('history', () => {
  it('Z1: refuses a hole, a repeat and a step back', () => {
    const history = filled(3);
    for (const bad of [z(5), z(3), z(1), z(2, 2), z(1, 0)]) {
      expect(() => history.append(record(bad))).toThrow('Z1');
    }
    history.append(record(z(1, 4)));
    expect(history.last).toBe(z(1, 4));
  });

  it('Z4, Z6: delivers what is both committed and flushed, in order, once', () => {
    const history = filled(5);
    history.commit(z(4));
    expect(history.takeDeliverable()).toBeUndefined();
    history.flush(z(2));
    expect([history.takeDeliverable()?.zxid, history.takeDeliverable()?.zxid]).toEqual([z(1), z(2)]);
    expect(history.takeDeliverable()).toBeUndefined();
    history.flush(z(5));
    expect([history.takeDeliverable()?.zxid, history.takeDeliverable()?.zxid]).toEqual([z(3), z(4)]);
    expect(history.takeDeliverable()).toBeUndefined();
  });

  it('Z5: cuts a tail, and nothing that is committed or not there', () => {
    const history = filled(5);
    history.commit(z(3));
    expect(() => history.truncate(z(2))).toThrow('Z5');
    history.truncate(z(4));
    expect(history.last).toBe(z(4));
    history.append(record(z(1, 2)));
    expect(() => history.truncate(z(9))).toThrow('Z5');
  });

  it('Z7: commits nothing that it does not have', () => {
    expect(() => filled(2).commit(z(3))).toThrow('Z7');
  });

  it('Z9: a snapshot must be ahead', () => {
    const history = filled(3);
    expect(() => history.reset(z(3))).toThrow('Z9');
    history.reset(z(9));
    expect([history.base, history.last, history.delivered]).toEqual([z(9), z(9), z(9)]);
    expect(history.takeDeliverable()).toBeUndefined();
  });

  it('hands each record to the disk once, also after a cut', () => {
    const history = filled(3);
    expect(history.takeUnissued()).toHaveLength(3);
    history.truncate(z(2));
    history.append(record(z(1, 2)));
    expect(history.takeUnissued().map(({ zxid }) => zxid)).toEqual([z(1, 2)]);
    expect(history.takeUnissued()).toEqual([]);
  });

  it('drops old records under its bound, but none that a checkpoint, a delivery or a pin still needs', () => {
    const history = filled(100);
    history.flush(z(100));
    history.commit(z(100));
    while (history.takeDeliverable());
    history.pin(1, z(10));
    history.trim(0, z(50));
    expect(history.base).toBe(z(10));
    history.unpin(1);
    history.trim(0, z(50));
    expect(history.base).toBe(z(50));
    expect(history.floor(z(49))).toBeUndefined();
    expect(history.floor(z(50))).toBe(z(50));
    expect(history.after(z(98)).map(({ zxid }) => zxid)).toEqual([z(99), z(100)]);
  });

  it('lets the payload of a dropped record go at once, not when its place is cut', async () => {
    const history = new History(ZERO_ZXID);
    const payloads = [1, 2, 3].map((counter) => {
      const payload = new Uint8Array(8);
      history.append({ zxid: z(counter), payload });
      return new WeakRef(payload);
    });
    history.flush(z(3));
    history.commit(z(3));
    while (history.takeDeliverable());
    history.takeUnissued();
    history.trim(0, z(2));
    const collect = await garbageCollector();
    await vi.waitFor(() => {
      collect();
      expect(payloads.map((payload) => payload.deref() !== undefined)).toEqual([false, false, true]);
    });
    expect([history.base, history.last, history.floor(z(2))]).toEqual([z(2), z(3), z(2)]);
  });

  it('finds the largest zxid not above another as a slow search does', () => {
    const counters = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        counters,
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0, max: 8 }),
        (lengths, trimTo, probe) => {
          const history = new History(ZERO_ZXID);
          const all: Zxid[] = [];
          lengths.forEach((length, epoch) => {
            for (let i = 1; i <= length; i++) all.push(z(i, epoch + 1));
          });
          for (const zxid of all) history.append(record(zxid));
          history.flush(history.last);
          history.commit(history.last);
          while (history.takeDeliverable());
          const checkpoint = all[Math.min(trimTo, all.length - 1)] as Zxid;
          history.trim(0, checkpoint);
          const kept = [checkpoint, ...all.filter((zxid) => zxid > checkpoint)];
          const wanted = z(probe, (probe % lengths.length) + 1);
          expect(history.floor(wanted)).toBe(kept.filter((zxid) => zxid <= wanted).at(-1));
          if (wanted >= checkpoint) {
            expect(history.after(wanted).map(({ zxid }) => zxid)).toEqual(all.filter((zxid) => zxid > wanted));
          }
        },
      ),
    );
  });
});
