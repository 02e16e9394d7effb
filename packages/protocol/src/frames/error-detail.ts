/** ErrorDetail by itself, as unary calls carry it in their trailing metadata. */
import { ByteReader, ByteWriter } from '../bytes.ts';
import type { OpFailure } from '../op.ts';
import type { Zxid } from '../zxid.ts';
import { readErrorDetail, writeErrorDetail } from './result-codec.ts';

/** Key of the trailing metadata that carries it. */
export const ERROR_DETAIL_KEY = 'quorate-error-bin';

/** The bytes of the detail of `failure`; `zxid` is the position in the history that it reflects. */
export function encodeErrorDetail(failure: Omit<OpFailure, 'kind'>, zxid: Zxid): Uint8Array {
  const writer = new ByteWriter(128);
  writeErrorDetail(writer, failure, zxid);
  return writer.finish();
}

/** Reads a detail. Throws DecodeError. */
export function decodeErrorDetail(bytes: Uint8Array): { failure: OpFailure; zxid: Zxid } {
  return readErrorDetail(new ByteReader(bytes), bytes.length);
}
