/** What becomes of each call: sent, answered, late, aborted, or cut off. Frames are read back with the member's codec. */
import {
  type Answer,
  type ErrorCode,
  type Op,
  type OpResult,
  toZxid,
  UNACKNOWLEDGED_MAX,
  type Zxid,
} from '@quorate/protocol';
import { decodeAttachRequest } from '@quorate/protocol/frames';
import { describe, expect, it } from 'vitest';
import { Calls, FRAME_BYTES, type PendingCall } from './calls.ts';
import type { CoordinationError } from './errors.ts';

const LIMITS = { frameBytesMax: 4_000_000, requestBytesMax: 1_048_575 };
const zxid = toZxid(0x3_0000_0001n);

interface Placed {
  readonly pending: PendingCall;
  result?: OpResult;
  zxid?: Zxid;
  error?: CoordinationError;
  settled: number;
}

const read: Op = { kind: 'getChildren', path: '/' };
const write: Op = { kind: 'delete', path: '/a', expectedVersion: undefined };

function place(calls: Calls, op: Op, deadlineMs = 5_000): Placed {
  const placed: { -readonly [K in keyof Placed]: Placed[K] } = { settled: 0 } as Placed;
  placed.pending = calls.add({
    op,
    linearizable: false,
    deadlineMs,
    resolve: (result, at) => Object.assign(placed, { result, zxid: at, settled: placed.settled + 1 }),
    reject: (error) => Object.assign(placed, { error, settled: placed.settled + 1 }),
  });
  return placed;
}

function attached(limits = { callsMax: 100, bytesMax: 10_000_000 }): Calls {
  const calls = new Calls(limits);
  calls.attached(LIMITS);
  return calls;
}

const send = (calls: Calls, nowMs = 0) => decodeAttachRequest(calls.nextFrame(nowMs) ?? new Uint8Array(0)).calls;
const acknowledgedIn = (calls: Calls) => decodeAttachRequest(calls.nextFrame(0) as Uint8Array).acknowledged;
const done = { zxid, result: { kind: 'delete' } } as const satisfies Answer;
const listed = (name: string): Answer => ({
  zxid,
  result: { kind: 'getChildren', children: [name], stat: undefined as never },
});

describe('frames of calls', () => {
  it('hold calls in order, numbered from 1 in every attachment, with the time that is left', () => {
    const calls = attached();
    place(calls, write, 5_000);
    place(calls, read, 100);
    const sent = send(calls, 50);
    expect(sent.map(({ xid, op, timeoutMs }) => [xid, op.kind, timeoutMs])).toEqual([
      [1, 'delete', 4_850],
      [2, 'getChildren', 45],
    ]);
    place(calls, read);
    expect(send(calls)[0]?.xid).toBe(3);
    calls.attached(LIMITS);
    place(calls, read);
    expect(send(calls)[0]?.xid).toBe(1);
  });

  it('are full at 64 calls or 64 kB', () => {
    const calls = attached();
    for (let index = 0; index < 100; index++) place(calls, read);
    expect(calls.fillsFrame).toBe(true);
    expect([send(calls).length, send(calls).length, calls.nextFrame(0)]).toEqual([64, 36, undefined]);
    const big = attached();
    const data = new Uint8Array(FRAME_BYTES / 4);
    for (let index = 0; index < 6; index++) place(big, { kind: 'setData', path: '/a', data, expectedVersion: 1 });
    expect([send(big).length, send(big).length]).toEqual([4, 2]);
  });

  it('leave out a call over the limit of the member, which fails alone', () => {
    const calls = attached();
    calls.attached({ frameBytesMax: 1_000, requestBytesMax: 500 });
    const big = place(calls, { kind: 'setData', path: '/a', data: new Uint8Array(501), expectedVersion: undefined });
    const small = place(calls, read);
    expect(send(calls).map(({ xid, op }) => [xid, op.kind])).toEqual([[1, 'getChildren']]);
    expect(big.error).toMatchObject({ code: 'INVALID_ARGUMENT', outcome: 'not-applied', path: '/a' });
    expect(small.settled).toBe(0);
  });

  it('stay below the largest frame of the member', () => {
    const calls = attached();
    calls.attached({ frameBytesMax: 1_000, requestBytesMax: 900 });
    for (let index = 0; index < 3; index++) {
      place(calls, { kind: 'setData', path: '/a', data: new Uint8Array(400), expectedVersion: undefined });
    }
    expect([send(calls).length, send(calls).length]).toEqual([2, 1]);
  });
});

