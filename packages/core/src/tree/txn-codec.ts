/**
 * A txn as bytes: the payload that is agreed on, logged and sent. Compact, exact in 64 bits, with a format version in
 * front. Decoding checks the form of every field; whether the txn is possible is asserted when it is applied.
 *
 * | field                  | bytes                                                                   |
 * | ---------------------- | ----------------------------------------------------------------------- |
 * | format version         | 1 (value 7)                                                             |
 * | kind                   | 1, of the table KIND                                                    |
 * | flags                  | 1: 1 attached, 2 numbered                                               |
 * | origin                 | sid 1, incarnation varint, seq varint                                   |
 * | session                | 8, big-endian                                                           |
 * | timeMs                 | varint                                                                  |
 * | numbered, when flagged | request varint, request - acknowledged varint                           |
 * | body                   | an ACL: acl-codec.ts;                                                   |
 * |                        | text: varint length, UTF-8; bytes: varint length + 1 (0: undefined);    |
 * |                        | counters 4 bytes signed; in the order of `Txn`'s declaration;           |
 * |                        | owner and lifetime: u8 0, or 1 and a session, or 2: container, or 3     |
 * |                        | and a varint: TTL in ms                                                 |
 * |                        | parts: varint count, then kind 1 and body each; part of an error:       |
 * |                        | varint, index + 1 (0: none); compound: what it answers 1, more 1, then  |
 * |                        | parts                                                                   |
 */
import {
  assert,
  ByteReader,
  ByteWriter,
  DecodeError,
  ERRORS,
  errorCodeOfProto,
  NO_SESSION,
  type Numbered,
  OPEN_ACL,
  type SessionId,
  SID_MAX,
  toSessionId,
  unreachable,
  utf8Length,
} from '@quorate/protocol';
import { readAcl, writeAcl } from './acl-codec.ts';
import { isOpen } from './acl-table.ts';
import { isTtl, type Lifetime } from './lifetime.ts';
import { isChange, type Origin, type Txn, type TxnBody, type TxnPart } from './txn.ts';

const FORMAT = 7;

const ATTACHED = 1;
const NUMBERED = 2;

/** Numbers of the kinds. A number is never used again for something else: old logs have it. */
const KIND = {
  create: 1,
  delete: 2,
  setData: 3,
  createSession: 4,
  closeSession: 5,
  error: 6,
  repeat: 7,
  multi: 8,
  check: 9,
  setAcl: 10,
  compound: 11,
  exists: 12,
  getData: 13,
} as const satisfies Record<TxnBody['kind'] | TxnPart['kind'], number>;

/** What a compound answers. */
const ANSWERED = ['create', 'createOrSet', 'deleteSubtree'] as const;

/** What a created znode lives by. */
const OWNER = { none: 0, session: 1, container: 2, ttl: 3 } as const;

const TWO_32 = 2 ** 32;
/** In the same byte: an ACL follows. */
const ACL = 0x10;

type Create = Extract<TxnPart, { readonly kind: 'create' }>;

const TWO_48 = 2 ** 48;

/** Room for everything but path and data. */
const FIXED_BYTES = 64;

/** The bytes of a txn. Asserts that numbers are in range: out of range they are a bug here, not bad input. */
export function encodeTxn(txn: Txn): Uint8Array {
  const { origin, numbered, body } = txn;
  assertWhole(origin.sid, SID_MAX + 1, 'origin.sid');
  assertWhole(origin.incarnation, TWO_48, 'origin.incarnation');
  assertWhole(origin.seq, TWO_48, 'origin.seq');
  assertWhole(txn.timeMs, Number.MAX_SAFE_INTEGER, 'timeMs');
  const writer = new ByteWriter(FIXED_BYTES + sizeOf(body));
  writer
    .u8(FORMAT)
    .u8(KIND[body.kind])
    .u8((origin.attached === true ? ATTACHED : 0) | (numbered === undefined ? 0 : NUMBERED));
  writer.u8(origin.sid).varint(origin.incarnation).varint(origin.seq);
  writer.u64(txn.session).varint(txn.timeMs);
  if (numbered !== undefined) writeNumbered(writer, numbered);
  writeBody(writer, body);
  return writer.finish();
}

