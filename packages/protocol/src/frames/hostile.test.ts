/** Frames that no honest writer makes: one kind of error, no other, and nothing allocated because a length says so. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter, DecodeError } from '../bytes.ts';
import { FRAME_ITEMS_MAX } from '../limits.ts';
import { NO_SESSION } from '../session-id.ts';
import { toZxid } from '../zxid.ts';
import { decodeAttachRequest, writeCall, writeClientHello } from './attach-request.ts';
import { decodeAttachResponse, writeReply, writeSessionClosed } from './attach-response.ts';
import { writeWatchCommand, writeWatchEnded, writeWatchNews } from './watch-frames.ts';
import { beginMessage, writeString, writeUint } from './wire.ts';

const stat = {
  czxid: toZxid(0x3_0000_0001n),
  mzxid: toZxid(0x3_0000_0002n),
  pzxid: toZxid(0x3_0000_0003n),
  ctimeMs: 1_700_000_000_000,
  mtimeMs: 1_700_000_000_001,
  version: -1,
  cversion: 2,
  aversion: 0,
  ephemeralOwner: NO_SESSION,
  dataLength: 3,
  numChildren: 2,
};

function requestFrame(): Uint8Array {
  const writer = new ByteWriter();
  writeClientHello(writer, {
    session: NO_SESSION,
    token: new Uint8Array(16),
    timeoutMs: 4_000,
    lastZxidSeen: toZxid(7n),
    protocolRevision: 1,
  });
  const data = new Uint8Array([1, 2, 3]);
  const create = { kind: 'create', path: '/é', data, mode: 'ephemeral', sequential: true } as const;
  writeCall(writer, { xid: 1, timeoutMs: 5_000, linearizable: false, op: create });
  writeCall(writer, { xid: 2, timeoutMs: 0, linearizable: true, op: { kind: 'getData', path: '/a' } });
  const spec = { path: '/é', recursive: true, withValues: true, from: toZxid(1n << 40n), initial: false };
  writeWatchCommand(writer, { kind: 'begin', watch: 1, spec });
  writeWatchCommand(writer, { kind: 'taken', watch: 300 });
  return writer.finish();
}

function responseFrame(): Uint8Array {
  const writer = new ByteWriter();
  writeReply(writer, 1, 'create', { zxid: toZxid(9n), result: { kind: 'create', path: '/é0000000000', stat } });
  const children = ['a', 'b'];
  writeReply(writer, 2, 'getChildren', { zxid: toZxid(9n), result: { kind: 'getChildren', children, stat } });
  const failed = { kind: 'error', code: 'NO_NODE', path: '/x', message: 'Gone' } as const;
  writeReply(writer, 3, 'getData', { zxid: toZxid(9n), result: failed });
  const event = { kind: 'created', zxid: toZxid(1n << 40n), path: '/é', stat, data: new Uint8Array(3) } as const;
  writeWatchNews(writer, 1, { zxid: toZxid(1n << 40n), events: [event] }, true);
  writeWatchEnded(writer, 2, failed);
  writeSessionClosed(writer, { code: 'SESSION_MOVED', message: 'Elsewhere', unansweredNotApplied: true });
  return writer.finish();
}

const DIRECTIONS = [
  { name: 'request', frame: requestFrame(), decode: decodeAttachRequest },
  { name: 'response', frame: responseFrame(), decode: decodeAttachResponse },
] as const;

/** True when the frame was read; false when it was refused with DecodeError. Any other error escapes. */
function isRead(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): boolean {
  try {
    decode(bytes);
    return true;
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

describe.each(DIRECTIONS)('a hostile $name frame', ({ frame, decode }) => {
  it('cut at any byte is read as fewer whole parts or refused', () => {
    let refused = 0;
    for (let length = 0; length < frame.length; length++) if (!isRead(decode, frame.slice(0, length))) refused++;
    expect(refused).toBeGreaterThan(frame.length - 8);
  });

  it('of random bytes is read or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void isRead(decode, bytes)),
      { numRuns: 2_000 },
    );
  });

  it('with flipped bytes is read or refused', () => {
    const at = fc.nat({ max: frame.length - 1 });
    fc.assert(
      fc.property(fc.array(fc.tuple(at, fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }), (flips) => {
        const bytes = frame.slice();
        for (const [index, value] of flips) bytes[index] = value;
        isRead(decode, bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  it('that announces four gigabytes is refused', () => {
    for (const tag of [0x0a, 0x12, 0x22, 0x7a]) {
      expect(() => decode(new Uint8Array([tag, 0xff, 0xff, 0xff, 0xff, 0x0f]))).toThrow(DecodeError);
    }
  });

  it('with field number 0, a group or an endless varint is refused', () => {
    expect(() => decode(new Uint8Array([0x00, 0x00]))).toThrow(DecodeError);
    expect(() => decode(new Uint8Array([0x7b]))).toThrow(DecodeError);
    expect(() => decode(new Uint8Array(Array(11).fill(0x80)))).toThrow(DecodeError);
  });

  it('with too many parts is refused, with the most allowed is read', () => {
    // A part that is a legal reply or call: xid 1 and an empty delete (field 11).
    const part = [0x12, 0x04, 0x08, 0x01, 0x5a, 0x00];
    const parts = (count: number) => new Uint8Array(Array(count).fill(part).flat());
    expect(isRead(decode, parts(FRAME_ITEMS_MAX))).toBe(true);
    expect(() => decode(parts(FRAME_ITEMS_MAX + 1))).toThrow(/More than 8192/);
  });
});

describe('fields and values that this build does not know', () => {
  it('are skipped at every level', () => {
    const writer = new ByteWriter();
    const callStart = beginMessage(writer, 2);
    writeUint(writer, 1, 4);
    writeString(writer, 2, 'traceparent');
    const opStart = beginMessage(writer, 13);
    writeString(writer, 1, '/a');
    writer.varint((900 << 3) | 1).fixed64(1n);
    writer.varint((901 << 3) | 5).raw(new Uint8Array(4));
    writer.endPart(opStart);
    writeUint(writer, 902, 3);
    writer.endPart(callStart);
    writeString(writer, 903, 'later');
    const op = { kind: 'getData', path: '/a' };
    expect(decodeAttachRequest(writer.finish()).calls).toEqual([{ xid: 4, timeoutMs: 0, op, linearizable: false }]);
  });

  it('make an unknown operation a fault of that call alone', () => {
    const writer = new ByteWriter();
    const start = beginMessage(writer, 2);
    writeUint(writer, 1, 9);
    writer.endPart(beginMessage(writer, 99));
    writer.endPart(start);
    writeCall(writer, { xid: 10, timeoutMs: 0, linearizable: false, op: { kind: 'sync', path: '/' } });
    const [first, second] = decodeAttachRequest(writer.finish()).calls;
    expect(first?.op).toMatchObject({ kind: 'fault', code: 'UNIMPLEMENTED' });
    expect(second?.op).toEqual({ kind: 'sync', path: '/' });
  });

  it('make an unknown create mode a fault of that call alone', () => {
    const writer = new ByteWriter();
    const start = beginMessage(writer, 2);
    const opStart = beginMessage(writer, 10);
    writeString(writer, 1, '/a');
    writeUint(writer, 3, 7);
    writer.endPart(opStart);
    writer.endPart(start);
    expect(decodeAttachRequest(writer.finish()).calls[0]?.op).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('turn an unknown error code into INTERNAL', () => {
    const writer = new ByteWriter();
    const start = beginMessage(writer, 4);
    writeUint(writer, 1, 999);
    writer.endPart(start);
    expect(decodeAttachResponse(writer.finish()).closed?.code).toBe('INTERNAL');
  });

  it('refuse a negative zxid and bad UTF-8', () => {
    const writer = new ByteWriter();
    const start = beginMessage(writer, 1);
    writer.varint(32).varint64(-1n);
    writer.endPart(start);
    expect(() => decodeAttachRequest(writer.finish())).toThrow(DecodeError);
    expect(() => decodeAttachResponse(new Uint8Array([0x22, 0x03, 0x12, 0x01, 0xff]))).toThrow(DecodeError);
  });
});
