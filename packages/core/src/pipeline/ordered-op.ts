/**
 * The operations that the leader orders, and their bytes on the way to it, after what comes with them (write-request.ts).
 *
 * Layout, big-endian, by kind: create: path, data, with a TTL u48 ms, ACL · createOrSet: path, data, ACL · delete, check: path,
 * version · setData: path, version, data · exists, getData: path · deleteSubtree: path, limit u32 · createSession: timeout u32, token · multi: count u32, then kind
 * u8, flags u8 and so on of each part.
 * `path`, `data` and `token` carry a 32-bit length; `version` is i32 and counts only when its flag is set.
 */
import {
  ACL_ENTRIES_MAX,
  type Acl,
  type AclEntry,
  type ByteReader,
  type ByteWriter,
  type CloseSessionOp,
  type CreateMode,
  DecodeError,
  MULTI_PARTS_MAX,
  type MultiPart,
  OPEN_ACL,
  PATH_BYTES_MAX,
  REQUEST_BYTES_MAX,
  SESSION_TOKEN_BYTES,
  unreachable,
  utf8Length,
  type WriteOp,
} from '@quorate/protocol';

/** Asks for a session: `timeoutMs` has been negotiated, the id is the request's `session`. */
export interface CreateSessionOp {
  readonly kind: 'createSession';
  readonly timeoutMs: number;
  readonly token: Uint8Array;
}

/** All that the leader orders. */
export type OrderedOp = WriteOp | CloseSessionOp | CreateSessionOp;

const KINDS = [
  'create',
  'delete',
  'setData',
  'createSession',
  'closeSession',
  'multi',
  'check',
  'setAcl',
  'createOrSet',
  'exists',
  'getData',
  'deleteSubtree',
] as const;
const PART_KINDS: ReadonlySet<string> = new Set<MultiPart['kind']>([
  'create',
  'delete',
  'setData',
  'check',
  'exists',
  'getData',
]);
const EPHEMERAL = 2;
const SEQUENTIAL = 4;
const HAS_VERSION = 8;
/** Of a check, which is no create. */
const ABSENT = 4;
/** Of a create, which expects no version. */
const PARENTS = 8;
const CONTAINER = 16;
const TTL = 32;
const MODES = { ephemeral: EPHEMERAL, container: CONTAINER, ttl: TTL } as const;
/** All flags that an operation may have; the others say what comes with it. */
export const OP_FLAGS = EPHEMERAL | SEQUENTIAL | HAS_VERSION | CONTAINER | TTL;
const PART_BYTES = 16;
/** Of a step of a thousand znodes, with paths of usual length. */
const SUBTREE_COST = 64 * 1024;
const TIMEOUT_MAX = 0x7fff_ffff;
const UPPER = 0x1_0000_0000;

/** Bytes that it counts for in bounds; close to its encoded length, but cheap. */
export function opCost(op: OrderedOp | MultiPart): number {
  switch (op.kind) {
    case 'create':
    case 'createOrSet':
    case 'setData':
      return op.path.length + (op.data?.length ?? 0) + ('acl' in op && op.acl !== undefined ? aclCost(op.acl) : 0);
    case 'delete':
    case 'deleteSubtree':
    case 'check':
    case 'exists':
    case 'getData':
      return op.path.length;
    case 'setAcl':
      return op.path.length + aclCost(op.acl);
    case 'multi':
      return op.parts.reduce((sum, part) => sum + PART_BYTES + opCost(part), 0);
    case 'createSession':
    case 'closeSession':
      return 0;
    default:
      return unreachable(op);
  }
}

/** Bytes that its txn may take beside what it takes itself: of an operation that comes to more than it says. */
export function addedCost(op: OrderedOp): number {
  switch (op.kind) {
    case 'create':
    case 'createOrSet':
      return op.parents === true ? ancestorsCost(op.path, op.acl) : 0;
    case 'deleteSubtree':
      return SUBTREE_COST;
    default:
      return 0;
  }
}

/** What the creates of all ancestors of `path` may take in a txn, bytes. */
export function ancestorsCost(path: string, acl: Acl = []): number {
  const aclBytes = aclCost(acl);
  let bytes = 0;
  // A code unit takes at most three bytes.
  for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
    bytes += PART_BYTES + 3 * (end + aclBytes);
  }
  return bytes;
}

