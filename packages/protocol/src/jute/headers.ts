/** What stands before every request and reply once a connection is open. Source: reference §1.5. */
import type { ByteReader, ByteWriter } from '../bytes.ts';

export interface RequestHeader {
  /** Signed; any number. It is only sent back. */
  readonly xid: number;
  readonly type: number;
}

export interface ReplyHeader {
  readonly xid: number;
  /** Signed: -1 where there is none. */
  readonly zxid: bigint;
  readonly error: number;
}

/** Throws DecodeError. */
export function readRequestHeader(reader: ByteReader): RequestHeader {
  return { xid: reader.i32(), type: reader.i32() };
}

export function writeReplyHeader(writer: ByteWriter, { xid, zxid, error }: ReplyHeader): void {
  writer.i32(xid).u64(zxid).i32(error);
}
