/**
 * Reads the body of a request. What follows a record is ignored, as ZooKeeper does (C156): frames are bounded by their length, so the
 * next request is found all the same. Data that is read is a view of the frame: the core copies what it keeps. Source: reference
 * §3.2 and §3.3.
 */
import { type ByteReader, DecodeError } from '../bytes.ts';
import type { WatcherKind, WatchMode } from '../watch-ops.ts';
import { OP_CODE } from './op-codes.ts';
import { readBool, readString, readStrings } from './primitives.ts';
import { readMulti } from './read-multi.ts';
import { readCreate, readDelete, readPath, readSetData, readVersion } from './read-parts.ts';
import { readAcl } from './records.ts';
import type { JuteRequest, ReplyForm } from './requests.ts';

const PLAIN: readonly ReplyForm[] = ['plain'];
const WITH_STAT: readonly ReplyForm[] = ['withStat'];

const ADD_WATCH_MODES: readonly WatchMode[] = ['persistent', 'persistentRecursive'];

const WATCHER_KINDS: readonly (WatcherKind | undefined)[] = [
  undefined,
  'children',
  'data',
  'any',
  'persistent',
  'persistentRecursive',
];

/** Reads the body of a request of that type. Throws DecodeError when it does not hold what the type says. */
export function readRequestBody(type: number, reader: ByteReader): JuteRequest {
  switch (type) {
    case OP_CODE.create:
    case OP_CODE.create2:
    case OP_CODE.createContainer:
    case OP_CODE.createTtl:
      return readCreateRequest(type, reader);
    case OP_CODE.delete:
      return { kind: 'op', op: readDelete(reader), forms: PLAIN };
    case OP_CODE.setData:
      return { kind: 'op', op: readSetData(reader), forms: PLAIN };
    case OP_CODE.setAcl: {
      const path = readPath(reader);
      const acl = readAcl(reader);
      return { kind: 'op', op: { kind: 'setAcl', path, acl, expectedVersion: readVersion(reader) }, forms: PLAIN };
    }
    case OP_CODE.multi:
      return readMulti(reader, 'write');
    case OP_CODE.multiRead:
      return readMulti(reader, 'read');
    case OP_CODE.sync:
      return { kind: 'op', op: { kind: 'sync', path: readString(reader) ?? '' }, forms: PLAIN };
    case OP_CODE.closeSession:
      return { kind: 'op', op: { kind: 'closeSession' }, forms: PLAIN };
    case OP_CODE.reconfig:
      return { kind: 'reconfig' };
    case OP_CODE.ping:
      return { kind: 'ping' };
    case OP_CODE.auth:
      return readAuth(reader);
    case OP_CODE.sasl:
      return { kind: 'sasl', token: reader.bytes() ?? new Uint8Array(0) };
    default:
      return readReadRequest(type, reader);
  }
}

function readReadRequest(type: number, reader: ByteReader): JuteRequest {
  switch (type) {
    case OP_CODE.exists:
      return readRead('exists', reader);
    case OP_CODE.getData:
      return readRead('getData', reader);
    case OP_CODE.getChildren:
      return readRead('getChildren', reader);
    case OP_CODE.getChildren2:
      return readRead('getChildren', reader, WITH_STAT);
    case OP_CODE.getAcl:
      return { kind: 'op', op: { kind: 'getAcl', path: readPath(reader) }, forms: PLAIN };
    case OP_CODE.getEphemerals:
      return { kind: 'op', op: { kind: 'getEphemerals', path: prefixOf(readString(reader)) }, forms: PLAIN };
    case OP_CODE.getAllChildrenNumber:
      return { kind: 'op', op: { kind: 'getAllChildrenNumber', path: readPath(reader) }, forms: PLAIN };
    case OP_CODE.whoAmI:
      return { kind: 'whoAmI' };
    case OP_CODE.addWatch:
      return readAddWatch(reader);
    case OP_CODE.checkWatches:
      return readWatcher('checkWatches', reader);
    case OP_CODE.removeWatches:
      return readWatcher('removeWatches', reader);
    case OP_CODE.setWatches:
      return readSetWatches(reader, false);
    case OP_CODE.setWatches2:
      return readSetWatches(reader, true);
    default:
      return { kind: 'unknown' };
  }
}

function readCreateRequest(type: number, reader: ByteReader): JuteRequest {
  const op = readCreate(type, reader);
  if (typeof op === 'number') return { kind: 'refused', error: op };
  return { kind: 'op', op, forms: type === OP_CODE.create ? PLAIN : WITH_STAT };
}

function readRead(kind: 'exists' | 'getData' | 'getChildren', reader: ByteReader, forms = PLAIN): JuteRequest {
  const path = readPath(reader);
  return { kind: 'op', op: readBool(reader) ? { kind, path, watch: true } : { kind, path }, forms };
}

function readAuth(reader: ByteReader): JuteRequest {
  // A number that always is 0.
  reader.i32();
  const scheme = readString(reader) ?? '';
  return { kind: 'auth', scheme, proof: reader.bytes() ?? new Uint8Array(0) };
}

function readAddWatch(reader: ByteReader): JuteRequest {
  const path = readPath(reader);
  const mode = ADD_WATCH_MODES[reader.i32()];
  if (mode === undefined) throw new DecodeError('A mode of a watch that is not known');
  return { kind: 'op', op: { kind: 'addWatch', path, mode }, forms: PLAIN };
}

function readWatcher(kind: 'checkWatches' | 'removeWatches', reader: ByteReader): JuteRequest {
  const path = readPath(reader);
  const watcher = WATCHER_KINDS[reader.i32()];
  if (watcher === undefined) throw new DecodeError('A type of a watch that is not known');
  return { kind: 'op', op: { kind, path, watcher }, forms: PLAIN };
}

function readSetWatches(reader: ByteReader, hasPersistent: boolean): JuteRequest {
  const relativeZxid = reader.i64();
  const data = readStrings(reader);
  const exist = readStrings(reader);
  const child = readStrings(reader);
  const persistent = hasPersistent ? readStrings(reader) : [];
  const persistentRecursive = hasPersistent ? readStrings(reader) : [];
  const lists = { relativeZxid, data, exist, child, persistent, persistentRecursive };
  return { kind: 'op', op: { kind: 'setWatches', lists }, forms: PLAIN };
}

/** Null and blank stand for all, as / does. Source: reference §3.4.17. */
function prefixOf(text: string | undefined): string {
  return text === undefined || text.trim() === '' ? '' : text;
}
