import { NO_SESSION, type Zxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { create } from '../peer/words.fixture.ts';
import type { Txn } from '../tree/txn.ts';
import { Deadlines } from './deadlines.ts';
import { Outstanding } from './outstanding.ts';
import type { WriteRequest } from './write-request.ts';

const NEVER_GONE = (): boolean => false;

/** The table of member 1 in its run 7, what it forwarded, and what those who wait were told. */
class Table {
  readonly deadlines = new Deadlines();
  readonly outstanding: Outstanding;
  readonly sent: number[][] = [];
  readonly told: string[] = [];

  constructor(countMax = 100, bytesMax = 1_000_000) {
    const { deadlines } = this;
    this.outstanding = new Outstanding({ sid: 1, incarnation: 7, countMax, bytesMax, deadlines });
  }

  readonly forward = (requests: readonly WriteRequest[]): void => {
    this.sent.push(requests.map(({ seq }) => seq));
  };

  add(name: string, more: { attachment?: number; deadlineMs?: number; data?: string } = {}): string | undefined {
    const { attachment = 0, deadlineMs = 1_000, data = '' } = more;
    const write = { session: NO_SESSION, attachment, op: create('/a', data), deadlineMs };
    const full = this.outstanding.add(write, {
      delivered: (zxid) => this.told.push(`${name} at ${zxid}`),
      failed: ({ code }) => this.told.push(`${name} ${code}`),
    });
    return full?.code;
  }

  flush(): void {
    this.outstanding.flush(this.forward);
  }

  deliver(seq: number, zxid = seq, origin: { sid?: number; incarnation?: number } = {}): void {
    const txn: Txn = {
      origin: { sid: 1, incarnation: 7, seq, ...origin },
      session: NO_SESSION,
      timeMs: 0,
      body: { kind: 'delete', path: '/a' },
    };
    this.outstanding.delivered(txn.origin, BigInt(zxid) as Zxid, txn);
  }
}

describe('writes', () => {
  it('go out once, in order, with the turn in which they came', () => {
    const table = new Table();
    table.add('a');
    table.add('b');
    table.flush();
    table.flush();
    table.add('c');
    table.flush();
    expect(table.sent).toEqual([[1, 2], [3]]);
  });

  it('P5: are recognized by member, run and number, and nothing else', () => {
    const table = new Table();
    table.add('a');
    table.add('b');
    table.flush();
    table.deliver(1, 50, { sid: 2 });
    table.deliver(1, 51, { incarnation: 6 });
    expect(table.told).toEqual([]);
    table.deliver(1, 52);
    table.deliver(2, 53);
    expect(table.told).toEqual(['a at 52', 'b at 53']);
    expect([table.outstanding.count, table.outstanding.bytes, table.deadlines.size]).toEqual([0, 0, 0]);
  });

  it('P5: that come twice, or out of their order, stop the member', () => {
    const table = new Table();
    for (const name of ['a', 'b', 'c']) table.add(name);
    table.flush();
    table.deliver(2);
    expect(() => table.deliver(2)).toThrow('P5');
    expect(() => table.deliver(1)).toThrow('P5');
    expect(() => table.deliver(4)).toThrow('P5');
  });

  it('are bounded in number and in bytes; room comes back with answers', () => {
    const table = new Table(2, 10_000);
    expect([table.add('a'), table.add('b'), table.add('c')]).toEqual([undefined, undefined, 'THROTTLED']);
    table.flush();
    table.deliver(1);
    expect(table.add('d', { data: 'x'.repeat(20_000) })).toBe('THROTTLED');
    expect(table.add('e')).toBeUndefined();
    table.flush();
    expect(table.sent).toEqual([[1, 2], [3]]);
  });
});

describe('a deadline', () => {
  it('that passes before a write was sent says that it was not applied, and it is never sent', () => {
    const table = new Table();
    table.add('a', { deadlineMs: 10 });
    table.add('b', { deadlineMs: 20 });
    table.deadlines.expire(10);
    table.flush();
    expect(table.told).toEqual(['a UNAVAILABLE']);
    expect(table.sent).toEqual([[2]]);
  });

  it('that passes later says that nobody knows; the txn may come and is not answered again', () => {
    const table = new Table();
    table.add('a', { deadlineMs: 10 });
    table.flush();
    table.deadlines.expire(10);
    table.deliver(1);
    expect(table.told).toEqual(['a OUTCOME_UNKNOWN']);
  });

  it('leaves nothing behind, however long there is no leader', () => {
    const table = new Table();
    for (let n = 0; n < 1_000; n++) {
      table.add('x', { deadlineMs: n });
      table.deadlines.expire(n);
    }
    expect([table.outstanding.count, table.outstanding.bytes, table.deadlines.size]).toEqual([0, 0, 0]);
    table.flush();
    expect(table.sent).toEqual([]);
  });
});

describe('P6: a new leader', () => {
  it('gets everything that has no txn, in order; what was answered does not come back', () => {
    const table = new Table();
    table.add('a');
    table.add('b', { deadlineMs: 10 });
    table.add('c');
    table.flush();
    table.add('d');
    table.deliver(1);
    table.deadlines.expire(10);
    table.outstanding.forwardAgain(table.forward, NEVER_GONE);
    table.flush();
    expect(table.sent).toEqual([
      [1, 2, 3],
      [3, 4],
    ]);
  });

  it('does not get what an absent client left behind', () => {
    const table = new Table();
    table.add('a', { attachment: 1 });
    table.add('b', { attachment: 2 });
    table.flush();
    table.add('c', { attachment: 1 });
    table.add('d');
    table.outstanding.forwardAgain(table.forward, (attachment) => attachment === 1);
    expect(table.told).toEqual(['a OUTCOME_UNKNOWN', 'c UNAVAILABLE']);
    expect(table.sent).toEqual([
      [1, 2],
      [2, 4],
    ]);
  });
});

describe('a snapshot', () => {
  it('leaves the fate of what was sent unknown; the rest is sent with the next leader', () => {
    const table = new Table();
    table.add('a');
    table.flush();
    table.add('b');
    table.outstanding.jumped();
    table.outstanding.forwardAgain(table.forward, NEVER_GONE);
    table.deliver(2, 90);
    expect(table.told).toEqual(['a OUTCOME_UNKNOWN', 'b at 90']);
    expect(table.sent).toEqual([[1], [2]]);
  });
});
