/**
 * The bytes of what comes of a call: ErrorDetail, and CreateResponse, DeleteResponse, ... of znode_service.proto
 * as they stand in a Reply. The zxid inside them is not used there: the Reply has it.
 */

import { type AclEntry, IDENTITIES_MAX, type Identity } from '../acl.ts';
import { unreachable } from '../assert.ts';
import { type ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import { ERRORS, errorCodeOfProto, isOutcomeKnown } from '../errors.ts';
import { MULTI_PARTS_MAX } from '../limits.ts';
import { isListingKind, type ListingOp } from '../listing.ts';
import type { Op, OpFailure, OpResult, PartResult, ReadPartResult } from '../op.ts';
import type { Stat } from '../stat.ts';
import { ZERO_ZXID, type Zxid } from '../zxid.ts';
import { readAclEntry, readIdentity, withAclEntry, writeAclEntry, writeIdentity } from './acl-codec.ts';
import type { StreamOp, StreamResult } from './frame.ts';
import { readPage, writePageFields } from './listing-codec.ts';
import { OP_FIELDS, PART_FIELDS, READ_PART_FIELDS } from './op-codec.ts';
import { readStat, writeStat } from './stat-codec.ts';
import {
  beginMessage,
  checkMessageEnd,
  LENGTH,
  readBool,
  readBytes,
  readInt32,
  readMessageEnd,
  readString,
  readTag,
  readZxid,
  skipField,
  writeBool,
  writeBytesAlways,
  writeInt32,
  writeInt32Always,
  writeInt64,
  writeString,
  writeStringAlways,
  writeUint,
} from './wire.ts';

/** Field number of the failure in Reply. */
export const ERROR_FIELD = 3;

/** Field number of the failure of one part in MultiReadPartResult. */
const READ_PART_ERROR_FIELD = 4;

const OUTCOME_NOT_APPLIED = 1;
const OUTCOME_UNKNOWN = 2;

/** Writes `result` as a member of the oneof in Reply. `op` is the operation that was asked for. */
export function writeResult(writer: ByteWriter, op: StreamOp['kind'], result: StreamResult | OpFailure): void {
  if (result.kind !== 'error') writeSuccess(writer, result);
  else if (op === 'exists' && result.code === 'NO_NODE') writer.endPart(beginMessage(writer, OP_FIELDS.exists));
  else {
    const start = beginMessage(writer, ERROR_FIELD);
    writeErrorDetail(writer, result, ZERO_ZXID);
    writer.endPart(start);
  }
}

/** Writes the fields of ErrorDetail. */
export function writeErrorDetail(writer: ByteWriter, failure: Omit<OpFailure, 'kind'>, zxid: Zxid): void {
  writeUint(writer, 1, ERRORS[failure.code].proto);
  writeInt32(writer, 2, ERRORS[failure.code].zookeeper);
  if (failure.path !== undefined) writeStringAlways(writer, 3, failure.path);
  writeString(writer, 4, failure.message);
  writeUint(writer, 5, isOutcomeKnown(failure.code) ? OUTCOME_NOT_APPLIED : OUTCOME_UNKNOWN);
  writeInt64(writer, 6, zxid);
  if (failure.part !== undefined) writeInt32Always(writer, 7, failure.part);
}

/** Reads the fields of an ErrorDetail up to `end`. A code that this build does not know becomes INTERNAL. */
export function readErrorDetail(reader: ByteReader, end: number): { failure: OpFailure; zxid: Zxid } {
  let proto = 0;
  let path: string | undefined;
  let message = '';
  let zxid = ZERO_ZXID;
  let part: number | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) proto = readInt32(reader);
    else if (tag === ((3 << 3) | LENGTH)) path = readString(reader);
    else if (tag === ((4 << 3) | LENGTH)) message = readString(reader);
    else if (tag === 48) zxid = readZxid(reader);
    else if (tag === 56) part = reader.varint();
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  const failure: OpFailure = { kind: 'error', code: errorCodeOfProto(proto) ?? 'INTERNAL', path, message };
  return { failure: part === undefined ? failure : { ...failure, part }, zxid };
}

function writeSuccess(writer: ByteWriter, result: StreamResult): void {
  const start = beginMessage(writer, OP_FIELDS[result.kind]);
  if (result.kind === 'addAuth') for (const identity of result.identities) writeIdentity(writer, 1, identity);
  else if (result.kind === 'multi') for (const part of result.results) writePartResult(writer, part);
  else if (result.kind === 'multiRead') for (const part of result.results) writeReadPartResult(writer, part);
  else writeFields(writer, result);
  writer.endPart(start);
}

function writeReadPartResult(writer: ByteWriter, result: ReadPartResult): void {
  const outer = beginMessage(writer, 1);
  if (result.kind === 'error') {
    const start = beginMessage(writer, READ_PART_ERROR_FIELD);
    writeErrorDetail(writer, result, ZERO_ZXID);
    writer.endPart(start);
  } else {
    const start = beginMessage(writer, READ_PART_FIELDS[result.kind]);
    writeFields(writer, result);
    writer.endPart(start);
  }
  writer.endPart(outer);
}

