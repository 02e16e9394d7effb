/** Frames as a ZooKeeper 3.9 sends and takes them, byte by byte. Source of the samples: reference §1.2, §1.10, §3.6. */
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from '../bytes.ts';
import { NO_SESSION, toSessionId } from '../session-id.ts';
import { connectResponseFrame, readConnectRequest, sessionRefusal } from './connect.ts';
import { readRequestHeader, writeReplyHeader } from './headers.ts';
import { OP_CODE } from './op-codes.ts';
import { readRequestBody } from './read-request.ts';
import { writeFailedMulti, writeResult } from './write-reply.ts';

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.replaceAll(/\s/g, '').match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Takes a request frame apart. */
function read(hex: string): { header: { xid: number; type: number }; body: ReturnType<typeof readRequestBody> } {
  const reader = new ByteReader(bytesOf(hex), 4);
  const header = readRequestHeader(reader);
  return { header, body: readRequestBody(header.type, reader) };
}

/** A reply frame. */
function reply(xid: number, zxid: bigint, error: number, body: (writer: ByteWriter) => void = () => undefined): string {
  const writer = new ByteWriter().u32(0);
  writeReplyHeader(writer, { xid, zxid, error });
  body(writer);
  return hexOf(writer.u32At(0, writer.length - 4).finish());
}

const packed = (hex: string): string => hex.replaceAll(' ', '');

describe('opening a connection', () => {
  const request = '00000000 00000000 00000000 00007530 00000000 00000000 00000010 00000000 00000000 00000000 00000000';

  it('C161: is read with and without the byte that asks for read-only service', () => {
    const plain = { lastZxidSeen: 0n, timeoutMs: 30_000, session: NO_SESSION, password: new Uint8Array(16) };
    expect(readConnectRequest(new ByteReader(bytesOf(request)))).toEqual({ ...plain, readOnly: undefined });
    expect(readConnectRequest(new ByteReader(bytesOf(`${request}00`)))).toEqual({ ...plain, readOnly: false });
    expect(readConnectRequest(new ByteReader(bytesOf(`${request}01`)))).toEqual({ ...plain, readOnly: true });
  });

  it.each([
    ['null', 'ffffffff', 0],
    ['empty', '00000000', 0],
    ['of 17 bytes', `00000011${'aa'.repeat(17)}`, 17],
  ])('C161: is read with a password that is %s', (_what, password, length) => {
    const hex = `00000000 0000000000000000 00000000 ffffffffffffffff ${password}`;
    const connect = readConnectRequest(new ByteReader(bytesOf(hex)));
    expect(connect).toMatchObject({ session: 0xffff_ffff_ffff_ffffn, readOnly: undefined });
    expect(connect.password).toHaveLength(length);
  });

  it.each([
    ['cut short', request.slice(0, -2)],
    ['with a password longer than it is', `00000000 0000000000000000 00000000 0000000000000000 7fffffff`],
  ])('is refused when it is %s', (_what, hex) => {
    expect(() => readConnectRequest(new ByteReader(bytesOf(hex)))).toThrow('bytes');
  });

  it('is answered with the session, and the byte only where it was in the request', () => {
    const ready = {
      timeoutMs: 30_000,
      session: toSessionId(0x0100_0012_3456_0000n),
      password: bytesOf('28dca4e8 95de729d 466f3f4d 668d25c0'),
    };
    const frame = '00000025 00000000 00007530 01000012 34560000 00000010 28dca4e8 95de729d 466f3f4d 668d25c0 00';
    expect(hexOf(connectResponseFrame({ ...ready, readOnly: false }))).toBe(packed(frame));
    const without = packed(frame)
      .replace(/^00000025/, '00000024')
      .slice(0, -2);
    expect(hexOf(connectResponseFrame({ ...ready, readOnly: undefined }))).toBe(without);
  });

  it('is refused with zeros alone when the session has ended', () => {
    const frame = '00000025 00000000 00000000 00000000 00000000 00000010 00000000 00000000 00000000 00000000 00';
    expect(hexOf(connectResponseFrame(sessionRefusal(true)))).toBe(packed(frame));
    expect(connectResponseFrame(sessionRefusal(false))).toHaveLength(40);
  });
});

