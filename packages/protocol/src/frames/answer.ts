/** An answer on its own, as bytes that are kept: the fields of a Reply without its xid. */
import { ByteReader, ByteWriter } from '../bytes.ts';
import type { Answer } from '../op.ts';
import { readReplyFields } from './attach-response.ts';
import { writeResult } from './result-codec.ts';
import { writeInt64 } from './wire.ts';

/** Room for a Stat and a short path. */
const USUAL_BYTES = 160;

export function encodeAnswer({ zxid, result }: Answer): Uint8Array {
  const writer = new ByteWriter(USUAL_BYTES);
  writeInt64(writer, 2, zxid);
  // Only for `exists` does it matter which operation was asked for.
  writeResult(writer, 'create', result);
  return writer.finish();
}

/** Reads what `encodeAnswer` wrote. Bytes in it are views of `bytes`. Throws DecodeError. */
export function decodeAnswer(bytes: Uint8Array): Answer {
  return readReplyFields(new ByteReader(bytes), bytes.length).answer;
}