function writePartResult(writer: ByteWriter, result: PartResult): void {
  const outer = beginMessage(writer, 1);
  const start = beginMessage(writer, PART_FIELDS[result.kind]);
  writeFields(writer, result);
  writer.endPart(start);
  writer.endPart(outer);
}

function writeFields(
  writer: ByteWriter,
  result: Exclude<OpResult, { kind: 'multi' | 'multiRead' }> | PartResult,
): void {
  switch (result.kind) {
    case 'create':
      writeString(writer, 1, result.path);
      writeStat(writer, 2, result.stat);
      break;
    case 'deleteSubtree':
      writeUint(writer, 1, result.deleted);
      writeBool(writer, 2, result.more);
      break;
    case 'createOrSet':
      writeBool(writer, 1, result.created);
      writeStat(writer, 2, result.stat);
      break;
    case 'exists':
    case 'setAcl':
    case 'setData':
      if (result.stat !== undefined) writeStat(writer, 1, result.stat);
      break;
    case 'getData':
      if (result.data !== undefined) writeBytesAlways(writer, 1, result.data);
      writeStat(writer, 2, result.stat);
      break;
    case 'getAcl':
      for (const entry of result.acl) writeAclEntry(writer, 1, entry);
      writeStat(writer, 2, result.stat);
      break;
    case 'getChildren':
      for (const child of result.children) writeStringAlways(writer, 1, child);
      writeStat(writer, 2, result.stat);
      break;
    case 'getEphemerals':
      for (const path of result.paths) writeStringAlways(writer, 1, path);
      break;
    case 'getAllChildrenNumber':
      writeUint(writer, 1, result.total);
      break;
    case 'listChildren':
    case 'getSubtree':
      writePageFields(writer, result);
      break;
    case 'sync':
      writeString(writer, 1, result.path);
      break;
    case 'delete':
    case 'check':
    case 'closeSession':
    case 'addWatch':
    case 'checkWatches':
    case 'removeWatches':
    case 'setWatches':
      break;
    default:
      unreachable(result);
  }
}

/** Every field that some response has; which of them count depends on the operation. */
interface ResponseFields {
  path: string;
  data: Uint8Array | undefined;
  /** Names of children, or paths of ephemerals. */
  names: string[];
  total: number;
  created: boolean;
  more: boolean;
  stat: Stat | undefined;
  acl: AclEntry[] | undefined;
}

/** Reads the response of the operation `kind`, whose tag has been read. Throws DecodeError. */
export function readResult(reader: ByteReader, kind: StreamOp['kind']): StreamResult | OpFailure {
  if (kind === 'addAuth') return { kind, identities: readIdentities(reader) };
  if (kind === 'multi') return { kind, results: readPartResults(reader, readPartResult) };
  if (kind === 'multiRead') return { kind, results: readPartResults(reader, readReadPartResult) };
  if (isListingKind(kind)) return readPage(reader, kind);
  return toResult(kind, readFields(reader, kind));
}

function readIdentities(reader: ByteReader): readonly Identity[] {
  const end = readMessageEnd(reader);
  const identities: Identity[] = [];
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH) && identities.length < IDENTITIES_MAX) identities.push(readIdentity(reader));
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return identities;
}

function readPartResults<R>(reader: ByteReader, read: (reader: ByteReader) => R): readonly R[] {
  const end = readMessageEnd(reader);
  const results: R[] = [];
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag !== ((1 << 3) | LENGTH)) skipField(reader, tag);
    else if (results.length < MULTI_PARTS_MAX) results.push(read(reader));
    else throw new DecodeError(`A multi response has more than ${MULTI_PARTS_MAX} results`);
  }
  checkMessageEnd(reader, end);
  return results;
}

function readPartResult(reader: ByteReader): PartResult {
  const end = readMessageEnd(reader);
  let result: PartResult | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((PART_FIELDS.create << 3) | LENGTH)) result = toCreateResult(readFields(reader, 'create'));
    else if (tag === ((PART_FIELDS.setData << 3) | LENGTH)) result = toSetDataResult(readFields(reader, 'setData'));
    else if (tag === ((PART_FIELDS.getData << 3) | LENGTH)) result = toGetDataResult(readFields(reader, 'getData'));
    else if (tag === ((PART_FIELDS.exists << 3) | LENGTH)) {
      result = { kind: 'exists', stat: readFields(reader, 'exists').stat };
    } else if (tag === ((PART_FIELDS.delete << 3) | LENGTH)) result = emptyResult('delete', reader);
    else if (tag === ((PART_FIELDS.check << 3) | LENGTH)) result = emptyResult('check', reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  if (result === undefined) throw new DecodeError('A part of a multi response has no result that is known here');
  return result;
}