/** Reads a txn. Throws DecodeError on anything but a whole, well-formed one. Data and token are views of `bytes`. */
export function decodeTxn(bytes: Uint8Array): Txn {
  const reader = new ByteReader(bytes);
  const format = reader.u8();
  if (format !== FORMAT) throw new DecodeError(`Txn has format ${format}, this build reads ${FORMAT}`);
  const kind = reader.u8();
  const flags = reader.u8();
  if ((flags & ~(ATTACHED | NUMBERED)) !== 0) throw new DecodeError(`Txn has the unknown flags ${flags}`);
  const origin = readOrigin(reader, (flags & ATTACHED) !== 0);
  const session = toSessionId(reader.u64());
  const timeMs = reader.varint53();
  const numbered = (flags & NUMBERED) === 0 ? undefined : readNumbered(reader);
  const body = readBody(reader, kind);
  reader.end();
  return numbered === undefined ? { origin, session, timeMs, body } : { origin, session, timeMs, numbered, body };
}

function writeNumbered(writer: ByteWriter, { request, acknowledged }: Numbered): void {
  assertWhole(request, TWO_32, 'numbered.request');
  assertWhole(acknowledged, request, 'numbered.acknowledged');
  writer.varint(request).varint(request - acknowledged);
}

function readNumbered(reader: ByteReader): Numbered {
  const request = reader.varint();
  const acknowledged = request - reader.varint();
  if (request === 0 || acknowledged < 0 || acknowledged >= request)
    throw new DecodeError(`Txn has the bad request number ${request}`);
  return { request, acknowledged };
}

/** A guess from above for ASCII paths: the writer grows when it is wrong. */
function sizeOf(body: TxnBody | TxnPart): number {
  if ('parts' in body) return body.parts.reduce((sum, part) => sum + 16 + sizeOf(part), 0);
  const data = body.kind === 'create' || body.kind === 'setData' ? (body.data?.length ?? 0) : 0;
  return data + ('path' in body ? (body.path?.length ?? 0) : 0);
}

function writeBody(writer: ByteWriter, body: TxnBody | TxnPart): void {
  switch (body.kind) {
    case 'create':
      writeText(writer, body.path);
      writeBytes(writer, body.data);
      writeOwner(writer, body);
      writer.i32(body.parentCreates);
      if (hasAcl(body)) writeAcl(writer, body.acl);
      return;
    case 'delete':
    case 'exists':
      writeText(writer, body.path);
      return;
    case 'check':
      writeText(writer, body.path);
      writer.u8(body.absent === true ? 1 : 0);
      return;
    case 'getData':
      writeText(writer, body.path);
      writer.varint(body.length);
      return;
    case 'setData':
      writeText(writer, body.path);
      writeBytes(writer, body.data);
      writer.i32(body.version);
      return;
    case 'setAcl':
      writeText(writer, body.path);
      writeAcl(writer, body.acl);
      writer.i32(body.version);
      return;
    case 'createSession':
      assertWhole(body.timeoutMs, TWO_48, 'timeoutMs');
      writer.varint(body.timeoutMs);
      writeBytes(writer, body.token);
      return;
    case 'closeSession':
      writer.varint(body.paths.length);
      for (const path of body.paths) writeText(writer, path);
      return;
    case 'repeat':
      writer.varint(body.request);
      return;
    case 'error':
      writer.varint(ERRORS[body.code].proto);
      writer.u8(body.path === undefined ? 0 : 1);
      if (body.path !== undefined) writeText(writer, body.path);
      writeText(writer, body.message);
      writer.varint(body.part === undefined ? 0 : body.part + 1);
      return;
    case 'compound':
      writer.u8(ANSWERED.indexOf(body.answers)).u8(body.more === true ? 1 : 0);
      writeParts(writer, body.parts);
      return;
    case 'multi':
      writeParts(writer, body.parts);
      return;
    default:
      unreachable(body);
  }
}