describe('replies', () => {
  it('go to the calls in order, with their zxid', () => {
    const calls = attached();
    const first = place(calls, write);
    const second = place(calls, read);
    send(calls, 7);
    expect(calls.reply({ xid: 1, answer: done })).toBe(7);
    expect(calls.reply({ xid: 2, answer: listed('x') })).toBe(7);
    expect(first).toMatchObject({ result: { kind: 'delete' }, zxid, settled: 1 });
    expect(second.result).toMatchObject({ children: ['x'] });
  });

  it('to another call than the next, or of another kind, are a breach', () => {
    const calls = attached();
    const placed = place(calls, write);
    expect(calls.reply({ xid: 1, answer: done })).toBeUndefined();
    send(calls);
    expect(calls.reply({ xid: 2, answer: done })).toBeUndefined();
    expect(calls.reply({ xid: 1, answer: listed('x') })).toBeUndefined();
    expect(placed.settled).toBe(0);
  });

  it('that say why a call failed reject it; only a write can be of unknown outcome', () => {
    const cases = [
      [write, 'NO_NODE', 'NO_NODE', 'not-applied', false],
      [write, 'UNAVAILABLE', 'UNAVAILABLE', 'not-applied', true],
      [{ kind: 'closeSession' }, 'OUTCOME_UNKNOWN', 'CONNECTION_LOST', 'unknown', false],
      [write, 'DEADLINE_EXCEEDED', 'TIMEOUT', 'unknown', false],
      [write, 'MARSHALLING_ERROR', 'INVALID_ARGUMENT', 'not-applied', false],
      [read, 'DEADLINE_EXCEEDED', 'TIMEOUT', 'not-applied', true],
    ] as const;
    for (const [op, code, clientCode, outcome, retryable] of cases) {
      const calls = attached();
      const placed = place(calls, op);
      send(calls);
      const result = { kind: 'error', code, path: undefined, message: 'm' } as const;
      calls.reply({ xid: 1, answer: { zxid, result } });
      expect(placed.error).toMatchObject({ code: clientCode, outcome, retryable, message: 'm' });
    }
  });
});

describe('C076: a call that is late or aborted', () => {
  it('fails alone, and its late reply is dropped without shifting the next', () => {
    const calls = attached();
    const slow = place(calls, read, 100);
    const next = place(calls, read, 5_000);
    send(calls);
    expect(calls.expire(100)).toBe(5_000);
    expect(slow.error).toMatchObject({ code: 'TIMEOUT', outcome: 'not-applied' });
    expect(calls.reply({ xid: 1, answer: listed('late') })).toBe(0);
    expect(calls.reply({ xid: 2, answer: listed('right') })).toBe(0);
    expect(next.result).toMatchObject({ children: ['right'] });
    expect(slow.settled).toBe(1);
  });

  it('is of unknown outcome only when it is a write that was sent', () => {
    const calls = attached();
    const sent = place(calls, write, 100);
    send(calls);
    const waiting = place(calls, write, 100);
    expect(calls.expire(100)).toBeUndefined();
    expect([sent.error?.outcome, waiting.error?.outcome]).toEqual(['unknown', 'not-applied']);
    expect(calls.nextFrame(0)).toBeUndefined();
    const aborted = place(calls, write);
    const reason = new Error('enough');
    calls.abort(aborted.pending, reason);
    expect(aborted.error).toMatchObject({ code: 'ABORTED', outcome: 'not-applied', cause: reason });
    expect(calls.nextFrame(0)).toBeUndefined();
    const timed = place(calls, write);
    send(calls);
    calls.abort(timed.pending, new DOMException('late', 'TimeoutError'));
    expect(timed.error).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
  });
});

