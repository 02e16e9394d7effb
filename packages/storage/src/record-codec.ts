/**
 * The log entry: the records of one group commit, packed into the value of one key. Pure, but for the CRC of sealed.ts.
 * Decoding never trusts a length or a count, and checks that the records follow each other; hostile bytes give a
 * DamageError and never a wrong record.
 *
 * Key: `l`, then the first record's zxid (8 bytes, big-endian). Value, sealed; its body, all big-endian:
 *
 * | offset | size | meaning |
 * | ------ | ---- | ------- |
 * | 0 | 8 | committed: known to be committed when this was written |
 * | 8 | 4 | number of records, at least 1 |
 * | 12 | … | records: zxid (8), zxid of the record before it (8), payload length (4), payload |
 */
import { follows, formatZxid, toZxid, type Zxid } from '@quorate/protocol';
import type { LogRecord } from './contract.ts';
import { DamageError, SEAL_BYTES, sealInPlace, unseal } from './sealed.ts';

const KEY_PREFIX = 0x6c;
const KEY_BYTES = 9;
const HEAD_BYTES = 12;

/** Bytes of a record beside its payload. */
export const RECORD_OVERHEAD_BYTES = 20;

/** What one key of the log holds. */
export interface LogEntry {
  readonly committed: Zxid;
  /** zxid of the record before the first one. */
  readonly previous: Zxid;
  /** At least one. Payloads are views of the bytes decoded. */
  readonly records: readonly LogRecord[];
}

/** Key of the entry whose first record has this zxid. */
export function logKey(first: Zxid): Uint8Array {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key.writeUInt8(KEY_PREFIX, 0);
  key.writeBigUInt64BE(first, 1);
  return key;
}

/** The range that holds every log entry and nothing else. */
export const LOG_RANGE: { readonly from: Uint8Array; readonly to: Uint8Array } = {
  from: Uint8Array.of(KEY_PREFIX),
  to: Uint8Array.of(KEY_PREFIX + 1),
};

/** First zxid of an entry, from its key. Throws DamageError. */
export function zxidOfLogKey(key: Uint8Array): Zxid {
  if (key.length !== KEY_BYTES || key[0] !== KEY_PREFIX) throw new DamageError(`its key has ${key.length} bytes`);
  return readZxid(new DataView(key.buffer, key.byteOffset, key.length), 1);
}

/** Packs at least one record. The caller has checked that they follow `previous` and each other. */
export function packEntry(entry: LogEntry, key: Uint8Array): Uint8Array {
  let bytes = SEAL_BYTES + HEAD_BYTES;
  for (const record of entry.records) bytes += RECORD_OVERHEAD_BYTES + record.payload.length;
  const value = Buffer.allocUnsafe(bytes);
  let at = value.writeBigUInt64BE(entry.committed, SEAL_BYTES);
  at = value.writeUInt32BE(entry.records.length, at);
  let previous = entry.previous;
  for (const { zxid, payload } of entry.records) {
    at = value.writeBigUInt64BE(zxid, at);
    at = value.writeBigUInt64BE(previous, at);
    at = value.writeUInt32BE(payload.length, at);
    value.set(payload, at);
    at += payload.length;
    previous = zxid;
  }
  sealInPlace(key, value);
  return value;
}

/** Unpacks and verifies one entry. Throws DamageError. */
export function unpackEntry(key: Uint8Array, value: Uint8Array): LogEntry {
  const first = zxidOfLogKey(key);
  const body = unseal(key, value);
  if (body.length < HEAD_BYTES) throw new DamageError(`it has ${body.length} bytes, too few for its head`);
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const committed = readZxid(view, 0);
  const count = view.getUint32(8);
  if (count === 0) throw new DamageError('it has no records');
  const records: LogRecord[] = [];
  let at = HEAD_BYTES;
  let previous: Zxid | undefined;
  for (let i = 0; i < count; i++) {
    if (body.length - at < RECORD_OVERHEAD_BYTES) throw new DamageError(`it ends inside record ${i + 1} of ${count}`);
    const zxid = readZxid(view, at);
    checkOrder({ zxid, linked: readZxid(view, at + 8), previous, first });
    const length = view.getUint32(at + 16);
    at += RECORD_OVERHEAD_BYTES;
    if (length > body.length - at) {
      throw new DamageError(`record ${formatZxid(zxid)} says ${length} bytes, ${body.length - at} are left`);
    }
    records.push({ zxid, payload: body.subarray(at, at + length) });
    at += length;
    previous = zxid;
  }
  if (at !== body.length) throw new DamageError(`it has ${body.length - at} bytes after its last record`);
  return { committed, previous: readZxid(view, HEAD_BYTES + 8), records };
}

function checkOrder(found: {
  readonly zxid: Zxid;
  readonly linked: Zxid;
  readonly previous: Zxid | undefined;
  readonly first: Zxid;
}): void {
  const { zxid, linked, previous, first } = found;
  if (previous === undefined && zxid !== first) {
    throw new DamageError(`its first record is ${formatZxid(zxid)}, expected ${formatZxid(first)}`);
  }
  if (previous !== undefined && linked !== previous) {
    throw new DamageError(
      `record ${formatZxid(zxid)} names ${formatZxid(linked)} before it, found ${formatZxid(previous)}`,
    );
  }
  if (!follows(zxid, linked)) {
    throw new DamageError(`record ${formatZxid(zxid)} cannot follow ${formatZxid(linked)}`);
  }
}

function readZxid(view: DataView, at: number): Zxid {
  const value = view.getBigUint64(at);
  try {
    return toZxid(value);
  } catch {
    throw new DamageError(`0x${value.toString(16)} is not a zxid`);
  }
}