function writeParts(writer: ByteWriter, parts: readonly TxnPart[]): void {
  writer.varint(parts.length);
  for (const part of parts) {
    writer.u8(KIND[part.kind]);
    writeBody(writer, part);
  }
}

function readPart(reader: ByteReader, kind: number): TxnPart | undefined {
  switch (kind) {
    case KIND.create:
      return readCreate(reader);
    case KIND.delete:
      return { kind: 'delete', path: readText(reader) };
    case KIND.setData:
      return { kind: 'setData', path: readText(reader), data: readBytes(reader), version: reader.i32() };
    case KIND.check: {
      const path = readText(reader);
      return readFlag(reader) ? { kind: 'check', path, absent: true } : { kind: 'check', path };
    }
    case KIND.exists:
      return { kind: 'exists', path: readText(reader) };
    case KIND.getData:
      return { kind: 'getData', path: readText(reader), length: reader.varint() };
    default:
      return undefined;
  }
}

function readCreate(reader: ByteReader): Create {
  const path = readText(reader);
  const data = readBytes(reader);
  const tag = reader.u8();
  const owner = readOwner(reader, tag & ~ACL);
  const create = { kind: 'create', path, data, ...owner, parentCreates: reader.i32() } as const;
  if ((tag & ACL) === 0) return create;
  const acl = readAcl(reader);
  if (acl === undefined) throw new DecodeError(`Txn creates ${path} with an ACL that is none`);
  return { ...create, acl };
}

function readParts(reader: ByteReader): readonly TxnPart[] {
  const count = reader.varint();
  const parts: TxnPart[] = [];
  for (let i = 0; i < count; i++) {
    const kind = reader.u8();
    const part = readPart(reader, kind);
    if (part === undefined) throw new DecodeError(`Txn has a part of the unknown kind ${kind}`);
    parts.push(part);
  }
  return parts;
}

function readCompound(reader: ByteReader): TxnBody {
  const answers = ANSWERED[reader.u8()];
  const more = readFlag(reader);
  const parts = readParts(reader);
  const [last] = parts.slice(-1);
  if (answers === undefined) throw new DecodeError('Txn answers an unknown operation');
  if (!parts.every(isChange)) throw new DecodeError('Txn has a part that changes nothing where only changes may be');
  if (answers === 'deleteSubtree') {
    if (!parts.every(({ kind }) => kind === 'delete'))
      throw new DecodeError('Txn has a step of deletes with something else');
    return more ? { kind: 'compound', answers, parts, more } : { kind: 'compound', answers, parts };
  }
  if (more) throw new DecodeError(`Txn leaves something of a ${answers}`);
  const isWhole = last?.kind === 'create' || (last?.kind === 'setData' && answers === 'createOrSet');
  if (!isWhole) throw new DecodeError(`Txn answers a ${answers} with ${last?.kind ?? 'nothing'}`);
  return { kind: 'compound', answers, parts };
}

function readBody(reader: ByteReader, kind: number): TxnBody {
  const change = readPart(reader, kind);
  if (change !== undefined && isChange(change)) return change;
  switch (kind) {
    case KIND.setAcl:
      return { kind: 'setAcl', path: readText(reader), acl: readAcl(reader) ?? OPEN_ACL, version: reader.i32() };
    case KIND.multi:
      return { kind: 'multi', parts: readParts(reader) };
    case KIND.compound:
      return readCompound(reader);
    case KIND.createSession:
      return { kind: 'createSession', timeoutMs: readBelow(reader, TWO_48, 'timeoutMs'), token: readToken(reader) };
    case KIND.closeSession:
      return { kind: 'closeSession', paths: readPaths(reader) };
    case KIND.repeat:
      return { kind: 'repeat', request: reader.varint() };
    case KIND.error:
      return readError(reader);
    default:
      throw new DecodeError(`Txn has the unknown kind ${kind}`);
  }
}

