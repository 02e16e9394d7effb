/** What the last word of a session stream says of the calls that have no reply: never that they were not carried out when one may be. */
import { EventEmitter } from 'node:events';
import type { PeerEvent } from '@quorate/core';
import { type Answer, ByteWriter, NO_SESSION, type SessionId, ZERO_ZXID } from '@quorate/protocol';
import {
  type AttachResponse,
  decodeAttachRequest,
  decodeAttachResponse,
  writeCall,
  writeClientHello,
} from '@quorate/protocol/frames';
import { describe, expect, it } from 'vitest';
import { Calls } from '../../calls.ts';
import type { Attachment } from '../../driver.ts';
import type { CoreAccess } from '../core-access.ts';
import { attachHandler } from './attach.ts';

const OK: Answer = { zxid: ZERO_ZXID, result: { kind: 'delete' } };
const GO: Answer = {
  zxid: ZERO_ZXID,
  result: { kind: 'error', code: 'UNAVAILABLE', path: undefined, message: 'stopping', goElsewhere: true },
};

class FakeStream extends EventEmitter {
  readonly frames: AttachResponse[] = [];
  hasEnded = false;

  write(frame: Uint8Array, written?: () => void): void {
    this.frames.push(decodeAttachResponse(frame));
    if (written !== undefined) queueMicrotask(written);
  }

  end(): void {
    this.hasEnded = true;
  }

  getPeer(): string {
    return 'test';
  }

  pause(): void {}

  resume(): void {}
}

/** A stream with a session and `count` calls, at a core that answers when the test says so. */
async function streamWith(count: number) {
  const stream = new FakeStream();
  const calls = new Calls();
  const posted: PeerEvent[] = [];
  let attachment: Attachment | undefined;
  const core = {
    sid: 1,
    calls,
    streamCallsMax: 100,
    identitiesOf: () => [],
    refusal: () => undefined,
    post: (event: PeerEvent) => void posted.push(event),
    attach: (one: Attachment) => {
      attachment = one;
      return 1;
    },
    detach: () => undefined,
    answered: () => undefined,
    appliedZxid: () => ZERO_ZXID,
  };
  attachHandler(core as unknown as CoreAccess)(stream as never);
  const hello = new ByteWriter();
  const token = new Uint8Array(16);
  writeClientHello(hello, {
    session: NO_SESSION,
    token,
    timeoutMs: 1_000,
    lastZxidSeen: ZERO_ZXID,
    protocolRevision: 1,
  });
  stream.emit('data', decodeAttachRequest(hello.finish()));
  const session = 7n as SessionId;
  calls.sessionReady(1, {
    kind: 'sessionReady',
    callId: 1,
    attachment: 1,
    session,
    token,
    timeoutMs: 1_000,
    resumed: false,
  });
  const frame = new ByteWriter();
  const op = { kind: 'delete', path: '/a', expectedVersion: undefined } as const;
  for (let xid = 1; xid <= count; xid++) writeCall(frame, { xid, timeoutMs: 0, op, linearizable: false });
  stream.emit('data', decodeAttachRequest(frame.finish()));
  const ids = posted.flatMap((event) => (event.kind === 'call' ? [event.call.callId] : []));
  const flush = async (): Promise<void> => {
    attachment?.flush();
    await new Promise(setImmediate);
  };
  await flush();
  return {
    stream,
    flush,
    attachment,
    answer: (index: number, answer: Answer) => calls.answer(ids[index] ?? 0, answer),
  };
}

const lastWord = ({ frames }: FakeStream) => frames.at(-1)?.closed;
const replies = ({ frames }: FakeStream) => frames.flatMap((frame) => frame.replies.map(({ xid }) => xid));

describe('the last word of a stream', () => {
  it('says that nothing is open when every call that was taken has its reply', async () => {
    const { stream, attachment, answer } = await streamWith(2);
    answer(0, OK);
    answer(1, OK);
    attachment?.close('UNAVAILABLE', 'stopping', false);
    expect(replies(stream)).toEqual([1, 2]);
    expect(lastWord(stream)).toEqual({ code: 'UNAVAILABLE', message: 'stopping', unansweredNotApplied: true });
  });

  it('does not say so while the core has a call', async () => {
    const { stream, attachment, answer } = await streamWith(2);
    answer(0, OK);
    attachment?.close('UNAVAILABLE', 'lost its leader', false);
    expect(replies(stream)).toEqual([1]);
    expect(lastWord(stream)?.unansweredNotApplied).toBe(false);
  });

  it('says so when the core has none, though some are on their way to it', async () => {
    const { stream, attachment, answer } = await streamWith(2);
    answer(0, OK);
    attachment?.close('UNAVAILABLE', 'stopping', true);
    expect(replies(stream)).toEqual([1]);
    expect(lastWord(stream)?.unansweredNotApplied).toBe(true);
  });

  it('comes by itself after the replies before the first call that is not taken any more', async () => {
    const { stream, flush, answer } = await streamWith(3);
    answer(1, GO);
    answer(2, OK);
    await flush();
    expect(stream.hasEnded).toBe(false);
    answer(0, OK);
    await flush();
    expect(replies(stream)).toEqual([1]);
    expect(lastWord(stream)).toEqual({ code: 'UNAVAILABLE', message: 'stopping', unansweredNotApplied: true });
    expect(stream.hasEnded).toBe(true);
  });
});
