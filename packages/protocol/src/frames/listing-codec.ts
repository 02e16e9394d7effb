/**
 * The bytes of a listing: ListChildrenRequest and GetSubtreeRequest, ListChildrenResponse and GetSubtreeResponse. The two differ in
 * field 8 of the request alone, so they are read and written together.
 */
import { unreachable } from '../assert.ts';
import type { ByteReader, ByteWriter } from '../bytes.ts';
import type { ListedZnode, ListingOp, ListingResult } from '../listing.ts';
import type { Stat } from '../stat.ts';
import { ZERO_ZXID } from '../zxid.ts';
import { readStat, writeStat } from './stat-codec.ts';
import {
  beginMessage,
  checkMessageEnd,
  LENGTH,
  readBool,
  readBytes,
  readMessageEnd,
  readString,
  readTag,
  readZxid,
  skipField,
  VARINT,
  writeBool,
  writeBytes,
  writeBytesAlways,
  writeInt64,
  writeString,
  writeUint,
} from './wire.ts';

/** Writes the fields of the request. */
export function writeListingFields(writer: ByteWriter, op: ListingOp, linearizable: boolean): void {
  writeString(writer, 1, op.path);
  writeBool(writer, 2, linearizable);
  writeBool(writer, 3, op.withStat);
  writeBool(writer, 4, op.withData);
  writeUint(writer, 5, op.limit);
  if (op.token !== undefined) writeBytes(writer, 6, op.token);
  writeBool(writer, 7, op.isEnd);
  switch (op.kind) {
    case 'listChildren':
      return writeString(writer, 8, op.after);
    case 'getSubtree':
      if (op.depth !== undefined) writer.varint((8 << 3) | VARINT).varint(op.depth);
      return;
    default:
      unreachable(op);
  }
}

/** Reads a request whose tag has been read. Throws DecodeError. */
export function readListing(reader: ByteReader, kind: ListingOp['kind']): { op: ListingOp; linearizable: boolean } {
  const end = readMessageEnd(reader);
  const wish = { path: '', withStat: false, withData: false, limit: 0, token: undefined as Uint8Array | undefined };
  let isEnd = false;
  let after = '';
  let depth: number | undefined;
  let linearizable = false;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) wish.path = readString(reader);
    else if (tag === 16) linearizable = readBool(reader);
    else if (tag === 24) wish.withStat = readBool(reader);
    else if (tag === 32) wish.withData = readBool(reader);
    else if (tag === 40) wish.limit = reader.varint() >>> 0;
    else if (tag === ((6 << 3) | LENGTH)) wish.token = tokenOf(readBytes(reader));
    else if (tag === 56) isEnd = readBool(reader);
    else if (tag === ((8 << 3) | LENGTH) && kind === 'listChildren') after = readString(reader);
    else if (tag === ((8 << 3) | VARINT) && kind === 'getSubtree') depth = reader.varint() >>> 0;
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  const op = kind === 'listChildren' ? { kind, ...wish, isEnd, after } : { kind, ...wish, isEnd, depth };
  return { op, linearizable };
}

/** Writes the fields of the response. */
export function writePageFields(writer: ByteWriter, page: ListingResult): void {
  for (const entry of page.entries) writeEntry(writer, entry);
  if (page.top !== undefined) writeStat(writer, 2, page.top);
  writeInt64(writer, 4, page.at);
  if (page.next !== undefined) writeBytes(writer, 5, page.next);
}

/** Reads a response whose tag has been read. Throws DecodeError. */
export function readPage(reader: ByteReader, kind: ListingOp['kind']): ListingResult {
  const end = readMessageEnd(reader);
  const entries: ListedZnode[] = [];
  let top: Stat | undefined;
  let at = ZERO_ZXID;
  let next: Uint8Array | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) entries.push(readEntry(reader));
    else if (tag === ((2 << 3) | LENGTH)) top = readStat(reader);
    else if (tag === 32) at = readZxid(reader);
    else if (tag === ((5 << 3) | LENGTH)) next = tokenOf(readBytes(reader));
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { kind, entries, top, at, next };
}

/** Empty is none. A copy, for it is kept. */
function tokenOf(bytes: Uint8Array): Uint8Array | undefined {
  return bytes.length === 0 ? undefined : bytes.slice();
}

function writeEntry(writer: ByteWriter, { name, stat, data }: ListedZnode): void {
  const start = beginMessage(writer, 1);
  writeString(writer, 1, name);
  if (stat !== undefined) writeStat(writer, 2, stat);
  if (data !== undefined) writeBytesAlways(writer, 3, data);
  writer.endPart(start);
}

function readEntry(reader: ByteReader): ListedZnode {
  const end = readMessageEnd(reader);
  let name = '';
  let stat: Stat | undefined;
  let data: Uint8Array | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) name = readString(reader);
    else if (tag === ((2 << 3) | LENGTH)) stat = readStat(reader);
    else if (tag === ((3 << 3) | LENGTH)) data = readBytes(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { name, stat, data };
}
