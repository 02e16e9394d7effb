import { NO_SESSION, type SessionId, type Sid, toZxid, type Zxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import type { RequestMessage } from '../peer/messages.ts';
import { create, set } from '../peer/words.fixture.ts';
import { DataTree } from '../tree/data-tree.ts';
import type { Txn } from '../tree/txn.ts';
import { decodeTxn } from '../tree/txn-codec.ts';
import { LeaderDesk } from './leader-desk.ts';
import type { OrderedOp, WriteRequest } from './write-request.ts';

const S = 21n as SessionId;
const TOKEN = new Uint8Array(16).fill(3);
const REAPER = { intervalMs: 1_000, perMinuteMax: 6_000, containerUnusedMs: 3_000 };
const OPEN: OrderedOp = { kind: 'createSession', timeoutMs: 4_000, token: TOKEN };

/** The desk of member 1 of three, which commits at once. */
class Leader {
  readonly tree = DataTree.empty();
  readonly txns: Txn[] = [];
  readonly warnings: string[] = [];
  readonly replies: [Sid, RequestMessage][] = [];
  readonly now = { monotonicMs: 0, wallMs: 5_000 };
  readonly desk: LeaderDesk;
  #last: bigint = 0x1_0000_0000n;
  #seq = 0;
  round = 0;
  isHeld = false;

  constructor(lastLogged = 0n) {
    const host = {
      propose: (payload: Uint8Array) => this.#propose(payload),
      lastLogged: () => toZxid(this.txns.length === 0 ? lastLogged : this.#last),
      committed: () => this.tree.lastZxid,
      confirmLeadership: () => ++this.round,
      isHeld: () => this.isHeld,
      nowMs: () => this.now.monotonicMs,
      warn: (reason: string) => void this.warnings.push(reason),
      reply: (sid: Sid, message: RequestMessage) => void this.replies.push([sid, message]),
    };
    this.desk = new LeaderDesk({ tickMs: 2_000, members: [1, 2, 3], reaper: REAPER }, this, host, this.now);
  }

  get kinds(): readonly string[] {
    return this.txns.map(({ body }) => (body.kind === 'error' ? body.code : body.kind));
  }

  request(op: OrderedOp, more: Partial<WriteRequest> = {}): WriteRequest {
    return { incarnation: 1, seq: ++this.#seq, session: NO_SESSION, attached: false, op, ...more };
  }

  order(sid: Sid, op: OrderedOp, more: Partial<WriteRequest> = {}): void {
    this.desk.order(sid, [this.request(op, more)], this.now);
    this.apply();
  }

  apply(): void {
    for (const { zxid, txn } of this.#inFlight.splice(0)) {
      this.tree.apply(zxid, txn);
      this.desk.applied(zxid);
    }
  }

  advance(ms: number): void {
    for (let left = ms; left > 0; left -= 50) {
      this.now.monotonicMs += 50;
      this.desk.tick(this.now);
      this.apply();
    }
  }

  /** What was said of sessions. */
  get verdicts(): readonly (string | undefined)[] {
    return this.replies.flatMap(([, reply]) => (reply.kind === 'revalidated' ? [reply.error] : []));
  }

  claim(sid: Sid, own: boolean, token = TOKEN, session = S): void {
    this.desk.revalidate(sid, { kind: 'revalidate', seq: 5, session, token, own });
  }

  readonly #inFlight: { readonly zxid: Zxid; readonly txn: Txn }[] = [];

  #propose(payload: Uint8Array): Zxid {
    const txn = decodeTxn(payload);
    const zxid = ++this.#last as Zxid;
    this.txns.push(txn);
    this.#inFlight.push({ zxid, txn });
    return zxid;
  }
}

describe('P4: a desk', () => {
  it('opens only when the tree holds the whole log', () => {
    expect(() => new Leader(7n)).toThrow('P4');
  });
});

describe('P6: a write', () => {
  it('becomes one txn, however often it is forwarded', () => {
    const leader = new Leader();
    const requests = ['/a', '/b', '/c'].map((path) => leader.request(create(path)));
    leader.desk.order(2, requests.slice(0, 2), leader.now);
    leader.desk.order(2, requests, leader.now);
    expect(leader.kinds).toEqual(['create', 'create', 'create']);
    leader.desk.order(3, requests.slice(0, 1), leader.now);
    leader.desk.order(2, [{ ...requests[0]!, incarnation: 2 }], leader.now);
    expect(leader.kinds.slice(3)).toEqual(['NODE_EXISTS', 'NODE_EXISTS']);
  });
});

describe('P10: a session', () => {
  it('that came by an attachment is written to by its owner only', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S, attached: true });
    leader.order(3, create('/a'), { session: S, attached: true });
    leader.order(3, create('/b'), { session: S, attached: false });
    leader.order(2, create('/c'), { session: S, attached: true });
    expect(leader.kinds).toEqual(['createSession', 'SESSION_MOVED', 'create', 'create']);
  });

  it('moves with a claim, of which the former owner is told', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S, attached: true });
    leader.claim(3, true);
    expect(leader.replies).toEqual([
      [2, { kind: 'sessionMoved', session: S }],
      [3, { kind: 'revalidated', seq: 5, timeoutMs: 4_000, error: undefined, grantedAt: expect.any(BigInt) }],
    ]);
    leader.order(2, create('/late'), { session: S, attached: true });
    leader.order(3, create('/now'), { session: S, attached: true });
    expect(leader.kinds.slice(1)).toEqual(['SESSION_MOVED', 'create']);
  });

  it('of which a new leader does not know the place is let go by everybody else', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S, attached: false });
    leader.claim(3, true);
    expect(leader.replies.slice(0, -1)).toEqual([1, 2].map((sid) => [sid, { kind: 'sessionMoved', session: S }]));
  });

  it('belongs, for a new leader, to the member that first writes for it', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S });
    leader.order(3, create('/a'), { session: S, attached: true });
    leader.order(2, create('/b'), { session: S, attached: true });
    expect(leader.kinds).toEqual(['createSession', 'create', 'SESSION_MOVED']);
  });

  it('belongs to the member that first writes for it also when the tree refuses the write', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S });
    leader.order(3, create('/no/parent'), { session: S, attached: true });
    leader.order(2, create('/b'), { session: S, attached: true });
    expect(leader.kinds).toEqual(['createSession', 'NO_NODE', 'SESSION_MOVED']);
  });

  it('stays where it is when it is only kept alive', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S, attached: true });
    leader.claim(3, false);
    expect(leader.replies).toHaveLength(1);
    leader.order(2, create('/a'), { session: S, attached: true });
    expect(leader.kinds).toEqual(['createSession', 'create']);
  });

  it('is nobody’s without its token', () => {
    const leader = new Leader();
    leader.desk.order(2, [leader.request(OPEN, { session: S })], leader.now);
    leader.claim(3, true, new Uint8Array(16));
    expect(leader.verdicts).toEqual(['SESSION_EXPIRED']);
  });
});

