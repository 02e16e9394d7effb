/** The codec of watches on a session stream against protobufjs's reflection over the real protos. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteWriter } from '../bytes.ts';
import { loadProtos, SESSION_SERVICE, serviceOf } from '../grpc/index.ts';
import { toSessionId } from '../session-id.ts';
import type { WatchCommand, WatchNews } from '../watch.ts';
import { toZxid } from '../zxid.ts';
import { decodeAttachRequest } from './attach-request.ts';
import { decodeAttachResponse } from './attach-response.ts';
import { writeWatchCommand, writeWatchEnded, writeWatchNews } from './watch-frames.ts';

const attach = serviceOf(loadProtos(), SESSION_SERVICE)['Attach']!;

/** proto-loader's reading of our bytes, written again by proto-loader. */
const throughRequest = (bytes: Uint8Array) =>
  new Uint8Array(attach.requestSerialize(attach.requestDeserialize(Buffer.from(bytes))));
const throughResponse = (bytes: Uint8Array) =>
  new Uint8Array(attach.responseSerialize(attach.responseDeserialize(Buffer.from(bytes))));

const path = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `/${text}`);
const zxid = fc.bigInt({ min: 0n, max: 0x7fff_ffff_ffff_ffffn }).map(toZxid);
const watch = fc.integer({ min: 0, max: 0xffff_ffff });

const spec = fc.record({
  path,
  recursive: fc.boolean(),
  withValues: fc.boolean(),
  from: fc.option(zxid, { nil: undefined }),
  initial: fc.boolean(),
});

const command: fc.Arbitrary<WatchCommand> = fc.oneof(
  fc.record({ kind: fc.constant('begin' as const), watch, spec }),
  fc.record({ kind: fc.constantFrom('taken' as const, 'end' as const), watch }),
);

const stat = {
  czxid: toZxid(1n << 53n),
  mzxid: toZxid(2n),
  pzxid: toZxid(3n),
  ctimeMs: 4,
  mtimeMs: 5,
  version: -6,
  cversion: 7,
  aversion: 8,
  ephemeralOwner: toSessionId(0xff00_0000_0000_0003n),
  dataLength: 9,
  numChildren: 10,
};

const event = fc.oneof(
  fc.record({
    kind: fc.constantFrom('current' as const, 'created' as const, 'dataChanged' as const, 'aclChanged' as const),
    zxid,
    path,
    stat: fc.constant(stat),
    data: fc.option(fc.uint8Array({ maxLength: 50 }), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constantFrom('ready' as const, 'gap' as const, 'deleted' as const),
    zxid,
    path,
    stat: fc.constant(undefined),
    data: fc.constant(undefined),
  }),
);

const failure = fc.record({
  kind: fc.constant('error' as const),
  code: fc.constantFrom('THROTTLED' as const, 'SERVER_BEHIND' as const),
  path: fc.option(path, { nil: undefined }),
  message: fc.string(),
});

const news: fc.Arbitrary<WatchNews> = fc.oneof(
  fc.record({
    kind: fc.constant('piece' as const),
    watch,
    piece: fc.record({ zxid, events: fc.array(event, { maxLength: 5 }) }),
  }),
  fc.record({ kind: fc.constant('ended' as const), watch, failure }),
);

it('reads back what clients say about watches, also when protobufjs has read and written it', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 5 }), (watches) => {
      const writer = new ByteWriter(8);
      for (const one of watches) writeWatchCommand(writer, one);
      const bytes = writer.finish();
      expect(decodeAttachRequest(bytes).watches).toEqual(watches);
      expect(decodeAttachRequest(throughRequest(bytes)).watches).toEqual(watches);
    }),
  );
});

it('reads back what watches are told, also when protobufjs has read and written it', () => {
  fc.assert(
    fc.property(fc.array(news, { maxLength: 5 }), (watches) => {
      const writer = new ByteWriter(8);
      for (const one of watches) {
        if (one.kind === 'piece') writeWatchNews(writer, one.watch, one.piece, true);
        else writeWatchEnded(writer, one.watch, one.failure);
      }
      const bytes = writer.finish();
      expect(decodeAttachResponse(bytes).watches).toEqual(watches);
      expect(decodeAttachResponse(throughResponse(bytes)).watches).toEqual(watches);
    }),
  );
});

it('refuses a znode that is there without its stat', () => {
  const writer = new ByteWriter();
  const event = { kind: 'created', zxid: toZxid(1n), path: '/a', stat: undefined, data: undefined } as const;
  writeWatchNews(writer, 1, { zxid: toZxid(1n), events: [event] }, true);
  expect(() => decodeAttachResponse(writer.finish())).toThrow('has no stat');
});
