/**
 * Jute's strings and lists. A length is never trusted: what does not fit the bytes that are there is a DecodeError before anything is
 * allocated for it (C167). Source: ZooKeeper `BinaryInputArchive`, reference §2.
 */
import { type ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import { readUtf8 } from '../utf8.ts';

const REPLACEMENT = '\ufffd';

/** Null is read as undefined. Bytes that are no UTF-8 become U+FFFD, which no legal path holds. */
export function readString(reader: ByteReader): string | undefined {
  const bytes = reader.bytes();
  return bytes === undefined ? undefined : lenientUtf8(bytes);
}

/** A string that may not be null. */
export function readRequiredString(reader: ByteReader, what: string): string {
  const text = readString(reader);
  if (text === undefined) throw new DecodeError(`The ${what} is null`);
  return text;
}

/** Anything but 0 is true. */
export function readBool(reader: ByteReader): boolean {
  return reader.u8() !== 0;
}

export function writeBool(writer: ByteWriter, value: boolean): void {
  writer.u8(value ? 1 : 0);
}

/** Null is read as undefined. `leastBytes` is what the shortest element takes: more of them than fit are refused unread. */
export function readVector<T>(
  reader: ByteReader,
  leastBytes: number,
  readElement: (reader: ByteReader) => T,
): T[] | undefined {
  const count = reader.i32();
  if (count === -1) return undefined;
  if (count < 0 || count * leastBytes > reader.remaining) {
    throw new DecodeError(`A list of ${count} does not fit the ${reader.remaining} bytes left`);
  }
  const elements: T[] = [];
  for (let i = 0; i < count; i++) elements.push(readElement(reader));
  return elements;
}

/** Each at least a length of 4 bytes. */
export function readStrings(reader: ByteReader): string[] {
  return readVector(reader, 4, (from) => readString(from) ?? '') ?? [];
}

export function writeStrings(writer: ByteWriter, strings: readonly string[]): void {
  writer.i32(strings.length);
  for (const text of strings) writer.string(text);
}

function lenientUtf8(bytes: Uint8Array): string {
  try {
    return readUtf8(bytes, 0, bytes.length);
  } catch {
    return piecewise(bytes);
  }
}

function piecewise(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] as number;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    try {
      text += readUtf8(bytes, at, Math.min(at + length, bytes.length));
      at += length;
    } catch {
      text += REPLACEMENT;
      at++;
    }
  }
  return text;
}
