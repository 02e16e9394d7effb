/** The bytes of quorate.v1.Stat. */
import type { ByteReader, ByteWriter } from '../bytes.ts';
import { NO_SESSION, toSessionId } from '../session-id.ts';
import type { Stat } from '../stat.ts';
import { ZERO_ZXID } from '../zxid.ts';
import {
  beginMessage,
  checkMessageEnd,
  FIXED64,
  readInt32,
  readMessageEnd,
  readMs,
  readTag,
  readZxid,
  skipField,
  writeFixed64,
  writeInt32,
  writeInt64,
  writeMs,
} from './wire.ts';

/** Writes `stat` as the message field `field`. */
export function writeStat(writer: ByteWriter, field: number, stat: Stat): void {
  const start = beginMessage(writer, field);
  writeInt64(writer, 1, stat.czxid);
  writeInt64(writer, 2, stat.mzxid);
  writeInt64(writer, 3, stat.pzxid);
  writeMs(writer, 4, stat.ctimeMs);
  writeMs(writer, 5, stat.mtimeMs);
  writeInt32(writer, 6, stat.version);
  writeInt32(writer, 7, stat.cversion);
  writeInt32(writer, 8, stat.aversion);
  writeFixed64(writer, 9, stat.ephemeralOwner);
  writeInt32(writer, 10, stat.dataLength);
  writeInt32(writer, 11, stat.numChildren);
  writer.endPart(start);
}

/** Reads a Stat whose tag has been read. Throws DecodeError. */
export function readStat(reader: ByteReader): Stat {
  const end = readMessageEnd(reader);
  const stat = {
    czxid: ZERO_ZXID,
    mzxid: ZERO_ZXID,
    pzxid: ZERO_ZXID,
    ctimeMs: 0,
    mtimeMs: 0,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: NO_SESSION,
    dataLength: 0,
    numChildren: 0,
  };
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) stat.czxid = readZxid(reader);
    else if (tag === 16) stat.mzxid = readZxid(reader);
    else if (tag === 24) stat.pzxid = readZxid(reader);
    else if (tag === 32) stat.ctimeMs = readMs(reader);
    else if (tag === 40) stat.mtimeMs = readMs(reader);
    else if (tag === 48) stat.version = readInt32(reader);
    else if (tag === 56) stat.cversion = readInt32(reader);
    else if (tag === 64) stat.aversion = readInt32(reader);
    else if (tag === ((9 << 3) | FIXED64)) stat.ephemeralOwner = toSessionId(reader.fixed64());
    else if (tag === 80) stat.dataLength = readInt32(reader);
    else if (tag === 88) stat.numChildren = readInt32(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return stat;
}
