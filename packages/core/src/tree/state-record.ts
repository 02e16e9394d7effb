/**
 * How the replicated state is written down: one record a znode, one a session, one about the whole. They are kept in
 * the state database and travel in snapshots; whoever carries them need not understand them.
 *
 * | key                          | value (every one begins with its format version, u8)                            |
 * | ---------------------------- | ------------------------------------------------------------------------------- |
 * | `n`, path in UTF-8           | data, czxid, mzxid, pzxid, ctime, mtime, version, creates, aversion, owner, ACL |
 * | `s`, session id (8 bytes)    | timeout, token, results: count, and for each request number, length and bytes   |
 * | `m`, `tree` in UTF-8         | zxid, digest version, digest, count of znodes, count of sessions                |
 *
 * 64-bit values are 8 bytes big-endian, counters 4 bytes signed, times varints of ms; data is a varint of its length
 * plus one (0: null) and the bytes; the owner is one byte 0, or 1 and 8 bytes (`lifetime.ts`). In key order a parent comes before its children.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  NO_SESSION,
  type SessionId,
  toSessionId,
  toZxid,
  utf8Length,
  type Zxid,
} from '@quorate/protocol';
import { readAcl, writeAcl } from './acl-codec.ts';
import { isSession, lifetimeOf } from './lifetime.ts';
import { PACKED_BYTES_MAX, type PackedData, pack } from './packed.ts';
import { AVERSION, CTIME, CZXID, MTIME, type Rows, setInteger, VERSION } from './rows.ts';
import type { StoredSession } from './sessions.ts';
import { StoredZnode } from './znode.ts';

/** One record; `value` undefined deletes the key. The same shape as the agreement's, which carries it. */
export interface StateRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** The kept result of a numbered write; `bytes` are a view of the record's. */
export interface ResultEntry {
  readonly request: number;
  readonly bytes: Uint8Array;
}

/** What a record says, for the loader. `token` is a view of the record's bytes. */
export type StateEntry =
  | { readonly kind: 'znode'; readonly znode: StoredZnode }
  | {
      readonly kind: 'session';
      readonly id: SessionId;
      readonly timeoutMs: number;
      readonly token: Uint8Array;
      readonly results: readonly ResultEntry[];
    }
  | { readonly kind: 'summary'; readonly summary: Summary };

/** The record about the whole: what a complete and undamaged load must come to. */
export interface Summary {
  readonly zxid: Zxid;
  readonly digestVersion: number;
  readonly digest: bigint;
  readonly znodeCount: number;
  readonly sessionCount: number;
}

const ZNODE_KEY = 0x6e;
const SESSION_KEY = 0x73;
const META_KEY = 0x6d;
const SUMMARY_NAME = 'tree';

const NO_BYTES = new Uint8Array(0);

const ZNODE_FORMAT = 3;
const SESSION_FORMAT = 2;
/** 2: the tree begins with an ACL of /zookeeper/config. */
const SUMMARY_FORMAT = 2;

export function znodeKey(path: string): Uint8Array {
  const length = utf8Length(path);
  return new ByteWriter(length + 1).u8(ZNODE_KEY).text(path, length).finish();
}

export function sessionKey(id: SessionId): Uint8Array {
  return new ByteWriter(9).u8(SESSION_KEY).u64(id).finish();
}

export function znodeRecord(znode: StoredZnode): StateRecord {
  const writer = new ByteWriter(znode.dataLength + 72);
  writer.u8(ZNODE_FORMAT);
  const { data } = znode;
  if (data === undefined) writer.varint(0);
  else writer.varint(data.length + 1).raw(data);
  writer.u64(znode.czxid).u64(znode.mzxid).u64(znode.pzxid);
  writer.varint(znode.ctimeMs).varint(znode.mtimeMs);
  writer.i32(znode.version).i32(znode.creates).i32(znode.aversion);
  if (znode.owner !== NO_SESSION) writer.u8(1).u64(znode.owner);
  else writer.u8(0);
  writeAcl(writer, znode.acl);
  return { key: znodeKey(znode.path), value: writer.finish() };
}

export function sessionRecord(session: StoredSession): StateRecord {
  const results = session.kept?.all() ?? [];
  const { token } = session;
  const writer = new ByteWriter(token.length + 16 + session.results.bytes + results.length * 8);
  writer.u8(SESSION_FORMAT).varint(session.timeoutMs).varint(token.length).raw(token);
  writer.varint(results.length);
  for (const { request, bytes } of results) writer.varint(request).varint(bytes.length).raw(bytes);
  return { key: sessionKey(session.id), value: writer.finish() };
}

