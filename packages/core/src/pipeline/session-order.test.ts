import { type Answer, NO_SESSION, type SessionId, type Zxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Place, SessionOrder } from './session-order.ts';

const S = 1n as SessionId;

function answer(zxid: number): Answer {
  return { zxid: BigInt(zxid) as Zxid, result: { kind: 'delete' } };
}

class Lines {
  readonly answered: number[] = [];
  readonly begun: number[] = [];
  readonly order = new SessionOrder(({ callId }) => this.answered.push(callId));

  join(callId: number, session = S, isBarrier = false): Place {
    return this.order.join({ callId, session, attachment: 0, isBarrier });
  }

  write(callId: number): Place {
    const place = this.join(callId);
    this.order.begin(place, () => this.begun.push(callId));
    return place;
  }

  done(place: Place): void {
    this.order.ready(place, () => answer(1));
  }
}

describe('P1: a session’s calls', () => {
  it('are answered at once with nothing ahead', () => {
    const lines = new Lines();
    lines.done(lines.join(1));
    expect(lines.answered).toEqual([1]);
    expect([lines.order.held, lines.order.lineCount]).toEqual([0, 0]);
  });

  it('wait for those ahead, whichever is done first', () => {
    const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 });
    fc.assert(
      fc.property(order, (done) => {
        const lines = new Lines();
        const places = [10, 11, 12, 13, 14, 15].map((callId) => lines.join(callId));
        for (const i of done) lines.done(places[i]!);
        expect(lines.answered).toEqual([10, 11, 12, 13, 14, 15]);
        expect([lines.order.held, lines.order.lineCount]).toEqual([0, 0]);
      }),
    );
  });

  it('make their answer only when their turn has come', () => {
    const lines = new Lines();
    const write = lines.join(1);
    const made: string[] = [];
    lines.order.ready(lines.join(2), () => {
      made.push('read');
      return answer(5);
    });
    expect(made).toEqual([]);
    lines.done(write);
    expect(made).toEqual(['read']);
  });

  it('do not wait for other sessions, nor does a call without one wait at all', () => {
    const lines = new Lines();
    lines.join(1);
    const other = lines.join(2, 2n as SessionId);
    lines.join(3, NO_SESSION);
    lines.done(lines.join(4, NO_SESSION));
    lines.done(other);
    expect(lines.answered).toEqual([4, 2]);
    expect([lines.order.held, lines.order.isIdle(S), lines.order.isIdle(2n as SessionId)]).toEqual([2, false, true]);
  });

  it('go through in great numbers', () => {
    const lines = new Lines();
    const places = Array.from({ length: 1_000 }, (_, i) => lines.join(i));
    for (const place of places) {
      expect(lines.order.isFirst(place)).toBe(true);
      lines.done(place);
    }
    expect(lines.answered).toEqual(places.map(({ callId }) => callId));
  });
});

describe('P2: a call', () => {
  it('is answered once, with the first answer that was made ready', () => {
    const lines = new Lines();
    const [first, second] = [lines.join(1), lines.join(2)];
    lines.done(second);
    lines.done(second);
    lines.done(first);
    lines.done(first);
    expect(lines.answered).toEqual([1, 2]);
  });
});

describe('P3: a write behind a barrier', () => {
  it('begins when the barrier has been answered, in order, up to the next one', () => {
    const lines = new Lines();
    const before = lines.write(1);
    const barrier = lines.join(2, S, true);
    lines.write(3);
    lines.write(4);
    const next = lines.join(5, S, true);
    lines.write(6);
    expect(lines.begun).toEqual([1]);
    lines.done(barrier);
    expect(lines.begun).toEqual([1]);
    lines.done(before);
    expect(lines.answered).toEqual([1, 2]);
    expect(lines.begun).toEqual([1, 3, 4]);
    lines.done(next);
    expect(lines.begun).toEqual([1, 3, 4]);
  });

  it('does not begin when it has failed meanwhile', () => {
    const lines = new Lines();
    const barrier = lines.join(1, S, true);
    const write = lines.write(2);
    lines.done(write);
    lines.done(barrier);
    expect([lines.begun, lines.answered]).toEqual([[], [1, 2]]);
  });

  it('holds when those that begin are done at once', () => {
    const lines = new Lines();
    const barrier = lines.join(1, S, true);
    for (let callId = 2; callId < 200; callId++) {
      const place = lines.join(callId);
      lines.order.begin(place, () => {
        lines.begun.push(callId);
        lines.done(place);
      });
    }
    lines.done(barrier);
    expect(lines.answered).toEqual(Array.from({ length: 199 }, (_, i) => i + 1));
    expect(lines.order.lineCount).toBe(0);
  });

  it('must ask when it joins', () => {
    const lines = new Lines();
    lines.join(1, S, true);
    const early = lines.join(2);
    lines.join(3);
    expect(() => lines.order.begin(early, () => lines.begun.push(2))).toThrow('P3');
  });
});