export function kindNumberOf(op: OrderedOp | MultiPart): number {
  return KINDS.indexOf(op.kind);
}

export function writeOp(writer: ByteWriter, op: OrderedOp | MultiPart): void {
  switch (op.kind) {
    case 'create':
      writer.string(op.path).bytes(op.data);
      if (op.mode === 'ttl') u48(writer, op.ttlMs ?? 0);
      writeAcl(writer, op.acl);
      break;
    case 'createOrSet':
      writer.string(op.path).bytes(op.data);
      writeAcl(writer, op.acl);
      break;
    case 'setAcl':
      writer.string(op.path).i32(op.expectedVersion ?? 0);
      writeAcl(writer, op.acl);
      break;
    case 'delete':
    case 'check':
      writer.string(op.path).i32(op.expectedVersion ?? 0);
      break;
    case 'setData':
      writer
        .string(op.path)
        .i32(op.expectedVersion ?? 0)
        .bytes(op.data);
      break;
    case 'exists':
    case 'getData':
      writer.string(op.path);
      break;
    case 'deleteSubtree':
      writer.string(op.path).u32(op.limit ?? 0);
      break;
    case 'multi':
      writer.u32(op.parts.length);
      for (const part of op.parts) {
        writer.u8(kindNumberOf(part)).u8(flagsOf(part));
        writeOp(writer, part);
      }
      break;
    case 'createSession':
      writer.u32(op.timeoutMs).bytes(op.token);
      break;
    case 'closeSession':
      break;
    default:
      unreachable(op);
  }
}

export function flagsOf(op: OrderedOp | MultiPart): number {
  switch (op.kind) {
    case 'create':
      return (op.mode === 'persistent' ? 0 : MODES[op.mode]) | (op.sequential ? SEQUENTIAL : 0) | parentsFlag(op);
    case 'createOrSet':
      return parentsFlag(op);
    case 'delete':
    case 'setData':
    case 'setAcl':
      return versionFlag(op);
    case 'check':
      return versionFlag(op) | (op.absent === true ? ABSENT : 0);
    default:
      return 0;
  }
}

function versionFlag({ expectedVersion }: { readonly expectedVersion: number | undefined }): number {
  return expectedVersion === undefined ? 0 : HAS_VERSION;
}

function parentsFlag({ parents }: { readonly parents?: true }): number {
  return parents === true ? PARENTS : 0;
}

/** Reads the operation of that kind. Throws DecodeError. */
export function readOp(reader: ByteReader, kindNumber: number, flags: number): OrderedOp {
  const kind = KINDS[kindNumber];
  switch (kind) {
    case undefined:
      throw new DecodeError('Unknown kind of write request');
    case 'multi':
      return { kind, parts: readParts(reader) };
    case 'check':
    case 'exists':
    case 'getData':
      throw new DecodeError(`A ${kind} stands outside a multi`);
    case 'setAcl': {
      const path = readPath(reader);
      const expectedVersion = readVersion(reader, flags);
      return { kind, path, acl: readWantedAcl(reader) ?? OPEN_ACL, expectedVersion };
    }
    case 'deleteSubtree': {
      const path = readPath(reader);
      const limit = reader.u32();
      return limit === 0 ? { kind, path } : { kind, path, limit };
    }
    case 'createOrSet':
      return { kind, path: readPath(reader), data: readData(reader), ...readOptions(reader, flags) };
    case 'createSession': {
      const timeoutMs = reader.u32();
      const token = reader.bytes();
      if (timeoutMs === 0 || timeoutMs > TIMEOUT_MAX) throw new DecodeError(`Bad session timeout ${timeoutMs} ms`);
      if (token?.length !== SESSION_TOKEN_BYTES) throw new DecodeError('Bad length of a session token');
      return { kind, timeoutMs, token };
    }
    case 'closeSession':
      return { kind };
    default:
      return readPart(reader, kind, flags);
  }
}

function readParts(reader: ByteReader): readonly MultiPart[] {
  const count = reader.u32();
  if (count > MULTI_PARTS_MAX)
    throw new DecodeError(`A multi has ${count} parts, at most ${MULTI_PARTS_MAX} are legal`);
  const parts: MultiPart[] = [];
  for (let i = 0; i < count; i++) {
    const kind = KINDS[reader.u8()];
    const flags = reader.u8();
    if (!isPartKind(kind)) throw new DecodeError(`A multi has a part of the kind ${kind}`);
    if ((flags & ~OP_FLAGS) !== 0) throw new DecodeError(`Unknown flags 0x${flags.toString(16)} in a part of a multi`);
    parts.push(readPart(reader, kind, flags));
  }
  return parts;
}