describe('P7: that a session has ended', () => {
  const CLOSE = { kind: 'closeSession' } as const;

  it('is said of an unknown one only after a quorum has confirmed the leader', () => {
    const leader = new Leader();
    leader.claim(3, true);
    leader.desk.confirmed(9);
    leader.desk.turnEnded(leader.now);
    expect(leader.verdicts).toEqual([]);
    leader.desk.confirmed(leader.round);
    expect(leader.verdicts).toEqual(['SESSION_EXPIRED']);
  });

  it('is said of one that is closing only after its close has been applied', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S });
    leader.desk.order(2, [leader.request(CLOSE, { session: S })], leader.now);
    leader.claim(3, true);
    leader.desk.turnEnded(leader.now);
    leader.desk.confirmed(leader.round);
    expect(leader.verdicts).toEqual([]);
    leader.apply();
    expect(leader.verdicts).toEqual(['SESSION_EXPIRED']);
  });

  it('is not said when it has been opened meanwhile', () => {
    const leader = new Leader();
    leader.claim(3, true);
    leader.order(3, OPEN, { session: S });
    leader.desk.turnEnded(leader.now);
    leader.desk.confirmed(leader.round);
    expect(leader.verdicts).toEqual([undefined]);
  });
});

describe('P9: expiry', () => {
  it('ends a session in one txn of the leader’s own, once', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S, attached: true });
    leader.order(2, create('/e', '', { mode: 'ephemeral' }), { session: S, attached: true });
    leader.advance(20_000);
    expect(leader.kinds).toEqual(['createSession', 'create', 'closeSession']);
    expect(leader.txns.at(-1)).toMatchObject({ origin: { sid: 0 }, session: S, body: { paths: ['/e'] } });
    expect([leader.desk.sessionCount, leader.desk.inFlight, leader.tree.ephemeralCount]).toEqual([0, 0, 0]);
  });

  it('is put off by touches, writes and claims', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S });
    const signs = [
      () => leader.desk.touch([S, 99n as SessionId]),
      () => leader.order(2, create('/x', '', { sequential: true }), { session: S }),
      () => leader.claim(3, false),
    ];
    for (let i = 0; i < 9; i++) {
      signs[i % 3]?.();
      leader.advance(3_000);
    }
    expect(leader.desk.sessionCount).toBe(1);
  });

  it('counts from the moment in which a session is heard, also when the leader has stood still until then', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S });
    // Where a bucket ends just behind a timeout that begins at the last look at the time.
    leader.advance(1_950);
    leader.now.monotonicMs += 1_000;
    leader.desk.touch([S]);
    const heardMs = leader.now.monotonicMs;
    while (leader.desk.sessionCount > 0) {
      leader.now.monotonicMs += 50;
      leader.desk.tick(leader.now);
    }
    expect(leader.now.monotonicMs - heardMs).toBeGreaterThanOrEqual(4_000);
  });

  it('does not end a session that was closed', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S });
    leader.order(2, { kind: 'closeSession' }, { session: S });
    leader.advance(20_000);
    expect(leader.kinds).toEqual(['createSession', 'closeSession']);
  });
});

