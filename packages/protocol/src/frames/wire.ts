/**
 * The few rules of protobuf's wire format that our own codecs need. A message is read between its start and its end
 * in one ByteReader, so that nothing is allocated for a nested one.
 * Departs from protobuf in one point: of a message field that comes twice the last one wins; they are not merged.
 * Source: https://protobuf.dev/programming-guides/encoding/.
 */
import { type ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import { utf8Length } from '../utf8.ts';
import { toZxid, type Zxid } from '../zxid.ts';

/** Wire types: the low three bits of a tag. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
const FIXED32 = 5;

/** Number of the last field that the wire format can name. */
const FIELD_MAX = 0x1fff_ffff;

/** Reads the tag of the next field. Throws DecodeError for field number 0 and for those past the last. */
export function readTag(reader: ByteReader): number {
  const tag = reader.varint();
  if (tag < 8 || tag >>> 3 > FIELD_MAX) throw new DecodeError(`Bad tag ${tag} at byte ${reader.offset}`);
  return tag;
}

/** Steps over a field that this build does not know. Groups, which proto3 does not have, are refused. */
export function skipField(reader: ByteReader, tag: number): void {
  switch (tag & 7) {
    case VARINT:
      reader.varint64();
      return;
    case FIXED64:
      reader.raw(8);
      return;
    case LENGTH:
      reader.raw(reader.varint());
      return;
    case FIXED32:
      reader.raw(4);
      return;
    default:
      throw new DecodeError(`Wire type ${tag & 7} at byte ${reader.offset} is not one of proto3`);
  }
}

/** Reads the length of a nested message and returns the offset of its end. */
export function readMessageEnd(reader: ByteReader): number {
  const length = reader.varint();
  if (length > reader.remaining) {
    throw new DecodeError(`Needs ${length} bytes at byte ${reader.offset}, has ${reader.remaining}`);
  }
  return reader.offset + length;
}

/** Fails unless the message that ends at `end` was read to its end and not past it. */
export function checkMessageEnd(reader: ByteReader, end: number): void {
  if (reader.offset !== end) throw new DecodeError(`A message ends at byte ${end}, but was read to ${reader.offset}`);
}

export function readBytes(reader: ByteReader): Uint8Array {
  return reader.raw(reader.varint());
}

export function readString(reader: ByteReader): string {
  return reader.text(reader.varint());
}

export function readInt32(reader: ByteReader): number {
  return reader.varint() | 0;
}

export function readBool(reader: ByteReader): boolean {
  return reader.varint64() !== 0n;
}

/** Reads an int64 that is a count of ms; exact up to 2^53. */
export function readMs(reader: ByteReader): number {
  return Number(BigInt.asIntN(64, reader.varint64()));
}

/** Reads an int64 that is a zxid. Throws DecodeError for a negative one. */
export function readZxid(reader: ByteReader): Zxid {
  const value = BigInt.asIntN(64, reader.varint64());
  if (value < 0n) throw new DecodeError(`${value} is not a zxid`);
  return toZxid(value);
}

/** Writes a varint field, nothing for 0. `value` is unsigned, below 2^53. */
export function writeUint(writer: ByteWriter, field: number, value: number): void {
  if (value !== 0) writer.varint(field << 3).varint(value);
}

/** Writes an int32 field, nothing for 0. */
export function writeInt32(writer: ByteWriter, field: number, value: number): void {
  if (value !== 0) writeInt32Always(writer, field, value);
}

/** Writes an int32 field that has presence: 0 is written too. */
export function writeInt32Always(writer: ByteWriter, field: number, value: number): void {
  writer.varint(field << 3);
  if (value >= 0) writer.varint(value);
  else writer.varint64(BigInt(value));
}

/** Writes an int64 field, nothing for 0. */
export function writeInt64(writer: ByteWriter, field: number, value: bigint): void {
  if (value !== 0n) writer.varint(field << 3).varint64(value);
}

/** Writes an int64 field from a number of ms, nothing for 0. */
export function writeMs(writer: ByteWriter, field: number, value: number): void {
  if (value > 0) writer.varint(field << 3).varint(value);
  else if (value < 0) writer.varint(field << 3).varint64(BigInt(value));
}

export function writeBool(writer: ByteWriter, field: number, value: boolean): void {
  if (value) writer.varint(field << 3).varint(1);
}

/** Writes a fixed64 field, nothing for 0. */
export function writeFixed64(writer: ByteWriter, field: number, value: bigint): void {
  if (value !== 0n) writer.varint((field << 3) | FIXED64).fixed64(value);
}

/** Writes a bytes field that has presence: an empty one is written too. */
export function writeBytesAlways(writer: ByteWriter, field: number, value: Uint8Array): void {
  writer
    .varint((field << 3) | LENGTH)
    .varint(value.length)
    .raw(value);
}

/** Writes a bytes field, nothing for an empty one. */
export function writeBytes(writer: ByteWriter, field: number, value: Uint8Array): void {
  if (value.length > 0) writeBytesAlways(writer, field, value);
}

/** Writes a string field that has presence: an empty one is written too. */
export function writeStringAlways(writer: ByteWriter, field: number, value: string): void {
  const length = utf8Length(value);
  writer
    .varint((field << 3) | LENGTH)
    .varint(length)
    .text(value, length);
}

/** Writes a string field, nothing for an empty one. */
export function writeString(writer: ByteWriter, field: number, value: string): void {
  if (value.length > 0) writeStringAlways(writer, field, value);
}

/** Begins a message field; give what is returned to `writer.endPart`. */
export function beginMessage(writer: ByteWriter, field: number): number {
  return writer.varint((field << 3) | LENGTH).beginPart();
}
