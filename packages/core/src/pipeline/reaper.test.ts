import { describe, expect, it } from 'vitest';
import { Reaper, type ReaperOptions, type TimedZnode } from './reaper.ts';

const HOUR = 3_600_000;
const OPTIONS: ReaperOptions = { intervalMs: 1_000, perMinuteMax: 60_000, containerUnusedMs: 0 };

function container(path: string, more: Partial<TimedZnode> = {}): TimedZnode {
  return { path, lifetime: 'container', mtimeMs: 0, creates: 1, childCount: 0, ...more };
}

function timed(path: string, ttlMs: number, more: Partial<TimedZnode> = {}): TimedZnode {
  return { path, lifetime: { ttlMs }, mtimeMs: 0, creates: 0, childCount: 0, ...more };
}

/** A reaper that is called every 50 ms, as the desk does. What it names is gone. */
class Run {
  readonly znodes = new Map<string, TimedZnode>();
  readonly now = { monotonicMs: 0, wallMs: 0 };
  readonly #reaper: Reaper;

  constructor(options: Partial<ReaperOptions>, ...znodes: readonly TimedZnode[]) {
    this.#reaper = new Reaper({ ...OPTIONS, ...options }, () => this.znodes.values(), { ...this.now });
    for (const znode of znodes) this.znodes.set(znode.path, znode);
  }

  /** What it names in `ms`. */
  for(ms: number): string[] {
    const named: string[] = [];
    for (let left = ms; left > 0; left -= 50) {
      this.now.monotonicMs += 50;
      this.now.wallMs += 50;
      for (const path of this.#reaper.step({ ...this.now })) {
        this.znodes.delete(path);
        named.push(path);
      }
    }
    return named;
  }
}

describe('the reaper', () => {
  it('C008: names a container whose children have gone, and not one that has some or, by default, never had any', () => {
    const run = new Run({}, container('/c', { creates: 0 }), container('/d'), container('/e', { childCount: 1 }));
    expect(run.for(950)).toEqual([]);
    expect(run.for(50)).toEqual(['/d']);
    expect(run.for(HOUR)).toEqual([]);
  });

  it('C008: names a container that never had a child at the age that is set for it', () => {
    const run = new Run(
      { containerUnusedMs: 3_000 },
      container('/c', { creates: 0 }),
      container('/e', { childCount: 1 }),
    );
    expect(run.for(3_000)).toEqual([]);
    expect(run.for(2_000)).toEqual(['/c']);
    expect(run.for(HOUR)).toEqual([]);
  });

  it('names a znode with a TTL when its data is older than that, and not while it has children', () => {
    const run = new Run({}, timed('/t', 5_000), timed('/u', 5_000, { childCount: 1 }), timed('/v', 60_000));
    expect(run.for(5_000)).toEqual([]);
    expect(run.for(2_000)).toEqual(['/t']);
    expect(run.for(50_000)).toEqual([]);
    expect(run.for(10_000)).toEqual(['/v']);
  });

  it('C019: names nothing early when the wall clock is set forward, and nothing at all while it is set back', () => {
    const run = new Run({}, timed('/t', 20_000));
    run.for(2_000);
    run.now.wallMs += HOUR;
    expect(run.for(10_000)).toEqual([]);
    run.now.wallMs -= 3 * HOUR;
    expect(run.for(20_000)).toEqual([]);
    run.now.wallMs += 2 * HOUR;
    expect(run.for(2_000)).toEqual(['/t']);
  });

  it('names no more in a minute than may be, evenly, and gets round to all', () => {
    const many = Array.from({ length: 2_500 }, (_, i) => container(`/c${i}`));
    const run = new Run({ perMinuteMax: 600 }, ...many);
    const first = run.for(10_000).length;
    expect(first).toBeGreaterThan(90);
    expect(first).toBeLessThanOrEqual(110);
    expect(run.for(250_000)).toHaveLength(many.length - first);
  });

  it('looks at a bounded part of what there is in one step', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => container(`/c${i}`, { childCount: 1 }));
    let looked = 0;
    function* candidates(): Generator<TimedZnode> {
      for (const znode of many) {
        looked++;
        yield znode;
      }
    }
    const reaper = new Reaper(OPTIONS, candidates, { monotonicMs: 0, wallMs: 0 });
    reaper.step({ monotonicMs: 1_000, wallMs: 1_000 });
    expect(looked).toBeGreaterThan(100);
    expect(looked).toBeLessThanOrEqual(2_001);
  });
});
