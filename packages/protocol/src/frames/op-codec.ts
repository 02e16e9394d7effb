/**
 * The bytes of the requests in a Call: CreateRequest, DeleteRequest, ... of znode_service.proto.
 * What a request asks is not judged here; a mode that this build does not know is a fault of that call alone.
 */

import type { AclEntry } from '../acl.ts';
import { unreachable } from '../assert.ts';
import type { ByteReader, ByteWriter } from '../bytes.ts';
import { MULTI_PARTS_MAX } from '../limits.ts';
import { isListingKind, type ListingOp } from '../listing.ts';
import {
  type CheckOp,
  type CreateMode,
  isReadKind,
  type MultiOp,
  type MultiPart,
  type MultiReadOp,
  type Op,
  type ReadPart,
} from '../op.ts';
import { isWatchKind, type WatchOp } from '../watch-ops.ts';
import { readAclEntry, readCredential, withAclEntry, writeAclEntry, writeCredential } from './acl-codec.ts';
import type { AddAuthOp, CallFault, Credential, StreamOp } from './frame.ts';
import { readListing, writeListingFields } from './listing-codec.ts';
import { readWatchOp, writeWatchOp } from './watch-op-codec.ts';
import {
  beginMessage,
  checkMessageEnd,
  LENGTH,
  readBool,
  readBytes,
  readInt32,
  readMessageEnd,
  readMs,
  readString,
  readTag,
  skipField,
  VARINT,
  writeBool,
  writeBytesAlways,
  writeInt32Always,
  writeString,
  writeUint,
} from './wire.ts';

/** Field number of each operation in Call, and of its result in Reply. */
export const OP_FIELDS = {
  create: 10,
  delete: 11,
  exists: 12,
  getData: 13,
  setData: 14,
  getChildren: 15,
  sync: 16,
  closeSession: 17,
  getEphemerals: 24,
  getAllChildrenNumber: 25,
  listChildren: 29,
  getSubtree: 30,
  multi: 18,
  setAcl: 20,
  getAcl: 21,
  addAuth: 22,
  deleteSubtree: 31,
  createOrSet: 32,
  addWatch: 26,
  removeWatches: 27,
  setWatches: 28,
  multiRead: 33,
  checkWatches: 36,
} as const satisfies Record<StreamOp['kind'], number>;

/** CreateMode numbers. */
const MODE_UNSPECIFIED = 0;
const MODE_PERSISTENT = 1;
const MODE_EPHEMERAL = 2;
const MODE_CONTAINER = 3;
const MODE_TTL = 4;

const MODES = {
  persistent: MODE_PERSISTENT,
  ephemeral: MODE_EPHEMERAL,
  container: MODE_CONTAINER,
  ttl: MODE_TTL,
} as const satisfies Record<CreateMode, number>;

const MODE_NAMES: readonly CreateMode[] = ['persistent', 'persistent', 'ephemeral', 'container', 'ttl'];

/** Field number of each part of a multi in MultiPart, and of its result in MultiPartResult. */
export const PART_FIELDS = {
  create: 1,
  delete: 2,
  setData: 3,
  check: 4,
  exists: 5,
  getData: 6,
} as const satisfies Record<MultiPart['kind'], number>;

/** Field number of each part of a multiRead in MultiReadPart, and of its result in MultiReadPartResult. */
export const READ_PART_FIELDS = { exists: 1, getData: 2, getChildren: 3 } as const satisfies Record<
  ReadPart['kind'],
  number
>;

const PART_OF_TAG = byTag(PART_FIELDS);
const READ_PART_OF_TAG = byTag(READ_PART_FIELDS);

function byTag<K extends string>(fields: Readonly<Record<K, number>>): ReadonlyMap<number, K> {
  const entries = Object.entries(fields) as [K, number][];
  return new Map(entries.map(([kind, field]) => [(field << 3) | LENGTH, kind]));
}

/** Writes the request of `op` as a member of the oneof in Call. */
export function writeOp(writer: ByteWriter, op: StreamOp, linearizable: boolean): void {
  const start = beginMessage(writer, OP_FIELDS[op.kind]);
  if (op.kind === 'addAuth') writeCredential(writer, 1, op.credential);
  else if (op.kind === 'multi') for (const part of op.parts) writePart(writer, PART_FIELDS[part.kind], part);
  else if (op.kind === 'multiRead') {
    for (const part of op.parts) writePart(writer, READ_PART_FIELDS[part.kind], part);
    writeBool(writer, 2, linearizable);
  } else if (isWatchOp(op)) writeWatchOp(writer, op);
  else {
    writeFields(writer, op, linearizable);
    if ('watch' in op) writeBool(writer, 3, op.watch === true);
  }
  writer.endPart(start);
}

function isWatchOp(op: Op): op is WatchOp {
  return isWatchKind(op.kind);
}

function writePart(writer: ByteWriter, field: number, part: MultiPart | ReadPart): void {
  const outer = beginMessage(writer, 1);
  const start = beginMessage(writer, field);
  writeFields(writer, part, false);
  writer.endPart(start);
  writer.endPart(outer);
}

