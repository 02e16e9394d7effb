/** Reads the records that stand in requests of their own and as parts of a multi. Source: reference §3.2 and §3.3. */
import type { ByteReader } from '../bytes.ts';
import type { CheckOp, CreateMode, SingleWriteOp } from '../op.ts';
import { CREATE_FLAGS, OP_CODE, WIRE_ERROR } from './op-codes.ts';
import { readRequiredString } from './primitives.ts';
import { readAcl } from './records.ts';

type CreateOp = Extract<SingleWriteOp, { kind: 'create' }>;

/** Which modes the flags of each create name. */
const MODES: ReadonlyMap<number, { readonly mode: CreateMode; readonly sequential: boolean }> = new Map([
  [CREATE_FLAGS.persistent, { mode: 'persistent', sequential: false }],
  [CREATE_FLAGS.ephemeral, { mode: 'ephemeral', sequential: false }],
  [CREATE_FLAGS.persistentSequential, { mode: 'persistent', sequential: true }],
  [CREATE_FLAGS.ephemeralSequential, { mode: 'ephemeral', sequential: true }],
  [CREATE_FLAGS.container, { mode: 'container', sequential: false }],
  [CREATE_FLAGS.ttl, { mode: 'ttl', sequential: false }],
  [CREATE_FLAGS.sequentialTtl, { mode: 'ttl', sequential: true }],
]);

/** A create of any of the four types, or the number that refuses its flags. Throws DecodeError. */
export function readCreate(type: number, reader: ByteReader): CreateOp | number {
  const path = readPath(reader);
  const data = reader.bytes();
  const acl = readAcl(reader);
  const flags = reader.i32();
  const ttlMs = type === OP_CODE.createTtl ? Number(reader.i64()) : undefined;
  const found = MODES.get(flags);
  if (found === undefined || !isOf(type, found.mode)) return WIRE_ERROR.badArguments;
  const create = { kind: 'create' as const, path, data, acl, ...found };
  return ttlMs === undefined ? create : { ...create, ttlMs };
}

/** Throws DecodeError. */
export function readDelete(reader: ByteReader): Extract<SingleWriteOp, { kind: 'delete' }> {
  return { kind: 'delete', path: readPath(reader), expectedVersion: readVersion(reader) };
}

/** Throws DecodeError. */
export function readSetData(reader: ByteReader): Extract<SingleWriteOp, { kind: 'setData' }> {
  return { kind: 'setData', path: readPath(reader), data: reader.bytes(), expectedVersion: readVersion(reader) };
}

/** Throws DecodeError. */
export function readCheck(reader: ByteReader): CheckOp {
  return { kind: 'check', path: readPath(reader), expectedVersion: readVersion(reader) };
}

/** The root is also named by nothing. Throws DecodeError when it is null. */
export function readPath(reader: ByteReader): string {
  const path = readRequiredString(reader, 'path');
  return path === '' ? '/' : path;
}

/** Which of the four types of create takes which modes: a plain one makes containers too, as clients expect of the flag. */
function isOf(type: number, mode: CreateMode): boolean {
  if (type === OP_CODE.createTtl) return mode === 'ttl';
  if (type === OP_CODE.createContainer) return mode === 'container';
  return mode !== 'ttl';
}

/** -1 is any version. Throws DecodeError. */
export function readVersion(reader: ByteReader): number | undefined {
  const version = reader.i32();
  return version === -1 ? undefined : version;
}