function isPartKind(kind: string | undefined): kind is MultiPart['kind'] {
  return kind !== undefined && PART_KINDS.has(kind);
}

function readPart<K extends MultiPart['kind']>(
  reader: ByteReader,
  kind: K,
  flags: number,
): Extract<MultiPart, { kind: K }>;
function readPart(reader: ByteReader, kind: MultiPart['kind'], flags: number): MultiPart {
  const path = readPath(reader);
  switch (kind) {
    case 'create': {
      const data = readData(reader);
      const mode = readMode(flags);
      const op = { kind, path, data, mode, sequential: (flags & SEQUENTIAL) !== 0 } as const;
      const lives = mode === 'ttl' ? { ...op, ttlMs: readU48(reader) } : op;
      return { ...lives, ...readOptions(reader, flags) };
    }
    case 'delete':
      return { kind, path, expectedVersion: readVersion(reader, flags) };
    case 'check': {
      const check = { kind, path, expectedVersion: readVersion(reader, flags) } as const;
      return (flags & ABSENT) === 0 ? check : { ...check, absent: true };
    }
    case 'exists':
    case 'getData':
      return { kind, path };
    case 'setData': {
      const expectedVersion = readVersion(reader, flags);
      return { kind, path, data: readData(reader), expectedVersion };
    }
    default:
      return unreachable(kind);
  }
}

function readOptions(reader: ByteReader, flags: number): { acl?: Acl; parents?: true } {
  const acl = readWantedAcl(reader);
  return { ...(acl && { acl }), ...((flags & PARENTS) !== 0 && { parents: true }) };
}

/** As it was asked for: it may be empty, and is refused for it in its place. */
function writeAcl(writer: ByteWriter, acl: Acl | undefined): void {
  writer.u32(acl === undefined ? 0 : acl.length + 1);
  for (const { perms, scheme, id } of acl ?? []) writer.i32(perms).string(scheme).string(id);
}

function readWantedAcl(reader: ByteReader): Acl | undefined {
  const lengthPlusOne = reader.u32();
  if (lengthPlusOne === 0) return undefined;
  if (lengthPlusOne > ACL_ENTRIES_MAX + 1) throw new DecodeError(`An ACL has ${lengthPlusOne - 1} entries`);
  const entry = (): AclEntry => ({ perms: reader.i32(), scheme: reader.string(), id: reader.string() });
  return Array.from({ length: lengthPlusOne - 1 }, entry);
}

function aclCost(acl: Acl): number {
  return acl.reduce((sum, { scheme, id }) => sum + PART_BYTES + scheme.length + id.length, 0);
}

function readMode(flags: number): CreateMode {
  switch (flags & (EPHEMERAL | CONTAINER | TTL)) {
    case 0:
      return 'persistent';
    case EPHEMERAL:
      return 'ephemeral';
    case CONTAINER:
      return 'container';
    case TTL:
      return 'ttl';
    default:
      throw new DecodeError(`More than one mode in the flags 0x${flags.toString(16)} of a write request`);
  }
}

export function readPath(reader: ByteReader): string {
  const path = reader.string();
  if (utf8Length(path) > PATH_BYTES_MAX) throw new DecodeError(`Path longer than ${PATH_BYTES_MAX} bytes`);
  return path;
}

function readData(reader: ByteReader): Uint8Array | undefined {
  const data = reader.bytes();
  if (data !== undefined && data.length > REQUEST_BYTES_MAX) {
    throw new DecodeError(`Data longer than ${REQUEST_BYTES_MAX} bytes`);
  }
  return data;
}

function readVersion(reader: ByteReader, flags: number): number | undefined {
  const version = reader.i32();
  return (flags & HAS_VERSION) === 0 ? undefined : version;
}

export function u48(writer: ByteWriter, value: number): void {
  const high = Math.floor(value / UPPER);
  writer
    .u8(high >>> 8)
    .u8(high & 0xff)
    .u32(value % UPPER);
}

export function readU48(reader: ByteReader): number {
  const high = reader.u8() * 256 + reader.u8();
  return high * UPPER + reader.u32();
}