function writeFields(
  writer: ByteWriter,
  op: Exclude<Op, MultiOp | MultiReadOp | WatchOp> | CheckOp,
  linearizable: boolean,
): void {
  switch (op.kind) {
    case 'create':
      writeString(writer, 1, op.path);
      if (op.data !== undefined) writeBytesAlways(writer, 2, op.data);
      writeUint(writer, 3, MODES[op.mode]);
      writeBool(writer, 4, op.sequential);
      if (op.ttlMs !== undefined) writeUint(writer, 6, op.ttlMs);
      for (const entry of op.acl ?? []) writeAclEntry(writer, 7, entry);
      writeBool(writer, 8, op.parents === true);
      break;
    case 'deleteSubtree':
      writeString(writer, 1, op.path);
      writeUint(writer, 2, op.limit ?? 0);
      break;
    case 'createOrSet':
      writeString(writer, 1, op.path);
      if (op.data !== undefined) writeBytesAlways(writer, 2, op.data);
      for (const entry of op.acl ?? []) writeAclEntry(writer, 7, entry);
      writeBool(writer, 8, op.parents === true);
      break;
    case 'setData':
      writeString(writer, 1, op.path);
      if (op.data !== undefined) writeBytesAlways(writer, 2, op.data);
      if (op.expectedVersion !== undefined) writeInt32Always(writer, 3, op.expectedVersion);
      break;
    case 'delete':
    case 'check':
      writeString(writer, 1, op.path);
      if (op.expectedVersion !== undefined) writeInt32Always(writer, 2, op.expectedVersion);
      if (op.kind === 'check') writeBool(writer, 3, op.absent === true);
      break;
    case 'exists':
    case 'getData':
    case 'getChildren':
    case 'getEphemerals':
    case 'getAllChildrenNumber':
    case 'getAcl':
      writeString(writer, 1, op.path);
      writeBool(writer, 2, linearizable);
      break;
    case 'listChildren':
    case 'getSubtree':
      writeListingFields(writer, op, linearizable);
      break;
    case 'setAcl':
      writeString(writer, 1, op.path);
      for (const entry of op.acl) writeAclEntry(writer, 2, entry);
      if (op.expectedVersion !== undefined) writeInt32Always(writer, 3, op.expectedVersion);
      break;
    case 'sync':
      writeString(writer, 1, op.path);
      break;
    case 'closeSession':
      break;
    default:
      unreachable(op);
  }
}

/** Operations whose request is some of these fields. */
type FieldsKind = Exclude<Op['kind'], 'multi' | 'multiRead' | ListingOp['kind'] | WatchOp['kind']> | 'check';

/** Every field that some request has; which of them count depends on the operation. */
interface RequestFields {
  path: string;
  data: Uint8Array | undefined;
  mode: number;
  sequential: boolean;
  parents: boolean;
  absent: boolean;
  limit: number;
  ttlMs: number;
  expectedVersion: number | undefined;
  linearizable: boolean;
  watch: boolean;
  acl: AclEntry[] | undefined;
}

/** Reads the request of the operation `kind`, whose tag has been read. Throws DecodeError. */
export function readOp(
  reader: ByteReader,
  kind: StreamOp['kind'],
): { op: StreamOp | CallFault; linearizable: boolean } {
  if (kind === 'addAuth') return { op: readAddAuth(reader), linearizable: false };
  if (kind === 'multi') {
    const { parts, fault } = readParts<MultiPart>(reader, PART_OF_TAG);
    return { op: fault ?? { kind, parts }, linearizable: false };
  }
  if (kind === 'multiRead') {
    const { parts, fault, linearizable } = readParts<ReadPart>(reader, READ_PART_OF_TAG);
    return { op: fault ?? { kind, parts }, linearizable };
  }
  if (isListingKind(kind)) return readListing(reader, kind);
  if (isWatchKind(kind)) return { op: readWatchOp(reader, kind), linearizable: false };
  const fields = readFields(reader, kind);
  return { op: toOp(kind, fields), linearizable: fields.linearizable };
}

function readAddAuth(reader: ByteReader): AddAuthOp {
  const end = readMessageEnd(reader);
  let credential: Credential = { scheme: '', proof: new Uint8Array(0) };
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) credential = readCredential(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { kind: 'addAuth', credential };
}

/** Reads a request of several parts. One part past the bound is kept, so that the whole is refused for it. */
function readParts<P extends MultiPart | ReadPart>(
  reader: ByteReader,
  kindOfTag: ReadonlyMap<number, P['kind']>,
): { readonly parts: readonly P[]; readonly fault: CallFault | undefined; readonly linearizable: boolean } {
  const end = readMessageEnd(reader);
  const parts: P[] = [];
  let fault: CallFault | undefined;
  let linearizable = false;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) {
      const part = readPart(reader, kindOfTag, parts.length);
      if (part.kind === 'fault') fault ??= part;
      else if (parts.length <= MULTI_PARTS_MAX) parts.push(part as P);
    } else if (tag === ((2 << 3) | VARINT)) linearizable = readBool(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { parts, fault, linearizable };
}