describe('requests', () => {
  it('are read as they stand on the wire', () => {
    const create = read(
      '00000033 00000001 00000001 00000002 2f610000 00026869 00000001 0000001f 00000005 776f726c 64000000 06616e79 6f6e6500 000000',
    );
    const acl = [{ perms: 31, scheme: 'world', id: 'anyone' }];
    const data = bytesOf('6869');
    expect(create).toEqual({
      header: { xid: 1, type: OP_CODE.create },
      body: {
        kind: 'op',
        op: { kind: 'create', path: '/a', data, acl, mode: 'persistent', sequential: false },
        forms: ['plain'],
      },
    });
    expect(read('0000000f 00000002 00000003 00000002 2f6201').body).toEqual({
      kind: 'op',
      op: { kind: 'exists', path: '/b', watch: true },
      forms: ['plain'],
    });
    expect(read('00000008 fffffffe 0000000b')).toEqual({ header: { xid: -2, type: 11 }, body: { kind: 'ping' } });
    expect(read('00000008 00000004 fffffff5').body).toMatchObject({ op: { kind: 'closeSession' } });
    const auth = read('00000026 fffffffc 00000064 00000000 00000006 64696765 73740000 000c616c 6963653a 73656372 6574');
    expect(auth.body).toEqual({ kind: 'auth', scheme: 'digest', proof: new TextEncoder().encode('alice:secret') });
  });

  it('C158: of a multi are read in order, and one that failed is answered part by part', () => {
    const multi = read(
      '0000003c 00000003 0000000e 0000000d 00ffffff ff000000 022f6100 00000000 00000500 ffffffff 00000002 2f610000 00017800 000000ff ffffff01 ffffffff',
    );
    const setData = { kind: 'setData', path: '/a', data: bytesOf('78'), expectedVersion: 0 };
    const parts = [{ kind: 'check', path: '/a', expectedVersion: 0 }, setData];
    expect(multi.body).toEqual({ kind: 'op', op: { kind: 'multi', parts }, forms: ['withStat', 'withStat'] });
    const answer =
      '00000033 00000003 00000001 00000004 00000000 ffffffff 00000000 00000000 00ffffff ff00ffff ff99ffff ff99ffff ffff01ff ffffff';
    expect(reply(3, 0x1_0000_0004n, 0, (writer) => writeFailedMulti(writer, 2, 1, -103))).toBe(packed(answer));
  });

  it.each([
    [OP_CODE.create, 4, { mode: 'container', sequential: false }],
    [OP_CODE.createContainer, 4, { mode: 'container', sequential: false }],
    [OP_CODE.create2, 3, { mode: 'ephemeral', sequential: true }],
    [OP_CODE.create, 2, { mode: 'persistent', sequential: true }],
  ])('to create of type %i with flags %i name the mode', (type, flags, mode) => {
    const hex = `000000022f61 ffffffff 00000000 ${flags.toString(16).padStart(8, '0')}`;
    expect(readRequestBody(type, new ByteReader(bytesOf(hex)))).toMatchObject({ op: { ...mode, data: undefined } });
  });

  it.each([
    [OP_CODE.create, 5],
    [OP_CODE.create, 7],
    [OP_CODE.create, -1],
    [OP_CODE.createContainer, 0],
    [OP_CODE.createTtl, 1],
  ])('to create of type %i with flags %i are refused as bad arguments', (type, flags) => {
    const writer = new ByteWriter().string('/a').bytes(undefined).i32(0).i32(flags).u64(5n);
    expect(readRequestBody(type, new ByteReader(writer.finish()))).toEqual({ kind: 'refused', error: -8 });
  });

  it('C156: take a TTL with its eight bytes more, and what follows a record is ignored', () => {
    const writer = new ByteWriter().string('/a').bytes(undefined).i32(0).i32(6).u64(99n).string('more');
    expect(readRequestBody(OP_CODE.createTtl, new ByteReader(writer.finish()))).toMatchObject({
      op: { mode: 'ttl', sequential: true, ttlMs: 99 },
      forms: ['withStat'],
    });
  });

  it.each([0, 10, 20, 999, -1, -10, 500])('C156: of type %i nobody may send', (type) => {
    expect(readRequestBody(type, new ByteReader(new Uint8Array(37)))).toEqual({ kind: 'unknown' });
  });

  it.each([
    ['a null path', OP_CODE.getData, 'ffffffff00'],
    ['a path longer than the frame', OP_CODE.getData, '7fffffff2f'],
    ['a negative length', OP_CODE.getData, 'fffffff62f6100'],
    ['a flag that is missing', OP_CODE.exists, '000000022f61'],
    ['a list of a thousand million', OP_CODE.create, '000000022f61ffffffff3b9aca00'],
    ['a list of fewer than none', OP_CODE.create, '000000022f61fffffffffffffffe'],
    ['an unknown mode of a watch', OP_CODE.addWatch, '000000022f6100000002'],
    ['an unknown kind of watch', OP_CODE.removeWatches, '000000022f6100000006'],
    ['no kind of watch', OP_CODE.checkWatches, '000000022f6100000000'],
    ['a multi without an end', OP_CODE.multi, '0000000200ffffffff000000022f61ffffffff'],
    ['a multi of an exists', OP_CODE.multi, '0000000300ffffffff000000022f6100ffffffff01ffffffff'],
    ['a multi in a multi', OP_CODE.multi, '0000000e00ffffffffffffffff01ffffffff'],
    ['a write in a multi of reads', OP_CODE.multiRead, '0000000200ffffffff000000022f61ffffffffffffffff01ffffffff'],
    ['a multi of a create with odd flags', OP_CODE.multi, '0000000100ffffffff000000022f61ffffffff00000000000000630000'],
  ])('C157: with %s are refused before anything is done', (_what, type, hex) => {
    expect(() => readRequestBody(type, new ByteReader(bytesOf(hex)))).toThrow(
      expect.objectContaining({ name: 'DecodeError' }),
    );
  });

  it('C157: of an empty multi are read', () => {
    expect(readRequestBody(OP_CODE.multi, new ByteReader(bytesOf('ffffffff01ffffffff')))).toMatchObject({
      op: { parts: [] },
    });
  });

  it('read bytes that are no text as U+FFFD, which no path may hold', () => {
    const hex = '00000005 2f ff 61 e2 82 00';
    const request = readRequestBody(OP_CODE.getData, new ByteReader(bytesOf(hex)));
    expect(request).toMatchObject({ op: { path: '/\ufffda\ufffd\ufffd' } });
  });

  it('name the root by nothing too', () => {
    expect(readRequestBody(OP_CODE.getData, new ByteReader(bytesOf('0000000000')))).toMatchObject({
      op: { path: '/' },
    });
  });
});

