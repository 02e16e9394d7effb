import { makeZxid, type SessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Attachments } from './attachments.ts';

const [S, T] = [1n as SessionId, 2n as SessionId];
const grantedAt = makeZxid(3, 7);

class Door {
  readonly closed: [number, string][] = [];
  readonly attachments = new Attachments((number, code) => this.closed.push([number, code]));

  attach(number: number, session: SessionId, nowMs = 0, timeoutMs = 9_000): boolean {
    this.attachments.connecting(number);
    return this.attachments.attach(number, { session, timeoutMs, grantedAt }, nowMs);
  }
}

describe('P8: a session', () => {
  it('is attached once: the later attachment has it', () => {
    const door = new Door();
    door.attach(1, S);
    door.attach(2, S);
    expect(door.closed).toEqual([[1, 'SESSION_MOVED']]);
    expect([door.attachments.get(1), door.attachments.get(2)?.session]).toEqual([undefined, S]);
    door.attachments.detached(1);
    expect(door.attachments.get(2)?.session).toBe(S);
    expect(door.attachments.count).toBe(1);
  });

  it('is not attached for a client that has gone meanwhile', () => {
    const door = new Door();
    door.attachments.connecting(1);
    expect(door.attachments.isConnected(1)).toBe(true);
    door.attachments.detached(1);
    expect(door.attachments.isConnected(1)).toBe(false);
    expect(door.attachments.attach(1, { session: S, timeoutMs: 9_000, grantedAt }, 0)).toBe(false);
    expect(door.attachments.count).toBe(0);
  });

  it('is asked for once by an attachment', () => {
    const door = new Door();
    expect([door.attachments.connecting(1), door.attachments.connecting(1)]).toEqual([true, false]);
    door.attachments.notConnected(1);
    expect(door.attach(1, S)).toBe(true);
    expect(door.attachments.connecting(1)).toBe(false);
  });

  it('lets its attachment go when it ends or moves', () => {
    const door = new Door();
    door.attach(1, S);
    door.attachments.lost(S, 'SESSION_EXPIRED', 'over');
    door.attachments.lost(S, 'SESSION_EXPIRED', 'over');
    expect(door.closed).toEqual([[1, 'SESSION_EXPIRED']]);
  });

  it('C071: is asked for again after a snapshot, unless it has ended', () => {
    const door = new Door();
    door.attach(1, S);
    door.attach(2, T);
    door.attachments.jumped((session) => session !== T);
    expect(door.closed).toEqual([
      [1, 'UNAVAILABLE'],
      [2, 'SESSION_EXPIRED'],
    ]);
  });

  it('P10: has moved when another member wrote for it after it was granted here, and not before', () => {
    const door = new Door();
    door.attach(1, S);
    door.attachments.writtenElsewhere(S, grantedAt);
    door.attachments.writtenElsewhere(T, makeZxid(4, 1));
    expect(door.closed).toEqual([]);
    door.attachments.writtenElsewhere(S, makeZxid(3, 8));
    expect(door.closed).toEqual([[1, 'SESSION_MOVED']]);
    expect(door.attachments.isConnected(1)).toBe(false);
  });
});

describe('P11: what was heard', () => {
  it('C014: is told to the leader once, each session once, attached or not', () => {
    const door = new Door();
    door.attach(1, S);
    for (let i = 0; i < 5; i++) door.attachments.heard(1);
    door.attachments.heard(77);
    door.attachments.heardSession(T);
    expect(door.attachments.takeHeard(10)).toEqual([S, T]);
    expect(door.attachments.takeHeard(20)).toEqual([]);
  });

  it('is kept while there is no leader', () => {
    const door = new Door();
    door.attach(1, S);
    door.attachments.heard(1);
    door.attachments.leaderLost(0);
    door.attachments.closeOverdue(1_000);
    expect(door.attachments.takeHeard(5_000)).toEqual([S]);
  });
});

describe('without a leader', () => {
  it('a session is held for two thirds of its timeout from when the ensemble last heard of it', () => {
    const door = new Door();
    door.attach(1, S, 0, 9_000);
    door.attach(2, T, 0, 30_000);
    door.attachments.heard(1);
    door.attachments.takeHeard(1_000);
    door.attachments.closeOverdue(7_000);
    expect(door.closed).toEqual([]);
    door.attachments.closeOverdue(7_001);
    expect(door.closed).toEqual([[1, 'UNAVAILABLE']]);
  });

  it('what was told to a leader that was silent already does not count', () => {
    const door = new Door();
    door.attach(1, S, 0, 9_000);
    door.attachments.heard(1);
    door.attachments.takeHeard(2_500);
    door.attachments.leaderLost(500);
    door.attachments.closeOverdue(6_501);
    expect(door.closed).toEqual([[1, 'UNAVAILABLE']]);
  });

  it('all are let go at once when the member may serve no longer', () => {
    const door = new Door();
    door.attach(1, S);
    door.attach(2, T);
    door.attachments.heard(1);
    door.attachments.closeAll('UNAVAILABLE', 'too long');
    expect(door.closed.map(([number]) => number)).toEqual([1, 2]);
    expect(door.attachments.takeHeard(1)).toEqual([]);
  });
});
