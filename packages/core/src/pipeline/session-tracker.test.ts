import type { SessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../peer/config.ts';
import { negotiateTimeout, SessionTracker } from './session-tracker.ts';

const id = (n: number): SessionId => BigInt(n) as SessionId;
const MANY = 1_000_000;

/** Moves the clock in steps of 50 ms; returns when each session expired. */
function run(tracker: SessionTracker, fromMs: number, toMs: number): Map<SessionId, number> {
  const expired = new Map<SessionId, number>();
  for (let now = fromMs + 50; now <= toMs; now += 50) {
    for (const session of tracker.advance(now, MANY)) expired.set(session, now);
  }
  return expired;
}

describe('timeouts', () => {
  it('C026: are cut to 2 and 20 ticks', () => {
    const asked = [1, 3999, 4000, 30000, 40001, 2147483647, -1, 0];
    const given = asked.map((ms) => negotiateTimeout(ms, DEFAULT_TIMING));
    expect(given).toEqual([4000, 4000, 4000, 30000, 40000, 40000, 4000, 4000]);
  });

  it('C026: are whole numbers whatever is asked', () => {
    expect([Number.NaN, 5000.2, Number.POSITIVE_INFINITY].map((ms) => negotiateTimeout(ms, DEFAULT_TIMING))).toEqual([
      4000, 5001, 40000,
    ]);
  });
});

describe('expiry', () => {
  it('comes between the timeout and one tick after it', () => {
    for (let offset = 0; offset < 2_000; offset += 150) {
      const tracker = new SessionTracker(2_000, 0);
      run(tracker, 0, offset);
      tracker.add(id(1), 6_000, undefined);
      const at = run(tracker, offset, 20_000).get(id(1)) ?? 0;
      expect(at).toBeGreaterThanOrEqual(offset + 6_000 - 50);
      expect(at).toBeLessThanOrEqual(offset + 8_000 + 50);
    }
  });

  it('is put off by a touch', () => {
    const tracker = new SessionTracker(2_000, 0);
    tracker.add(id(1), 4_000, undefined);
    tracker.add(id(2), 4_000, undefined);
    for (let now = 0; now < 30_000; now += 1_000) {
      tracker.touch(id(1));
      for (const session of run(tracker, now, now + 1_000).keys()) expect(session).toBe(id(2));
    }
    expect(tracker.size).toBe(1);
  });

  it('C017: begins anew with a new leader, however long ago a session was heard from', () => {
    const before = new SessionTracker(2_000, 0);
    before.add(id(1), 6_000, undefined);
    run(before, 0, 5_900);
    const after = new SessionTracker(2_000, 5_900);
    after.add(id(1), 6_000, undefined);
    const at = run(after, 5_900, 20_000).get(id(1)) ?? 0;
    expect(at).toBeGreaterThanOrEqual(11_850);
    expect(at).toBeLessThanOrEqual(13_950);
  });

  it('C019: gives back the time in which the leader stood still', () => {
    const tracker = new SessionTracker(2_000, 0);
    for (let n = 1; n <= 50; n++) tracker.add(id(n), 4_000, undefined);
    run(tracker, 0, 1_000);
    expect(tracker.advance(3_600_000, MANY)).toEqual([]);
    for (let n = 1; n <= 25; n++) tracker.touch(id(n));
    const expired = run(tracker, 3_600_000, 3_604_000);
    expect(expired.size).toBe(25);
    expect([...expired.keys()].every((session) => session > 25n)).toBe(true);
  });

  it('C019: stands still when time goes backwards', () => {
    const tracker = new SessionTracker(2_000, 10_000);
    tracker.add(id(1), 4_000, undefined);
    expect(tracker.advance(1_000, MANY)).toEqual([]);
    expect(run(tracker, 10_000, 17_000).size).toBe(1);
  });

  it('C020: ends no more at once than it is told, and those left can still be touched', () => {
    const tracker = new SessionTracker(2_000, 0);
    for (let n = 1; n <= 1_200; n++) tracker.add(id(n), 4_000, undefined);
    const counts: number[] = [];
    for (let now = 50; now <= 6_000; now += 50) counts.push(tracker.advance(now, 500).length);
    expect(counts.filter((count) => count > 0)).toEqual([500]);
    tracker.touch(id(1_200));
    expect(tracker.advance(6_050, 500)).toHaveLength(500);
    expect(tracker.advance(6_100, 500)).toHaveLength(199);
    expect(tracker.size).toBe(1);
  });
});

describe('owners', () => {
  it('are known only of tracked sessions', () => {
    const tracker = new SessionTracker(2_000, 0);
    tracker.add(id(1), 4_000, undefined);
    expect(tracker.owner(id(1))).toBeUndefined();
    tracker.setOwner(id(1), 3);
    tracker.setOwner(id(2), 3);
    expect([tracker.owner(id(1)), tracker.owner(id(2))]).toEqual([3, undefined]);
    tracker.remove(id(1));
    tracker.remove(id(2));
    expect(tracker.owner(id(1))).toBeUndefined();
    expect(run(tracker, 0, 20_000).size).toBe(0);
  });

  it('P9: a session is tracked once', () => {
    const tracker = new SessionTracker(2_000, 0);
    tracker.add(id(1), 4_000, undefined);
    expect(() => tracker.add(id(1), 4_000, undefined)).toThrow('P9');
  });
});