describe('P7: a sync', () => {
  it('is answered after a round of confirmation that was begun when the turn ended', () => {
    const leader = new Leader();
    leader.order(2, create('/a'));
    leader.desk.sync(2, 1);
    leader.desk.confirmed(9);
    expect(leader.replies).toEqual([]);
    leader.desk.turnEnded(leader.now);
    leader.desk.confirmed(leader.round);
    expect(leader.replies).toEqual([[2, { kind: 'syncReply', seq: 1, zxid: leader.tree.lastZxid }]]);
  });
});

describe('while leadership is handed over', () => {
  it('writes wait in their order, and go on when it is not', () => {
    const leader = new Leader();
    leader.order(2, OPEN, { session: S });
    leader.isHeld = true;
    const first = leader.request(create('/a'), { incarnation: 1 });
    leader.desk.order(2, [first], leader.now);
    leader.advance(20_000);
    expect(leader.kinds).toEqual(['createSession']);
    leader.isHeld = false;
    // What comes before the end of the turn does not overtake what waited.
    leader.order(2, create('/b'));
    expect(leader.kinds).toEqual(['createSession']);
    leader.desk.turnEnded(leader.now);
    leader.apply();
    expect(leader.txns.map(({ origin }) => origin.seq)).toEqual([1, 2, 3]);
    leader.desk.order(2, [first], leader.now);
    expect(leader.kinds).toEqual(['createSession', 'create', 'create']);
  });
});

describe('znodes whose time is over', () => {
  const container = create('/c', '', { mode: 'container' });

  it('C008: go by an ordinary delete of no session, a container after its last child, one with a TTL after that', () => {
    const leader = new Leader();
    for (const op of [container, create('/c/x'), create('/t', '', { mode: 'ttl', ttlMs: 4_000 })]) leader.order(2, op);
    leader.now.wallMs += 5_000;
    leader.advance(6_000);
    expect(leader.tree.children('/')).toEqual(['c', 'zookeeper']);
    expect(leader.txns.at(-1)).toMatchObject({ origin: { sid: 0 }, session: NO_SESSION, body: { path: '/t' } });
    leader.order(2, { kind: 'delete', path: '/c/x', expectedVersion: undefined });
    leader.advance(2_000);
    expect(leader.txns.at(-1)).toMatchObject({ session: NO_SESSION, body: { kind: 'delete', path: '/c' } });
    expect(leader.tree.stat('/')).toMatchObject({ numChildren: 1, pzxid: leader.tree.lastZxid });
  });

  it('stay when something in flight touches them, a child that comes above all', () => {
    const leader = new Leader();
    for (const op of [container, create('/c/x')]) leader.order(2, op);
    leader.order(2, { kind: 'delete', path: '/c/x', expectedVersion: undefined });
    leader.advance(900);
    leader.desk.order(2, [leader.request(create('/c/y'))], leader.now);
    leader.now.monotonicMs += 100;
    leader.desk.tick(leader.now);
    leader.apply();
    leader.advance(3_000);
    expect(leader.tree.children('/c')).toEqual(['y']);
  });

  it('stay when what is in flight sets them, or has put others in their place', () => {
    const leader = new Leader();
    for (const path of ['/t', '/u']) leader.order(2, create(path, '', { mode: 'ttl', ttlMs: 2_000 }));
    leader.now.wallMs += 60_000;
    leader.now.monotonicMs += 60_000;
    leader.desk.order(2, [leader.request(set('/t', 'new'))], leader.now);
    const away = leader.request({ kind: 'delete', path: '/u', expectedVersion: undefined });
    leader.desk.order(2, [away, leader.request(create('/u'))], leader.now);
    leader.desk.tick(leader.now);
    leader.apply();
    leader.advance(1_000);
    expect(leader.tree.children('/')).toEqual(['t', 'u', 'zookeeper']);
  });

  it('stay while leadership is being handed over', () => {
    const leader = new Leader();
    leader.order(2, create('/t', '', { mode: 'ttl', ttlMs: 1 }));
    leader.now.wallMs += 10_000;
    leader.isHeld = true;
    leader.advance(5_000);
    expect(leader.tree.children('/')).toContain('t');
  });
});

describe('C011: a soft limit that is passed', () => {
  it('is warned of, once in a minute', () => {
    const leader = new Leader();
    leader.order(1, create('/q'));
    leader.order(1, create('/zookeeper/quota/q'));
    leader.order(1, create('/zookeeper/quota/q/zookeeper_limits', 'count=1,bytes=-1'));
    const toAndFro = (): void => {
      leader.order(1, create('/q/a'));
      leader.desk.turnEnded(leader.now);
      leader.order(1, { kind: 'delete', path: '/q/a', expectedVersion: undefined });
      leader.desk.turnEnded(leader.now);
    };
    toAndFro();
    toAndFro();
    expect(leader.warnings).toEqual(['/q holds more than its quota: a soft limit was passed']);
    leader.now.monotonicMs += 60_000;
    toAndFro();
    expect(leader.warnings).toHaveLength(2);
  });
});