function readReadPartResult(reader: ByteReader): ReadPartResult {
  const end = readMessageEnd(reader);
  let result: ReadPartResult | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((READ_PART_FIELDS.exists << 3) | LENGTH)) result = readOne(reader, 'exists');
    else if (tag === ((READ_PART_FIELDS.getData << 3) | LENGTH)) result = readOne(reader, 'getData');
    else if (tag === ((READ_PART_FIELDS.getChildren << 3) | LENGTH)) result = readOne(reader, 'getChildren');
    else if (tag === ((READ_PART_ERROR_FIELD << 3) | LENGTH)) {
      result = readErrorDetail(reader, readMessageEnd(reader)).failure;
    } else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  if (result === undefined) throw new DecodeError('A part of a multiRead response has no result that is known here');
  return result;
}

function readOne(reader: ByteReader, kind: 'exists' | 'getData' | 'getChildren'): ReadPartResult {
  return toResult(kind, readFields(reader, kind)) as ReadPartResult;
}

function emptyResult<K extends 'delete' | 'check'>(kind: K, reader: ByteReader): { readonly kind: K } {
  readFields(reader, 'delete');
  return { kind };
}

function readFields(reader: ByteReader, kind: Op['kind']): ResponseFields {
  const end = readMessageEnd(reader);
  const fields: ResponseFields = {
    path: '',
    data: undefined,
    names: [],
    total: 0,
    created: false,
    more: false,
    stat: undefined,
    acl: undefined,
  };
  while (reader.offset < end) readField(reader, kind, fields);
  checkMessageEnd(reader, end);
  return fields;
}

function readField(reader: ByteReader, kind: Op['kind'], fields: ResponseFields): void {
  const tag = readTag(reader);
  const first = tag === ((1 << 3) | LENGTH);
  const second = tag === ((2 << 3) | LENGTH);
  if (first && (kind === 'create' || kind === 'sync')) fields.path = readString(reader);
  else if (first && kind === 'getData') fields.data = readBytes(reader);
  else if (first && (kind === 'getChildren' || kind === 'getEphemerals')) fields.names.push(readString(reader));
  else if (tag === 8 && (kind === 'getAllChildrenNumber' || kind === 'deleteSubtree'))
    fields.total = readInt32(reader) >>> 0;
  else if (tag === 16 && kind === 'deleteSubtree') fields.more = readBool(reader);
  else if (tag === 8 && kind === 'createOrSet') fields.created = readBool(reader);
  else if (first && kind === 'getAcl') fields.acl = withAclEntry(fields.acl, readAclEntry(reader));
  else if (first && (kind === 'exists' || kind === 'setData' || kind === 'setAcl')) fields.stat = readStat(reader);
  else if (
    second &&
    (kind === 'create' || kind === 'createOrSet' || kind === 'getData' || kind === 'getChildren' || kind === 'getAcl')
  ) {
    fields.stat = readStat(reader);
  } else skipField(reader, tag);
}

function toCreateResult(fields: ResponseFields): Extract<PartResult, { kind: 'create' }> {
  return { kind: 'create', path: fields.path, stat: statOf('create', fields) };
}

function toSetDataResult(fields: ResponseFields): Extract<PartResult, { kind: 'setData' }> {
  return { kind: 'setData', stat: statOf('setData', fields) };
}

function toGetDataResult(fields: ResponseFields): Extract<PartResult, { kind: 'getData' }> {
  return { kind: 'getData', data: fields.data, stat: statOf('getData', fields) };
}

function toResult(
  kind: Exclude<Op['kind'], 'multi' | 'multiRead' | ListingOp['kind']>,
  fields: ResponseFields,
): OpResult | OpFailure {
  switch (kind) {
    case 'create':
      return toCreateResult(fields);
    case 'setData':
      return toSetDataResult(fields);
    case 'deleteSubtree':
      return { kind, deleted: fields.total, more: fields.more };
    case 'createOrSet':
      return { kind, created: fields.created, stat: statOf(kind, fields) };
    case 'setAcl':
      return { kind, stat: statOf(kind, fields) };
    case 'getAcl':
      return { kind, acl: fields.acl ?? [], stat: statOf(kind, fields) };
    case 'exists':
      if (fields.stat !== undefined) return { kind, stat: fields.stat };
      return { kind: 'error', code: 'NO_NODE', path: undefined, message: 'The znode does not exist' };
    case 'getData':
      return toGetDataResult(fields);
    case 'getChildren':
      return { kind, children: fields.names, stat: statOf(kind, fields) };
    case 'getEphemerals':
      return { kind, paths: fields.names };
    case 'getAllChildrenNumber':
      return { kind, total: fields.total };
    case 'sync':
      return { kind, path: fields.path };
    case 'delete':
    case 'closeSession':
    case 'addWatch':
    case 'checkWatches':
    case 'removeWatches':
    case 'setWatches':
      return { kind };
    default:
      return unreachable(kind);
  }
}

function statOf(kind: Op['kind'], fields: ResponseFields): Stat {
  if (fields.stat === undefined) throw new DecodeError(`A ${kind} response has no stat`);
  return fields.stat;
}
