/**
 * Writing and reading bytes: fixed-width big-endian numbers (disk, ZooKeeper's wire) and protobuf's base-128
 * varints (gRPC frames). No Node types, so that `core` can use it. A reader never trusts a length: every read
 * is checked against what is there and fails with DecodeError.
 */
import { readLatin1 } from './latin1.ts';
import { readUtf8, utf8Length, writeUtf8 } from './utf8.ts';

/** The bytes are not what their format says. The only error that a ByteReader throws. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** Up to here a bigint can be handled as a number, which is several times as fast. */
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Appends to one growing buffer. `finish` hands the buffer out; after that only `clear` may be called. */
export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #at = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#at;
  }

  u8(value: number): this {
    this.#reserve(1);
    this.#bytes[this.#at++] = value;
    return this;
  }

  u32(value: number): this {
    this.#reserve(4);
    this.#view.setUint32(this.#at, value);
    this.#at += 4;
    return this;
  }

  i32(value: number): this {
    return this.u32(value);
  }

  /** Replaces four bytes that were written: a length that is known only after what it counts. */
  u32At(offset: number, value: number): this {
    this.#view.setUint32(offset, value);
    return this;
  }

  /** 8 bytes; signed and unsigned values have the same bytes. */
  u64(value: bigint): this {
    this.#reserve(8);
    this.#view.setBigUint64(this.#at, value);
    this.#at += 8;
    return this;
  }

  f64(value: number): this {
    this.#reserve(8);
    this.#view.setFloat64(this.#at, value);
    this.#at += 8;
    return this;
  }

  raw(value: Uint8Array): this {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  /** A 32-bit length, then the bytes; undefined is written as length 0xffffffff. */
  bytes(value: Uint8Array | undefined): this {
    if (value === undefined) return this.u32(0xffff_ffff);
    return this.u32(value.length).raw(value);
  }

  /** A 32-bit length in bytes, then UTF-8. */
  string(value: string): this {
    const length = utf8Length(value);
    return this.u32(length).text(value, length);
  }

  /** UTF-8 without a length. `length` is `utf8Length(value)`. */
  text(value: string, length: number): this {
    this.#reserve(length);
    this.#at = writeUtf8(this.#bytes, this.#at, value);
    return this;
  }

  /** Protobuf varint of an unsigned number below 2^53. */
  varint(value: number): this {
    this.#reserve(10);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#at++] = rest;
    return this;
  }

  /** Protobuf varint of a 64-bit value; a negative one takes ten bytes. */
  varint64(value: bigint): this {
    let rest = BigInt.asUintN(64, value);
    if (rest <= SAFE_MAX) return this.varint(Number(rest));
    this.#reserve(10);
    while (rest > 0x7fn) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
    return this;
  }

  /** Protobuf fixed64: 8 bytes, little-endian. */
  fixed64(value: bigint): this {
    this.#reserve(8);
    this.#view.setBigUint64(this.#at, value, true);
    this.#at += 8;
    return this;
  }

  /** Begins a part whose length, a varint, stands before it. Give what is returned to `endPart`; parts may nest. */
  beginPart(): number {
    this.#reserve(1);
    return ++this.#at;
  }

  /** Ends a part. Its bytes move only when the length takes more than one byte. */
  endPart(start: number): this {
    const length = this.#at - start;
    let width = 1;
    for (let rest = length; rest > 0x7f; rest = Math.floor(rest / 128)) width++;
    if (width > 1) {
      this.#reserve(width - 1);
      this.#bytes.copyWithin(start + width - 1, start, this.#at);
    }
    this.#at = start - 1;
    this.varint(length);
    this.#at += length;
    return this;
  }

  /** Begins anew in the same buffer: what `finish` handed out before is overwritten, and must have been copied. */
  clear(): this {
    this.#at = 0;
    return this;
  }

  /** What was written, without a copy. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #reserve(more: number): void {
    const need = this.#at + more;
    if (need <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(need, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Reads from `start` to `end` of a buffer. What it returns of bytes are views, not copies. */
export class ByteReader {
  #bytes: Uint8Array;
  /** Made when it is needed: most never do, and it costs more than all the rest of a small read. */
  #view: DataView | undefined = undefined;
  #end: number;
  #at: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Begins anew with other bytes. */
  reset(bytes: Uint8Array): this {
    this.#bytes = bytes;
    this.#view = undefined;
    this.#at = 0;
    this.#end = bytes.length;
    return this;
  }

  get offset(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  u8(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  u32(): number {
    return this.i32() >>> 0;
  }

  i32(): number {
    const at = this.#take(4);
    const bytes = this.#bytes;
    const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16);
    return high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
  }

  u64(): bigint {
    return this.#viewed().getBigUint64(this.#take(8));
  }

  i64(): bigint {
    return this.#viewed().getBigInt64(this.#take(8));
  }

  f64(): number {
    return this.#viewed().getFloat64(this.#take(8));
  }

  /** A view of the next `length` bytes. */
  raw(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  bytes(): Uint8Array | undefined {
    const length = this.u32();
    return length === 0xffff_ffff ? undefined : this.raw(length);
  }

  string(): string {
    return this.text(this.u32());
  }

  /** The next `length` bytes as UTF-8. */
  text(length: number): string {
    const start = this.#take(length);
    try {
      return readUtf8(this.#bytes, start, start + length);
    } catch (cause) {
      throw new DecodeError(`Bad string at byte ${start}: ${(cause as Error).message}`);
    }
  }

  /** The next `length` bytes, LATIN1_MAX at most, as a string of one character each. */
  latin1(length: number): string {
    const start = this.#take(length);
    return readLatin1(this.#bytes, start, start + length);
  }

  /** Protobuf varint that must fit 32 bits (a longer, sign-extended one is cut to its low 32 bits). */
  varint(): number {
    let low = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.u8();
      if (shift < 28) low += (byte & 0x7f) * 2 ** shift;
      else if (shift === 28) low += (byte & 0x0f) * 2 ** 28;
      if (byte < 0x80) return low;
    }
    throw new DecodeError(`Varint longer than 10 bytes at byte ${this.#at}`);
  }

  /** Protobuf varint of 64 bits, unsigned. */
  varint64(): bigint {
    const start = this.#at;
    let low = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.u8();
      low += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new DecodeError(`Varint longer than 10 bytes at byte ${start}`);
  }

  /** Protobuf varint of an unsigned number below 2^53; what `ByteWriter.varint` wrote. Fails on a larger one. */
  varint53(): number {
    const start = this.#at;
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte >= 0x80) continue;
      if (value <= Number.MAX_SAFE_INTEGER) return value;
      break;
    }
    throw new DecodeError(`Varint above 2^53 at byte ${start}`);
  }

  fixed64(): bigint {
    return this.#viewed().getBigUint64(this.#take(8), true);
  }

  /** Fails unless everything has been read. */
  end(): void {
    if (this.#at !== this.#end) throw new DecodeError(`${this.#end - this.#at} bytes too many`);
  }

  #viewed(): DataView {
    const bytes = this.#bytes;
    this.#view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return this.#view;
  }

  #take(length: number): number {
    const start = this.#at;
    if (length > this.#end - start) {
      throw new DecodeError(`Needs ${length} bytes at byte ${start}, has ${this.#end - start}`);
    }
    this.#at = start + length;
    return start;
  }
}
