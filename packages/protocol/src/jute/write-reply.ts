/** Writes the bodies of replies. Source: reference §3.2 and §3.6. */
import type { Identity } from '../acl.ts';
import type { ByteWriter } from '../bytes.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import type { OpResult, PartResult, ReadPartResult } from '../op.ts';
import type { Notification, NotificationKind } from '../watch-ops.ts';
import { writeReplyHeader } from './headers.ts';
import { OP_CODE, WIRE_ERROR, XID } from './op-codes.ts';
import { writeBool, writeStrings } from './primitives.ts';
import { writeAcl, writeStat } from './records.ts';
import type { ReplyForm } from './requests.ts';

/** Of anything but several operations at once. */
type SingleResult = Exclude<OpResult, { kind: 'multi' | 'multiRead' }>;

/** The number of an error on this wire; 0 where only our own API has it. */
export function wireErrorOf(code: ErrorCode): number {
  return ERRORS[code].zookeeper;
}

/** What follows the header of a reply without an error. */
export function writeResult(writer: ByteWriter, result: SingleResult, form: ReplyForm): void {
  switch (result.kind) {
    case 'create':
      writer.string(result.path);
      if (form === 'withStat') writeStat(writer, result.stat);
      return;
    case 'setData':
    case 'setAcl':
    case 'exists':
      return writeStat(writer, result.stat);
    case 'getData':
      writer.bytes(result.data);
      return writeStat(writer, result.stat);
    case 'getChildren':
      writeStrings(writer, result.children);
      if (form === 'withStat') writeStat(writer, result.stat);
      return;
    case 'getAcl':
      writeAcl(writer, result.acl);
      return writeStat(writer, result.stat);
    case 'getEphemerals':
      return writeStrings(writer, result.paths);
    case 'getAllChildrenNumber':
      writer.i32(result.total);
      return;
    case 'sync':
      writer.string(result.path);
      return;
    case 'addWatch':
      // Its body is an error of its own, which never is one (C154).
      writer.i32(WIRE_ERROR.ok);
      return;
    default:
      // The others have no body.
      return;
  }
}

/** The body of the reply to a multi that was carried out. */
export function writeMultiResults(
  writer: ByteWriter,
  results: readonly PartResult[],
  forms: readonly ReplyForm[],
): void {
  results.forEach((result, index) => {
    const form = forms[index] ?? 'plain';
    writeMultiHeader(writer, typeOf(result, form), false, WIRE_ERROR.ok);
    // No request of this wire has reads beside changes.
    if (result.kind !== 'check' && result.kind !== 'exists') writeResult(writer, result, form);
  });
  writeMultiEnd(writer);
}

/**
 * The body of the reply to a multi of which a part failed: those before it have error 0, those after it were not looked at. The
 * header of such a reply has no error.
 */
export function writeFailedMulti(writer: ByteWriter, parts: number, failed: number, error: number): void {
  for (let index = 0; index < parts; index++) {
    const own = index < failed ? WIRE_ERROR.ok : index === failed ? error : WIRE_ERROR.runtimeInconsistency;
    writeMultiError(writer, own);
  }
  writeMultiEnd(writer);
}

/** The body of the reply to a multi of reads: each has its own fate. */
export function writeMultiReads(writer: ByteWriter, results: readonly ReadPartResult[]): void {
  for (const result of results) {
    if (result.kind === 'error') {
      writeMultiError(writer, wireErrorOf(result.code));
      continue;
    }
    writeMultiHeader(writer, OP_CODE[result.kind], false, WIRE_ERROR.ok);
    writeResult(writer, result, 'plain');
  }
  writeMultiEnd(writer);
}

/** What whoAmI tells: of an identity of scheme digest the user alone. */
export function writeIdentities(writer: ByteWriter, identities: readonly Identity[]): void {
  writer.i32(identities.length);
  for (const { scheme, id } of identities) {
    const colon = scheme === 'digest' ? id.indexOf(':') : -1;
    writer.string(scheme).string(colon < 0 ? id : id.slice(0, colon));
  }
}

/** What a watch is told, as a frame with its length. The state is always that of a connection that is up. */
export function writeNotificationFrame(writer: ByteWriter, { kind, path, zxid }: Notification): void {
  const start = writer.length;
  writer.u32(0);
  writeReplyHeader(writer, { xid: XID.notification, zxid, error: WIRE_ERROR.ok });
  writer.i32(EVENT_TYPES[kind]).i32(SYNC_CONNECTED).string(path);
  writer.u32At(start, writer.length - start - 4);
}

const EVENT_TYPES = {
  nodeCreated: 1,
  nodeDeleted: 2,
  nodeDataChanged: 3,
  nodeChildrenChanged: 4,
} as const satisfies Record<NotificationKind, number>;

const SYNC_CONNECTED = 3;

function typeOf(result: PartResult, form: ReplyForm): number {
  switch (result.kind) {
    case 'create':
      return form === 'withStat' ? OP_CODE.create2 : OP_CODE.create;
    case 'delete':
      return OP_CODE.delete;
    case 'setData':
      return OP_CODE.setData;
    default:
      return OP_CODE.check;
  }
}

function writeMultiError(writer: ByteWriter, error: number): void {
  writeMultiHeader(writer, OP_CODE.error, false, error);
  writer.i32(error);
}

function writeMultiEnd(writer: ByteWriter): void {
  writeMultiHeader(writer, OP_CODE.error, true, -1);
}

function writeMultiHeader(writer: ByteWriter, type: number, isDone: boolean, error: number): void {
  writer.i32(type);
  writeBool(writer, isDone);
  writer.i32(error);
}
