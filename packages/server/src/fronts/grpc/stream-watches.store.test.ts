/** Watches on a session stream, frame by frame: the rules of session_service.proto as the member keeps them. */
import { status } from '@grpc/grpc-js';
import { ByteWriter, type WatchCommand, type WatchEvent, type WatchNews, type WatchSpec } from '@quorate/protocol';
import { writeWatchCommand } from '@quorate/protocol/frames';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { RawStream, Standalone } from './front.fixture.ts';

let standalone: Standalone;

beforeAll(async () => {
  standalone = await Standalone.start({ watchStallMs: 300, watchProgressMs: 60_000 });
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

async function attached(to = standalone): Promise<RawStream> {
  const stream = new RawStream(to.client()).hello();
  await vi.waitFor(() => expect(stream.serverHello).toBeDefined());
  return stream;
}

function say(stream: RawStream, ...commands: readonly WatchCommand[]): void {
  const writer = new ByteWriter();
  for (const command of commands) writeWatchCommand(writer, command);
  stream.bytes(writer.finish());
}

function begin(watch: number, spec: Partial<WatchSpec> = {}): WatchCommand {
  const full = { path: '/', recursive: true, withValues: true, from: undefined, initial: false, ...spec };
  return { kind: 'begin', watch, spec: full };
}

const newsOf = (stream: RawStream, watch: number): readonly WatchNews[] =>
  stream.frames.flatMap((frame) => frame.watches).filter((news) => news.watch === watch);

const eventsOf = (stream: RawStream, watch: number): readonly WatchEvent[] =>
  newsOf(stream, watch).flatMap((news) => (news.kind === 'piece' ? news.piece.events : []));

const words = (stream: RawStream, watch: number): readonly string[] =>
  eventsOf(stream, watch).map(({ kind, path }) => (path === '' ? kind : `${kind} ${path}`));

const create = (path: string) =>
  ({ kind: 'create', path, data: new Uint8Array(1), mode: 'persistent', sequential: false }) as const;

it('a piece comes after the begin, another one after it was taken, and none after the end', async () => {
  const stream = await attached();
  say(stream, begin(1));
  await vi.waitFor(() => expect(words(stream, 1)).toEqual(['ready']));
  stream.calls(create('/one'), create('/two'));
  await vi.waitFor(() => expect(stream.replies).toHaveLength(2));
  expect(newsOf(stream, 1)).toHaveLength(1);
  say(stream, { kind: 'taken', watch: 1 });
  await vi.waitFor(() => expect(words(stream, 1)).toEqual(['ready', 'created /one', 'created /two']));
  say(stream, { kind: 'taken', watch: 1 }, { kind: 'end', watch: 1 }, begin(2, { path: '/two', initial: true }));
  await vi.waitFor(() => expect(words(stream, 2)).toEqual(['current /two', 'ready']));
  stream.calls(create('/three'));
  await vi.waitFor(() => expect(stream.replies).toHaveLength(3));
  expect(newsOf(stream, 1)).toHaveLength(2);
  // A frame that only speaks of watches is no sign of life that is answered with one.
  expect(
    stream.frames.filter(({ hello, replies, watches }) => !hello && replies.length + watches.length === 0),
  ).toEqual([]);
});

it('a watch that is not taken from is ended alone; the stream and its other watches go on', async () => {
  const stream = await attached();
  say(stream, begin(1), begin(2), begin(3, { path: 'bad' }));
  await vi.waitFor(() => expect(words(stream, 2)).toEqual(['ready']));
  expect(newsOf(stream, 3)).toMatchObject([{ kind: 'ended', failure: { code: 'INVALID_ARGUMENT', path: 'bad' } }]);
  say(stream, { kind: 'taken', watch: 2 });
  await vi.waitFor(() => expect(newsOf(stream, 1).at(-1)).toMatchObject({ failure: { code: 'THROTTLED' } }));
  stream.calls(create('/four'));
  await vi.waitFor(() => expect(words(stream, 2)).toEqual(['ready', 'created /four']));
  expect(newsOf(stream, 1)).toHaveLength(2);
});

it('a number that is used twice ends the stream', async () => {
  const stream = await attached();
  say(stream, begin(7), begin(7));
  await vi.waitFor(() => expect(stream.status).toMatchObject({ code: status.INVALID_ARGUMENT }));
});

it('a stream has at most 1024 watches, and they end with it', async () => {
  await using member = await Standalone.start({ watchProgressMs: 60_000, resumableWatchesMax: 1_100 });
  for (let round = 0; round < 3; round++) {
    const stream = await attached(member);
    // More than the member takes in all, if those of the streams before were still there.
    say(stream, ...Array.from({ length: 1_025 }, (_, i) => begin(i + 1, { path: '/quiet' })));
    await vi.waitFor(() => expect(stream.frames.flatMap(({ watches }) => watches)).toHaveLength(1_025), 10_000);
    const ended = stream.frames.flatMap(({ watches }) => watches).filter(({ kind }) => kind === 'ended');
    expect(ended).toMatchObject([{ watch: 1_025, failure: { code: 'THROTTLED' } }]);
    const over = new Promise((resolve) => stream.call.once('status', resolve));
    stream.call.cancel();
    await over;
    await attached(member);
  }
});