describe('replies', () => {
  it('are written as they stand on the wire', () => {
    const result = { kind: 'sync', path: '/a' } as const;
    const created = '00000016 00000001 00000001 00000002 00000000 00000002 2f61';
    expect(reply(1, 0x1_0000_0002n, 0, (writer) => writeResult(writer, result, 'plain'))).toBe(packed(created));
    expect(reply(2, 0x1_0000_0002n, -101)).toBe(packed('00000010 00000002 00000001 00000002 ffffff9b'));
    expect(reply(-2, 0x1_0000_0005n, 0)).toBe(packed('00000010 fffffffe 00000001 00000005 00000000'));
  });

  it('hold a stat of 68 bytes with pzxid at its end', () => {
    const stat = {
      czxid: 1n,
      mzxid: 2n,
      pzxid: 3n,
      ctimeMs: 4,
      mtimeMs: 5,
      version: 6,
      cversion: -7,
      aversion: 8,
      ephemeralOwner: 0xff00_0000_0000_0001n,
      dataLength: 9,
      numChildren: 10,
    };
    const writer = new ByteWriter();
    writeResult(writer, { kind: 'exists', stat: stat as never }, 'plain');
    const words = [
      '0000000000000001',
      '0000000000000002',
      '0000000000000004',
      '0000000000000005',
      '00000006',
      'fffffff9',
      '00000008',
      'ff00000000000001',
      '00000009',
      '0000000a',
      '0000000000000003',
    ];
    expect(hexOf(writer.finish())).toBe(words.join(''));
  });
});
