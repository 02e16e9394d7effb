/** The bytes of WatchRequest and WatchResponse (watch_service.proto): the same alone and on a session stream. */
import { ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import { FRAME_ITEMS_MAX } from '../limits.ts';
import type { Stat } from '../stat.ts';
import type { WatchEvent, WatchEventKind, WatchPiece, WatchSpec } from '../watch.ts';
import { ZERO_ZXID, type Zxid } from '../zxid.ts';
import { readStat, writeStat } from './stat-codec.ts';
import {
  beginMessage,
  checkMessageEnd,
  LENGTH,
  readBool,
  readBytes,
  readInt32,
  readMessageEnd,
  readString,
  readTag,
  readZxid,
  skipField,
  VARINT,
  writeBool,
  writeBytesAlways,
  writeInt64,
  writeString,
  writeUint,
} from './wire.ts';

/** Full name of the stream's method, as HTTP/2 path. */
export const WATCH_PATH = '/quorate.v1.WatchService/Watch';

const KINDS: Readonly<Record<WatchEventKind, number>> = {
  current: 1,
  ready: 2,
  gap: 3,
  created: 4,
  dataChanged: 5,
  aclChanged: 6,
  deleted: 7,
};

/** Kinds that are not about a znode that is there. */
const WITHOUT_STAT: ReadonlySet<WatchEventKind> = new Set(['ready', 'gap', 'deleted']);

const KIND_OF_NUMBER: ReadonlyMap<number, WatchEventKind> = new Map(
  Object.entries(KINDS).map(([kind, number]) => [number, kind as WatchEventKind]),
);

/** Writes the fields of WatchRequest. */
export function writeWatchSpec(writer: ByteWriter, spec: WatchSpec): void {
  writeString(writer, 1, spec.path);
  writeBool(writer, 2, spec.recursive);
  writeBool(writer, 3, spec.withValues);
  if (spec.from !== undefined) writer.varint((4 << 3) | VARINT).varint64(spec.from);
  writeBool(writer, 5, !spec.initial);
}

/** Reads the fields of a WatchRequest up to `end`. Throws DecodeError. */
export function readWatchSpec(reader: ByteReader, end: number): WatchSpec {
  let path = '';
  let recursive = false;
  let withValues = false;
  let from: Zxid | undefined;
  let initial = true;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) path = readString(reader);
    else if (tag === 16) recursive = readBool(reader);
    else if (tag === 24) withValues = readBool(reader);
    else if (tag === 32) from = readZxid(reader);
    else if (tag === 40) initial = !readBool(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { path, recursive, withValues, from, initial };
}

/** Reads a WatchRequest that is a message of its own. Throws DecodeError. */
export function decodeWatchSpec(bytes: Uint8Array): WatchSpec {
  return readWatchSpec(new ByteReader(bytes), bytes.length);
}

/** Writes the fields of WatchResponse. Data goes out when `withValues`. */
export function writeWatchPiece(writer: ByteWriter, piece: WatchPiece, withValues: boolean): void {
  writeInt64(writer, 1, piece.zxid);
  for (const { kind, zxid, path, stat, data } of piece.events) {
    const start = beginMessage(writer, 2);
    writeUint(writer, 1, KINDS[kind]);
    writeInt64(writer, 2, zxid);
    writeString(writer, 3, path);
    if (stat !== undefined) writeStat(writer, 4, stat);
    if (withValues && data !== undefined) writeBytesAlways(writer, 5, data);
    writer.endPart(start);
  }
}

/** Reads the fields of a WatchResponse up to `end`. Bytes in it are views. Throws DecodeError. */
export function readWatchPiece(reader: ByteReader, end: number): WatchPiece {
  let zxid = ZERO_ZXID;
  const events: WatchEvent[] = [];
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) zxid = readZxid(reader);
    else if (tag === ((2 << 3) | LENGTH)) {
      if (events.length === FRAME_ITEMS_MAX) throw new DecodeError(`More than ${FRAME_ITEMS_MAX} events in a piece`);
      events.push(readEvent(reader));
    } else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { zxid, events };
}

/** Reads a WatchResponse that is a message of its own. Throws DecodeError. */
export function decodeWatchPiece(bytes: Uint8Array): WatchPiece {
  return readWatchPiece(new ByteReader(bytes), bytes.length);
}

function readEvent(reader: ByteReader): WatchEvent {
  const end = readMessageEnd(reader);
  let number = 0;
  let zxid = ZERO_ZXID;
  let path = '';
  let stat: Stat | undefined;
  let data: Uint8Array | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) number = readInt32(reader);
    else if (tag === 16) zxid = readZxid(reader);
    else if (tag === ((3 << 3) | LENGTH)) path = readString(reader);
    else if (tag === ((4 << 3) | LENGTH)) stat = readStat(reader);
    else if (tag === ((5 << 3) | LENGTH)) data = readBytes(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  const kind = KIND_OF_NUMBER.get(number);
  if (kind === undefined) throw new DecodeError(`A watch event of kind ${number} is not known here`);
  if (stat === undefined && !WITHOUT_STAT.has(kind))
    throw new DecodeError(`A watch event ${kind} of ${path} has no stat`);
  return { kind, zxid, path, stat, data };
}
