/** Where notifications stand among the replies of a connection, on both wires. */
import { ByteReader, ByteWriter, type Notification, toZxid } from '@quorate/protocol';
import { decodeAttachResponse } from '@quorate/protocol/frames';
import { expect, it } from 'vitest';
import { ReplyQueue } from './grpc/reply-queue.ts';
import { NO_BODY, ReplyLine } from './zookeeper/reply-line.ts';

const told = (path: string): Notification => ({ kind: 'nodeDeleted', path, zxid: 7n });
const answer = { zxid: toZxid(5n), result: { kind: 'delete' } } as const;

/** What leaves a session stream: xids, and paths that are told. */
function streamOf(queue: ReplyQueue): (number | string)[] {
  const left: (number | string)[] = [];
  for (let frame = queue.nextFrame(); frame !== undefined; frame = queue.nextFrame()) {
    const { replies, notifications } = decodeAttachResponse(frame.finish());
    left.push(...notifications.map(({ path }) => path), ...replies.map(({ xid }) => xid));
  }
  return left;
}

/** The same of a ZooKeeper connection. */
function wireOf(line: ReplyLine): (number | string)[] {
  const left: (number | string)[] = [];
  for (let writer = new ByteWriter(); line.writeNext(writer); writer = new ByteWriter()) {
    const reader = new ByteReader(writer.finish());
    const xid = [reader.i32(), reader.i32()][1] ?? 0;
    if (xid !== -1) left.push(xid);
    else {
      reader.u64();
      left.push([reader.i32(), reader.i32(), reader.i32(), reader.string()].at(-1) ?? '');
    }
  }
  return left;
}

const wires = [
  ['a session stream', () => queueStage()],
  ['a ZooKeeper connection', () => lineStage()],
] as const;

function queueStage() {
  const queue = new ReplyQueue(() => undefined);
  return { line: queue, add: (xid: number) => queue.add(xid, 'delete'), left: () => streamOf(queue) };
}

function lineStage() {
  const line = new ReplyLine(
    () => undefined,
    () => toZxid(9n),
    () => undefined,
  );
  return { line, add: (xid: number) => line.add(xid, NO_BODY), left: () => wireOf(line) };
}

it.each(wires)('C036: of %s: behind the replies that are there, before those that are not', (_, stage) => {
  const { line, add, left } = stage();
  const [first, second, third] = [add(1), add(2), add(3)];
  first.answer(answer);
  line.notify([told('/a')]);
  second.answer(answer);
  line.notify([told('/b'), told('/c')]);
  expect(left()).toEqual([1, '/a', 2, '/b', '/c']);
  line.notify([told('/d')]);
  third.answer(answer);
  line.notify([told('/e')]);
  add(4).answer(answer);
  expect(left()).toEqual(['/d', 3, '/e', 4]);
});

it.each(wires)('of %s: bytes are those that wait, and none when all have left', (_, stage) => {
  const { line, left } = stage();
  line.notify(Array.from({ length: 1_000 }, (_none, i) => told(`/n${i}`)));
  expect(line.toldBytes).toBeGreaterThan(20_000);
  expect(left()).toEqual(Array.from({ length: 1_000 }, (_none, i) => `/n${i}`));
  expect(line.toldBytes).toBe(0);
});
