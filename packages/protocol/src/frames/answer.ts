/** An answer on its own, as bytes that are kept: the fields of a Reply without its xid. */
import { ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import type { Answer } from '../op.ts';
import { readReplyFields } from './attach-response.ts';
import { writeResult } from './result-codec.ts';
import { writeInt64 } from './wire.ts';

/** Writes the answer alone, and returns the writer's bytes. */
export function encodeAnswer(writer: ByteWriter, { zxid, result }: Answer): Uint8Array {
  writeInt64(writer, 2, zxid);
  // Only for `exists` does it matter which operation was asked for.
  writeResult(writer, 'create', result);
  return writer.finish();
}

/** Reads what `encodeAnswer` wrote. Bytes in it are views of `bytes`. Throws DecodeError. */
export function decodeAnswer(bytes: Uint8Array): Answer {
  const { zxid, result } = readReplyFields(new ByteReader(bytes), bytes.length).answer;
  if (result.kind === 'addAuth') throw new DecodeError('Who a connection is taken for is no answer that is kept');
  return { zxid, result };
}
