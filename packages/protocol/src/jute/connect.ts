/**
 * The two records that open a connection; they have no headers. What asks for read-only service is a byte that may be missing,
 * and then is missing in the reply (C161). Source: reference §1.2.
 */
import { type ByteReader, ByteWriter, DecodeError } from '../bytes.ts';
import { NO_SESSION, type SessionId, toSessionId } from '../session-id.ts';
import { readBool, writeBool } from './primitives.ts';

/** Longest password that is read, bytes. */
const PASSWORD_BYTES_MAX = 256;

const NO_PASSWORD = new Uint8Array(16);

export interface ConnectRequest {
  /** Signed, as it came. */
  readonly lastZxidSeen: bigint;
  readonly timeoutMs: number;
  /** NO_SESSION asks for a new one. */
  readonly session: SessionId;
  readonly password: Uint8Array;
  /** Undefined when the client does not know of it, and does not want it in the reply. */
  readonly readOnly: boolean | undefined;
}

export interface ConnectResponse {
  readonly timeoutMs: number;
  readonly session: SessionId;
  readonly password: Uint8Array;
  readonly readOnly: boolean | undefined;
}

/** Reads the payload of the first frame. Throws DecodeError. */
export function readConnectRequest(reader: ByteReader): ConnectRequest {
  // Every version is served as 0: clients that ask for more find out.
  reader.i32();
  const lastZxidSeen = reader.i64();
  const timeoutMs = reader.i32();
  const session = toSessionId(reader.i64());
  const password = reader.bytes() ?? new Uint8Array(0);
  if (password.length > PASSWORD_BYTES_MAX) throw new DecodeError(`A password of ${password.length} bytes`);
  const readOnly = reader.remaining > 0 ? readBool(reader) : undefined;
  return { lastZxidSeen, timeoutMs, session, password: Uint8Array.from(password), readOnly };
}

/** The answer to a client whose session has ended, never was, or is not his. */
export function sessionRefusal(asksReadOnly: boolean): ConnectResponse {
  const readOnly = asksReadOnly ? false : undefined;
  return { timeoutMs: 0, session: NO_SESSION, password: NO_PASSWORD, readOnly };
}

/** A frame, its length included. */
export function connectResponseFrame({ timeoutMs, session, password, readOnly }: ConnectResponse): Uint8Array {
  const writer = new ByteWriter(48).u32(0).i32(0).i32(timeoutMs).u64(session).bytes(password);
  if (readOnly !== undefined) writeBool(writer, readOnly);
  const frame = writer.finish();
  new DataView(frame.buffer, frame.byteOffset).setUint32(0, frame.length - 4);
  return frame;
}
