import type { Zxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Deadlines } from './deadlines.ts';
import { SyncRequests, SyncRounds } from './sync.ts';

const z = (n: number): Zxid => BigInt(n) as Zxid;

class Asking {
  readonly deadlines = new Deadlines();
  readonly requests = new SyncRequests(this.deadlines);
  readonly sent: number[] = [];
  readonly told: string[] = [];

  ask(name: string, deadlineMs = 1_000): void {
    this.requests.ask(deadlineMs, {
      reached: () => this.told.push(name),
      failed: ({ code }) => this.told.push(`${name} ${code}`),
    });
  }

  flush(): void {
    this.requests.flush((seq) => this.sent.push(seq));
  }
}

describe('a member that asks', () => {
  it('asks once a turn for all, and not at all for nobody', () => {
    const asking = new Asking();
    asking.flush();
    asking.ask('a');
    asking.ask('b');
    asking.flush();
    asking.flush();
    asking.ask('c');
    asking.flush();
    expect(asking.sent).toEqual([1, 2]);
    asking.requests.reply(1, z(10), z(10));
    expect(asking.told).toEqual(['a', 'b']);
    expect(asking.requests.count).toBe(1);
  });

  it('P7: does not take an answer for what was asked after it', () => {
    const asking = new Asking();
    asking.ask('a');
    asking.flush();
    asking.ask('b');
    asking.requests.reply(1, z(10), z(10));
    expect(asking.told).toEqual(['a']);
  });

  it('P7: lets nobody go on before it has applied what the leader said', () => {
    const asking = new Asking();
    asking.ask('a');
    asking.flush();
    asking.ask('b');
    asking.flush();
    asking.requests.reply(1, z(10), z(8));
    asking.requests.reply(2, z(12), z(9));
    expect(asking.told).toEqual([]);
    asking.requests.applied(z(10));
    expect(asking.told).toEqual(['a']);
    asking.requests.applied(z(15));
    expect(asking.told).toEqual(['a', 'b']);
    expect([asking.requests.count, asking.deadlines.size]).toEqual([0, 0]);
  });

  it('asks a new leader again, once, for all that is not answered', () => {
    const asking = new Asking();
    for (const name of ['a', 'b', 'c']) {
      asking.ask(name);
      asking.flush();
    }
    asking.requests.reply(1, z(5), z(4));
    asking.requests.askAgain();
    asking.flush();
    expect(asking.sent).toEqual([1, 2, 3, 4]);
    asking.requests.reply(4, z(9), z(9));
    expect(asking.told).toEqual(['a', 'b', 'c']);
  });

  it('waits no longer than the deadline, whether asked, confirmed or without a leader', () => {
    const asking = new Asking();
    asking.ask('a', 10);
    asking.flush();
    asking.requests.reply(1, z(5), z(4));
    asking.ask('b', 10);
    asking.flush();
    asking.ask('c', 10);
    asking.deadlines.expire(10);
    expect(asking.told.sort()).toEqual(['a UNAVAILABLE', 'b UNAVAILABLE', 'c UNAVAILABLE']);
    asking.requests.applied(z(99));
    asking.requests.reply(3, z(99), z(99));
    expect([asking.told.length, asking.requests.count]).toEqual([3, 0]);
  });
});

describe('a leader that is asked', () => {
  class Asked {
    readonly rounds = new SyncRounds();
    readonly replies: [number, number, Zxid][] = [];
    round = 0;
    committed = z(0);

    flush(): void {
      this.rounds.flush(
        () => ++this.round,
        () => this.committed,
      );
    }

    confirm(round: number): void {
      this.rounds.confirmed(round, ({ sid, seq }, zxid) => this.replies.push([sid, seq, zxid]));
    }
  }

  it('P7: answers only when a quorum has confirmed it since, with what was committed then', () => {
    const asked = new Asked();
    asked.committed = z(7);
    asked.rounds.ask(2, 1);
    asked.rounds.ask(3, 4);
    asked.rounds.ask(2, 2);
    asked.flush();
    asked.committed = z(9);
    asked.rounds.ask(2, 3);
    asked.confirm(0);
    expect(asked.replies).toEqual([]);
    asked.confirm(1);
    expect(asked.replies).toEqual([
      [2, 2, 7n],
      [3, 4, 7n],
    ]);
    asked.flush();
    asked.confirm(2);
    expect(asked.replies.at(-1)).toEqual([2, 3, 9n]);
  });

  it('begins no round for nobody, and answers several at one confirmation', () => {
    const asked = new Asked();
    asked.flush();
    expect(asked.round).toBe(0);
    for (const seq of [1, 2, 3]) {
      asked.rounds.ask(2, seq);
      asked.flush();
    }
    asked.confirm(2);
    expect(asked.replies.map(([, seq]) => seq)).toEqual([1, 2]);
    asked.confirm(3);
    expect(asked.replies.map(([, seq]) => seq)).toEqual([1, 2, 3]);
  });
});
