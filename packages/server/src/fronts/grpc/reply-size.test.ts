/** A list is refused exactly when no message can carry it, whatever its names are made of. */
import {
  type Answer,
  ByteWriter,
  FRAME_BYTES_MAX,
  NO_SESSION,
  type Stat,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { decodeAttachResponse, writeReply } from '@quorate/protocol/frames';
import { loadProtos, serviceOf, toUnaryResponse, ZNODE_SERVICE } from '@quorate/protocol/grpc';
import { describe, expect, it } from 'vitest';
import { ReplyQueue } from './reply-queue.ts';
import { sized } from './reply-size.ts';

const BIG = (1n << 63n) - 1n;

/** As long as a stat gets. */
const stat: Stat = {
  czxid: BIG as Zxid,
  mzxid: BIG as Zxid,
  pzxid: BIG as Zxid,
  ctimeMs: Number.MAX_SAFE_INTEGER,
  mtimeMs: Number.MAX_SAFE_INTEGER,
  version: -1,
  cversion: -1,
  aversion: -1,
  ephemeralOwner: NO_SESSION,
  dataLength: -1,
  numChildren: -1,
};

const getChildren = (children: readonly string[]): Answer => ({
  zxid: BIG as Zxid,
  result: { kind: 'getChildren', children, stat },
});
const getEphemerals = (paths: readonly string[]): Answer => ({
  zxid: BIG as Zxid,
  result: { kind: 'getEphemerals', paths },
});

/** What the encoder makes of a list. */
function written(names: readonly string[]): number {
  const writer = new ByteWriter();
  writeReply(writer, 0xffff_ffff, 'getChildren', getChildren(names));
  return writer.length;
}

const response = serviceOf(loadProtos(), ZNODE_SERVICE)['GetChildren']!;

describe('a list in a reply', () => {
  it.each([
    ['ASCII', 'a', 40],
    ['two bytes a letter', 'é', 60],
    ['three bytes', '漢', 6000],
    ['pairs', '😀', 32],
  ])('of names of %s is taken to the last name that a message has room for', (_, letter, length) => {
    const name = letter.repeat(length);
    const most = Math.floor((FRAME_BYTES_MAX - 256) / (written([name, name]) - written([name])));
    const list = Array<string>(most).fill(name);
    const { answer, bytes } = sized(getChildren(list));
    expect(answer.result.kind).toBe('getChildren');
    expect(bytes).toBeGreaterThanOrEqual(written(list));
    const unary = response.responseSerialize(toUnaryResponse('getChildren', answer) as object);
    expect(unary.length).toBeLessThanOrEqual(FRAME_BYTES_MAX);
    expect(sized(getChildren([...list, name])).answer.result.kind).toBe('error');
  });

  it('is refused with its length and the limit when it is longer, on a stream as in a unary response', () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `child-number-${String(index).padStart(8, '0')}`);
    for (const answer of [getChildren(names), getEphemerals(names)]) {
      const { result } = sized(answer).answer;
      expect(result).toMatchObject({ kind: 'error', code: 'INVALID_ARGUMENT' });
      expect(result.kind === 'error' && result.message).toContain('200000');
      expect(result.kind === 'error' && result.message).toContain(String(FRAME_BYTES_MAX));
    }
    const queue = new ReplyQueue(() => undefined);
    queue.add(1, 'getChildren').answer(getChildren(names));
    queue.add(2, 'getEphemerals').answer({ zxid: ZERO_ZXID, result: { kind: 'getEphemerals', paths: ['/a'] } });
    const { replies } = decodeAttachResponse(queue.nextFrame()!.finish());
    expect(replies.map(({ answer }) => answer.result.kind)).toEqual(['error', 'getEphemerals']);
  });
});
