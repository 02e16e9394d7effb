/** What a page is gone on with, as bytes that clients hand back and do not look into. It is no secret: rights are asked anew at every page. */
import { ByteReader, ByteWriter, DecodeError, type Sid } from '@quorate/protocol';

export interface ListingToken {
  /** The member that keeps the listing, and its run. */
  readonly sid: Sid;
  readonly incarnation: number;
  /** Of the listing, in that run. */
  readonly number: number;
  /** The page that is asked for, from 1. */
  readonly page: number;
}

export function encodeToken({ sid, incarnation, number, page }: ListingToken): Uint8Array {
  return new ByteWriter(24).varint(sid).varint(incarnation).varint(number).varint(page).finish();
}

/** Undefined for bytes that are no token. */
export function decodeToken(bytes: Uint8Array): ListingToken | undefined {
  try {
    const reader = new ByteReader(bytes);
    const token = {
      sid: reader.varint(),
      incarnation: Number(reader.varint64()),
      number: reader.varint(),
      page: reader.varint(),
    };
    return reader.remaining === 0 ? token : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
