/**
 * The fields of one small protobuf message, by number: for messages that are too rare to be worth a loop of their own.
 * Absent fields read as proto3's defaults; the last of several wins, as protobuf says.
 */
import { ByteReader, DecodeError } from '@quorate/protocol';
import { checkMessageEnd, FIXED64, LENGTH, readBytes, readTag, skipField, VARINT } from '@quorate/protocol/frames';

const EMPTY: Uint8Array = new Uint8Array(0);

/** The values of a message's fields. Each accessor throws DecodeError when the field has another wire type. */
export class Fields {
  readonly #values = new Map<number, bigint | Uint8Array>();

  set(field: number, value: bigint | Uint8Array): void {
    this.#values.set(field, value);
  }

  /** 32 bits, unsigned. */
  uint(field: number): number {
    return Number(BigInt.asUintN(32, this.fixed(field)));
  }

  /** A 64-bit count that must be below 2^53. */
  count(field: number): number {
    const value = this.fixed(field);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new DecodeError(`Field ${field} is ${value}, above 2^53`);
    return Number(value);
  }

  /** 64 bits, unsigned. */
  fixed(field: number): bigint {
    const value = this.#values.get(field) ?? 0n;
    if (typeof value !== 'bigint') throw new DecodeError(`Field ${field} is not a number`);
    return value;
  }

  bytes(field: number): Uint8Array {
    const value = this.#values.get(field) ?? EMPTY;
    if (typeof value === 'bigint') throw new DecodeError(`Field ${field} is not bytes`);
    return value;
  }

  text(field: number): string {
    const bytes = this.bytes(field);
    return new ByteReader(bytes).text(bytes.length);
  }
}

/** Reads all fields up to `end`. */
export function readFields(reader: ByteReader, end: number): Fields {
  const fields = new Fields();
  while (reader.offset < end) {
    const tag = readTag(reader);
    switch (tag & 7) {
      case VARINT:
        fields.set(tag >>> 3, reader.varint64());
        break;
      case FIXED64:
        fields.set(tag >>> 3, reader.fixed64());
        break;
      case LENGTH:
        fields.set(tag >>> 3, readBytes(reader));
        break;
      default:
        skipField(reader, tag);
    }
  }
  checkMessageEnd(reader, end);
  return fields;
}