function readOrigin(reader: ByteReader, attached: boolean): Origin {
  const sid = reader.u8();
  if (sid > SID_MAX) throw new DecodeError(`Txn has the origin sid ${sid}, which no member can have`);
  const incarnation = readBelow(reader, TWO_48, 'origin.incarnation');
  const seq = readBelow(reader, TWO_48, 'origin.seq');
  return attached ? { sid, incarnation, seq, attached } : { sid, incarnation, seq };
}

function readError(reader: ByteReader): TxnBody {
  const proto = reader.varint();
  const code = errorCodeOfProto(proto);
  if (code === undefined) throw new DecodeError(`Txn has the unknown error code ${proto}`);
  const path = readFlag(reader) ? readText(reader) : undefined;
  const error = { kind: 'error', code, path, message: readText(reader) } as const;
  const part = reader.varint();
  return part === 0 ? error : { ...error, part: part - 1 };
}

function readPaths(reader: ByteReader): readonly string[] {
  const count = reader.varint();
  // A count that is a lie ends at the first path that is not there: each takes at least the byte of its length.
  const paths: string[] = [];
  for (let i = 0; i < count; i++) paths.push(readText(reader));
  return paths;
}

function readToken(reader: ByteReader): Uint8Array {
  const token = readBytes(reader);
  if (token === undefined) throw new DecodeError('Txn opens a session without a token');
  return token;
}

function writeText(writer: ByteWriter, text: string): void {
  const length = utf8Length(text);
  writer.varint(length).text(text, length);
}

function readText(reader: ByteReader): string {
  return reader.text(reader.varint());
}

function writeBytes(writer: ByteWriter, bytes: Uint8Array | undefined): void {
  if (bytes === undefined) writer.varint(0);
  else writer.varint(bytes.length + 1).raw(bytes);
}

function readBytes(reader: ByteReader): Uint8Array | undefined {
  const lengthPlusOne = reader.varint();
  return lengthPlusOne === 0 ? undefined : reader.raw(lengthPlusOne - 1);
}

function hasAcl({ acl }: Create): boolean {
  return acl !== undefined && !isOpen(acl);
}

function writeOwner(writer: ByteWriter, create: Create): void {
  const { ephemeralOwner, lifetime } = create;
  const acl = hasAcl(create) ? ACL : 0;
  if (lifetime === 'container') writer.u8(OWNER.container | acl);
  else if (lifetime !== undefined) writer.u8(OWNER.ttl | acl).varint(lifetime.ttlMs);
  else if (ephemeralOwner === NO_SESSION) writer.u8(OWNER.none | acl);
  else writer.u8(OWNER.session | acl).u64(ephemeralOwner);
}

function readOwner(reader: ByteReader, tag: number): { ephemeralOwner: SessionId; lifetime?: Lifetime } {
  switch (tag) {
    case OWNER.none:
      return { ephemeralOwner: NO_SESSION };
    case OWNER.session:
      return { ephemeralOwner: toSessionId(reader.u64()) };
    case OWNER.container:
      return { ephemeralOwner: NO_SESSION, lifetime: 'container' };
    case OWNER.ttl: {
      const ttlMs = reader.varint53();
      if (!isTtl(ttlMs)) throw new DecodeError(`Txn has ${ttlMs} in the place of a TTL`);
      return { ephemeralOwner: NO_SESSION, lifetime: { ttlMs } };
    }
    default:
      throw new DecodeError(`Txn has ${tag} in the place of an owner`);
  }
}

function readFlag(reader: ByteReader): boolean {
  const flag = reader.u8();
  if (flag > 1) throw new DecodeError(`Txn has ${flag} in the place of a flag`);
  return flag === 1;
}

function readBelow(reader: ByteReader, limit: number, what: string): number {
  const value = reader.varint53();
  if (value >= limit) throw new DecodeError(`Txn has ${what} ${value}, the limit is ${limit}`);
  return value;
}

function assertWhole(value: number, limit: number, what: string): void {
  assert(
    Number.isInteger(value) && value >= 0 && value < limit,
    () => `Cannot encode a txn: ${what} is ${value}, not a whole number below ${limit}`,
  );
}
