/**
 * A write on its way from the member where it came in to the leader, and its bytes. The link says whose it is, so the
 * sid is not among them. Owned here: what comes with an operation (its own bytes: ordered-op.ts), and its checks; what a request
 * means is `prepare.ts`'s.
 *
 * Layout, big-endian: kind u8 · flags u8 · incarnation u48 · seq u48 · session u64 · when numbered: request u32,
 * acknowledged u32 · identities: count u8, scheme and id of each · when guarded: count u8, and path and czxid u64 of each · the
 * operation.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  GUARDS_MAX,
  type Guard,
  IDENTITIES_MAX,
  type Identity,
  type Numbered,
  type SessionId,
  toSessionId,
  toZxid,
} from '@quorate/protocol';
import {
  addedCost,
  flagsOf,
  kindNumberOf,
  OP_FLAGS,
  type OrderedOp,
  opCost,
  readOp,
  readPath,
  readU48,
  u48,
  writeOp,
} from './ordered-op.ts';

export type { CreateSessionOp, OrderedOp } from './ordered-op.ts';

/** One write as the leader gets it. */
export interface WriteRequest {
  /** Which run of the member it came in by; with the sid of the link and `seq` it names the write for good. */
  readonly incarnation: number;
  /** Rises with every write of that run. */
  readonly seq: number;
  readonly session: SessionId;
  /** It came by the session's attachment: refused when the session is attached to another member. */
  readonly attached: boolean;
  /** The write's number in its session, for one that must happen once however often it comes. */
  readonly numbered?: Numbered | undefined;
  readonly op: OrderedOp;
  /** What the connection had shown for itself when the request came. Never empty. */
  readonly identities?: readonly Identity[] | undefined;
  /** Never empty. */
  readonly guards?: readonly Guard[];
}

const ATTACHED = 1;
const NUMBERED = 64;
const GUARDED = 128;
const ENVELOPE_FLAGS = ATTACHED | NUMBERED | GUARDED;
const HEADER_BYTES = 22;
const GUARD_BYTES = 16;

/** Bytes that `request` counts for in bounds: close to the longer of its own length and its txn's, but cheap. */
export function requestCost(request: WriteRequest): number {
  return encodedCost(request) + addedCost(request.op);
}

function encodedCost({ op, guards }: WriteRequest): number {
  const guarding = guards?.reduce((sum, { path }) => sum + GUARD_BYTES + path.length, 0) ?? 0;
  return HEADER_BYTES + 64 + guarding + opCost(op);
}

export function encodeWriteRequest(request: WriteRequest): Uint8Array {
  const { op, guards } = request;
  const writer = new ByteWriter(encodedCost(request));
  const numbering = request.numbered === undefined ? 0 : NUMBERED;
  const envelope = (request.attached ? ATTACHED : 0) | numbering | (guards === undefined ? 0 : GUARDED);
  writer.u8(kindNumberOf(op)).u8(flagsOf(op) | envelope);
  u48(writer, request.incarnation);
  u48(writer, request.seq);
  writer.u64(request.session);
  if (request.numbered !== undefined) writer.u32(request.numbered.request).u32(request.numbered.acknowledged);
  const { identities = [] } = request;
  writer.u8(identities.length);
  for (const { scheme, id } of identities) writer.string(scheme).string(id);
  if (guards !== undefined) {
    writer.u8(guards.length);
    for (const { path, czxid } of guards) writer.string(path).u64(czxid);
  }
  writeOp(writer, op);
  return writer.finish();
}

/** Reads what `encodeWriteRequest` wrote; data and token are views of `bytes`. Throws DecodeError on anything else. */
export function decodeWriteRequest(bytes: Uint8Array): WriteRequest {
  const reader = new ByteReader(bytes);
  const kind = reader.u8();
  const flags = reader.u8();
  if ((flags & ~(ENVELOPE_FLAGS | OP_FLAGS)) !== 0)
    throw new DecodeError(`Unknown flags 0x${flags.toString(16)} in a write request`);
  const incarnation = readU48(reader);
  const seq = readU48(reader);
  const session = toSessionId(reader.u64());
  const attached = (flags & ATTACHED) !== 0;
  const numbered = (flags & NUMBERED) === 0 ? undefined : readNumbered(reader);
  const identities = readIdentities(reader);
  const guards = (flags & GUARDED) === 0 ? undefined : readGuards(reader);
  const op = readOp(reader, kind, flags);
  reader.end();
  const request = { incarnation, seq, session, attached, op };
  return { ...request, ...(numbered && { numbered }), ...(identities && { identities }), ...(guards && { guards }) };
}

function readNumbered(reader: ByteReader): Numbered {
  const request = reader.u32();
  const acknowledged = reader.u32();
  if (acknowledged >= request) throw new DecodeError(`Request ${request} acknowledges request ${acknowledged}`);
  return { request, acknowledged };
}

function readIdentities(reader: ByteReader): readonly Identity[] | undefined {
  const count = reader.u8();
  if (count > IDENTITIES_MAX) throw new DecodeError(`A write request has ${count} identities`);
  if (count === 0) return undefined;
  return Array.from({ length: count }, () => ({ scheme: reader.string(), id: reader.string() }));
}

function readGuards(reader: ByteReader): readonly Guard[] {
  const count = reader.u8();
  if (count === 0 || count > GUARDS_MAX) throw new DecodeError(`A write request has ${count} guards`);
  return Array.from({ length: count }, () => readGuard(reader));
}

function readGuard(reader: ByteReader): Guard {
  const path = readPath(reader);
  const czxid = reader.u64();
  if (czxid >= 1n << 63n) throw new DecodeError(`A guard has ${czxid} in the place of a zxid`);
  return { path, czxid: toZxid(czxid) };
}