describe('C077: a broken stream', () => {
  it('has all that was sent go out again, writes under their numbers, before what waits', () => {
    const calls = attached();
    const first = place(calls, write);
    place(calls, { kind: 'getData', path: '/1' });
    const goodbye = place(calls, { kind: 'closeSession' });
    expect(send(calls).map(({ request }) => request)).toEqual([1, undefined, undefined]);
    place(calls, { kind: 'delete', path: '/3', expectedVersion: undefined });
    calls.detached('gone', false);
    expect(goodbye.error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown', retryable: false });
    calls.attached(LIMITS);
    expect(send(calls).map(({ xid, op, request }) => [xid, 'path' in op && op.path, request])).toEqual([
      [1, '/a', 1],
      [2, '/1', undefined],
      [3, '/3', 2],
    ]);
    calls.reply({ xid: 1, answer: done });
    expect(first).toMatchObject({ result: { kind: 'delete' }, settled: 1 });
  });

  it('whose member carried out nothing that it did not answer: all is sent again, writes too, before what waits', () => {
    const calls = attached();
    const answered = place(calls, write);
    const first = place(calls, { kind: 'delete', path: '/1', expectedVersion: 7 });
    place(calls, { kind: 'getData', path: '/2' });
    const late = place(calls, { kind: 'delete', path: '/late', expectedVersion: undefined }, 10);
    send(calls);
    place(calls, { kind: 'delete', path: '/3', expectedVersion: undefined });
    calls.reply({ xid: 1, answer: done });
    calls.expire(10);
    calls.detached('gone', true);
    expect([answered.settled, first.settled, late.error?.outcome]).toEqual([1, 0, 'unknown']);
    calls.attached(LIMITS);
    const again = send(calls);
    expect(again.map(({ xid, op }) => [xid, 'path' in op && op.path])).toEqual([
      [1, '/1'],
      [2, '/2'],
      [3, '/3'],
    ]);
    expect(again[0]?.op).toMatchObject({ expectedVersion: 7 });
    calls.reply({ xid: 1, answer: done });
    expect(first).toMatchObject({ result: { kind: 'delete' }, settled: 1 });
  });

  it('does not send again what was settled meanwhile', () => {
    const calls = attached();
    place(calls, read, 10);
    send(calls);
    calls.expire(10);
    calls.detached('gone', false);
    expect(calls.nextFrame(0)).toBeUndefined();
  });
});

describe('C077: a write of which nobody says what became of it', () => {
  const failed = (code: ErrorCode): Answer => {
    return { zxid, result: { kind: 'error', code, path: undefined, message: 'm' } };
  };

  it.each(['OUTCOME_UNKNOWN', 'SESSION_MOVED'] as const)('%s: is asked for again under its number', (code) => {
    const calls = attached();
    const placed = place(calls, write);
    send(calls);
    expect(calls.reply({ xid: 1, answer: failed(code) })).toBe(0);
    expect([placed.settled, calls.againCount, calls.waitingCount]).toEqual([0, 1, 0]);
    calls.askAgain();
    expect(send(calls)).toMatchObject([{ xid: 2, request: 1 }]);
    calls.reply({ xid: 2, answer: done });
    expect(placed).toMatchObject({ result: { kind: 'delete' }, settled: 1 });
  });

  it('and was sent before: what is no answer of the tree says nothing of the first time', () => {
    for (const code of ['UNAVAILABLE', 'THROTTLED', 'SERVER_BEHIND'] as const) {
      const calls = attached();
      const placed = place(calls, write);
      send(calls);
      calls.detached('gone', false);
      calls.attached(LIMITS);
      send(calls);
      calls.reply({ xid: 1, answer: failed(code) });
      expect([placed.settled, calls.againCount]).toEqual([0, 1]);
      expect(calls.expire(9_000)).toBeUndefined();
      expect(placed.error).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
    }
  });

  it('and whose session ended meanwhile, is of unknown outcome', () => {
    const calls = attached();
    const [doubtful, fresh] = [place(calls, write), place(calls, write)];
    calls.attached({ ...LIMITS, frameBytesMax: 70 });
    expect(send(calls)).toHaveLength(1);
    calls.detached('gone', false);
    calls.attached(LIMITS);
    send(calls);
    for (const xid of [1, 2]) calls.reply({ xid, answer: failed('SESSION_EXPIRED') });
    expect([doubtful.error?.outcome, fresh.error?.outcome]).toEqual(['unknown', 'not-applied']);
  });

  it('is answered by the tree in the end: a refusal is final, and the number is acknowledged', () => {
    const calls = attached();
    const placed = place(calls, write);
    send(calls);
    calls.detached('gone', false);
    calls.attached(LIMITS);
    send(calls);
    calls.reply({ xid: 1, answer: failed('NO_NODE') });
    expect(placed.error).toMatchObject({ code: 'NO_NODE', outcome: 'not-applied' });
    place(calls, write);
    expect(acknowledgedIn(calls)).toBe(1);
  });
});

describe('the acknowledgement', () => {
  it('goes up to the first write without an answer', () => {
    const calls = attached();
    for (let n = 0; n < 3; n++) place(calls, write);
    expect(acknowledgedIn(calls)).toBe(0);
    calls.reply({ xid: 1, answer: done });
    place(calls, write);
    expect(acknowledgedIn(calls)).toBe(1);
    calls.reply({ xid: 2, answer: done });
    calls.reply({ xid: 3, answer: done });
    place(calls, write);
    expect(acknowledgedIn(calls)).toBe(3);
  });

  it('does not wait for what nobody wants to know any more', () => {
    const calls = attached();
    const [first] = [place(calls, write, 10), place(calls, write)];
    send(calls);
    calls.expire(10);
    expect(first.settled).toBe(1);
    place(calls, write);
    expect(acknowledgedIn(calls)).toBe(1);
  });

  it('holds writes back, and what comes behind them, when too many are without an answer', () => {
    const calls = attached({ callsMax: 10_000, bytesMax: 10_000_000 });
    for (let n = 0; n < UNACKNOWLEDGED_MAX + 1; n++) place(calls, write);
    let sent = 0;
    for (let frame = send(calls); frame.length > 0; frame = send(calls)) sent += frame.length;
    expect([sent, calls.waitingCount]).toEqual([UNACKNOWLEDGED_MAX, 1]);
    calls.reply({ xid: 1, answer: done });
    expect(send(calls)).toMatchObject([{ request: UNACKNOWLEDGED_MAX + 1 }]);
  });

  it('holds writes back too whose results could be large', () => {
    const calls = attached();
    const long: Op = { kind: 'delete', path: `/${'x'.repeat(60_000)}`, expectedVersion: undefined };
    for (let n = 0; n < 10; n++) place(calls, long);
    let sent = 0;
    for (let frame = send(calls); frame.length > 0; frame = send(calls)) sent += frame.length;
    expect(sent).toBe(5);
  });

  it('holds transactions back that could read more than is kept for the session', () => {
    const calls = attached();
    const reading: Op = { kind: 'multi', parts: [{ kind: 'getData', path: '/a' }] };
    const looking: Op = { kind: 'multi', parts: [{ kind: 'exists', path: '/a' }] };
    for (const [op, most] of [
      [looking, 10],
      [reading, 7],
    ] as const) {
      for (let n = 0; n < 10; n++) place(calls, op);
      expect(send(calls)).toHaveLength(most);
      calls.failAll('SESSION_EXPIRED', 'over');
    }
  });

  it('begins anew with a new session, and so do the numbers', () => {
    const calls = attached();
    for (let n = 0; n < 3; n++) place(calls, write);
    send(calls);
    calls.failAll('SESSION_EXPIRED', 'the session has ended');
    calls.attached(LIMITS);
    place(calls, write);
    const { calls: sent, acknowledged } = decodeAttachRequest(calls.nextFrame(0) as Uint8Array);
    expect([sent[0]?.request, acknowledged]).toEqual([1, 0]);
  });
});

describe('the line', () => {
  it('is bounded in calls and in bytes: THROTTLED, and nothing done', () => {
    const few = attached({ callsMax: 2, bytesMax: 1_000 });
    place(few, read);
    place(few, read);
    send(few);
    expect(() => place(few, read)).toThrow(expect.objectContaining({ code: 'THROTTLED', retryable: true }));
    const small = attached({ callsMax: 100, bytesMax: 1_000 });
    const op: Op = { kind: 'setData', path: '/a', data: new Uint8Array(600), expectedVersion: undefined };
    const first = place(small, op);
    expect(() => place(small, op)).toThrow(expect.objectContaining({ code: 'THROTTLED' }));
    small.abort(first.pending, new Error('x'));
    place(small, op);
  });

  it('C075: fails every call once when the session ends', () => {
    const calls = attached();
    const placed = [place(calls, write), place(calls, read)];
    send(calls);
    placed.push(place(calls, write));
    calls.failAll('SESSION_EXPIRED', 'the session has ended');
    calls.failAll('CLOSED', 'closed');
    expect(placed.map(({ error, settled }) => [error?.code, error?.outcome, settled])).toEqual([
      ['SESSION_EXPIRED', 'unknown', 1],
      ['SESSION_EXPIRED', 'not-applied', 1],
      ['SESSION_EXPIRED', 'not-applied', 1],
    ]);
  });
});