function readPart(
  reader: ByteReader,
  kindOfTag: ReadonlyMap<number, FieldsKind>,
  index: number,
): Op | CheckOp | CallFault {
  const end = readMessageEnd(reader);
  let part: Op | CheckOp | CallFault | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    const kind = kindOfTag.get(tag);
    if (kind === undefined) skipField(reader, tag);
    else part = toOp(kind, readFields(reader, kind));
  }
  checkMessageEnd(reader, end);
  return part ?? { kind: 'fault', code: 'UNIMPLEMENTED', message: `Part ${index} is nothing that is known here` };
}

function readFields(reader: ByteReader, kind: FieldsKind): RequestFields {
  const end = readMessageEnd(reader);
  const fields: RequestFields = {
    path: '',
    data: undefined,
    mode: MODE_UNSPECIFIED,
    sequential: false,
    parents: false,
    absent: false,
    limit: 0,
    ttlMs: 0,
    expectedVersion: undefined,
    linearizable: false,
    watch: false,
    acl: undefined,
  };
  while (reader.offset < end) readField(reader, kind, fields);
  checkMessageEnd(reader, end);
  return fields;
}

function readField(reader: ByteReader, kind: FieldsKind, fields: RequestFields): void {
  const tag = readTag(reader);
  const isCreate = kind === 'create' || kind === 'createOrSet';
  const isData = tag === ((2 << 3) | LENGTH) && (isCreate || kind === 'setData');
  const second = tag === ((2 << 3) | VARINT);
  const third = tag === ((3 << 3) | VARINT);
  if (tag === ((1 << 3) | LENGTH) && kind !== 'closeSession') fields.path = readString(reader);
  else if (isData) fields.data = readBytes(reader);
  else if (third && kind === 'check') fields.absent = readBool(reader);
  else if (third && kind === 'create') fields.mode = readInt32(reader);
  else if (tag === ((4 << 3) | VARINT) && kind === 'create') fields.sequential = readBool(reader);
  else if (tag === ((6 << 3) | VARINT) && kind === 'create') fields.ttlMs = readMs(reader);
  else if (tag === ((8 << 3) | VARINT) && isCreate) fields.parents = readBool(reader);
  else if (tag === (((isCreate ? 7 : 2) << 3) | LENGTH) && (isCreate || kind === 'setAcl')) {
    fields.acl = withAclEntry(fields.acl, readAclEntry(reader));
  } else if (third && (kind === 'setData' || kind === 'setAcl')) fields.expectedVersion = readInt32(reader);
  else if (second && kind === 'deleteSubtree') fields.limit = reader.varint();
  else if (second && (kind === 'delete' || kind === 'check')) fields.expectedVersion = readInt32(reader);
  else if (second && kind !== 'check' && isReadKind(kind)) fields.linearizable = readBool(reader);
  else if (third && (kind === 'exists' || kind === 'getData' || kind === 'getChildren'))
    fields.watch = readBool(reader);
  else skipField(reader, tag);
}

function toOp<K extends FieldsKind>(kind: K, fields: RequestFields): Extract<Op | CheckOp, { kind: K }> | CallFault;
function toOp(kind: FieldsKind, fields: RequestFields): Op | CheckOp | CallFault {
  const { path, data, expectedVersion } = fields;
  switch (kind) {
    case 'create':
      return toCreate(fields);
    case 'createOrSet':
      return { kind, path, data, ...(fields.acl && { acl: fields.acl }), ...(fields.parents && { parents: true }) };
    case 'deleteSubtree':
      return fields.limit === 0 ? { kind, path } : { kind, path, limit: fields.limit };
    case 'setData':
      return { kind, path, data, expectedVersion };
    case 'setAcl':
      return { kind, path, acl: fields.acl ?? [], expectedVersion };
    case 'check':
      return fields.absent ? { kind, path, expectedVersion, absent: true } : { kind, path, expectedVersion };
    case 'delete':
      return { kind, path, expectedVersion };
    case 'exists':
    case 'getData':
    case 'getChildren':
      return fields.watch ? { kind, path, watch: true } : { kind, path };
    case 'getEphemerals':
    case 'getAllChildrenNumber':
    case 'getAcl':
    case 'sync':
      return { kind, path };
    case 'closeSession':
      return { kind };
    default:
      return unreachable(kind);
  }
}

function toCreate(fields: RequestFields): Extract<Op, { kind: 'create' }> | CallFault {
  const { path, data, sequential, acl } = fields;
  const mode = MODE_NAMES[fields.mode];
  if (mode === undefined) {
    return {
      kind: 'fault',
      code: 'INVALID_ARGUMENT',
      message: `Cannot create ${path}: mode ${fields.mode} is not known`,
    };
  }
  const op = { kind: 'create', path, data, mode, sequential } as const;
  const lives = mode === 'ttl' || fields.ttlMs !== 0 ? { ...op, ttlMs: fields.ttlMs } : op;
  const owned = acl === undefined ? lives : { ...lives, acl };
  return fields.parents ? { ...owned, parents: true } : owned;
}
