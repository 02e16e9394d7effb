import { type SessionId, ZERO_ZXID } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Deadlines } from './deadlines.ts';
import { SessionClaims } from './session-claims.ts';
import { isSameToken } from './session-token.ts';

const token = new Uint8Array(16);

class Claims {
  readonly deadlines = new Deadlines();
  readonly claims: SessionClaims;
  readonly sent: number[] = [];
  readonly told: string[] = [];
  readonly send = (seq: number): void => void this.sent.push(seq);

  constructor(countMax = 10) {
    this.claims = new SessionClaims(this.deadlines, countMax);
  }

  ask(name: string, deadlineMs = 100, hasLeader = true): void {
    const waiter = {
      valid: (timeoutMs: number) => this.told.push(`${name} ${timeoutMs}`),
      failed: ({ code }: { readonly code: string }) => this.told.push(`${name} ${code}`),
    };
    const claim = { session: 1n as SessionId, token, own: true, deadlineMs };
    this.claims.ask(claim, waiter, hasLeader ? this.send : undefined);
  }

  reply(seq: number, timeoutMs: number, error: 'SESSION_EXPIRED' | undefined): void {
    this.claims.reply({ kind: 'revalidated', seq, timeoutMs, error, grantedAt: ZERO_ZXID });
  }
}

describe('a question about a session', () => {
  it('is answered by the leader alone, once', () => {
    const claims = new Claims();
    claims.ask('a');
    claims.ask('b');
    claims.reply(2, 0, 'SESSION_EXPIRED');
    claims.reply(1, 4_000, undefined);
    claims.reply(1, 4_000, undefined);
    claims.reply(9, 4_000, undefined);
    expect(claims.told).toEqual(['b SESSION_EXPIRED', 'a 4000']);
    expect([claims.claims.count, claims.deadlines.size]).toEqual([0, 0]);
  });

  it('waits for a leader and is asked again of the next one', () => {
    const claims = new Claims();
    claims.ask('a', 100, false);
    claims.ask('b');
    claims.claims.askAgain(claims.send);
    expect(claims.sent).toEqual([2, 1, 2]);
  });

  it('is not asked again when its connection is gone', () => {
    const claims = new Claims();
    const told: string[] = [];
    const waiter = { valid: () => told.push('valid'), failed: ({ code }: { code: string }) => told.push(code) };
    const claim = { session: 1n as SessionId, token, own: true, deadlineMs: 100, isGone: () => true };
    claims.claims.ask(claim, waiter, claims.send);
    claims.claims.askAgain(claims.send);
    expect([claims.sent, told, claims.claims.count, claims.deadlines.size]).toEqual([[1], ['UNAVAILABLE'], 0, 0]);
  });

  it('waits no longer than its deadline', () => {
    const claims = new Claims();
    claims.ask('a', 50);
    claims.deadlines.expire(50);
    claims.reply(1, 4_000, undefined);
    expect(claims.told).toEqual(['a UNAVAILABLE']);
  });

  it('is refused when as many wait as may', () => {
    const claims = new Claims(1);
    claims.ask('a');
    claims.ask('b');
    expect([claims.told, claims.sent]).toEqual([['b THROTTLED'], [1]]);
  });
});

describe('a token', () => {
  it('is the same only in full', () => {
    const one = Uint8Array.of(1, 2, 3);
    expect(isSameToken(one, Uint8Array.of(1, 2, 3))).toBe(true);
    for (const other of [Uint8Array.of(1, 2), Uint8Array.of(1, 2, 4), Uint8Array.of(0, 2, 3), new Uint8Array(0)]) {
      expect(isSameToken(one, other)).toBe(false);
    }
  });
});