export function summaryRecord(summary: Summary): StateRecord {
  const length = utf8Length(SUMMARY_NAME);
  const writer = new ByteWriter(32).u8(SUMMARY_FORMAT).u64(summary.zxid).u8(summary.digestVersion).u64(summary.digest);
  writer.varint(summary.znodeCount).varint(summary.sessionCount);
  return { key: new ByteWriter(8).u8(META_KEY).text(SUMMARY_NAME, length).finish(), value: writer.finish() };
}

/** Reads records. Those of znodes become znodes at once, and take one of the rows: there may be millions of them. */
export class RecordReader {
  readonly #rows: Rows;
  readonly #key = new ByteReader(NO_BYTES);
  readonly #value = new ByteReader(NO_BYTES);

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Reads one record. Throws DecodeError on anything that this build did not write. */
  read(record: StateRecord): StateEntry {
    const key = this.#key.reset(record.key);
    const kind = key.u8();
    if (record.value === undefined) throw new DecodeError(`State record of kind ${kind} has no value`);
    const value = this.#value.reset(record.value);
    let entry: StateEntry;
    if (kind === ZNODE_KEY) entry = { kind: 'znode', znode: readZnode(key.text(key.remaining), value, this.#rows) };
    else if (kind === SESSION_KEY) entry = readSession(toSessionId(key.u64()), value);
    else if (kind === META_KEY) entry = readSummary(key.text(key.remaining), value);
    else throw new DecodeError(`State record has the unknown kind ${kind}`);
    key.end();
    value.end();
    return entry;
  }
}

function readZnode(path: string, value: ByteReader, rows: Rows): StoredZnode {
  expectFormat(value, ZNODE_FORMAT, path);
  const znode = new StoredZnode(path, readData(value), rows);
  const { words, at } = znode;
  // In a row they follow each other as they do here: three zxids, two times, the counters.
  for (let i = at + CZXID; i < at + CTIME; i += 2) {
    const high = value.i32();
    words[i] = high;
    words[i + 1] = value.i32();
    if (high < 0) throw new DecodeError(`State record of ${path} has a negative zxid`);
  }
  setInteger(znode, CTIME, value.varint53());
  setInteger(znode, MTIME, value.varint53());
  for (let i = at + VERSION; i <= at + AVERSION; i++) words[i] = value.i32();
  const owner = readOwner(value);
  znode.setAccess(owner, readAcl(value));
  return znode;
}

function readData(value: ByteReader): PackedData {
  const lengthPlusOne = value.varint();
  if (lengthPlusOne === 0) return undefined;
  const length = lengthPlusOne - 1;
  return length <= PACKED_BYTES_MAX ? value.latin1(length) : pack(value.raw(length));
}

function readSession(id: SessionId, value: ByteReader): StateEntry {
  expectFormat(value, SESSION_FORMAT, 'a session');
  const timeoutMs = value.varint53();
  const token = value.raw(value.varint());
  return { kind: 'session', id, timeoutMs, token, results: readResults(value) };
}

function readResults(value: ByteReader): readonly ResultEntry[] {
  const count = value.varint();
  const results: ResultEntry[] = [];
  let last = 0;
  for (let i = 0; i < count; i++) {
    const request = value.varint();
    if (request <= last)
      throw new DecodeError(`State record of a session has the result of request ${request} after that of ${last}`);
    last = request;
    results.push({ request, bytes: value.raw(value.varint()) });
  }
  return results;
}

function readSummary(name: string, value: ByteReader): StateEntry {
  if (name !== SUMMARY_NAME) throw new DecodeError(`State record has the unknown name ${name}`);
  expectFormat(value, SUMMARY_FORMAT, 'the summary');
  const zxid = readZxid(value);
  const digestVersion = value.u8();
  const digest = value.u64();
  const summary = { zxid, digestVersion, digest, znodeCount: value.varint53(), sessionCount: value.varint53() };
  return { kind: 'summary', summary };
}

function expectFormat(value: ByteReader, format: number, what: string): void {
  const found = value.u8();
  if (found !== format)
    throw new DecodeError(`State record of ${what} has format ${found}, this build reads ${format}`);
}

function readZxid(value: ByteReader): Zxid {
  const zxid = value.u64();
  try {
    return toZxid(zxid);
  } catch {
    throw new DecodeError(`State record has ${zxid} in the place of a zxid`);
  }
}

function readOwner(value: ByteReader): bigint {
  const present = value.u8();
  if (present === 0) return NO_SESSION;
  if (present !== 1) throw new DecodeError(`State record has ${present} in the place of an owner`);
  const owner = value.u64();
  if (!isSession(owner) && lifetimeOf(owner) === undefined) {
    throw new DecodeError(`State record has the owner ${owner}, which is neither a session nor a lifetime`);
  }
  return owner;
}
