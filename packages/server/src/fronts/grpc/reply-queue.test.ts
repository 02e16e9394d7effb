/** Replies leave in the order of the calls, in frames of a good size, as views until there is room. */
import { type Answer, NO_SESSION, type Stat, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { decodeAttachResponse } from '@quorate/protocol/frames';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyQueue } from './reply-queue.ts';

const ok = (zxid: number): Answer => ({ zxid: BigInt(zxid) as Zxid, result: { kind: 'delete' } });

const stat: Stat = {
  czxid: ZERO_ZXID,
  mzxid: ZERO_ZXID,
  pzxid: ZERO_ZXID,
  ctimeMs: 0,
  mtimeMs: 0,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: NO_SESSION,
  dataLength: 0,
  numChildren: 0,
};

function take(queue: ReplyQueue): [xid: number, zxid: number][][] {
  const frames: [number, number][][] = [];
  for (let frame = queue.nextFrame(); frame !== undefined; frame = queue.nextFrame()) {
    const { replies } = decodeAttachResponse(frame.finish());
    frames.push(replies.map(({ xid, answer }) => [xid, Number(answer.zxid)]));
  }
  return frames;
}

describe('the replies of a stream', () => {
  it('end at the first call that the member does not take any more, whatever became of those after it', () => {
    const queue = new ReplyQueue(() => undefined);
    const calls = [1, 2, 3].map((xid) => queue.add(xid, 'delete'));
    const result = { kind: 'error', code: 'UNAVAILABLE', path: undefined, message: 'gone', goElsewhere: true } as const;
    calls[1]?.answer({ zxid: 5n as Zxid, result });
    calls[2]?.answer(ok(5));
    expect(queue.farewell).toBeUndefined();
    calls[0]?.answer(ok(4));
    expect(take(queue)).toEqual([[[1, 4]]]);
    expect(queue.farewell).toBe(result);
    expect([queue.hasReply, queue.nextFrame(), queue.size]).toEqual([false, undefined, 2]);
  });

  it('leave in the order of the calls, in whatever order they come', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.infiniteStream(fc.nat()), (count, numbers) => {
        let woken = 0;
        const queue = new ReplyQueue(() => woken++);
        const waiting = Array.from({ length: count }, (_, index) => ({
          xid: index + 1,
          call: queue.add(index + 1, 'delete'),
        }));
        const left: number[] = [];
        while (waiting.length > 0) {
          const [next] = waiting.splice(numbers.next().value % waiting.length, 1);
          next?.call.answer(ok(next.xid));
          if (numbers.next().value % 3 === 0)
            left.push(
              ...take(queue)
                .flat()
                .map(([xid]) => xid),
            );
        }
        left.push(
          ...take(queue)
            .flat()
            .map(([xid]) => xid),
        );
        expect(left).toEqual(Array.from({ length: count }, (_, index) => index + 1));
        expect(queue.size).toBe(0);
        expect(woken).toBeGreaterThan(0);
      }),
    );
  });

  it('wait while the oldest call is not answered', () => {
    const queue = new ReplyQueue(() => undefined);
    const first = queue.add(1, 'delete');
    queue.add(2, 'delete').answer(ok(9));
    expect([queue.hasReply, queue.nextFrame()]).toEqual([false, undefined]);
    first.answer(ok(8));
    expect(take(queue)).toEqual([
      [
        [1, 8],
        [2, 9],
      ],
    ]);
  });

  it('give a call that cannot be carried out its place, and a zxid that does not fall', () => {
    const queue = new ReplyQueue(() => undefined);
    const first = queue.add(1, 'delete');
    queue.addFault(2, { kind: 'fault', code: 'UNIMPLEMENTED', message: 'x' });
    expect(queue.hasReply).toBe(false);
    first.answer(ok(5));
    queue.add(3, 'delete').answer(ok(6));
    expect(take(queue).flat()).toEqual([
      [1, 5],
      [2, 5],
      [3, 6],
    ]);
  });

  it('are cut into frames of a good size; one that is larger has a frame to itself', () => {
    const queue = new ReplyQueue(() => undefined);
    const sizes = [10, 600_000, 10, 100_000, 100_000, 100_000];
    for (const [index, size] of sizes.entries()) {
      queue.add(index + 1, 'getData').answer({
        zxid: 1n as Zxid,
        result: { kind: 'getData', data: new Uint8Array(size), stat },
      });
    }
    expect(take(queue).map((frame) => frame.map(([xid]) => xid))).toEqual([[1], [2], [3, 4, 5], [6]]);
  });
});
